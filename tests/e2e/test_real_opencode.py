"""The real OpenCode under `shepherd run`: one way (opencode-run) and by its own server (opencode).

The model is scripted and on loopback, the home directory is temporary, and the key is worthless.
"""

import threading

import pytest

from agent_run import AGENT_WAIT, EXIT_CODE, AgentRun, survivors, wait_until_gone
from model_fakes import Fake, calls, openai_error, refusal, text
from one_way_agents import OPENCODE, needs_opencode, opencode_environment
from opencode_model import by_number, configuration, script

pytestmark = needs_opencode

UNTIL_GO = "touch began; while [ ! -e go ]; do sleep 0.05; done; echo went"
BOTH = pytest.mark.parametrize("agent", ["opencode-run", "opencode"])


class Desk:
    """A work directory, a scripted model, and runs of the real agent on them."""

    def __init__(self, server, tmp_path):
        self.server, self.home, self.work = server, tmp_path / "home", tmp_path / "work"
        self.home.mkdir()
        self.work.mkdir()
        self.model = None

    def run(self, agent, answers, *arguments, prompt="do what the script says", **settings):
        if self.model:
            self.model.stop()
        self.model = Fake("openai", answers).start()
        return AgentRun(self.server, [prompt, "--agent", agent, "--program", OPENCODE, *arguments], self.work,
                        opencode_environment(self.home, configuration(self.model.url, **settings)))

    def files(self):
        return sorted(path.name for path in self.work.iterdir() if not path.name.startswith("."))


@pytest.fixture
def desk(server, tmp_path):
    made = Desk(server, tmp_path)
    yield made
    if made.model:
        made.model.stop()


def shell(command):
    return calls(("bash", {"command": command, "description": "scripted"}))


@BOTH
def test_a_run_with_tools(desk, agent):
    path = str(desk.work / "add.py")
    (desk.work / "add.py").write_text("def add(a, b):\n    return a - b\n")
    answers = script(calls(("read", {"filePath": path}), words="Reading it first."),
                     calls(("edit", {"filePath": path, "oldString": "a - b", "newString": "a + b"})),
                     shell("echo out; exit 3"), text("Fixed."))
    with desk.run(agent, answers, "--mode", "autonomous") as run:
        task, code = run.to_end()
    assert code == 0, run.story()
    assert task["status"]["state"] == "completed" and task["usage"]["costUSD"] > 0, task["usage"]
    assert (desk.work / "add.py").read_text() == "def add(a, b):\n    return a + b\n"
    assert [event["tool"] for event in run.of_type("tool_call")] == ["read", "edit", "bash"], run.story()
    results = {event["tool"]: event for event in run.of_type("tool_result")}
    assert results["edit"]["output"]["success"] and not results["bash"]["output"]["success"]
    assert results["bash"]["data"] == {"exitCode": 3} and results["bash"]["durationMS"] >= 0
    assert [event["summary"] for event in run.of_type("thinking")] == ["Reading it first.", "Fixed."]
    can = next(event["data"]["capabilities"] for event in run.of_type("status") if "capabilities" in event["data"])
    assert can["cost"] and can["approvals"] == (agent == "opencode")
    assert wait_until_gone(run.mark) == []


@BOTH
def test_stop_in_the_middle_of_a_tool(desk, agent):
    with desk.run(agent, script(shell("(sleep 300 &) ; touch began; sleep 300")), "--mode", "autonomous") as run:
        wait_for_file(desk.work / "began")
        assert len(survivors(run.mark)) >= 3
        run.send("stop", reason="enough")
        task, code = run.to_end()
        assert task["status"]["state"] == "cancelled" and code == EXIT_CODE["cancelled"], run.story()
        assert wait_until_gone(run.mark) == []


@BOTH
def test_a_session_is_taken_up_again(desk, agent):
    with desk.run(agent, script(text("I will remember 7.")), "--mode", "autonomous", prompt="Remember 7.") as run:
        first, code = run.to_end()
        assert code == 0, run.story()
    session = run.of_type("session_start")[0]["sessionID"]
    with desk.run(agent, script(text("Seven.")), "--mode", "autonomous", "--resume", run.task, prompt="Which number?") as again:
        task, code = again.to_end()
    assert code == 0, again.story()
    assert again.of_type("session_start")[0]["sessionID"] == session
    assert "Remember 7." in desk.model.requests[-1].words()


def test_an_interrupt_is_a_pause_one_way(desk):
    with desk.run("opencode-run", script(shell(UNTIL_GO), text("Went on.")), "--mode", "autonomous") as run:
        wait_for_file(desk.work / "began")
        run.stand_still((desk.work / "go").touch)
        task, code = run.to_end()
    assert code == 0, run.story()


def test_nobody_can_be_asked_one_way(desk):
    with desk.run("opencode-run", script(shell("touch asked"), text("Then not.")), "--mode", "interactive") as run:
        task, code = run.to_end()
    assert desk.files() == [], run.story()
    assert code == EXIT_CODE["failed"] and "rejected permission" in task["status"]["error"], run.story()


def test_interrupt_and_resume(desk):
    with desk.run("opencode", script(shell("touch began; sleep 300"), text("Went on.")), "--mode", "autonomous") as run:
        wait_for_file(desk.work / "began")
        interrupt = run.send("interrupt", reason="not that")
        run.until_state("interrupted")  # comes before the service's answer, or after it
        assert run.settled(interrupt)["state"] == "acknowledged", run.story()
        assert run.process.poll() is None, "an interrupted task waits for an operator"
        assert run.command("resume", guidance="finish without it")["state"] == "acknowledged", run.story()
        task, code = run.to_end()
    assert code == 0 and task["status"]["state"] == "completed", run.story()
    assert "finish without it" in desk.model.requests[-1].words()


def test_a_steer_changes_what_happens_next(desk):
    def model(number, request):
        if number == 1:
            return shell(UNTIL_GO)
        if number == 2:
            return shell("touch steered" if "use the other name" in request.words() else "touch unsteered")
        return text("Done.")

    with desk.run("opencode", by_number(model), "--mode", "autonomous") as run:
        wait_for_file(desk.work / "began")
        steer = run.send("steer", content="use the other name")
        run.settled(steer, ("delivered",))
        (desk.work / "go").touch()
        assert run.settled(steer)["state"] == "acknowledged", run.story()
        task, code = run.to_end()
    assert code == 0, run.story()
    assert desk.files() == ["began", "go", "steered"]


def test_an_approval_and_a_denial(desk):
    answers = script(shell("touch one"), shell("touch two"), text("One was refused."))
    with desk.run("opencode", answers, "--mode", "interactive") as run:
        asked = run.until_type("approval")
        assert asked["data"]["state"] == "pending" and asked["data"]["input"]["command"] == "touch one"
        run.until_state("waiting_for_input")
        assert run.command("approve", approvalID=asked["data"]["approvalID"])["state"] == "acknowledged", run.story()
        asked = run.until(lambda e: e["type"] == "approval" and e["data"]["state"] == "pending")
        settled = run.command("deny", approvalID=asked["data"]["approvalID"], message="keep the tree clean")
        assert settled["state"] == "acknowledged", run.story()
        task, code = run.to_end()
    assert code == 0, run.story()
    assert desk.files() == ["one"]
    assert "keep the tree clean" in desk.model.requests[-1].words(), "the model is told why"
    assert [event["output"].get("denied", False) for event in run.of_type("tool_result")] == [False, True]


def test_an_api_that_fails_for_good(desk):
    failing = refusal(400, openai_error("scripted failure", "invalid_request_error"))
    with desk.run("opencode", by_number(lambda *_: failing), "--mode", "autonomous") as run:
        task, code = run.to_end()
    assert code == EXIT_CODE["failed"], run.story()
    fatal, = [event for event in run.of_type("error") if event["data"]["fatal"]]
    assert "scripted failure" in fatal["summary"], run.story()


def test_an_api_that_is_overloaded_does_not_look_like_a_hang(desk):
    def model(number, _):
        return refusal(503, openai_error("busy")) if number == 1 else text("Back again.")

    with desk.run("opencode", by_number(model), "--mode", "autonomous") as run:
        retry = run.until_type("error")
        assert retry["data"]["code"] == "api_retry", retry
        task, code = run.to_end()
    assert code == 0, run.story()


def test_one_way_a_failing_api_is_a_run_that_says_nothing(desk):
    failing = refusal(500, openai_error("scripted failure"))
    with desk.run("opencode-run", by_number(lambda *_: failing), "--mode", "autonomous") as run:
        desk.model.wait_for_request(2, timeout=AGENT_WAIT)
        assert run.of_type("error") == [], "it prints nothing; the runner tells silence after some minutes"
        run.send("stop", reason="enough")
        task, code = run.to_end()
        assert task["status"]["state"] == "cancelled", run.story()
        assert wait_until_gone(run.mark) == []


def wait_for_file(path, timeout=AGENT_WAIT):
    deadline = threading.Event()
    timer = threading.Timer(timeout, deadline.set)
    timer.start()
    while not path.exists():
        assert not deadline.wait(0.02), f"{path.name} was not made within {timeout} s"
    timer.cancel()
