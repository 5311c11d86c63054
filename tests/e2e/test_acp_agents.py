"""Real agents that speak the Agent Client Protocol, over a scripted model: Goose, and OpenCode by its `acp`."""

import json

import pytest

from acp_agents import AGENTS, Starter, command, results
from agent_run import wait_until_gone
from model_fakes import Fake, Wait, calls, text


@pytest.fixture
def started(server, tmp_path):
    starter = Starter(server, tmp_path)
    yield starter
    starter.end()


@pytest.mark.parametrize("make, tools", AGENTS)
def test_tools_are_approved_and_denied(started, make, tools):
    def script(request):
        count = results(request)
        if count is None:
            return text("A title")
        return [calls((tools[1], {tools[2]: str(run.work / "one.txt"), "content": "one\n"}), words="I will change some files."),
                command(tools, "echo out; exit 3"), command(tools, "touch denied"), text("All ", "done.")][min(count, 3)]

    with Fake("openai", script) as model:
        run = started(make, model, "--mode", "interactive", "Change files")
        for denied in (False, False, True):
            asked = run.until(lambda e: e["type"] == "approval" and e["data"]["state"] == "pending", 120)
            kind, name = ("deny" if denied else "approve"), asked["data"]["approvalID"]
            assert run.command(kind, approvalID=name)["state"] == "acknowledged", run.story()
        task, code = run.to_end(120)
        assert not wait_until_gone(run.mark), "nothing of it is left"
    assert task["status"]["state"] == "completed", run.story()
    assert (run.work / "one.txt").read_text() == "one\n" and not (run.work / "denied").exists()
    assert any("out" in event["output"]["summary"] for event in run.of_type("tool_result")), run.story()
    assert [e["output"].get("denied") for e in run.of_type("tool_result")].count(True) == 1, run.story()
    assert code == 0 and len(run.of_type("tool_call")) == 3
    assert task["usage"]["inputTokens"] > 0


@pytest.mark.parametrize("make, tools", AGENTS)
def test_alone_it_is_allowed_what_it_asks(started, make, tools):
    def script(request):
        count = results(request)
        return text("A title") if count is None else command(tools, "echo alone > alone.txt") if count == 0 else text("Done.")

    with Fake("openai", script) as model:
        run = started(make, model, "--mode", "autonomous", "Work alone")
        task, code = run.to_end(120)
    assert code == 0 and task["status"]["state"] == "completed", run.story()
    assert (run.work / "alone.txt").read_text() == "alone\n"
    assert "Done." in [event["summary"] for event in run.of_type("thinking")]


@pytest.mark.parametrize("make, tools", AGENTS)
def test_a_turn_is_interrupted_and_the_next_one_is_told(started, make, tools):
    import threading
    never = threading.Event()

    def script(request):
        said = json.dumps(request.body["messages"])
        if results(request) is None:
            return text("A title")
        return text("Here ", "I am.") if "are you there" in said else text("Starting", Wait(never))

    with Fake("openai", script) as model:
        run = started(make, model, "--mode", "autonomous", "Long job")
        run.until(lambda e: e["type"] == "session_start", 120)
        queued = run.send("queue", content="are you there?")
        assert run.settled(queued, ("accepted",))["state"] == "accepted"
        assert run.command("interrupt")["state"] == "acknowledged", run.story()
        assert run.settled(queued)["state"] == "acknowledged", run.story()
        task, code = run.to_end(120)
        never.set()
    assert code == 0 and task["status"]["state"] == "completed", run.story()
    assert "Here I am." in [event["summary"] for event in run.of_type("thinking")], run.story()
