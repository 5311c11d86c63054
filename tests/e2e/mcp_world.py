"""A server with MCP servers and a scripted model that calls their tools."""

import json
import os
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
import yaml

from chat_client import Chat
from model_fakes import Fake, calls, text
from server import Server
from tasks import eventually

HERE = Path(__file__).parent
INSTALLED = HERE.parent.parent / "build" / "mcp"
NODE = INSTALLED / "bin" / "node"
PYTHON = INSTALLED / "python" / "bin"
PACKAGES = INSTALLED / "node_modules" / "@modelcontextprotocol"

needs_servers = pytest.mark.skipif(not (INSTALLED / "complete").exists(),
                                   reason="there are no MCP servers: tools/install-mcp-servers installs them")


def hostile(mode, *arguments, **more):
    return {"command": [sys.executable, str(HERE / "mcp_servers" / "hostile_server.py"), mode, *arguments], "trusted": True, **more}


def script(request):
    """`CALL name {arguments}` calls the tool; its result is the answer, as it came."""
    listed = request.body["messages"]
    if listed[-1]["role"] == "tool" or isinstance(listed[-1]["content"], list):  # images of the results are a message behind them
        return text("I have seen it.")
    word, _, rest = listed[-1]["content"].partition(" ")
    if word != "CALL":
        return text("Hello.")
    name, _, arguments = rest.partition(" ")
    return calls((name, json.loads(arguments or "{}")))


class McpWorld:
    """Owns the model's backend and the server."""

    def __init__(self, directory, servers, chat=None, env=None, model=None):
        self.backend = Fake("llama", script, context=262144).start()
        settings = {"models": {"local": {"type": "openai", "url": self.backend.url, **(model or {})}}, "public": {"auth": "none"}, "chat": chat or {},
                    "mcp_servers": servers}
        self.server = Server(directory / "data", config=yaml.safe_dump(settings), env=env).start()
        self.chat = Chat(self.server)

    def tools(self, prefix=""):
        return {tool["name"]: tool for tool in self.chat.session()["tools"] if tool["name"].startswith(prefix)}

    def has(self, *names):
        """Waits until the model could call these."""
        eventually(lambda: set(names) <= set(self.tools()), timeout=60)

    def call(self, name, **arguments):
        """What the model is told about a call."""
        self.chat.ask(f"CALL {name} {json.dumps(arguments)}")
        return self.backend.requests[-1].body["messages"][-1]["content"]

    def log(self):
        return self.server.log_path.read_text(errors="replace")

    def close(self):
        self.chat.close()
        self.server.kill()
        self.backend.stop()
        assert self.backend.problems == [], self.backend.problems


@pytest.fixture
def mcp_world(tmp_path):
    made = []

    def make(servers, **options):
        made.append(McpWorld(tmp_path / f"world-{len(made)}", servers, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


class NotesServer:
    """notes_server.py over HTTP, which prints its port."""

    def __init__(self, transport):
        self.process = subprocess.Popen([PYTHON / "python", HERE / "mcp_servers" / "notes_server.py", transport], stdout=subprocess.PIPE,
                                        stderr=subprocess.DEVNULL, text=True)
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}/" + ("sse" if transport == "sse" else "mcp")

    def stop(self):
        self.process.kill()
        self.process.wait()


class EverythingServer:
    """server-everything over HTTP. It takes a port and says when it listens."""

    def __init__(self, port=None):
        with socket.create_server(("127.0.0.1", port or 0)) as free:
            self.port = free.getsockname()[1]
        self.process = subprocess.Popen([NODE, PACKAGES / "server-everything" / "dist" / "index.js", "streamableHttp"], stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True,
                                        env={"PORT": str(self.port), "PATH": os.environ["PATH"]})
        for line in self.process.stderr:
            if "listening" in line:
                break
        threading.Thread(target=self.process.stderr.read, daemon=True).start()  # a full pipe would stop it
        self.url = f"http://127.0.0.1:{self.port}/mcp"
        httpx.get(self.url, trust_env=False)

    def stop(self):
        self.process.kill()
        self.process.wait()


@pytest.fixture
def running():
    """Starts services that end with the test."""
    made = []

    def start(kind, *arguments):
        made.append(kind(*arguments))
        return made[-1]

    yield start
    for each in made:
        each.stop()
