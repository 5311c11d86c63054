"""An independent load tool finds no event missing, repeated or out of order."""

import json
import os
import subprocess
from pathlib import Path

import pytest

LOADGEN = os.environ.get("LOADGEN", "")
TEMPLATE = Path(__file__).resolve().parents[2] / "bench" / "loadgen-event.json"
CHANNELS = 10


@pytest.mark.skipif(not LOADGEN, reason="the load tool is not here")
@pytest.mark.parametrize("transport,batch", [("ws", 1), ("http", 1), ("ws", 16), ("http", 16)])
def test_nothing_lost_under_load(server, api, transport, batch):
    prefix = f"load-{transport}-{batch}-"
    for channel in range(CHANNELS):
        assert api.post("/api/v1/tasks", json={"id": f"{prefix}{channel:03d}", "prompt": "load"}).status_code == 201
    public = server.public.replace("http", transport, 1)
    result = subprocess.run(
        [LOADGEN, "--sub", f"{public}/api/v1/tasks/{{task}}/events", "--pub",
         f"{server.internal}/api/v1/tasks/{{task}}/events", "--bearer", server.token, "--subs", "50", "--channels",
         str(CHANNELS), "--pubs", "10", "--window", "32", "--secs", "2", "--warmup", "0.3", "--batch", str(batch),
         "--event-file", TEMPLATE, "--prefix", prefix, "--task-width", "3",
         *(["--batch-format", "array"] if batch > 1 else []), "--content-type", "application/json",
         *(["--sub-header", "Accept: text/event-stream"] if transport == "http" else [])],
        capture_output=True, text=True, timeout=60)
    assert result.returncode == 0, result.stdout + result.stderr
    report = json.loads(result.stdout.strip().splitlines()[-1])
    assert (report["missing"], report["dup"], report["late"]) == (0, 0, 0), report
    assert report["delivered_s"] > 100, report
