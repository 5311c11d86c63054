"""A runner of the older design against the real server: no event is lost, and the order is the agent's."""

import json
import subprocess
import threading

import pytest

from agents import SCRIPTED
from forgetful_runner import ForgetfulRunner
from server import Server, environment
from tasks import new_task

SEED = 20260116
SCRIPT = [{"repeat": 40, "steps": [{"say": "Looking."}, {"tool": "Bash", "input": {"command": "go test ./..."}, "result": "ok"}]}]


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    """The internal port as that runner expects it: without credentials."""
    server = Server(tmp_path_factory.mktemp("server") / "data", config="internal:\n  auth: none\n").start()
    yield server
    server.kill()


def agent_lines(home):
    done = subprocess.run([SCRIPTED, "-p", json.dumps(SCRIPT), "--output-format", "stream-json", "--verbose"],
                          capture_output=True, text=True, timeout=60, env=environment(home))
    assert done.returncode == 0, done.stderr
    return done.stdout.splitlines()


def test_six_at_once_lose_nothing_and_keep_their_order(server, api, tmp_path):
    lines = agent_lines(tmp_path)
    tasks = [new_task(api) for _ in range(6)]
    watched = server.websocket(f"/api/v1/tasks/{tasks[0]}/events")
    runners = [ForgetfulRunner(server.internal, task, SEED + i) for i, task in enumerate(tasks)]
    sent = {}

    def run(runner):
        sent[runner.task] = runner.run(lines)

    threads = [threading.Thread(target=run, args=(runner,)) for runner in runners]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)

    for runner in runners:
        refused = [answer for answer in runner.answers if answer[0] != 200]
        assert refused == [], f"seed {SEED}"
        logged = api.get(f"/api/v1/tasks/{runner.task}/events", params={"limit": 5000}).json()["events"]
        assert [event["sequence"] for event in logged] == list(range(1, len(logged) + 1))
        *steps, end = logged
        assert end["type"] == "status" and end["data"]["state"] == "completed"
        expected = [(e["type"], e["summary"], e["timestamp"]) for e in sent[runner.task]]
        assert [(e["type"], e["summary"], e["timestamp"]) for e in steps] == expected, f"seed {SEED}"
        seen = api.get(f"/api/v1/tasks/{runner.task}").json()
        assert seen["status"]["phase"] == "Succeeded" and seen["status"]["prURL"] == "https://example.com/pr/7"

    # Live viewers saw the same.
    with watched as feed:
        live = feed.until(lambda message: message.type == "task_complete")
    numbers = [message.data["sequence"] for message in live if message.type == "task_event"]
    assert numbers == list(range(1, len(sent[tasks[0]]) + 2))
