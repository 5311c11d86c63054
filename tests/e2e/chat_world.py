"""A server with a scripted backend whose answer the prompt chooses, and the fixtures that chat tests share."""

import threading
from collections import defaultdict

import pytest

from chat_client import Chat, config
from model_fakes import Fake, Silence, Wait, calls, openai_error, refusal, text
from server import Server

ANSWER = "The capital of France is Paris."


class Script:
    """Chooses answers by the first word of the last prompt. A gate holds an answer until the test opens it."""

    def __init__(self, **more):
        self.gates = defaultdict(threading.Event)
        self.more = more

    def __call__(self, request):
        listed = request.body["messages"]
        prompt = next(message["content"] for message in reversed(listed) if message["role"] == "user")
        word, _, rest = prompt.partition(" ")
        results = 0
        for message in reversed(listed):
            if message["role"] == "user":
                break
            results += message["role"] == "assistant"
        if word in self.more:
            return self.more[word](request, rest, results)
        if results:
            return text("The tool", " has answered.")
        if word == "HOLD":  # begins, and goes on when its gate is open
            return text("Beginning", Wait(self.gates[rest]), " and end.")
        if word == "SILENT":  # says nothing for this time
            return text("At last.", before=[Silence(float(rest))])
        if word == "ECHO":
            return text(rest)
        if word == "FAIL":
            return refusal(400, openai_error("The model has no idea", "invalid_request_error"))
        if word == "LIST":
            return calls(("list_files", {"path": "."}))
        if word == "READ":
            return calls(("read_file", {"path": rest or "notes.txt"}))
        if word == "RUN":
            return calls(("run_command", {"command": rest}))
        return text("The capital", " of France", " is Paris.")


class World:
    """Owns the backend and the server."""

    def __init__(self, directory, kind="llama", context=8192, chat=None, auth="none", script=None, entry=None, more="", **options):
        self.script = script or Script()
        self.backend = Fake(kind, self.script, context=context).start()
        self.root = directory / "files"
        self.root.mkdir(parents=True, exist_ok=True)
        (self.root / "notes.txt").write_text("Remember the milk.\n")
        dialect = kind if kind in ("anthropic", "ollama") else "openai"
        settings = {"tools_root": str(self.root), "system": "You are terse.", **(chat or {})}
        self.server = Server(directory / "data", config=config(self.backend.url, dialect, chat=settings, auth=auth, **(entry or {})) + more, **options).start()
        self.names = 0

    def chat(self, session=None, **options):
        return Chat(self.server, session, **options)

    def new(self, **options):
        """A session of its own."""
        self.names += 1
        return self.chat(f"chat-{self.names}", **options)

    def close(self):
        self.server.kill()
        self.backend.stop()
        assert self.backend.problems == [], self.backend.problems


@pytest.fixture(scope="module")
def shared_world(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("chat"))
    yield made
    made.close()


@pytest.fixture
def world(shared_world):
    """One server for all tests of a file; it must survive each of them."""
    yield shared_world
    assert shared_world.server.alive(), shared_world.server.log()


@pytest.fixture
def chat(world):
    with world.new() as made:
        yield made


@pytest.fixture
def make_world(tmp_path):
    made = []

    def make(**options):
        made.append(World(tmp_path / f"world-{len(made)}", **options))
        return made[-1]

    yield make
    for each in made:
        each.close()
