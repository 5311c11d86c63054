"""An older runner, byte by byte as recorded. It is assigned a task, never claims, has no credentials, does not retry,
posts every line of its agent from its own thread, and exits once its report of the end is answered. Its Stop hook, a
separate process, may have reported the end before. Its adapter and page read the task."""

import datetime
import json
import random
import socket

import pytest

from server import Server
from tasks import eventually
from test_callbacks import Receiver
from test_producers import SEED, log_of

LINES = 500
IN_FLIGHT = 50  # requests in flight beside the first report of the end
SHOWN = ("type", "summary", "tool", "input", "output")
FALLBACK = {"event": "completed", "message": "claude code completed"}
# Who reports the end of the task and in which words; the answers; the end that counts.
ENDS = {
    "hook": ([{"event": "completed", "message": "task completed", "details": {"pr_url": "https://example.com/acme/app/pull/1"}}, FALLBACK],
             [200, 200], "completed"),
    "runner": ([FALLBACK], [200], "completed"),
    "hook_says_failed": ([{"event": "failed", "message": "no changes made"}, FALLBACK], [200, 409], "failed"),
    "agent_exits": ([{"event": "failed", "message": "runner failed: claude exited with code 3: broken\n"}], [200], "failed"),
}


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    directory = tmp_path_factory.mktemp("server")
    (directory / "token").write_text("ghs_of_the_file\n")
    config = f"internal:\n  auth: none\nrunners:\n  token_file: {directory / 'token'}\n"
    server = Server(directory / "data", config=config).start()
    yield server
    server.kill()


def create(api, receiver, **members):
    """Creates a task as its adapter does: `runner` is an object, and every member is present."""
    body = {"repo": {"url": "https://example.com/app.git", "ref": "main"},
            "task": {"description": "Fix it", "context": "a long thread", "sourceURL": "https://example.com/issues/7",
                     "sourceType": "issue", "sourceID": "7"},
            "callbackURL": receiver.url, "runner": {"sandboxTemplateName": "default", "timeout": "30m"},
            "labels": {"shepherd.io/repo": "acme-app", "shepherd.io/issue": "7"}}
    answer = api.post("/api/v1/tasks", json={**body, **members})
    assert answer.status_code == 201, answer.text
    return answer


class Connection:
    """One of its connections, which it keeps open until it exits."""

    def __init__(self, server, task):
        self.host = server.internal.removeprefix("http://")
        self.task = f"/api/v1/tasks/{task}"
        host, port = self.host.split(":")
        self.socket = socket.create_connection((host, int(port)), timeout=60)

    def send(self, method, path, body=None):
        head = f"{method} {self.task}{path} HTTP/1.1\r\nHost: {self.host}\r\nUser-Agent: Go-http-client/1.1\r\n"
        content = b""
        if body is not None:
            text = json.dumps(body, separators=(",", ":"), ensure_ascii=False)
            for sign in "<>&":
                text = text.replace(sign, f"\\u{ord(sign):04x}")
            content = text.encode()
            head += f"Content-Length: {len(content)}\r\nContent-Type: application/json\r\n"
        self.socket.sendall((head + "Accept-Encoding: gzip\r\n\r\n").encode() + content)

    def answer(self):
        """The status and the members of the answer."""
        reader = self.socket.makefile("rb")
        status = int(reader.readline().split()[1])
        length = 0
        while (line := reader.readline()) != b"\r\n":
            name, _, value = line.partition(b":")
            length = int(value) if name.lower() == b"content-length" else length
        return status, json.loads(reader.read(length))

    def ask(self, *request):
        self.send(*request)
        return self.answer()


def event(number):
    """The event for a line of its agent; its times have up to nine digits, without trailing zeros."""
    shown = f"echo {number} >&2 \u2713"
    kind = [{"type": "thinking", "summary": f"{number}: fixed `add()` <now>"},
            {"type": "tool_call", "summary": shown, "tool": "Bash", "input": {"command": shown}},
            {"type": "tool_result", "summary": f"Exit code 3\n{number}", "tool": "Bash",
             "output": {"success": False, "summary": f"Exit code 3\n{number}"}},
            {"type": "tool_call", "summary": f"Editing /workspace/{number}.py", "tool": "Edit",
             "input": {"file_path": f"/workspace/{number}.py", "new_string_length": 12, "old_string_length": 12}}][number % 4]
    return {"sequence": number, "timestamp": f"2026-02-18T14:00:00.{number * 1_234_500:09d}".rstrip("0") + "Z", **kind}


@pytest.mark.parametrize("ends", ENDS)
def test_it_runs_a_task_from_the_assignment_to_the_callback(server, api, ends):
    reports, answers, end = ENDS[ends]
    receiver = Receiver()
    try:
        task = create(api, receiver).json()["id"]
        first = Connection(server, task)
        assert first.ask("POST", "/status", {"event": "started", "message": "runner starting task"})[0] == 200
        data = first.ask("GET", "/data")[1]
        assert (data["description"], data["context"]) == ("Fix it", "a long thread")
        assert data["repo"] == {"url": "https://example.com/app.git", "ref": "main"}
        status, token = first.ask("GET", "/token")
        assert status == 200 and token["token"] == "ghs_of_the_file"
        expires = datetime.datetime.strptime(token["expiresAt"], "%Y-%m-%dT%H:%M:%S.%fZ")
        assert expires > datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)

        numbers = list(range(1, LINES + 1))
        random.Random(SEED).shuffle(numbers)
        threads = [(Connection(server, task), {"events": [event(number)]}) for number in numbers]
        tellers = [Connection(server, task) for _ in reports]
        for connection, body in threads[:-IN_FLIGHT]:
            connection.send("POST", "/events", body)
        tellers[0].send("POST", "/status", reports[0])
        for connection, body in threads[-IN_FLIGHT:]:
            connection.send("POST", "/events", body)
        codes = [tellers[0].answer()[0]]
        codes += [teller.ask("POST", "/status", report)[0] for teller, report in zip(tellers[1:], reports[1:])]
        assert codes == answers
        for connection in [first, *tellers, *(each for each, _ in threads)]:
            connection.socket.close()  # its process has ended and reads no more answers

        def lines_of(log):
            return [{key: e[key] for key in SHOWN if key in e} for e in log if e["type"] not in ("status", "log")]

        log = eventually(lambda: (got := log_of(api, task)) and len(lines_of(got)) >= LINES and got)
        assert lines_of(log) == [{key: event(n)[key] for key in SHOWN if key in event(n)} for n in range(1, LINES + 1)]
        assert [e["data"]["event"] for e in log if e["type"] == "status"] == ["started", end]
        assert log[-1]["type"] == "status", "what was on its way before the end is before it"
        assert not [e for e in log if e["type"] == "log"], "nothing is missing"
        [call] = eventually(lambda: receiver.of(task))
        assert call[2]["event"] == end and call[2]["message"] == reports[0]["message"]
        assert call[2]["details"]["pr_url"] == reports[0].get("details", {}).get("pr_url", "")
        assert Connection(server, task).ask("GET", "/token")[0] == 410
    finally:
        receiver.close()


def test_its_adapter_and_page_can_read_every_task(server, api):
    """An adapter reads at most a megabyte of an answer; a page reads `repo.url` of every row."""
    receiver = Receiver()
    try:
        thread = '{"quoted": "text"}\n' * 75_000
        made = create(api, receiver, task={"description": "Fix it", "context": thread})
        assert len(made.content) < 64 * 1024 and made.json()["task"] == {"description": "Fix it"}
        api.post("/api/v1/tasks", json={"prompt": "without a repository"})
        active = api.get("/api/v1/tasks", params={"repo": "acme-app", "issue": "7", "active": "true"})
        assert made.json()["id"] in [row["id"] for row in active.json()] and len(active.content) < 64 * 1024
        for row in api.get("/api/v1/tasks").json():
            assert isinstance(row["repo"]["url"], str) and {"phase", "message"} <= row["status"].keys()
        with server.runner(token="") as runner:
            assert runner.get(f"/api/v1/tasks/{made.json()['id']}/data").json()["context"] == thread
    finally:
        receiver.close()
