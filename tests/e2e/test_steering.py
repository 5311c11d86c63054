"""The steering subcommands, against a runner that the test plays."""

import json
import subprocess
import threading

import pytest

from server import BINARY
from tasks import new_task, note, post_events

OK, USAGE, NOT_FOUND, CONFLICT, COMMAND_REFUSED, COMMAND_EXPIRED = 0, 2, 5, 6, 10, 11
ALL = ["steer", "queue", "interrupt", "resume", "set_mode", "approve", "deny", "answer", "stop"]


@pytest.fixture
def live(server, api, runner):
    """A running task whose runner answers each command as the test sets it and records the commands."""

    class Live:
        def __init__(self):
            self.task = new_task(api)
            self.commands, self.came = [], threading.Event()
            self.answers = ["delivered", "acknowledged"]
            self.capabilities = {"commands": ALL, "acknowledges": ["steer", "approve", "deny", "answer", "stop"],
                                 "approvals": True, "deltas": False, "cost": False, "resumesSessions": False}
            self.say({"type": "status", "summary": "running",
                      "data": {"state": "running", "capabilities": self.capabilities}})
            self.feed = server.websocket(f"/api/v1/tasks/{self.task}/events?types=command", base=server.internal)
            self.feed.until(lambda m: m.type == "caught_up")
            self.thread = threading.Thread(target=self.serve, daemon=True)
            self.thread.start()

        def say(self, *events):
            post_events(runner, self.task, *events)

        def serve(self):
            with server.runner() as own:
                while True:
                    try:
                        [event] = self.feed.events(1, timeout=60)
                    except Exception:
                        return
                    self.commands.append(event["data"])
                    self.came.set()
                    for answer in self.answers:
                        data = {"id": event["data"]["id"], **({"state": answer} if isinstance(answer, str) else answer)}
                        post_events(own, self.task, {"type": "command_result", "summary": data["state"], "data": data})
                    if event["data"]["kind"] == "stop":
                        post_events(own, self.task, {"type": "status", "summary": "stopped", "data": {"state": "cancelled"}})

        def ask(self, approval, **data):
            self.say({"type": "approval", "summary": data.pop("summary", "Needs approval: rm -rf build"), "tool": "Bash",
                      "data": {"approvalID": approval, "state": "pending", "kind": "permission", "tool": "Bash",
                               "input": {"command": "rm -rf build"}, **data}})

    made = Live()
    yield made
    made.feed.close()


def last(live):
    return {k: v for k, v in live.commands[-1].items() if k not in ("id", "by")}


@pytest.mark.parametrize("args, command", [
    (["steer", "TASK", "look", "at the tests"], {"kind": "steer", "content": "look at the tests"}),
    (["queue", "TASK", "then the docs"], {"kind": "queue", "content": "then the docs"}),
    (["interrupt", "TASK", "--reason", "wrong branch"], {"kind": "interrupt", "reason": "wrong branch"}),
    (["resume", "TASK"], {"kind": "resume"}),
    (["resume", "TASK", "use the other one"], {"kind": "resume", "guidance": "use the other one"}),
    (["mode", "TASK", "autonomous"], {"kind": "set_mode", "mode": "autonomous"}),
    (["stop", "TASK", "--reason", "enough"], {"kind": "stop", "reason": "enough"}),
], ids=lambda value: value[0] if isinstance(value, list) else "")
def test_what_is_said_reaches_the_runner(server, live, args, command):
    shown = server.cli(*[live.task if a == "TASK" else a for a in args])
    assert last(live) == command
    if command["kind"] == "stop":
        assert shown.stdout == "stopped: the agent and its processes are gone, the task is cancelled\n"
        return
    assert "acknowledged" in shown.stdout if command["kind"] in live.capabilities["acknowledges"] else "delivered" in shown.stdout


def test_text_from_standard_input(server, live):
    server.cli("steer", live.task, "-", input="first line\nsecond line\n")
    assert last(live)["content"] == "first line\nsecond line"


def test_the_only_approval_needs_no_name(server, live):
    live.ask("ap-1")
    server.cli("approve", live.task, "--input", '{"command":"ls"}', "--remember", "Bash(ls)", "--message", "only look")
    assert last(live) == {"kind": "approve", "approvalID": "ap-1", "input": {"command": "ls"}, "remember": "Bash(ls)",
                          "message": "only look"}


def test_among_several_one_is_named(server, live):
    live.ask("first-1")
    live.ask("second-2", summary="Needs approval: git push")
    unclear = server.cli("deny", live.task, check=False)
    assert unclear.returncode == USAGE
    assert "first-1" in unclear.stderr and "git push" in unclear.stderr
    server.cli("deny", live.task, "sec", "--message", "no")
    assert last(live) == {"kind": "deny", "approvalID": "second-2", "message": "no"}


def test_nothing_is_asked(server, live):
    result = server.cli("approve", live.task, check=False)
    assert result.returncode == NOT_FOUND and "asks nothing" in result.stderr
    assert live.commands == []


@pytest.mark.parametrize("words", [["Blue"], ["1=2"], ["Colour=blue"], ["Which colour?=Blue"], ["q-1", "Blue"]], ids=str)
def test_answers(server, live, words):
    live.ask("q-1", kind="question", summary="Asking: Which colour?", tool="AskUserQuestion", input={"questions": [
        {"question": "Which colour?", "header": "Colour", "options": [{"label": "Red"}, {"label": "Blue"}]}]})
    server.cli("answer", live.task, *words)
    assert last(live) == {"kind": "answer", "approvalID": "q-1", "answers": {"Which colour?": "Blue"}}


def test_a_refusal_is_explained(server, live):
    live.answers = [{"state": "refused", "reason": "the agent ended first"}]
    result = server.cli("steer", live.task, "hello", check=False)
    assert result.returncode == COMMAND_REFUSED and "the agent ended first" in result.stderr
    as_json = json.loads(server.cli("steer", live.task, "hello", "--json", check=False).stdout)
    assert (as_json["state"], as_json["reason"]) == ("refused", "the agent ended first")


def test_nobody_runs_it(server, task):
    result = server.cli("steer", task, "hello", check=False)
    assert result.returncode == COMMAND_REFUSED and "no runner has this task" in result.stderr


def test_it_expires(server, live):
    live.answers = []
    result = server.cli("interrupt", live.task, "--expires", "1s", check=False)
    assert result.returncode == COMMAND_EXPIRED and "expired" in result.stderr


def test_without_waiting(server, live):
    live.answers = []
    accepted = json.loads(server.cli("interrupt", live.task, "--no-wait", "--json").stdout)
    assert accepted["state"] == "accepted" and accepted["sequence"] > 0


def test_an_ended_task(server, api, runner, task):
    post_events(runner, task, note("x"))
    runner.post(f"/api/v1/tasks/{task}/status", json={"event": "completed"})
    assert server.cli("steer", task, "too late", check=False).returncode == CONFLICT


@pytest.mark.parametrize("args", [["steer"], ["steer", "t"], ["mode", "t", "wild"], ["answer", "t"],
                                  ["approve", "t", "a", "b"], ["stop", "--nope"]], ids=str)
def test_wrong_usage_is_told(server, args):
    result = server.cli(*args, check=False)
    assert result.returncode in (USAGE, NOT_FOUND) and result.stderr.count("\n") == 1


def test_input_must_be_an_object(server, live):
    live.ask("ap-9")
    result = server.cli("approve", live.task, "--input", "ls", check=False)
    assert result.returncode == USAGE and "--input" in result.stderr


def test_ctrl_c_while_it_waits(server, live):
    """The command stays in effect; only the waiting ends."""
    live.answers = []
    process = subprocess.Popen([BINARY, "interrupt", live.task], env={
        **server.env, "SHEPHERD_URL": server.public, "SHEPHERD_TOKEN": server.token, "SHEPHERD_DATA": str(server.data)})
    with server.api() as api:
        while not api.get(f"/api/v1/tasks/{live.task}").json()["commands"]:
            assert process.poll() is None
    process.terminate()
    assert process.wait(10) != 0
    assert live.came.wait(10)
    assert live.commands[-1]["kind"] == "interrupt"
