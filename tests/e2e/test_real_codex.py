"""The real Codex under `shepherd run`: watched, steered, asked for approval, interrupted, stopped and resumed.

The model is scripted and on loopback, the home directory is temporary, and the key is worthless.
"""

import json
import os

import pytest

from agent_run import EXIT_CODE, AgentRun, survivors, wait_until_gone
from responses_api import ResponsesAPI, Turn, run as shell, say
from test_real_claude import wait_for_file

CODEX = os.environ.get("CODEX_BIN", "")
pytestmark = pytest.mark.skipif(not os.access(CODEX, os.X_OK),
                                reason="NOT TESTED: the real Codex is not installed; tools/install-agent says why")

# A command that runs until the test creates a file.
UNTIL_GO = "touch began; while [ ! -e go ]; do sleep 0.05; done; echo went"
SETTINGS = """
model = "gpt-5.5"
model_provider = "scripted"
check_for_update_on_startup = false
[analytics]
enabled = false
[otel]
exporter = "none"
[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"
experimental_bearer_token = "sk-test"
request_max_retries = 1
stream_max_retries = 1
"""


class Desk:
    """A work directory, a scripted model, and runs of the real agent on them."""

    def __init__(self, server, tmp_path):
        self.server, self.home, self.work = server, tmp_path / "home", tmp_path / "work"
        (self.home / ".codex").mkdir(parents=True)
        self.work.mkdir()
        self.model = None

    def run(self, turns, *arguments, prompt="do what the script says"):
        if self.model:
            self.model.stop()
        self.model = ResponsesAPI(turns).start()
        (self.home / ".codex" / "config.toml").write_text(SETTINGS.format(url=self.model.url))
        environment = {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "dumb"}
        return AgentRun(self.server, [prompt, "--agent", "codex", "--program", CODEX, *arguments], self.work, environment)

    def files(self):
        return sorted(path.name for path in self.work.iterdir() if not path.name.startswith("."))


@pytest.fixture
def desk(server, tmp_path):
    made = Desk(server, tmp_path)
    yield made
    if made.model:
        made.model.stop()


def test_a_run_with_a_command(desk):
    rules = desk.home / "rules.md"
    rules.write_text("- Never push to trunk.\n")
    with desk.run([Turn(say("Looking."), shell("echo made > made; cat made; exit 3")), Turn(say("Done."))],
                  "--mode", "autonomous", "--rules", rules) as run:
        task, code = run.to_end()
    assert code == 0 and task["status"]["state"] == "completed", run.story()
    start, = run.of_type("session_start")
    assert start["data"]["agentVersion"] == "0.166.0" and start["data"]["model"] == "gpt-5.5"
    call, result = run.of_type("tool_call")[0], run.of_type("tool_result")[0]
    assert call["tool"] == "Bash" and call["input"] == {"command": "echo made > made; cat made; exit 3"}
    assert result["callID"] == call["callID"] and result["data"]["exitCode"] == 3
    assert result["output"] == {"success": False, "summary": "Exit code 3\nmade\n"}, result
    assert [event["summary"] for event in run.of_type("thinking")] == ["Looking.", "Done."]
    assert desk.files() == ["made"]
    assert task["usage"]["inputTokens"] == 2 * 600 and task["usage"]["cacheReadTokens"] == 2 * 400, task["usage"]
    for asked in desk.model.requests:
        assert "# Rules\n\n- Never push to trunk.\n" in asked.words("developer"), "the model is told the rules"
    unknown = [event["summary"] for event in run.of_type("log") if event["summary"].startswith("Unknown")]
    assert unknown == [], "everything the agent printed is known"
    assert survivors(run.mark) == []


def test_a_steer_changes_what_happens_next(desk):
    def model(asked):
        if asked.number == 1:
            return Turn(shell(UNTIL_GO, yield_time_ms=30000))
        if asked.number == 2:
            return Turn(shell("touch steered" if "use the other name" in asked.history() else "touch unsteered"))
        return Turn(say("Done."))

    with desk.run(model, "--mode", "autonomous") as run:
        run.until_type("tool_call")
        steer = run.send("steer", content="use the other name")
        run.settled(steer, ("delivered",))
        (desk.work / "go").touch()
        assert run.settled(steer)["state"] == "acknowledged"
        task, code = run.to_end()
    assert code == 0, run.story()
    assert desk.files() == ["began", "go", "steered"]


def test_a_queued_message_is_the_next_turn(desk):
    with desk.run([Turn(shell(UNTIL_GO, yield_time_ms=30000)), Turn(say("First done.")), Turn(say("Second done."))],
                  "--mode", "autonomous") as run:
        wait_for_file(desk.work / "began")
        queue = run.send("queue", content="QUEUED-WORD")
        run.settled(queue, ("accepted",))
        (desk.work / "go").touch()
        assert run.settled(queue)["state"] == "acknowledged", run.story()
        task, code = run.to_end()
    assert code == 0, run.story()
    assert "QUEUED-WORD" not in desk.model.requests[1].words()
    assert desk.model.requests[2].words()[-1] == "QUEUED-WORD"


def test_an_approval_and_a_denial(desk):
    with desk.run([Turn(shell("touch asked")), Turn(shell("touch other")), Turn(say("Then not.")), Turn(say("I see."))],
                  "--mode", "interactive") as run:
        asked = run.until_type("approval")
        assert asked["data"]["state"] == "pending" and asked["data"]["input"]["command"] == "touch asked"
        run.until_state("waiting_for_input")
        assert run.command("approve", approvalID=asked["data"]["approvalID"])["state"] == "acknowledged", run.story()
        asked = run.until(lambda e: e["type"] == "approval" and e["data"]["state"] == "pending")
        settled = run.command("deny", approvalID=asked["data"]["approvalID"], message="keep the tree clean")
        assert settled["state"] == "acknowledged", run.story()
        task, code = run.to_end()
    assert code == 0 and task["status"]["state"] == "completed", run.story()
    assert desk.files() == ["asked"]
    # Codex takes the message up with the refusal or, if it was quicker, right after it.
    assert any("keep the tree clean" in asked.words() for asked in desk.model.requests[2:]), "the model is told why"
    assert run.of_type("tool_result")[1]["output"]["denied"]


def test_interrupt_and_resume(desk):
    with desk.run([Turn(shell("touch began; sleep 300", yield_time_ms=30000)), Turn(say("Went on."))],
                  "--mode", "autonomous") as run:
        call = run.until_type("tool_call")  # one that it has not told of yet is interrupted without a word
        wait_for_file(desk.work / "began")
        assert run.command("interrupt", reason="not that")["state"] == "acknowledged", run.story()
        run.until_state("interrupted")
        assert run.process.poll() is None, "an interrupted task waits for an operator"
        assert run.command("resume", guidance="finish without it")["state"] == "acknowledged", run.story()
        task, code = run.to_end()
    assert code == 0 and task["status"]["state"] == "completed", run.story()
    result = run.of_type("tool_result")[0]
    assert result["summary"] == "Interrupted" and result["callID"] == call["callID"]
    assert desk.model.requests[1].words()[-1] == "finish without it"
    assert wait_until_gone(run.mark) == [], "it may leave the command running; the end of the run ends it"


def test_stop_in_the_middle_of_a_command(desk):
    command = "setsid sleep 300 & (sleep 300 &) ; touch began; sleep 300"
    with desk.run([Turn(shell(command, yield_time_ms=30000))], "--mode", "autonomous") as run:
        wait_for_file(desk.work / "began")
        run.send("stop", reason="enough")
        task, code = run.to_end()
        assert task["status"]["state"] == "cancelled" and code == EXIT_CODE["cancelled"], run.story()
        assert wait_until_gone(run.mark) == []


def test_a_session_is_resumed(desk):
    with desk.run([Turn(say("Remember: the word is PLUM."))], "--mode", "autonomous") as run:
        task, code = run.to_end()
    assert code == 0, run.story()
    first = run.task
    with desk.run([Turn(say("PLUM."))], "--mode", "autonomous", "--resume", first, prompt="What is the word?") as run:
        task, code = run.to_end()
    assert code == 0, run.story()
    assert "the word is PLUM" in desk.model.requests[0].history()
    assert desk.model.requests[0].words()[-1] == "What is the word?"


@pytest.mark.parametrize("status", [401, 429, 500])
def test_an_api_that_fails_is_one_clear_error(desk, status):
    with desk.run(lambda asked: Turn(status=status), "--mode", "autonomous") as run:
        task, code = run.to_end()
    assert code == EXIT_CODE["failed"] and task["status"]["state"] == "failed", run.story()
    fatal, = [event for event in run.of_type("error") if event["data"]["fatal"]]
    assert task["status"]["message"] == fatal["summary"], task["status"]
    if status != 500:  # of those it says that there is high demand
        assert fatal["data"]["status"] == status


def test_an_answer_that_breaks_off_is_asked_for_again(desk):
    with desk.run([Turn(say("Half"), breaks=True), Turn(say("Whole."))], "--mode", "autonomous") as run:
        task, code = run.to_end()
    assert code == 0, run.story()
    retry, = run.of_type("error")
    assert retry["data"]["code"] == "api_retry" and not retry["data"]["fatal"]
    assert run.of_type("thinking")[-1]["summary"] == "Whole."


def test_the_file_of_a_session_tells_the_same(desk):
    """Its steps are those that were watched; importing it adds the totals to the task and nothing else."""
    with desk.run([Turn(say("Looking."), shell("echo kept")), Turn(say("Done."))], "--mode", "autonomous") as run:
        run.to_end()
    file, = (desk.home / ".codex" / "sessions").rglob("rollout-*.jsonl")
    steps = ("thinking", "tool_call", "tool_result")
    read = [json.loads(line) for line in desk.server.cli("translate", "--agent", "codex", file).stdout.splitlines()]
    assert [e["summary"] for e in read if e["type"] in steps] == [e["summary"] for e in run.events if e["type"] in steps]
    told = desk.server.cli("import", "--from", "codex", "--all", "--json", env={"HOME": str(desk.home)}).stdout
    assert [json.loads(line)["outcome"] for line in told.splitlines()] == ["totals"], told
