"""An older operator assigns tasks to a listening runner, byte by byte as it sends them: without credentials, and for a
task that its adapter created without an agent. It treats 200 as accepted and 409 as already running, and repeats the
request after anything else."""

import json
import socket

import pytest

from git_server import GitServer
from server import Server
from tasks import eventually
from test_callbacks import Receiver
from test_run_agent import ended, runner

TOKEN = "ghs_" + "of_the_file"
OPEN = ["--no-claims", "--parallel", "1", "--listen", "127.0.0.1:0", "--listen-auth", "none"]


@pytest.fixture(scope="module")
def forge(tmp_path_factory):
    served = GitServer(tmp_path_factory.mktemp("git") / "forge", TOKEN)
    yield served
    served.stop()


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory, forge):
    directory = tmp_path_factory.mktemp("server")
    (directory / "token").write_text(TOKEN + "\n")
    config = f"internal:\n  auth: none\nrunners:\n  token_file: {directory / 'token'}\n"
    # For the runners: the agent waits for a message, and git trusts the certificate.
    env = {"SCRIPTED_AGENT": '[{"wait": "message"}, {"say": "Done"}]', "GIT_SSL_CAINFO": str(forge.certificate)}
    server = Server(directory / "data", config=config, env=env).start()
    yield server
    server.kill()


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.close()


@pytest.fixture
def listening(server):
    """Starts listening runners that end with the test."""
    made = []

    def start(*words):
        made.append(runner(server, *OPEN, *words))
        return made[-1]

    yield start
    for process in made:
        process.kill()
        process.wait()


def create(api, receiver, forge, **members):
    """Creates a task as its adapter does: no `agent`, no `mode`, no `ref`."""
    body = {"repo": {"url": forge.url},
            "task": {"description": "fix the login", "context": "## Issue Description\n\nIt is broken\n\n",
                     "sourceURL": "https://example.com/acme/app/issues/7", "sourceType": "issue", "sourceID": "7"},
            "callbackURL": receiver.url, "runner": {"sandboxTemplateName": "default"},
            "labels": {"shepherd.io/repo": "acme-app", "shepherd.io/issue": "7"}}
    answer = api.post("/api/v1/tasks", json={**body, **members})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def ask(process, request):
    """Sends one request on its own connection; returns the status and the body of the answer."""
    host, port = process.ready["listen"].removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=30) as connection:
        connection.sendall(request.replace(b"{host}", f"{host}:{port}".encode()))
        answer = connection.makefile("rb")
        status = int(answer.readline().split()[1])
        length = 0
        while (line := answer.readline()) != b"\r\n":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return status, answer.read(length)


def assign(process, server, task):
    body = json.dumps({"taskID": task, "apiURL": server.internal}, separators=(",", ":")).encode()
    return ask(process, b"POST /task HTTP/1.1\r\nHost: {host}\r\nUser-Agent: Go-http-client/1.1\r\nContent-Length: %d\r\n"
                        b"Content-Type: application/json\r\nAccept-Encoding: gzip\r\n\r\n%s" % (len(body), body))


def test_its_task_is_run_by_claude(server, api, receiver, forge, listening):
    process = listening()
    assert ask(process, b"GET /healthz HTTP/1.1\r\nHost: {host}\r\nUser-Agent: kube-probe/1.32\r\nConnection: close\r\n\r\n") == (200, b"ok")
    first, second = (create(api, receiver, forge) for _ in range(2))
    assert assign(process, server, first) == (200, b'{"status":"accepted"}')
    assert assign(process, server, first)[0] in (200, 409), "it asks again when it was restarted"
    assert assign(process, server, second)[0] == 409, "one task at a time"
    with server.websocket(f"/api/v1/tasks/{first}/events?after=0") as feed:
        while (feed.next().data or {}).get("type") != "session_start":
            pass
    assert api.get(f"/api/v1/tasks/{first}").json()["status"]["phase"] == "Running"
    assert api.post(f"/api/v1/tasks/{first}/commands", json={"kind": "steer", "content": "go"}).status_code == 202
    assert ended(server, first)["status"] in ("completed", "Succeeded")
    assert {status for _, _, status in forge.requests} == {401, 200}, "it was cloned, with the token"
    [call] = eventually(lambda: receiver.of(first))
    assert call[2]["event"] == "completed"
    eventually(lambda: assign(process, server, second)[0] == 200)  # the slot is free again


def test_its_task_is_run_by_the_runners_first_agent(server, api, receiver, forge, listening):
    """A runner for another agent than `claude` runs the agent it was started for."""
    process = listening("--agent", "text", "--agent", "claude")
    task = create(api, receiver, forge, command=["git", "branch", "--show-current"])
    assert assign(process, server, task)[0] == 200
    assert ended(server, task)["status"] in ("completed", "Succeeded")
    log = api.get(f"/api/v1/tasks/{task}/events").json()["events"]
    assert [e["data"]["text"].strip() for e in log if e["type"] == "output"] == [f"shepherd/{task}"]


def test_a_task_of_another_agent_is_not_touched(server, api, receiver, forge, listening):
    process = listening("--agent", "text")
    task = create(api, receiver, forge, agent="claude")
    status, body = assign(process, server, task)
    assert (status, json.loads(body)["code"]) == (400, "unknown_agent")
    assert api.get(f"/api/v1/tasks/{task}").json()["status"]["state"] == "queued"
