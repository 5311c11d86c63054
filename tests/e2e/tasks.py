"""Common operations on tasks."""

import time
import uuid


def new_task(api, **members):
    answer = api.post("/api/v1/tasks", json={"task": {"description": "a task of the tests"}, **members})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def new_id(prefix="t"):
    return f"{prefix}-{uuid.uuid4().hex[:16]}"


def post_events(runner, task, *events, **options):
    answer = runner.post(f"/api/v1/tasks/{task}/events", json=list(events), **options)
    assert answer.status_code == 200, answer.text
    return answer.json()


def note(summary, **members):
    return {"type": "thinking", "summary": summary, "data": {"kind": "text"}, **members}


def end_task(runner, task, event="completed", **members):
    answer = runner.post(f"/api/v1/tasks/{task}/status", json={"event": event, **members})
    assert answer.status_code == 200, answer.text
    return answer.json()


def eventually(look, timeout=20):
    """Polls look() until it returns something true, and returns that."""
    deadline = time.monotonic() + timeout
    while True:
        found = look()
        if found:
            return found
        assert time.monotonic() < deadline, "it did not happen"
        time.sleep(0.02)
