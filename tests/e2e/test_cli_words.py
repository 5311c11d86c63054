"""Messages of the command line: errors with a remedy, names of tasks as people type them, an agent's full text."""

import json
import os
import re
import socket
import subprocess

import pytest

from agents import SCRIPTED
from server import BINARY, environment
from tasks import end_task, eventually, new_id, new_task, note, post_events
from terminal import Terminal

USAGE, NOT_FOUND, CONFLICT = 2, 5, 6


def run(*args, env, **options):
    return subprocess.run([BINARY, *map(str, args)], capture_output=True, text=True, timeout=60, env=env, **options)


@pytest.fixture
def alone(tmp_path):
    """An environment without a server."""
    return environment(tmp_path)


@pytest.fixture
def terminal(server):
    opened = []

    def start(*args, **options):
        env = {**server.env, "SHEPHERD_URL": server.public, "SHEPHERD_TOKEN": server.token, "SHEPHERD_DATA": str(server.data)}
        opened.append(Terminal(args, env, **options))
        return opened[-1]

    yield start
    for each in opened:
        each.kill()


# --- wrong words ---

WRONG = {
    "an amount that is none": (["run", "--budget", "abc", "x"], '--budget: "abc" is not an amount; write 2 or 0.50'),
    "a number that is none": (["tasks", "--limit", "abc"], '--limit: "abc" is not a number'),
    "a state that is none": (["tasks", "--state", "wonderful"], '--state: "wonderful" is not one of queued, starting, '),
    "the first unknown flag": (["serve", "--prot", "9000", "--bogus"], 'there is no flag --prot; see "shepherd serve --help"'),
    "a flag that is nearly one": (["watch", "x", "--tial", "3"], "there is no flag --tial; did you mean --tail?\n"),
    "a word too many": (["tasks", "show", "a", "b"], '"b" is one word too many'),
    "prompt and command": (["run", "x", "--", "true"], "give a prompt or, after --, a command; not both"),
    "a directory that is not there": (["run", "-C", "/no/such/place", "x"], "/no/such/place does not exist; give the directory to work in with -C"),
}


@pytest.mark.parametrize("what", WRONG)
def test_wrong_words_are_named_with_what_to_do(alone, what):
    args, message = WRONG[what]
    result = run(*args, env=alone)
    assert result.returncode == USAGE and result.stdout == ""
    assert message in result.stderr and result.stderr.count("\n") == 1, result.stderr
    assert len(result.stderr) < 400, result.stderr


@pytest.mark.parametrize("text, message", [
    ("", ": the file is empty; write a list of tasks"),
    ("# nothing\n", ": the file is empty; write a list of tasks"),
    ("tasks:\n- prompt: x\n  command: [make]\n", ":2: a task has a prompt or a command, not both"),
], ids=["empty", "comment", "both"])
def test_a_task_file_that_cannot_be_run(alone, tmp_path, text, message):
    file = tmp_path / "tasks.yaml"
    file.write_text(text)
    result = run("run", "--tasks", file, env=alone)
    assert result.returncode == USAGE and f"{file}{message}" in result.stderr, result.stderr


def test_no_task_is_made_of_a_typing_mistake(server, api, tmp_path):
    before = len(api.get("/api/v1/tasks").json())
    outside = tmp_path / "outside"
    outside.mkdir()
    for args, message in [(["-C", "/no/such/place", "x"], "does not exist"), (["-C", BINARY, "x"], "is not a directory"),
                          (["--worktree", "-C", outside, "x"], "is not in a git repository")]:
        result = server.cli("run", *args, check=False)
        assert result.returncode == USAGE and message in result.stderr, result.stderr
    subprocess.run(["git", "init", "-q", outside], check=True)
    result = server.cli("run", "--worktree", "-C", outside, "x", check=False)
    assert result.returncode == USAGE and "has no commit yet" in result.stderr, result.stderr
    result = server.cli("run", "--resume", "nope", "x", check=False)
    assert result.returncode == NOT_FOUND and 'there is no task nope; "shepherd tasks" lists them' in result.stderr
    result = server.cli("run", "--resume", new_task(api), "x", check=False)
    assert result.returncode == USAGE and "has no conversation to go on with" in result.stderr
    assert len(api.get("/api/v1/tasks").json()) == before + 1, "the one that was to be resumed"


def test_an_agent_that_is_not_installed_is_said_before_a_task_is_made(server, api, tmp_path):
    before = len(api.get("/api/v1/tasks").json())
    nothing = {"PATH": str(tmp_path)}
    tasks = tmp_path / "tasks.yaml"
    tasks.write_text("- prompt: x\n")
    for args in (["run", "fix it"], ["run", "--detach", "fix it"], ["run", "--tasks", tasks]):
        result = server.cli(*args, env=nothing, check=False)
        assert result.returncode == USAGE and result.stderr.startswith("shepherd: there is no program claude: install Claude Code"), result.stderr
        assert "npm install -g @anthropic-ai/claude-code" in result.stderr and "--program" in result.stderr
    result = server.cli("run", "--program", "/no/such/agent", "x", check=False)
    assert result.returncode == USAGE and result.stderr == "shepherd: --program: there is no program /no/such/agent\n"
    assert len(api.get("/api/v1/tasks").json()) == before
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\nexit 3\n")
    program.chmod(0o755)
    assert server.cli("run", "x", env={"PATH": f"{tmp_path}:/usr/bin:/bin"}, check=False).returncode == 7, "it is there, and fails by itself"
    assert server.cli("run", "-C", tmp_path, "--program", "./claude", "x", check=False).returncode == 7


def test_all_taken_ports_are_named_with_their_flags(alone, tmp_path):
    with socket.create_server(("127.0.0.1", 0)) as first, socket.create_server(("127.0.0.1", 0)) as second:
        one, two = (f"127.0.0.1:{each.getsockname()[1]}" for each in (first, second))
        result = run("serve", "--data", tmp_path / "d", "--listen", one, "--internal-listen", two, env=alone)
    assert result.returncode == 1
    assert f"{one} and {two}" in result.stderr
    assert "--listen 127.0.0.1:0 --internal-listen 127.0.0.1:0" in result.stderr


def test_a_port_alone_is_a_port_of_this_machine(alone):
    shown = run("config", "--set", "public.listen=9000", "--set", "internal.listen=9001", env=alone).stdout
    assert "127.0.0.1:9000" in shown and "127.0.0.1:9001" in shown


# --- help ---

def test_help_in_all_its_spellings(alone):
    whole = run("--help", env=alone).stdout
    assert run("help", env=alone).stdout == whole
    assert run("help", "tasks", "create", env=alone).stdout == run("tasks", "create", "--help", env=alone).stdout
    versions = {run(flag, env=alone).stdout for flag in ("-v", "-V", "--version")}
    assert len(versions) == 1 and versions.pop().startswith("shepherd ")
    assert 'there is no command "hepl"; did you mean "help"?' in run("hepl", env=alone).stderr


GROUPS = {"Running a server:", "Running agents:", "Watching and feeding tasks:", "Steering a running agent:", "Administration:",
          "Subcommands:"}


def every_help(env, path=()):
    text = run(*path, "--help", env=env).stdout
    yield " ".join(path), text
    inside = False
    for line in text.splitlines():
        if re.match(r"^\S.*:\s*$", line):
            inside = line.rstrip() in GROUPS
        elif inside and (match := re.match(r"^  ([a-z][a-z-]*)(, ?ls)?(\s{2,}\S|\s*$)", line)):
            yield from every_help(env, (*path, match.group(1)))


def test_help_is_plain(alone):
    seen = 0
    for name, text in every_help(alone):
        seen += 1
        for leftover in ("TEXT:", "UINT", "INT:", "FLOAT", "{false}", "Excludes:", "REQUIRED", "NONNEGATIVE", "--json TEXT", "--help TEXT",
                         "\n\n\n"):
            assert leftover not in text, (name, leftover, text)
        for quaint in ("asks leave", "So many", "for certain", "A word on the way"):
            assert quaint not in text, (name, quaint)
    assert seen > 35


# --- names of tasks ---

def test_a_task_is_named_by_a_prefix_or_as_the_newest(server, api, runner):
    stem = new_id("named")
    one = new_task(api, id=f"{stem}-alpha", title="first")
    two = new_task(api, id=f"{stem}-beta", title="second")
    assert json.loads(server.cli("tasks", "show", f"{stem}-a", "--json").stdout)["id"] == one
    assert json.loads(server.cli("tasks", "show", "-", "--json").stdout)["id"] == two
    server.cli("post", f"{stem}-a", "to the first")
    server.cli("post", "-", "to the newest")
    server.cli("post", f"{stem}-b", "--lines", input="a line\n")
    assert [e["summary"] for e in api.get(f"/api/v1/tasks/{one}/events").json()["events"]] == ["to the first"]
    assert [e["summary"] for e in api.get(f"/api/v1/tasks/{two}/events").json()["events"]] == ["to the newest", "a line"]
    end_task(runner, one)
    for verb in (["watch"], ["replay", "--speed", "max"]):
        assert "to the first" in server.cli(*verb, f"{stem}-al").stdout
    assert "to the newest" in server.cli("export", "-").stdout
    refused = server.cli("steer", f"{stem}-b", "hello", check=False)
    assert "no runner has this task: it has no agent" in refused.stderr
    both = server.cli("watch", stem, check=False)
    assert both.returncode == USAGE and f"{one} (first)" in both.stderr and f"{two} (second)" in both.stderr
    none = server.cli("watch", "no-such-task", check=False)
    assert none.returncode == NOT_FOUND and none.stderr == 'shepherd: there is no task no-such-task; "shepherd tasks" lists them\n'


def test_tasks_list_is_tasks(server, api):
    task = new_task(api, title="listed")
    plain = server.cli("tasks", "--json", "--text", "listed").stdout
    assert task in plain
    for word in ("list", "ls"):
        assert server.cli("tasks", word, "--json", "--text", "listed").stdout == plain


def test_delete_asks_on_a_terminal(terminal, server, api):
    task = new_task(api, title="to go")
    screen = terminal("tasks", "delete", task)
    screen.wait_for(f"Delete {task} (to go) and its 0 events? This cannot be undone. y/n")
    screen.press("n\r")
    assert screen.end() == 1 and api.get(f"/api/v1/tasks/{task}").status_code == 200
    screen = terminal("tasks", "delete", task)
    screen.wait_for("y/n")
    screen.press("y\r")
    assert screen.end() == 0 and api.get(f"/api/v1/tasks/{task}").status_code == 404
    again = new_task(api, title="to go")
    assert terminal("tasks", "delete", "--yes", again).end() == 0
    assert api.get(f"/api/v1/tasks/{again}").status_code == 404
    script = new_task(api)
    server.cli("tasks", "delete", script)
    assert api.get(f"/api/v1/tasks/{script}").status_code == 404


# --- stop ---

def test_stop_says_what_happened(server, api, runner, tmp_path):
    queued = new_task(api, agent="claude")
    assert server.cli("stop", queued).stdout == "cancelled before a runner began to work on it\n"
    again = server.cli("stop", queued, check=False)
    assert again.returncode == CONFLICT and "has ended already: it is cancelled" in again.stderr
    external = new_task(api)
    post_events(runner, external, note("x"))
    nobody = server.cli("stop", external, check=False)
    assert nobody.returncode == 10 and f'"shepherd post {external} --state cancelled" ends it' in nobody.stderr
    running = server.cli("run", "--detach", "--", "sleep", "600").stdout.split()[0]
    eventually(lambda: api.get(f"/api/v1/tasks/{running}").json()["status"]["state"] == "running")
    stopped = server.cli("stop", running)
    assert stopped.stdout == "stopped: the agent and its processes are gone, the task is cancelled\n"
    assert api.get(f"/api/v1/tasks/{running}").json()["status"]["state"] == "cancelled"


# --- an agent's text ---

ANSWER = "# Result\n\n" + "\n".join(f"- line {i} of an answer that goes on for a while" for i in range(1, 9))
LONG = "\n".join(f"Line {i} of a long answer" for i in range(1, 801))  # 19 KB: more than an event holds


@pytest.mark.skipif(not os.access(SCRIPTED, os.X_OK), reason="SCRIPTED_AGENT_BIN is not set")
def test_an_agents_text_is_printed_in_full_and_the_last_answer_again(server, tmp_path):
    steps = [{"say": "I begin"}, {"say": LONG}, {"say": ANSWER}]
    ran = server.cli("run", "--program", SCRIPTED, "-C", tmp_path, json.dumps(steps))
    for line in (LONG + "\n" + ANSWER).splitlines():
        assert not line or f"    {line}\n" in ran.stdout, line
    assert ran.stdout.endswith("\n\n" + ANSWER + "\n"), ran.stdout[-500:]
    task = json.loads(server.cli("tasks", "show", "-", "--json").stdout)["id"]
    watched = server.cli("watch", task).stdout
    assert "    Line 800 of a long answer\n" in watched and watched.endswith("\n\n" + ANSWER + "\n")
    assert "    Line 800 of a long answer\n" in server.cli("replay", task, "--speed", "max").stdout
    brief = server.cli("watch", task, "--brief").stdout
    assert "Line 800" not in brief and "# Result - line 1 of" in brief and not brief.endswith(ANSWER + "\n")


def test_text_is_wrapped_to_the_terminal(terminal, api, runner):
    task = new_task(api, title="talks")
    words = " ".join(f"word{i}" for i in range(60))
    post_events(runner, task, {"type": "thinking", "summary": "word0 …", "data": {"kind": "text", "text": words}})
    end_task(runner, task)
    screen = terminal("watch", task, columns=60, lines=60)
    assert screen.end() == 0
    lines = screen.seen.decode().replace("\r\n", "\n").splitlines()
    assert all(len(line) <= 60 for line in lines)
    below = [line.strip() for line in lines if line.startswith("    word")]
    assert " ".join(below) == words, "broken between words, nothing lost"


def test_the_output_of_a_command_is_printed_line_by_line(server):
    shown = server.cli("run", "--", "sh", "-c", "seq 1 50").stdout
    assert re.search(r"\n    49\n    50\n", shown), shown


def test_doctor_looks_for_agents(server, tmp_path):
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho '2.1.0 (Claude Code)'\n")
    program.chmod(0o755)
    found = server.cli("doctor", env={"SHEPHERD_CLAUDE_PROGRAM": str(program)}, check=False).stdout
    assert f"agent claude {program} is 2.1.0 (Claude Code)" in re.sub(" +", " ", found)
    missing = server.cli("doctor", env={"SHEPHERD_CLAUDE_PROGRAM": "no-such-claude"}, check=False)
    assert "no-such-claude" in missing.stdout and "npm install -g @anthropic-ai/claude-code" in missing.stdout
