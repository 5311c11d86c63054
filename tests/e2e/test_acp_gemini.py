"""The real Gemini CLI by its `--acp`: approved and denied, interrupted, stopped, with a session that it does not find and a model that refuses.

The model is scripted and on loopback, the home directory is temporary, and the key is worthless.
"""

import pytest
import yaml

from acp_agents import wait_for_file
from agent_run import EXIT_CODE, AgentRun, wait_until_gone
from gemini_api import GeminiAPI
from model_api import Reply, text, tool
from one_way_agents import GEMINI, gemini_environment, needs_gemini

pytestmark = needs_gemini


class Desk:
    """A work directory, a scripted model, and runs of the real agent on them."""

    def __init__(self, server, tmp_path):
        self.server, self.home, self.work, self.config = server, tmp_path / "home", tmp_path / "work", tmp_path / "agents.yaml"
        self.home.mkdir()
        self.work.mkdir()
        self.models = []

    def run(self, replies, *arguments, prompt="do what the script says"):
        self.models.append(GeminiAPI(replies).start())
        self.config.write_text(yaml.safe_dump({"agents": {"real": {"driver": "acp", "command": [GEMINI, "--acp", "--model", "gemini-2.5-pro"], "env": {
            "GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_CLI_TRUST_WORKSPACE": "true"}}}}))
        return AgentRun(self.server, [prompt, "--config", self.config, "--agent", "real", *arguments], self.work,
                        gemini_environment(self.home, self.models[-1].url))

    def stop(self):
        for model in self.models:
            model.stop()


@pytest.fixture
def desk(server, tmp_path):
    made = Desk(server, tmp_path)
    yield made
    made.stop()


def shell(command):
    return tool("run_shell_command", command=command, description="scripted")


def test_tools_are_approved_and_denied(desk):
    with desk.run([Reply(shell("echo out > one.txt")), Reply(shell("touch denied")), Reply(text("Done."))], "--mode", "interactive") as run:
        for kind in ("approve", "deny"):
            asked = run.until(lambda e: e["type"] == "approval" and e["data"]["state"] == "pending")
            assert run.command(kind, approvalID=asked["data"]["approvalID"])["state"] == "acknowledged", run.story()
        task, code = run.to_end()
        assert wait_until_gone(run.mark) == []
    assert code == 0 and task["status"]["state"] == "completed" and task["usage"]["inputTokens"] > 0, run.story()
    assert (desk.work / "one.txt").read_text() == "out\n" and not (desk.work / "denied").exists()
    assert [event["output"].get("denied", False) for event in run.of_type("tool_result")] == [False, True], run.story()


def test_a_turn_is_interrupted_and_the_next_one_is_told(desk):
    with desk.run([Reply(shell("touch began; sleep 300")), Reply(text("Here I am."))], "--mode", "autonomous") as run:
        wait_for_file(desk.work / "began")
        assert run.command("interrupt")["state"] == "acknowledged", run.story()
        assert run.command("resume", guidance="are you there?")["state"] == "acknowledged", run.story()
        task, code = run.to_end()
        assert wait_until_gone(run.mark) == []
    assert code == 0 and task["status"]["state"] == "completed", run.story()
    assert "Here I am." in [event["summary"] for event in run.of_type("thinking")], run.story()


def test_a_stop_in_the_middle_of_a_tool_leaves_nothing(desk):
    with desk.run([Reply(shell("(sleep 300 &) ; touch began; sleep 300"))], "--mode", "autonomous") as run:
        wait_for_file(desk.work / "began")
        run.send("stop", reason="enough")
        task, code = run.to_end()
        assert task["status"]["state"] == "cancelled" and code == EXIT_CODE["cancelled"], run.story()
        assert wait_until_gone(run.mark) == []


def test_a_session_is_opened_again_or_there_is_one_clear_error(desk):
    """Gemini CLI 0.61.0 names the file of a session by the minute. In the same minute it writes the file anew when it
    loads the session, and then finds nothing in it; in a later one it goes on."""
    with desk.run([Reply(text("I will remember PLUM."))], "--mode", "autonomous", prompt="Remember PLUM.") as first:
        task, code = first.to_end()
    assert code == 0, first.story()
    with desk.run([Reply(text("The word is PLUM."))], "--mode", "autonomous", "--resume", first.task, prompt="Which word?") as again:
        task, code = again.to_end()
        assert wait_until_gone(again.mark) == []
    if code == 0:
        assert "resumed" in again.of_type("session_start")[0]["summary"], again.story()
        assert "The word is PLUM." in again.of_type("thinking")[-1]["summary"], again.story()
        return
    assert code == EXIT_CODE["failed"], again.story()
    fatal = [event["data"] for event in again.of_type("error") if event["data"]["fatal"]]
    assert [each["code"] for each in fatal] == ["unknown_session"] and "No previous sessions found" in fatal[0]["message"], again.story()


@pytest.mark.parametrize("status", [400, 401])
def test_a_model_that_refuses_is_one_clear_error(desk, status):
    """A wrong key is no missing login."""
    with desk.run(lambda asked: Reply(status=status), "--mode", "autonomous") as run:
        task, code = run.to_end()
        assert wait_until_gone(run.mark) == []
    assert code == EXIT_CODE["failed"] and task["status"]["state"] == "failed", run.story()
    fatal = [event["data"] for event in run.of_type("error") if event["data"]["fatal"]]
    assert len(fatal) == 1 and fatal[0]["code"] != "login_required" and "scripted failure" in fatal[0]["message"], run.story()
