"""Runs the shell examples of README.md and docs/ against the real program, in an otherwise empty environment.

Each example must end with exit code 0 (or the one in EXITS) and print the documented output. The test replaces ports, /tmp and
placeholders by its own. An example that is neither run nor listed in NOT_HERE with a reason fails.
"""

import json
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import httpx
import pytest
import yaml

import contract
import examples
from agents import CLAUDE, claude_environment, needs_claude
from chat_world import Script
from model_api import ModelAPI, Reply, text
from model_fakes import Fake
from server import BINARY
from streams import SSEFeed
from tasks import eventually
from terminal import Terminal
from test_agent_harness import python_agent  # noqa: F401 (a fixture)

DOCUMENTS = ["README.md", *sorted(f"docs/{path.name}" for path in (examples.ROOT / "docs").glob("*.md"))]

BUILD = "builds this program, which the test has been given"
INSTALL = "test_install.py installs the program, into a directory of its own"
BENCH = "measures for minutes; test_loadgen.py and test_runner_bench.py run the measurements"
PAGE = "works on the page's sources; ctest runs the page's tests"
SDK = "test_agent_harness.py builds and installs the library, and an agent outside this tree with it"
LIVE = "test_agent_live.py and test_agent_acp.py run it with real agents"
NOT_HERE = {  # start of a command -> why it is not run
    "make build": BUILD, "sudo make install": INSTALL, "make install PREFIX": INSTALL, "cd web": PAGE, "npm run build": PAGE, "PAGE_DIST=": PAGE,
    "ctest ": PAGE, "shepherd bench": BENCH, "make bench": BENCH, "ninja -C build/release redact_bench": BENCH, "cmake ": SDK,
    "shepherd agent test claude": LIVE, "shepherd agent test --acp": LIVE,
}
EXITS = {"shepherd run -- sh -c": 7}  # a task that fails


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Desk:
    """An empty home, a working directory, a persistent shell, and separate ports."""

    def __init__(self, place, model=None):
        self.home, self.work, self.bin = place / "home", place / "home" / "work", place / "bin"
        (self.home / ".config" / "shepherd").mkdir(parents=True)
        (place / "tmp").mkdir()
        (self.work / "build" / "bin").mkdir(parents=True)
        self.bin.mkdir()
        self.ports = {port: free_port() for port in (8080, 8081, 8082, 50051)}
        self.replaced = {f":{old}": f":{new}" for old, new in self.ports.items()} | {" /tmp/": f" {place / 'tmp'}/"}
        listen = {name: {"listen": f"127.0.0.1:{self.ports[port]}"} for name, port in (("public", 8080), ("internal", 8081), ("grpc", 8082))}
        (self.home / ".config" / "shepherd" / "config.yaml").write_text(yaml.safe_dump(listen))
        os.symlink(BINARY, self.bin / "shepherd")
        os.symlink(BINARY, self.work / "build" / "bin" / "shepherd")
        self.statuses = place / "statuses"
        self.program("curl", f'exec {shutil.which("curl")} -w "%{{stderr}}%{{http_code}}\\n" "$@" 2>>{self.statuses}')
        self.env = {**claude_environment(self.home, model.url if model else "http://127.0.0.1:9"), "SHELL": "/bin/bash"}
        self.env["PATH"] = f"{self.bin}:{self.env['PATH']}"
        self.background, self.printed = [], []
        self.placeholders = {"…": "x"}  # in commands; documented output keeps them
        self.shell = subprocess.Popen(["bash", "--norc", "--noprofile"], cwd=self.work, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.shell.stdin.write("shopt -s expand_aliases\n")

    def program(self, name, script):
        path = self.bin / name
        path.write_text(f"#!/bin/bash\n{script}\n")
        path.chmod(0o755)

    def real(self, text_):
        """A document's text with the test's ports and directories."""
        for old, new in self.replaced.items():
            text_ = text_.replace(old, new)
        return text_

    def type(self, command, timeout=60):
        """Types the command into the shell; returns (exit code, output, statuses of curl)."""
        self.statuses.write_text("")
        for old, new in self.placeholders.items():
            if old in command:
                command = command.replace(old, new() if callable(new) else new)
        # A command must not read the rest of the script as its input.
        self.shell.stdin.write(f"{{ {self.real(command)}\n}} </dev/null; code=$?; echo; echo end-of-example $code\n")
        self.shell.stdin.flush()
        watchdog = threading.Timer(timeout, lambda: os.killpg(self.shell.pid, signal.SIGKILL))
        watchdog.start()
        printed = self.printed = []
        for line in self.shell.stdout:
            if found := re.fullmatch(r"end-of-example (\d+)\n", line):
                watchdog.cancel()
                return int(found[1]), "".join(printed), [int(word) for word in re.findall(r"^(\d{3})$", self.statuses.read_text(), re.MULTILINE)]
            printed.append(line)
        raise AssertionError(f"did not end within {timeout} s: {command}\n{''.join(printed)}")

    def start(self, command):
        """Runs the command in a second terminal and collects its output."""
        self.background.append(Background(self.real(command), self.work, self.env))
        return self.background[-1]

    def serve(self):
        running = self.start("shepherd serve --runners 0")
        running.until("Ctrl-C stops the server")
        return running

    def token(self):
        return (self.home / ".local/share/shepherd/admin.token").read_text().strip()

    def client(self, port):
        return httpx.Client(base_url=f"http://127.0.0.1:{self.ports[port]}", headers={"Authorization": f"Bearer {self.token()}"}, trust_env=False,
                            timeout=20)

    def close(self):
        for each in self.background:
            each.end(signal.SIGKILL)
        self.shell.stdin.close()
        self.shell.stdout.close()
        if self.shell.poll() is None:
            os.killpg(self.shell.pid, signal.SIGKILL)
        self.shell.wait()


class Background:
    def __init__(self, command, cwd, env):
        self.process = subprocess.Popen(shlex.split(command), cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, text=True, start_new_session=True)
        self.lines = []
        self.reader = threading.Thread(target=lambda: self.lines.extend(iter(self.process.stdout.readline, "")), daemon=True)
        self.reader.start()

    def until(self, words):
        eventually(lambda: any(words in line for line in self.lines) or self.process.poll() is not None, 60)
        assert any(words in line for line in self.lines), "".join(self.lines)

    def end(self, how):
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(30)
        self.reader.join(10)
        return code


@pytest.fixture
def model():
    made = ModelAPI(lambda request: Reply(text("Fixed."))).start()
    yield made
    made.stop()


@pytest.fixture
def desk(tmp_path, model):
    made = Desk(tmp_path, model)
    os.symlink(CLAUDE, made.bin / "claude")
    yield made
    made.close()


def listed(table, example):
    return next((value for begin, value in table.items() if example.command.startswith(begin)), None)


def check_output(desk, example, printed):
    shown = [desk.real(line).replace("~/", f"{desk.home}/") for line in example.shown]
    lacks = examples.missing_line(shown, printed)
    assert lacks is None, f"{example}\nshows a line that was not printed: {lacks}\n--- printed:\n{''.join(printed)}"


def check(desk, example):
    """Types an example and compares its output with the documented one; returns the output."""
    code, printed, statuses = desk.type(example.command)
    assert code == (listed(EXITS, example) or 0), f"{example}\nended with {code}\n{printed}"
    words = " ".join([example.note, *example.shown])
    wanted = re.search(r"(?:^|: )([2-5]\d\d)(?: |$)", words)
    for status in statuses:
        assert status == int(wanted[1]) if wanted else 200 <= status < 300, f"{example}\nanswered {status}: {printed}"
    shown = " ".join(example.shown) if example.shown else example.note
    if (found := re.match(r"(?:\d{3} )?(\{.*\})", shown)) and printed.lstrip().startswith("{"):
        wrong = examples.wrong_json(found[1], json.loads(printed))
        assert wrong is None, f"{example}\nThe answer {wrong}: {printed}"
    elif example.shown:
        check_output(desk, example, printed.splitlines(keepends=True))
    return printed


# --- coverage of the examples ---

RUN_BELOW = {"README.md", "docs/http-api.md", "docs/grpc.md", "docs/configuration.md", "docs/running-agents.md", "docs/streaming-agents.md", "docs/chat.md"}


@pytest.mark.parametrize("document", DOCUMENTS)
def test_every_example_is_run_or_has_a_reason(document):
    left = [str(each) for each in examples.examples(document) if listed(NOT_HERE, each) is None]
    assert left == [] or document in RUN_BELOW


def test_no_reason_is_for_nothing():
    every = [each for document in DOCUMENTS for each in examples.examples(document)]
    for begin in [*NOT_HERE, *EXITS]:
        assert any(each.command.startswith(begin) for each in every), f"no document has {begin!r} any more"


def runnable(document):
    found = [each for each in examples.examples(document) if listed(NOT_HERE, each) is None]
    assert found, f"{document} has no examples any more"
    return found


# --- README.md: one story from top to bottom ---

def tasks_file(desk):
    """The tasks file of docs/running-agents.md, with the repository and service that it needs."""
    block, = (each for each in examples.blocks(examples.ROOT / "docs" / "running-agents.md") if each.language == "yaml" and "tasks:" in each.text)
    (desk.work / "tasks.yaml").write_text(block.text)
    (desk.work / "service").mkdir()
    (desk.work / "service" / "Makefile").write_text("test:\n\t@echo CI is $(CI)\n")
    for arguments in (["init", "-q"], ["add", "."], ["-c", "user.name=n", "-c", "user.email=e@example.com", "commit", "-qm", "one"]):
        subprocess.run(["git", *arguments], cwd=desk.work, env=desk.env, check=True)


def look_at_top(desk):
    terminal = Terminal(["top"], desk.env)
    terminal.wait_for("fix the failing test")
    terminal.press("q")
    assert terminal.end() == 0


@needs_claude
def test_the_readme(desk):
    tasks_file(desk)
    watcher = serving = None
    for example in runnable("README.md"):
        if example.command == "build/bin/shepherd demo":
            demo = desk.start(example.command)
            demo.until("http://shepherd.localhost")
            assert demo.end(signal.SIGINT) == 0, "".join(demo.lines)
        elif example.command == "shepherd serve":
            serving = desk.start(example.command)
            serving.until("Ctrl-C stops the server")
            check_output(desk, example, serving.lines)
        elif example.command == "shepherd top":
            look_at_top(desk)
        elif example.command.startswith("shepherd watch"):
            watched, watcher = example, desk.start(example.command)
        else:
            check(desk, example)
        if '"tool_call"' in example.command:  # "Now stop the server (…), start it again, and post the rest."
            watcher.until("call")
            serving.end(signal.SIGKILL)
            watcher.until("connection lost")
            serving = desk.serve()
            watcher.until("connected again")
    assert watcher.end(signal.SIGINT) == 0
    check_output(desk, watched, watcher.lines)
    with desk.client(8080) as api:
        assert api.get("/api/v1/tasks/fix-test").json()["status"]["state"] == "completed", "the translated log has an end"


# --- docs/http-api.md: a separate task for each section ---

class World:
    """The data for a section of docs/http-api.md, created before its first example."""

    def __init__(self, desk):
        self.desk, self.api, self.runner = desk, desk.client(8080), desk.client(8081)

    def create(self, name="fix-login", **members):
        self.api.delete(f"/api/v1/tasks/{name}")
        answer = self.api.post("/api/v1/tasks", json={"id": name, "prompt": "Fix the failing login test", **members})
        assert answer.status_code == 201, answer.text

    def post(self, *events, name="fix-login"):
        assert self.runner.post(f"/api/v1/tasks/{name}/events", json=list(events)).status_code == 200

    def end(self, event, **members):
        assert self.runner.post("/api/v1/tasks/fix-login/status", json={"event": event, **members}).status_code == 200

    def end_once_followed(self):
        eventually(lambda: any("caught_up" in line for line in self.desk.printed), 60)
        self.end("completed", details={"prURL": "https://example.com/pull/42"})

    def prepare(self, heading):
        self.create(**({"agent": "claude"} if heading == "Run tasks" else {"labels": {"team": "web"}}))
        if heading == "Create a task and post its events":
            self.api.delete("/api/v1/tasks/fix-login")
        elif heading in ("Read a log", "Replay"):
            self.post(*({"type": "thinking", "summary": f"step {i}"} for i in range(240)))
        elif heading == "Follow it live":
            self.post({"type": "tool_call", "summary": "Reading src/auth.go", "tool": "Read"})
            threading.Thread(target=self.end_once_followed).start()
        elif heading == "Steer a running task":
            self.post(*({"type": "thinking", "summary": f"step {i}"} for i in range(40)))
            feed = SSEFeed(f"{self.runner.base_url}/api/v1/tasks/fix-login/events?types=command",
                           {"Authorization": self.runner.headers["authorization"]})
            feed.until(lambda message: message.type == "caught_up")  # a runner listens
        elif heading == "What needs a person":
            self.end("failed")
            eventually(lambda: self.api.get("/api/v1/inbox").json()["total"])
        elif heading == "Figures and findings":
            self.create("audit")  # a new name, because a ledger step may skip a name that was just deleted
            self.post({"type": "tool_call", "tool": "Read", "summary": "x", "callID": "c"}, {"type": "tool_result", "tool": "Read", "summary": "x", "callID": "c"},
                      {"type": "finding", "summary": "f", "data": {"severity": "high"}}, name="audit")
            eventually(lambda: self.api.get("/api/v1/findings").json()["items"])
        elif heading == "Search":
            self.post({"type": "output", "summary": "auth.go says connection refused"})
            eventually(lambda: self.api.get("/api/v1/search", params={"q": "refused"}).json()["results"])
        elif heading == "Who may do what":
            made = self.api.post("/api/v1/tokens", json={"name": "old", "scope": "viewer"}).json()
            self.desk.placeholders["/tokens/ID"] = f"/tokens/{made['id']}"
        elif heading == "Run tasks":
            self.desk.placeholders["EPOCH"] = self.epoch

    def epoch(self):
        """The number of the lease that an example has claimed: the same claim again has the same answer."""
        again = {"runner": "build-7", "agents": ["claude"], "taskID": "fix-login"}
        return str(self.runner.post("/api/v1/claims", json=again).json()["leaseEpoch"])


def test_the_http_api(desk):
    desk.serve()
    world = World(desk)
    heading = None
    for example in runnable("docs/http-api.md"):
        if example.heading != heading:
            heading = example.heading
            world.prepare(heading)
        check(desk, example)


JSON_LINES = [(block, line) for block in examples.blocks(examples.ROOT / "docs" / "http-api.md") if block.language in ("", "json")
              for line in block.text.splitlines() if line.startswith("{")]


def test_the_messages_that_the_http_api_shows():
    """The document's JSON messages of a WebSocket, a callback and an error have the described form."""
    kinds = []
    for block, line in JSON_LINES:
        value, _ = json.JSONDecoder().raw_decode(line.replace(",…}", "}").replace("{task}", "{}"))
        if "webhook-id" in block.text:
            kinds.append("Callback")
        elif value.get("type") in ("subscribe", "unsubscribe"):
            kinds.append("ClientMessage")
        elif "data" in value:
            kinds.append("StreamMessage")
        elif "code" in value:
            kinds.append("Problem")
        else:
            continue  # a part of an event
        contract.validate(kinds[-1], value)
    assert kinds == ["ClientMessage", "ClientMessage", "StreamMessage", "ClientMessage", "ClientMessage", "Callback",
                     "Problem"]


# --- the others ---

def test_the_configuration(desk):
    config = desk.home / ".config/shepherd/config.yaml"
    before = yaml.safe_load(config.read_text())
    for example in runnable("docs/configuration.md"):
        check(desk, example)
    after = yaml.safe_load(config.read_text())
    assert {name: {"listen": after[name]["listen"]} for name in before} == before, "what was set stays set"
    assert desk.type("shepherd config")[0] == 0


def test_the_chat(desk):
    config = desk.home / ".config/shepherd/config.yaml"
    with Fake("llama", Script()) as backend:
        config.write_text(config.read_text() + yaml.safe_dump({"models": {"local": {"url": backend.url}}}))
        serving = desk.serve()
        assert any(f":{desk.ports[8080]}/?view=chat" in line for line in serving.lines), "".join(serving.lines)
        for example in runnable("docs/chat.md"):
            check(desk, example)


def test_over_grpc(desk):
    desk.serve()
    desk.program("grpcurl", f'PYTHONPATH={Path(__file__).parent} exec {sys.executable} -B {Path(__file__).parent / "grpcurl.py"} "$@"')
    with desk.client(8080) as api, desk.client(8081) as runner:
        api.post("/api/v1/tasks", json={"id": "hello", "prompt": "x"})
        runner.post("/api/v1/tasks/hello/events", json={"type": "output", "summary": "Hello from the log"})
    desk.type(f"export SHEPHERD_TOKEN={desk.token()}")
    for example in runnable("docs/grpc.md"):
        assert "Hello from the log" in check(desk, example)


@pytest.mark.parametrize("document", ["docs/running-agents.md", "docs/streaming-agents.md"])
def test_streaming_agents(desk, document, python_agent):  # noqa: F811
    """Uses the example agent in Python in place of the reader's own."""
    agent = f"exec {' '.join(shlex.quote(str(word)) for word in python_agent)} \"$@\""
    for name in ("build/my_agent", "my-agent"):
        (desk.work / name).write_text(f"#!/bin/bash\n{agent}\n")
        (desk.work / name).chmod(0o755)
    running = desk.start("./my-agent 127.0.0.1:50051")
    eventually(lambda: socket.socket().connect_ex(("127.0.0.1", desk.ports[50051])) == 0, 60)
    for example in runnable(document):
        if example.command.startswith("shepherd run"):
            assert answered(desk, desk.start(example.command)) == 0
        elif not example.command.endswith("&"):  # it is already running
            check(desk, example)
    assert running.process.poll() is None


def answered(desk, run):
    """Sends "go on" whenever the agent waits for its person; returns the exit code."""
    asked = 0
    while run.process.poll() is None:
        eventually(lambda: run.process.poll() is not None or sum("Waiting for input" in line for line in run.lines) > asked, 60)
        if run.process.poll() is None:
            asked += 1
            code, printed, _ = desk.type('shepherd steer - "go on"')
            assert code == 0, printed
    return run.process.returncode


@pytest.mark.parametrize("document", ["docs/running-agents.md", "docs/streaming-agents.md", "docs/chat.md"])
def test_shown_configuration_is_taken(desk, document):
    for block in examples.blocks(examples.ROOT / document):
        if block.language == "yaml" and block.text.startswith(("agents:", "models:", "chat:", "mcp_servers:")):
            (desk.home / "shown.yaml").write_text(block.text)
            for name in ("ca.pem", "auditor.token"):
                (desk.home / name).write_text("")
            code, printed, _ = desk.type("shepherd config --config ~/shown.yaml")
            assert code == 0, f"{document}:{block.line}: {printed}"
