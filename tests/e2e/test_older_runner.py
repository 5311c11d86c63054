"""An older runner, request by request: it is assigned a task, never claims, has no credentials, does not repeat what
failed, posts every line of its agent from a thread of its own, and reports the end twice. Its adapter and page read the task."""

import datetime
import random

import httpx
import pytest

from server import Server
from tasks import eventually
from test_callbacks import Receiver
from test_producers import SEED, Burst, end_of, line_of

LINES = 200


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    directory = tmp_path_factory.mktemp("server")
    (directory / "token").write_text("ghs_of_the_file\n")
    config = f"internal:\n  auth: none\nrunners:\n  token_file: {directory / 'token'}\n"
    server = Server(directory / "data", config=config).start()
    yield server
    server.kill()


def create(api, receiver, **members):
    """As its adapter does: `runner` is an object, and every member is there."""
    body = {"repo": {"url": "https://example.com/app.git", "ref": "main"},
            "task": {"description": "Fix it", "context": "a long thread", "sourceURL": "https://example.com/issues/7",
                     "sourceType": "issue", "sourceID": "7"},
            "callbackURL": receiver.url, "runner": {"sandboxTemplateName": "default", "timeout": "30m"},
            "labels": {"shepherd.io/repo": "acme-app", "shepherd.io/issue": "7"}}
    answer = api.post("/api/v1/tasks", json={**body, **members})
    assert answer.status_code == 201, answer.text
    return answer


@pytest.mark.parametrize("hook_reports", [True, False])
def test_it_runs_a_task_from_the_assignment_to_the_callback(server, api, hook_reports):
    receiver = Receiver()
    try:
        task = create(api, receiver).json()["id"]
        with httpx.Client(base_url=f"{server.internal}/api/v1/tasks/{task}", timeout=30, trust_env=False) as client:
            def report(event, message, **details):
                body = {"event": event, "message": message, **({"details": details} if details else {})}
                return client.post("/status", json=body).status_code

            assert report("started", "runner starting task") == 200
            data = client.get("/data").json()
            assert (data["description"], data["context"]) == ("Fix it", "a long thread")
            assert data["repo"] == {"url": "https://example.com/app.git", "ref": "main"}
            token = client.get("/token")
            assert token.status_code == 200 and token.json()["token"] == "ghs_of_the_file"
            expires = datetime.datetime.strptime(token.json()["expiresAt"], "%Y-%m-%dT%H:%M:%S.%fZ")
            assert expires > datetime.datetime.now(datetime.timezone.utc).replace(tzinfo=None)
            requests = [line_of(task, n) for n in range(1, LINES + 1)]
            random.Random(SEED).shuffle(requests)
            if hook_reports:
                requests.insert(LINES - 50, end_of(task))
            assert set(Burst(server, requests).fire()) == {200}, "it does not repeat what was refused"
            assert report("completed", "claude code completed") == 200, "its second word of the end, or its first"
            assert client.get("/token").status_code == 410
        log = api.get(f"/api/v1/tasks/{task}/events", params={"limit": 5000}).json()["events"]
        assert [e["summary"] for e in log if e["type"] == "tool_call"] == [f"e{n}" for n in range(1, LINES + 1)]
        assert [e["data"]["event"] for e in log if e["type"] == "status"] == ["started", "completed"]
        assert not [e for e in log if e["type"] == "log"], "nothing is missing"
        [call] = eventually(lambda: receiver.of(task))
        assert call[2]["event"] == "completed"
        assert call[2]["details"]["pr_url"] == ("https://example.com/pull/1" if hook_reports else "")
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
