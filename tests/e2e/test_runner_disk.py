"""A runner whose disk is full, or that was killed: its events arrive, and losses are reported."""

import json
import os
import subprocess
from urllib.parse import urlsplit

import pytest

from agents import SCRIPTED
from tasks import eventually
from test_faults import small_disk  # noqa: F401  a fixture
from test_leases import create, ended, log_of, runner_of

pytestmark = pytest.mark.skipif(not os.access(SCRIPTED, os.X_OK), reason="SCRIPTED_AGENT_BIN is not set")


def fill(place):
    """Writes until not a byte more fits."""
    with open(place / "filler", "wb", buffering=0) as filler:
        for size in (1 << 20, 4096, 1):
            try:
                while filler.write(b"\0" * size) == size:
                    pass
            except OSError:
                pass
    return place / "filler"


def texts(api, task, word):
    return [e["summary"] for e in log_of(api, task) if e["type"] == "thinking" and word in e["summary"]]


def send(api, task, *steps):
    answer = api.post(f"/api/v1/tasks/{task}/commands", json={"kind": "steer", "content": json.dumps(list(steps))})
    assert answer.status_code == 202, answer.text


def test_a_full_disk_at_the_runner_loses_nothing_while_the_server_is_there(make_server, small_disk):
    server = make_server().start()
    with server.api() as api, runner_of(server, data=small_disk / "data"):
        task = create(api, {"say": "ready"}, {"wait": "message"})
        eventually(lambda: texts(api, task, "ready"), 60)
        filler = fill(small_disk)
        # More than the reserve that a spool keeps for its last entries.
        send(api, task, *[step for i in range(20) for step in ({"say": f"text {i}"}, {"huge": 100_000})])
        assert ended(server, task)["status"] in ("completed", "Succeeded"), log_of(api, task)
        assert texts(api, task, "text ") == [f"text {i}" for i in range(20)]
        filler.unlink()
        later = create(api, {"say": "goes on"})
        assert ended(server, later)["status"] in ("completed", "Succeeded")


def test_a_full_disk_and_no_server_the_loss_is_named_and_the_end_is_told(make_server, small_disk):
    server = make_server(config="runners: {lease_seconds: 600}\n").start()
    with server.api() as api, runner_of(server, data=small_disk / "data"):
        task = create(api, {"say": "ready"}, {"wait": "message"})
        eventually(lambda: texts(api, task, "ready"), 60)
        send(api, task, {"sleep": 4000}, {"repeat": 40, "steps": [{"huge": 1_000_000}]}, {"say": "last"})
        eventually(lambda: any(e["type"] == "command_result" and e["data"]["state"] == "delivered" for e in log_of(api, task)), 60)
        fill(small_disk)
        server.kill()
        spool, = (small_disk / "data" / "spool").glob("*.spool")
        # The run ends without a server; its spool is delivered once there is one again.
        eventually(lambda: not is_locked(spool), 120)
        server.listen, server.internal_listen = urlsplit(server.public).netloc, urlsplit(server.internal).netloc
        server.start()
        assert ended(server, task)["status"] in ("completed", "Succeeded")
        log = log_of(api, task)
        lost = [e["data"]["count"] for e in log if e["type"] == "log" and e["data"].get("code") == "events_lost"]
        assert sum(lost) > 0 and log[-1]["type"] == "status" and log[-1]["data"]["state"] == "completed"


def is_locked(path):
    return subprocess.run(["flock", "-n", path, "true"]).returncode != 0


def test_what_a_killed_runner_left_is_delivered_by_its_successor(make_server):
    server = make_server().start()
    with server.api() as api, runner_of(server) as process:
        task = create(api, {"say": "ready"}, {"wait": "message"})
        eventually(lambda: texts(api, task, "ready"), 60)
        send(api, task, {"sleep": 3000}, *[{"say": f"text {i}"} for i in range(40)], {"silent": 0})
        eventually(lambda: any(e["type"] == "command_result" and e["data"]["state"] == "delivered" for e in log_of(api, task)), 60)
        server.kill()
        spool, = (server.data / "spool").glob("*.spool")
        # The message that requested it also contains the words.
        eventually(lambda: b'"summary":"text 39"' in spool.read_bytes(), 60)
        process.kill()
        process.wait()
    server.start()
    with server.api() as api, runner_of(server):
        eventually(lambda: texts(api, task, "text ") == [f"text {i}" for i in range(40)], 60)
        eventually(lambda: not spool.exists(), 60)
