"""Short streaming tasks, many in parallel and many in sequence: every one ends, and none is left connecting.

SHEPHERD_STREAM_TASKS=2000 is the long form. A failure shows the task's log and the server's."""

import collections
import json
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

COUNT = int(os.environ.get("SHEPHERD_STREAM_TASKS", "80"))
BESIDE = 12  # number of runners, which is also the number of concurrent streams

# How an agent can end: end the stream itself, wait for our half-close as vendors' libraries do, or fail.
PLANS = [
    ([{"say": "hello"}], "completed"),
    ([{"say": "hello"}, {"status": "COMPLETED", "message": "done"}, {"wait": "end"}], "completed"),
    ([{"burst": 30}, {"tool": "x", "result": 1}, {"status": "COMPLETED"}, {"wait": "end"}], "completed"),
    ([{"error": "NO_MODEL", "message": "no such model", "fatal": True}, {"status": "FAILED"}, {"wait": "end"}], "failed"),
    ([{"say": "hello"}, {"status": "COMPLETED"}], "completed"),
]


@pytest.fixture
def agent():
    """A separate process, as real agents are."""
    process = subprocess.Popen([sys.executable, "-B", str(Path(__file__).parent / "grpc_agent.py")], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, text=True)
    yield process.stdout.readline().strip()
    process.stdin.close()
    process.wait(30)


def told(api, task):
    return [(event["type"], event["summary"]) for event in api.get(f"/api/v1/tasks/{task}/events").json()["events"]]


def test_every_short_streaming_task_ends(make_server, agent):
    server = make_server(args=["--runners", str(BESIDE)],
                         config=f"agents: {{auditor: {{type: grpc, address: '{agent}'}}}}\n").start()
    expected, states = {}, {}
    with server.api() as api:
        made = 0
        deadline = time.monotonic() + 120
        while len(states) < COUNT and time.monotonic() < deadline:
            # Keeps the queue short but never empty.
            while made < COUNT and made - len(states) < 3 * BESIDE:
                plan, end = PLANS[made % len(PLANS)]
                answer = api.post("/api/v1/tasks", json={"prompt": json.dumps(plan), "agent": "auditor"})
                expected[answer.raise_for_status().json()["id"]] = end
                made += 1
            before = len(states)
            for task in expected.keys() - states.keys():
                state = api.get(f"/api/v1/tasks/{task}").json()["status"]["state"]
                if state in ("completed", "failed", "timed_out", "cancelled"):
                    states[task] = state
            if len(states) > before:
                deadline = time.monotonic() + 120  # since the last task ended
            time.sleep(0.05)
        stuck = {task: told(api, task) for task in expected.keys() - states.keys()}
    assert not stuck, f"{len(stuck)} of {made} did not end: {json.dumps(stuck, indent=1)}\n{server.log()}"
    wrong = {task: state for task, state in states.items() if state != expected[task]}
    assert not wrong, (collections.Counter(wrong.values()), server.log())
