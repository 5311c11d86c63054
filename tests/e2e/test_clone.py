"""Tasks with their own repository: cloned over HTTPS with a token that appears nowhere, and stopped meanwhile."""

import json
import os
import socket
import subprocess
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from agent_run import MARK, survivors, wait_until_gone
from agents import SCRIPTED
from git_server import GitServer
from tasks import eventually, new_id

TOKEN = "repository-" + "token-5f1c9a77d0"  # matches no known pattern, so only its exact value can be recognised


@pytest.fixture
def forge(tmp_path):
    served = GitServer(tmp_path / "forge", TOKEN)
    yield served
    served.stop()


@pytest.fixture
def pool(make_server, tmp_path):
    """A server with its own runner; git trusts the test's certificate."""
    def make(certificate=None, token=None):
        secret = tmp_path / "token"
        secret.write_text((token or TOKEN) + "\n")
        mark = new_id()
        env = {MARK: mark, **({"GIT_SSL_CAINFO": str(certificate)} if certificate else {})}
        server = make_server(args=["--runners", "1"], env=env, config=(
            f"claude: {{program: '{SCRIPTED}'}}\nrunners: {{token_file: '{secret}'}}\n")).start()
        server.mark = mark
        return server
    return make


def create(api, url, steps, **members):
    answer = api.post("/api/v1/tasks", json={"prompt": json.dumps(steps), "agent": "claude", "mode": "autonomous",
                                             "repo": {"url": url, "ref": "trunk"}, **members})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def to_end(server, task, timeout=60):
    """All events, and the last message."""
    events = []
    with server.websocket(f"/api/v1/tasks/{task}/events?after=0") as feed:
        while True:
            message = feed.next(timeout)
            if message.type == "task_event":
                events.append(message.data)
            elif message.type == "task_complete":
                return events, message.data


class ProcessWatch:
    """Searches the arguments of all processes for a text, repeatedly."""

    def __init__(self, text):
        self.text, self.found, self.looks, self.git = text.encode(), [], 0, set()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._watch)

    def _watch(self):
        while not self._end.is_set():
            for entry in Path("/proc").iterdir():
                if not entry.name.isdigit():
                    continue
                try:
                    words = (entry / "cmdline").read_bytes()
                except OSError:
                    continue  # gone
                if b"git" in words:
                    self.git.add(words)
                if self.text in words:
                    self.found.append(words)
            self.looks += 1

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._end.set()
        self._thread.join()


def files_with(text, directory):
    return [str(path) for path in Path(directory).rglob("*")
            if path.is_file() and not path.is_symlink() and text.encode() in path.read_bytes()]


def test_a_clone_over_https_with_a_token(forge, pool):
    server = pool(forge.certificate)
    work = ("cat hello.txt; git config --list --show-origin; git remote -v; "
            "git -c user.name=a -c user.email=a@example.org commit -q --allow-empty -m done; git push -q origin HEAD; echo pushed $?; "
            "echo the token is $SHEPHERD_REPOSITORY_TOKEN")
    with server.api() as api, ProcessWatch(TOKEN) as watch:
        task = create(api, forge.url, [{"tool": "Bash", "input": {"command": work}, "run": True}, {"say": "done"}])
        events, end = to_end(server, task)
        assert end["status"] in ("completed", "Succeeded"), (end, server.log())
        log = api.get(f"/api/v1/tasks/{task}/events", params={"detail": 1, "limit": 1000}).text
    assert "hello over https" in log and "pushed 0" in log, log
    assert [status for _, _, status in forge.requests].count(401) >= 1, "it was asked for, not sent unasked"
    assert ("POST", "/app.git/git-upload-pack", 200) in forge.requests and ("POST", "/app.git/git-receive-pack", 200) in forge.requests
    # The token must appear nowhere: processes' arguments, the log and its raw records, the server's own log, any file
    # of the data directory (database, spool, clone with its configuration), the agent's home.
    assert watch.looks > 3 and any(b"clone" in words for words in watch.git), "the watch saw nothing"
    assert watch.found == []
    assert TOKEN not in log and f"the token is [redacted:secret:{len(TOKEN)}]" in log
    assert TOKEN not in server.log_path.read_text(errors="replace")
    assert server.stop() == 0
    tree = server.data / "workspaces" / task / "tree"
    assert (tree / "hello.txt").exists() and (tree / ".git" / "config").exists()
    assert files_with(TOKEN, server.data) == [] and files_with(TOKEN, server.home) == []


def test_a_wrong_token_is_an_error_that_does_not_repeat_it(forge, pool):
    wrong = "wrong-" + TOKEN
    server = pool(forge.certificate, wrong)
    with server.api() as api:
        events, end = to_end(server, create(api, forge.url, [{"say": "never"}]))
        assert end["status"] in ("failed", "Failed"), end
        error, = [event for event in events if event["type"] == "error"]
    assert error["data"]["code"] == "no_workspace" and "Authentication failed" in error["summary"], error
    assert wrong not in json.dumps(events) + server.log_path.read_text(errors="replace")
    assert server.stop() == 0
    assert files_with(wrong, server.data) == []


def test_a_certificate_that_nobody_vouches_for_is_refused(forge, pool):
    server = pool()
    with server.api() as api:
        events, end = to_end(server, create(api, forge.url, [{"say": "never"}]))
    assert end["status"] in ("failed", "Failed") and "certificate" in json.dumps(events), events
    assert forge.requests == [], "nothing was said to it, least of all the token"


def test_the_token_does_not_follow_a_redirect(pool):
    """A repository on this machine redirects git to another host, which asks for credentials."""
    heard = []

    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_):
            pass

        def do_GET(self):
            heard.append((self.headers["Host"], self.headers.get("Authorization")))
            elsewhere = self.headers["Host"].startswith("localhost")
            self.send_response(401 if elsewhere else 302)
            self.send_header("WWW-Authenticate", 'Basic realm="x"') if elsewhere else self.send_header(
                "Location", f"http://localhost:{self.server.server_port}{self.path}")
            self.send_header("Content-Length", "0")
            self.end_headers()

    served = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=served.serve_forever, daemon=True).start()
    server = pool()
    try:
        with server.api() as api:
            events, end = to_end(server, create(api, f"http://127.0.0.1:{served.server_port}/app.git", [{"say": "never"}]))
    finally:
        served.shutdown()
        served.server_close()
    assert end["status"] in ("failed", "Failed"), end
    assert any(host.startswith("localhost") for host, _ in heard), "git went there"
    assert [token for _, token in heard if token] == []


def test_the_configuration_of_a_tree_holds_up_neither_stop_nor_shutdown(pool, tmp_path):
    """The agent leaves a program that never ends where git looks for one."""
    repository, ran = tmp_path / "repository", tmp_path / "ran"
    repository.mkdir()
    for words in (["init", "-q", "-b", "trunk"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], cwd=repository, check=True)
    script = tmp_path / "monitor"
    script.write_text(f"#!/bin/sh\nenv >> {ran}\nsleep 1000\n")
    script.chmod(0o755)
    server = pool()
    work = (f"echo x > file; git add file; git config core.fsmonitor {script}; git config filter.evil.clean {script}; "
            f"echo '* filter=evil' > .git/info/attributes; echo yy > file; rm -f {ran}; echo done")
    with server.api() as api:
        task = create(api, str(repository), [{"tool": "Bash", "input": {"command": work}, "run": True}, {"say": "ready"}, {"wait": "message"}])
        with server.websocket(f"/api/v1/tasks/{task}/events?after=0") as feed:
            # The prompt also has the word, so it does not count.
            while (said := feed.next(60).data or {}).get("type") != "thinking" or "ready" not in said["summary"]:
                pass
        assert api.post(f"/api/v1/tasks/{task}/commands", json={"id": "s1", "kind": "stop"}).status_code == 202
        events, end = to_end(server, task)
        assert end["status"] in ("cancelled", "Cancelled"), end
        result, = [event["data"] for event in events if event["type"] == "result"]
        assert result["files"] == ["file"], "what it did is known all the same"
    config = (server.data / "workspaces" / task / "tree/.git/config").read_text()
    assert "fsmonitor" in config and "evil" in config, "the trap was set"
    assert server.stop(timeout=30) == 0
    assert not ran.exists(), ran.read_text()


def test_a_stop_does_not_wait_for_a_clone(pool):
    """The other side accepts the connection and never answers."""
    server = pool()
    with socket.create_server(("127.0.0.1", 0)) as silent, server.api() as api:
        task = create(api, f"http://127.0.0.1:{silent.getsockname()[1]}/app.git", [{"say": "never"}])
        connection, _ = silent.accept()
        assert survivors(server.mark), "git runs"
        began = time.monotonic()
        answer = api.post(f"/api/v1/tasks/{task}/commands", json={"id": "s1", "kind": "stop", "reason": "enough"})
        assert answer.status_code == 202
        events, end = to_end(server, task)
        took = time.monotonic() - began
        connection.close()
    assert end["status"] in ("cancelled", "Cancelled"), end
    assert [e["data"]["state"] for e in events if e["type"] == "command_result"][-1] == "acknowledged"
    last = events[-1]["data"]
    assert last["state"] == "cancelled" and last["message"] == "enough" and last["stoppedBy"] == "SIGTERM", last
    assert any("git" in each["name"] for each in last["ended"]) and len(last["ended"]) >= 2, last
    assert not [event for event in events if event["type"] == "error"], "a stop is no error"
    assert wait_until_gone(server.mark, but=[server.process.pid]) == []
    assert took < 30, "a stop waits for nobody"
    assert not (server.data / "workspaces" / task / "tree").exists()


def test_a_message_that_comes_during_the_clone_waits_for_the_agent(forge, pool):
    server = pool(forge.certificate)
    forge.gate.clear()
    with server.api() as api:
        task = create(api, forge.url, [{"wait": "message"}, {"say": "done"}])

        def told(state):
            events = api.get(f"/api/v1/tasks/{task}/events", params={"types": "command_result", "limit": 100}).json()["events"]
            return [event for event in events if event["data"]["id"] == "early" and event["data"]["state"] == state]
        eventually(lambda: api.get(f"/api/v1/tasks/{task}").json()["status"]["state"] == "starting")
        answer = api.post(f"/api/v1/tasks/{task}/commands", json={"id": "early", "kind": "steer", "content": "look at the tests"})
        assert answer.status_code == 202, answer.text
        held, = eventually(lambda: told("accepted"))
        assert held["data"]["reason"] == "held until the agent runs", held
        forge.gate.set()
        events, end = to_end(server, task)
    assert end["status"] in ("completed", "Succeeded"), (end, server.log())
    states = [event["data"]["state"] for event in events if event["type"] == "command_result"]
    assert states == ["accepted", "delivered", "acknowledged"], states
    assert "look at the tests" in json.dumps([event for event in events if event["type"] == "thinking"])
