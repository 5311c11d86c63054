"""replay and top, on a terminal and without one."""

import json
import os
import signal
import termios
import time

import pytest

from tasks import end_task, new_task, note, post_events
from terminal import Terminal

ESCAPE, DOWN, CTRL_C = "\x1b", "\x1bOB", "\x03"


@pytest.fixture
def terminal(server):
    """Starts a subcommand on its own terminal."""
    opened = []

    def start(*args, **options):
        env = {**server.env, "SHEPHERD_URL": server.public, "SHEPHERD_TOKEN": server.token,
               "SHEPHERD_DATA": str(server.data)}
        opened.append(Terminal(args, env, **options))
        return opened[-1]

    yield start
    for each in opened:
        each.kill()


def stamped(second, summary):
    return note(summary, timestamp=f"2026-02-18T14:{second // 60:02}:{second % 60:02}.000Z")


# --- replay ---

@pytest.fixture
def ended(api, runner):
    """A task that took an hour, most of it between the third and the fourth event."""
    task = new_task(api, title="A long story")
    post_events(runner, task, *[stamped(s, f"step at {s}") for s in (0, 1, 2, 3000)])
    end_task(runner, task)
    return task


def test_replay_keeps_time_and_shortens_long_pauses(server, ended):
    begun = time.monotonic()
    shown = server.cli("replay", ended, "--speed", "8", "--to", "4", "--idle", "2").stdout
    taken = time.monotonic() - begun
    # 1 s + 1 s + a pause shortened to 2 s, at eight times the speed.
    assert 0.5 <= taken < 5, taken
    assert [line for line in shown.splitlines() if "step at" in line][3].split()[1] == "+50:00"


def test_replay_of_a_part_as_json(server, ended):
    shown = server.cli("replay", ended, "--speed", "max", "--from", "2", "--to", "3", "--json").stdout
    assert [json.loads(line)["sequence"] for line in shown.splitlines()] == [2, 3]


def test_replay_without_a_terminal_has_no_control_characters(server, ended):
    assert "\x1b" not in server.cli("replay", ended, "--speed", "max").stdout


@pytest.mark.parametrize("args", [["--from", "9"], ["--from", "0"], ["--speed", "3"], ["--from", "3", "--to", "2"]], ids=str)
def test_replay_of_nothing(server, ended, args):
    result = server.cli("replay", ended, *args, check=False)
    assert result.returncode == 2 and result.stderr.count("\n") == 1


def test_replay_of_a_task_that_goes_on(server, runner, task):
    post_events(runner, task, note("one"))
    assert f"shepherd watch {task} --after 1" in server.cli("replay", task).stderr


def test_replay_keys(terminal, ended):
    screen = terminal("replay", ended, "--idle", "3600")
    screen.wait_for("step at 2")
    screen.wait_for("playing  3 of 5")
    screen.press(" ")
    screen.wait_for("paused   3 of 5")
    screen.press("+")
    screen.wait_for("2x")
    screen.press("-")
    screen.wait_for("1x")
    screen.press("n")  # skips the pause of fifty minutes
    screen.wait_for("step at 3000")
    assert "step at 0" in screen.text()
    screen.press("q")
    assert screen.end() == 0
    assert "playing" not in screen.text() and "paused" not in screen.text()


@pytest.mark.parametrize("how", ["key", "signal"])
def test_replay_gives_the_terminal_back(terminal, ended, how):
    screen = terminal("replay", ended, "--idle", "3600")
    screen.wait_for("playing  3 of 5")
    assert not screen.mode()[3] & termios.ICANON, "a key counts at once"
    if how == "key":
        screen.press(CTRL_C)
    else:
        os.kill(screen.pid, signal.SIGTERM)
    assert screen.end() == 0
    assert screen.mode()[3] & termios.ICANON and screen.mode()[3] & termios.ECHO


# --- top ---

def row_of(text, title):
    """The number of the line that shows a task."""
    for number, line in enumerate(text.splitlines()):
        if title in line and number > 1:
            return number
    return None


def test_top_shows_who_needs_you_first_and_live(terminal, api, runner):
    done = new_task(api, title="alpha is over")
    end_task(runner, done)
    running = new_task(api, title="beta runs")
    post_events(runner, running, note("thinking hard"), {"type": "usage", "summary": "u", "data": {
        "costUSD": 1.5, "inputTokens": 1200, "outputTokens": 300}})
    screen = terminal("top", "--filter", "a")
    text = screen.wait_for(lambda t: "beta runs" in t and "alpha is over" in t)
    assert row_of(text, "beta runs") < row_of(text, "alpha is over")
    line = text.splitlines()[row_of(text, "beta runs")]
    assert "running" in line and "$1.50" in line and "1.5k" in line and "thinking hard" in line
    asking = new_task(api, title="gamma asks")
    post_events(runner, asking, {"type": "status", "summary": "wants to know", "data": {"state": "waiting_for_input"}})
    text = screen.wait_for(lambda t: row_of(t, "gamma asks") == 2)
    assert "needs you" in text
    end_task(runner, asking, "failed", message="gave up")
    screen.wait_for(lambda t: (n := row_of(t, "gamma asks")) and "failed" in t.splitlines()[n])
    screen.press("q")
    assert screen.end() == 0
    assert screen.mode()[3] & termios.ICANON and screen.mode()[3] & termios.ECHO


def test_top_filter_sort_help(terminal, api, runner):
    for title in ("delta one", "delta two"):
        post_events(runner, new_task(api, title=title), note("x"))
    screen = terminal("top")
    screen.wait_for("delta one")
    screen.press("/delta two\r")
    screen.wait_for(lambda t: "delta two" in t and "delta one" not in t and "filter: delta two" in t)
    screen.press(ESCAPE)
    screen.wait_for("delta one")
    screen.press("s")
    screen.wait_for("by newest")
    screen.press("?")
    screen.wait_for("stop it for certain")
    screen.press("x")  # closes the help and nothing else
    screen.wait_for("by newest")
    screen.resize(50, 10)
    screen.wait_for(lambda t: "delta" in t and len(t.splitlines()) == 10)
    screen.press(CTRL_C)
    assert screen.end() == 0


def test_top_opens_a_log_and_follows_it(terminal, api, runner):
    task = new_task(api, title="epsilon tells")
    post_events(runner, task, note("the first word"))
    screen = terminal("top", "--filter", "epsilon")
    screen.wait_for("epsilon tells")
    screen.press("\r")
    screen.wait_for("the first word")
    post_events(runner, task, note("the second word"))
    screen.wait_for("the second word")
    screen.press(ESCAPE)
    screen.wait_for("STATE")
    screen.press("q")
    assert screen.end() == 0


def test_top_asks_before_it_stops(terminal, api, runner):
    task = new_task(api, title="zeta stays")
    post_events(runner, task, note("x"))
    screen = terminal("top", "--filter", "zeta")
    screen.wait_for("zeta stays")
    screen.press("x")
    screen.wait_for('Stop "zeta stays"? y/n')
    screen.press("n")
    screen.wait_for("Nothing done.")
    screen.press("a")
    screen.wait_for("It asks nothing now.")
    screen.press("q")
    assert screen.end() == 0
    assert api.get(f"/api/v1/tasks/{task}").json()["lastSequence"] == 1


def test_top_is_not_fooled_by_hostile_text(terminal, api, runner):
    task = new_task(api, title="eta \x1b]0;owned\x07\x1b[2J evil")
    post_events(runner, task, note("\x1b[31mred\u202e"))
    screen = terminal("top", "--filter", "eta")
    screen.wait_for("eta  evil")
    assert b"owned" not in screen.seen and b"\xe2\x80\xae" not in screen.seen
    screen.press("q")
    assert screen.end() == 0


def test_top_over_a_restart(make_server, terminal):
    server = make_server("restart").start()
    with server.api() as api:
        new_task(api, title="theta before")
    env = {**server.env, "SHEPHERD_DATA": str(server.data)}
    screen = Terminal(["top"], env)
    try:
        screen.wait_for("theta before")
        server.stop()
        screen.wait_for("connection lost")
        server.start()
        with server.api() as api:
            new_task(api, title="iota after")
        screen.wait_for(lambda t: "iota after" in t and "connection lost" not in t)
        screen.press("q")
        assert screen.end() == 0
    finally:
        screen.kill()


def test_top_without_a_terminal_or_server(server, tmp_path):
    result = server.cli("top", check=False)
    assert result.returncode == 2 and "needs a terminal" in result.stderr
    screen = Terminal(["top"], {**server.env, "SHEPHERD_URL": "http://127.0.0.1:1", "SHEPHERD_TOKEN": "shp_x"})
    try:
        assert screen.end() == 3
        assert "is a server running there" in screen.text()
    finally:
        screen.kill()
