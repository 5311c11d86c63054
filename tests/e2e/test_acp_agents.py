"""Real agents that speak the Agent Client Protocol, over a scripted model: Goose, and OpenCode by its `acp`."""

import json
import os

import pytest
import yaml

from agent_run import AgentRun, wait_until_gone
from model_fakes import Fake, Wait, calls, text

GOOSE = os.environ.get("GOOSE_BIN", "")
OPENCODE = os.environ.get("OPENCODE_BIN", "")
PATH = "/usr/local/bin:/usr/bin:/bin"


def results(request):
    """How many tool results the request has; None: it is no turn, but a title for the session."""
    if not request.body.get("tools"):
        return None
    return sum(1 for message in request.body["messages"] if message["role"] == "tool")


def goose(home, model):
    variables = {"GOOSE_PROVIDER": "openai", "OPENAI_HOST": model.root, "OPENAI_API_KEY": "sk-test", "GOOSE_MODEL": "fake-1",
                 "GOOSE_DISABLE_KEYRING": "1"}
    return {"command": [GOOSE, "acp", "--with-builtin", "developer"], "env": variables}


def opencode(home, model):
    file = home / "opencode.json"
    provider = {"npm": "@ai-sdk/openai-compatible", "name": "Fake", "options": {"baseURL": model.url, "apiKey": "sk-test"},
                "models": {"fake-1": {"name": "Fake", "tool_call": True, "limit": {"context": 100000, "output": 8000}}}}
    file.write_text(json.dumps({"provider": {"fake": provider}, "model": "fake/fake-1", "small_model": "fake/fake-1", "share": "disabled",
                                "autoupdate": False, "permission": {"edit": "ask", "bash": "ask"}}))
    return {"command": [OPENCODE, "acp"], "env": {"OPENCODE_CONFIG": str(file), "OPENCODE_DISABLE_MODELS_FETCH": "1",
                                                   "OPENCODE_DISABLE_LSP_DOWNLOAD": "1", "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1"}}


# The agent, and what its tools for a command and a file are called.
AGENTS = [pytest.param(make, tools, id=make.__name__, marks=pytest.mark.skipif(
    not os.access(program, os.X_OK), reason=f"NOT TESTED: {make.__name__} is not installed; tools/install-agent says why"))
    for make, program, tools in ((goose, GOOSE, ("shell", "write", "path")), (opencode, OPENCODE, ("bash", "write", "filePath")))]


def command(tools, line):
    return calls((tools[0], {"command": line, "description": "Run"}))


@pytest.fixture
def started(server, tmp_path):
    """Starts the agent in a work directory of its own with a throw-away home."""
    runs = []

    def start(make, model, *arguments):
        home, work = tmp_path / "home", tmp_path / "work"
        home.mkdir()
        work.mkdir()
        entry = {"driver": "acp", **make(home, model)}
        config = tmp_path / "agents.yaml"
        config.write_text(yaml.safe_dump({"agents": {"real": entry}}))
        env = {"PATH": PATH, "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb"}
        runs.append(AgentRun(server, ["--config", config, "--agent", "real", *arguments], work, env))
        runs[-1].work = work
        return runs[-1]

    yield start
    for run in runs:
        run.__exit__()


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
