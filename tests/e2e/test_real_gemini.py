"""The real Gemini CLI under `shepherd run`, one way: watched, paused, stopped, taken up again.

The model is scripted and on loopback, the home directory is temporary, and the key is worthless.
"""

import threading

import pytest

from agent_run import AGENT_WAIT, EXIT_CODE, AgentRun, survivors, wait_until_gone
from gemini_api import GeminiAPI
from model_api import Reply, text, tool
from one_way_agents import GEMINI, gemini_environment, needs_gemini

pytestmark = needs_gemini

MODEL = ["--model", "gemini-2.5-pro"]  # otherwise a model chooses the model


class Desk:
    """A work directory, a scripted model, and runs of the real agent on them."""

    def __init__(self, server, tmp_path):
        self.server, self.home, self.work = server, tmp_path / "home", tmp_path / "work"
        self.home.mkdir()
        self.work.mkdir()
        self.model = None

    def run(self, replies, *arguments, prompt="do what the script says", **variables):
        self.model = GeminiAPI(replies).start()
        return AgentRun(self.server, [prompt, "--agent", "gemini-stream", "--program", GEMINI, *MODEL, *arguments], self.work,
                        {**gemini_environment(self.home, self.model.url), **variables})


@pytest.fixture
def desk(server, tmp_path):
    made = Desk(server, tmp_path)
    yield made
    if made.model:
        made.model.stop()


def shell(command):
    return tool("run_shell_command", command=command, description="scripted")


def test_a_run_with_tools(desk):
    (desk.work / "add.py").write_text("def add(a, b):\n    return a - b\n")
    path = str(desk.work / "add.py")
    with desk.run([Reply(text("Reading it first."), tool("read_file", file_path=path)),
                   Reply(tool("replace", file_path=path, instruction="fix", old_string="a - b", new_string="a + b")),
                   Reply(shell("echo out; exit 3")), Reply(text("Fixed."))], "--mode", "autonomous") as run:
        task, code = run.to_end()
    assert code == 0, run.story()
    assert task["status"]["state"] == "completed" and task["usage"]["inputTokens"] > 0 and task["usage"]["unpriced"] is True
    assert (desk.work / "add.py").read_text() == "def add(a, b):\n    return a + b\n"
    calls = {event["tool"]: event for event in run.of_type("tool_call")}
    assert list(calls) == ["read_file", "replace", "run_shell_command"], run.story()
    results = {event["tool"]: event for event in run.of_type("tool_result")}
    assert results["run_shell_command"]["output"]["summary"] == "out"
    assert results["run_shell_command"]["data"] == {"exitCodeKnown": False}, "it says of no command how it ended"
    assert [event["summary"] for event in run.of_type("thinking")] == ["Reading it first.", "Fixed."]
    can = next(event["data"]["capabilities"] for event in run.of_type("status") if "capabilities" in event["data"])
    assert can["deltas"] and not can["approvals"]
    assert survivors(run.mark) == []


def test_its_tokens_have_the_configured_price(desk):
    """By the name that the model's API gives the model that answered, which Gemini CLI passes on."""
    with desk.run([Reply(text("Done."))], SHEPHERD_PRICES="{scripted: {as_of: 2026-11-01, input: 1.25, output: 10}}") as run:
        task, code = run.to_end()
    assert code == 0, run.story()
    used = task["usage"]
    assert used["inputTokens"] > 0 and "unpriced" not in used, run.story()
    assert used["costUSD"] == pytest.approx((used["inputTokens"] * 1.25 + used["outputTokens"] * 10) / 1e6)
    assert [event["data"]["priced"] for event in run.of_type("usage")] == [{"asOf": "2026-11-01"}]


def test_interactive_it_says_what_it_cannot_do(desk):
    with desk.run([Reply(shell("touch asked")), Reply(text("Then not."))], "--mode", "interactive") as run:
        task, code = run.to_end()
    assert code == 0, run.story()
    assert list(desk.work.iterdir()) == []
    assert any("cannot ask for approvals" in event["summary"] for event in run.of_type("log")), run.story()
    result, = run.of_type("tool_result")
    assert result["output"]["denied"]


def test_stop_in_the_middle_of_a_tool(desk):
    with desk.run([Reply(shell("touch began; sleep 300"))], "--mode", "autonomous") as run:
        run.until_type("tool_call")
        wait_for_file(desk.work / "began")
        run.send("stop", reason="enough")
        task, code = run.to_end()
        assert task["status"]["state"] == "cancelled" and code == EXIT_CODE["cancelled"], run.story()
        assert wait_until_gone(run.mark) == []


def test_an_interrupt_is_a_pause(desk):
    with desk.run([Reply(shell("touch began; while [ ! -e go ]; do sleep 0.05; done; touch went")), Reply(text("Went on."))],
                  "--mode", "autonomous") as run:
        run.until_type("tool_call")
        wait_for_file(desk.work / "began")
        run.stand_still((desk.work / "go").touch)
        task, code = run.to_end()
    assert code == 0 and (desk.work / "went").exists(), run.story()


def test_a_session_is_taken_up_again(desk):
    with desk.run([Reply(text("I will remember 7."))], "--mode", "autonomous", prompt="Remember 7.") as run:
        first, code = run.to_end()
        assert code == 0, run.story()
    session = run.of_type("session_start")[0]["sessionID"]
    desk.model.stop()
    with desk.run([Reply(text("Seven."))], "--mode", "autonomous", "--resume", run.task, prompt="Which number?") as again:
        task, code = again.to_end()
    assert code == 0, again.story()
    assert again.of_type("session_start")[0]["sessionID"] == session
    assert "Remember 7." in desk.model.requests[0].history()


def test_an_api_that_fails(desk):
    with desk.run([Reply(status=400)], "--mode", "autonomous") as run:
        task, code = run.to_end()
    assert code == EXIT_CODE["failed"], run.story()
    fatal, = [event for event in run.of_type("error") if event["data"]["fatal"]]
    assert fatal["summary"] == "API error 400: scripted failure" and fatal["data"]["status"] == 400
    assert task["status"]["error"] == fatal["summary"], task["status"]


def wait_for_file(path, timeout=AGENT_WAIT):
    deadline = threading.Event()
    timer = threading.Timer(timeout, deadline.set)
    timer.start()
    while not path.exists():
        assert not deadline.wait(0.02), f"{path.name} was not made within {timeout} s"
    timer.cancel()
