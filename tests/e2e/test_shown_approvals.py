"""An operator sees exactly what an approval runs: nothing in it can hide from the terminal that asks."""

import json
import os
import re

import pytest

from agents import SCRIPTED
from tasks import eventually, new_task, note, post_events
from terminal import Terminal

# What an agent requests, and what must be readable before a person approves. bash runs all of each line.
HIDDEN = {
    "c1-string": ("echo hi\u009d; touch PWN \u009c", r"echo hi\u009d; touch PWN \u009c"),
    "c1-unclosed": ("echo hi\u0090; touch PWN", r"echo hi\u0090; touch PWN"),
    "c1-apc": ("echo hi\u009f; touch PWN", r"echo hi\u009f; touch PWN"),
    "osc": ("echo hi \x1b]; touch PWN #\x07", r"echo hi \x1b]; touch PWN #\x07"),
    "csi": ("echo hi \x1b[; touch\x1b[<PWN", r"echo hi \x1b[; touch\x1b[<PWN"),
    "return": ("touch PWN #\recho hi", r"touch PWN #\recho hi"),
    "bidi": ("touch PWN \u202e# ih ohce", r"touch PWN \u202e# ih ohce"),
    "invisible": ("to\u200duch\u00ad P\u115fW\u3164N\uffa0\u17b4\u180e\u2800\ufe0f", r"to\u200duch\u00ad P\u115fW\u3164N\uffa0\u17b4\u180e\u2800\ufe0f"),
    "tags": ("touch PWN\U000e0041", r"touch PWN\U000e0041"),
}


def asks(command, approval="a1", **more):
    return {"type": "approval", "summary": f"Needs approval: Running {command}", "tool": "Bash",
            "data": {"approvalID": approval, "state": "pending", "kind": "permission", "tool": "Bash",
                     "input": {"command": command, "description": "Say hello", **more}}}


def asking_task(api, runner, event, title="Say hello"):
    task = new_task(api, title=title)
    post_events(runner, task, note("x"), event)
    eventually(lambda: [i for i in api.get("/api/v1/inbox", params={"limit": 1000}).json()["items"] if i["taskID"] == task])
    return task


def unbroken(text):
    """Wrapped text in one piece."""
    return re.sub(r"\s+", " ", text)


@pytest.fixture
def terminal(server):
    opened = []

    def start(*args, **options):
        env = {**server.env, "SHEPHERD_URL": server.public, "SHEPHERD_TOKEN": server.token,
               "SHEPHERD_DATA": str(server.data), **options.pop("env", {})}
        opened.append(Terminal(args, env, **options))
        return opened[-1]

    yield start
    for each in opened:
        each.kill()


@pytest.mark.parametrize("kind", HIDDEN)
def test_every_command_shows_all_of_it(server, api, runner, kind):
    command, shown = HIDDEN[kind]
    task = asking_task(api, runner, asks(command))
    assert f"command: {shown}" in server.cli("inbox", "--limit", "1000").stdout
    assert f"command: {shown}" in server.cli("tasks", "show", task).stdout
    assert f"command: {shown}" in server.cli("replay", task, "--speed", "max").stdout
    # No runner has this task, so the decision is refused after its subject was printed.
    assert f"command: {shown}" in server.cli("approve", task, check=False).stderr
    assert f"Running {shown}" in server.cli("replay", task, "--speed", "max", "--brief").stdout
    post_events(runner, task, {"type": "status", "summary": "over", "data": {"state": "completed"}})
    assert f"command: {shown}" in server.cli("watch", task).stdout


def test_every_member_is_shown_and_no_value_looks_like_another(server, api, runner):
    task = asking_task(api, runner, asks("echo hi\ndescription: harmless\ncommand: ls", timeout=5, env={"A": "\u009d"}))
    shown = server.cli("tasks", "show", task).stdout
    assert "  command:\n  | echo hi\n  | description: harmless\n  | command: ls\n  description: Say hello\n" in shown
    assert "  timeout: 5\n" in shown and '  env: {"A":"\\u009d"}\n' in shown


def test_a_hidden_secret_is_named_beside_the_question(server, api, runner):
    task = asking_task(api, runner, asks("curl -u admin:[redacted:password:8] https://h; curl [redacted:token] x"))
    for shown in (server.cli("tasks", "show", task).stdout, server.cli("inbox", "--limit", "1000").stdout):
        assert "2 secrets are hidden above (password, 8 characters; token)" in shown


def test_top_asks_with_all_of_it_on_the_screen(terminal, api, runner):
    command, shown = HIDDEN["c1-string"]
    task = asking_task(api, runner, asks(command, filler="x" * 5000), title="kappa asks")
    screen = terminal("top", "--filter", "kappa", columns=200)
    screen.wait_for("Running echo hi\\u009d; touch PWN")
    screen.press("a")
    text = screen.wait_for("Approve this? y/n")
    assert f"command: {shown}" in text and "more lines: down" in text
    screen.press("\x1b[6~" * 5)  # page down
    screen.wait_for(lambda t: "more lines" not in t and "Approve this? y/n" in t)
    screen.press("n")
    screen.wait_for("Nothing done.")
    screen.press("a")
    screen.wait_for("Approve this? y/n")
    screen.press("y")
    screen.wait_for("approve: refused")  # no runner has it, but the answer was sent
    screen.press("q")
    assert screen.end() == 0
    (command,) = [e for e in api.get(f"/api/v1/tasks/{task}/events").json()["events"] if e["type"] == "command"]
    assert (command["data"]["kind"], command["data"]["approvalID"]) == ("approve", "a1")


@pytest.mark.skipif(not os.access(SCRIPTED, os.X_OK), reason="SCRIPTED_AGENT_BIN is not set")
def test_the_prompt_of_run_shows_all_of_it_and_y_runs_it(terminal, server, api, tmp_path):
    """The agent's own text passes through its driver, which may not drop anything either."""
    work = tmp_path / "work"
    work.mkdir()
    steps = [{"tool": "Bash", "input": {"command": f"echo hi\u009d; touch {work}/PWN \u009c", "description": "Say hello"},
              "permission": True, "run": True}, {"say": "that was it"}]
    screen = terminal("run", "--program", SCRIPTED, "--mode", "interactive", "-C", work, json.dumps(steps), columns=200)
    text = screen.wait_for("allow this? y or n", 60)
    assert f"command: echo hi\\u009d; touch {work}/PWN \\u009c" in text
    assert "description: Say hello" in text
    assert f"Needs approval: Running echo hi\\u009d; touch {work}/PWN \\u009c" in text
    screen.press("y\r")
    screen.wait_for("-- completed", 60)
    assert screen.end() == 0
    assert (work / "PWN").exists(), "what was shown is what ran"


@pytest.mark.skipif(not os.access(SCRIPTED, os.X_OK), reason="SCRIPTED_AGENT_BIN is not set")
def test_a_question_is_answered_where_it_is_asked(terminal, api, tmp_path):
    question = {"question": "How should it be split?", "header": "Split", "multiSelect": False,
                "options": [{"label": "By month", "description": "x"}, {"label": "By customer", "description": "y"}]}
    screen = terminal("run", "--program", SCRIPTED, "--mode", "interactive", "-C", tmp_path,
                      json.dumps([{"ask": [question]}, {"say": "as you like"}]))
    text = screen.wait_for("type an answer, or its number", 60)
    assert "By month | By customer" in text
    screen.press("2\r")
    screen.wait_for("-- completed", 60)
    assert screen.end() == 0
    task = api.get("/api/v1/tasks", params={"limit": 1}).json()[0]["id"]
    (command,) = [e for e in api.get(f"/api/v1/tasks/{task}/events").json()["events"] if e["type"] == "command"]
    assert command["data"]["answers"] == {"How should it be split?": "By customer"}


def test_export_on_a_terminal_does_not_act_on_it(terminal, server, api, runner, task):
    text = "a\u009b31mb\u009d0;t\u009cc\u0090d\x7fe\u202ef\u200dg"
    post_events(runner, task, note(text))
    screen = terminal("export", task, columns=400, lines=20)
    assert screen.end() == 0
    printed = screen.seen.decode()
    for code in "\u009b\u009d\u009c\u0090\x7f\u202e\u200d":
        assert code not in printed and f"\\u{ord(code):04x}" in printed
    events = [json.loads(line) for line in printed.replace("\r\n", "\n").splitlines() if line.startswith("{")]
    assert text in [event.get("summary") for event in events], "it is the same JSON"


def test_inbox_fits_eighty_columns(terminal, api, runner):
    task = asking_task(api, runner, asks("git push --force origin " + "some/long/branch/name " * 6), title="T" * 100)
    screen = terminal("inbox", "--limit", "1000", columns=80, lines=60)
    assert screen.end() == 0
    lines = screen.seen.decode().replace("\r\n", "\n").splitlines()
    assert all(len(line) <= 80 for line in lines), lines
    assert any(line.strip() == f"shepherd approve {task} a1" for line in lines), lines
    assert "command: git push --force origin some/long" in unbroken("\n".join(lines))
    assert [line for line in lines if line.startswith("approval") and "TTTT" in line and line.endswith("…")], lines
