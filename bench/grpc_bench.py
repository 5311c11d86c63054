#!/usr/bin/env python3
"""How long a word to a streaming agent takes, there and back, while many of them run. Measured on this machine.

    make bench-grpc                     100 agents, 2,000 words
    make bench-grpc ARGS="--quick"      the same with 300 words

All agents run under one server's own runners and say something twice a second. An operator steers them in turn, 25 times a
second; a watcher follows all tasks on one WebSocket. The time is from before the operator's POST until the agent's ack is
read from the watcher's WebSocket. The agents are one Python process, so their own share is in it.

The last line is one JSON object. Exit code 1 when a word was not acknowledged, or p99 is 50 ms or more.
"""

import argparse
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests" / "e2e")]

import httpx  # noqa: E402
import websockets.sync.client  # noqa: E402

from runner_bench_parts import percentile  # noqa: E402
from server import Server  # noqa: E402

TARGET_MS = 50
RATE = 25  # words a second


class Watcher:
    """One WebSocket over all tasks; when each acknowledgement was seen."""

    def __init__(self, server):
        self.seen, self.running = {}, set()
        self.changed = threading.Condition()
        self.socket = websockets.sync.client.connect(server.public.replace("http", "ws", 1) + "/api/v1/events", max_size=None,
                                                     additional_headers=server.headers())
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        try:
            for text in self.socket:
                now = time.perf_counter()
                if '"acknowledged"' not in text and '"status"' not in text:
                    continue
                message = json.loads(text)
                event = message.get("data") or {}
                data = event.get("data") or {}
                with self.changed:
                    if event.get("type") == "command_result" and data.get("state") == "acknowledged":
                        self.seen[data["id"]] = now
                    if event.get("type") == "status" and data.get("agentState") == "running":
                        self.running.add(message["taskID"])
                    self.changed.notify_all()
        except websockets.exceptions.ConnectionClosed:
            pass

    def wait(self, fact, timeout):
        with self.changed:
            return self.changed.wait_for(fact, timeout)


def steer(server, watcher, tasks, words, prefix):
    """{command id: when it was posted}"""
    posted, before = {}, len(watcher.seen)
    with httpx.Client(base_url=server.public, headers=server.headers(), trust_env=False, timeout=30) as api:
        began = time.perf_counter()
        for i in range(words):
            time.sleep(max(0.0, began + i / RATE - time.perf_counter()))  # the pace of the operator
            name = f"{prefix}-{i}"
            posted[name] = time.perf_counter()
            answer = api.post(f"/api/v1/tasks/{tasks[i % len(tasks)]}/commands", json={"id": name, "kind": "steer", "content": "look there"})
            answer.raise_for_status()
    watcher.wait(lambda: len(watcher.seen) == before + len(posted), 30)
    return posted


def measure(program, directory, agents, words):
    peer = subprocess.Popen([sys.executable, "-B", ROOT / "bench" / "grpc_peer.py"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    server = None
    try:
        address = peer.stdout.readline().strip()
        server = Server(directory / "data", config=f"agents: {{peer: {{type: grpc, address: '{address}', connect_ms: 30000}}}}\n",
                        args=["--runners", str(agents)], binary=str(program)).start(60)
        watcher = Watcher(server)
        with server.api() as api:
            tasks = [api.post("/api/v1/tasks", json={"prompt": "go on", "agent": "peer"}).json()["id"] for _ in range(agents)]
        assert watcher.wait(lambda: len(watcher.running) == agents, 60), f"only {len(watcher.running)} of {agents} agents run"
        steer(server, watcher, tasks, RATE, "first")
        posted = steer(server, watcher, tasks, words, "word")
        times = [(watcher.seen[name] - at) * 1000 for name, at in posted.items() if name in watcher.seen]
        return {"agents": agents, "words": words, "acknowledged": len(times), "p50_ms": round(percentile(times, 0.5), 2),
                "p99_ms": round(percentile(times, 0.99), 2), "max_ms": round(max(times, default=float("nan")), 2)}
    finally:
        if server:
            server.kill()
        peer.kill()
        peer.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/bin/shepherd", help="the shepherd to measure")
    parser.add_argument("--agents", type=int, default=100)
    parser.add_argument("--words", type=int, default=2000)
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shepherd-bench-") as directory:
        found = measure(Path(options.program).resolve(), Path(directory), options.agents, 300 if options.quick else options.words)
    good = found["acknowledged"] == found["words"] and found["p99_ms"] < TARGET_MS
    print(f"{found['words']} words to {found['agents']} agents: p50 {found['p50_ms']} ms, p99 {found['p99_ms']} ms (target {TARGET_MS}), "
          f"max {found['max_ms']} ms, {found['acknowledged']} acknowledged")
    print(json.dumps({"bench": "grpc", "good": good, **found}))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
