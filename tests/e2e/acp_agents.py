"""The real Goose, and OpenCode by its `acp`, for the tests: how they are started over a scripted model, with a throw-away home."""

import json
import os
import time

import pytest
import yaml

from agent_run import AGENT_WAIT, AgentRun
from model_fakes import calls

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


def wait_for_file(path, timeout=AGENT_WAIT):
    deadline = time.monotonic() + timeout
    while not path.exists():
        assert time.monotonic() < deadline, f"there is no {path}"
        time.sleep(0.02)  # between two looks at the directory


class Starter:
    """Starts an agent in a work directory, each time with the same home."""

    def __init__(self, server, tmp_path):
        self.server, self.home, self.work, self.config = server, tmp_path / "home", tmp_path / "work", tmp_path / "agents.yaml"
        self.home.mkdir()
        self.work.mkdir()
        self.runs = []

    def __call__(self, make, model, *arguments):
        self.config.write_text(yaml.safe_dump({"agents": {"real": {"driver": "acp", **make(self.home, model)}}}))
        env = {"PATH": PATH, "HOME": str(self.home), "LANG": "C.UTF-8", "TERM": "dumb"}
        self.runs.append(AgentRun(self.server, ["--config", self.config, "--agent", "real", *arguments], self.work, env))
        self.runs[-1].work = self.work
        return self.runs[-1]

    def end(self):
        for run in self.runs:
            run.__exit__()
