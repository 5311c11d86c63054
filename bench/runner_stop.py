"""Stops of agents that only SIGKILL ends: how long, and that nobody survives."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from runner_bench_parts import LADDER_MS, percentile, start_server, survivors

AT_ONCE = 8
# Deaf to everything, with an orphaned child in a session of its own and one that holds the output open.
STUBBORN = [{"ignore": ["INT", "TERM", "interrupt", "eof"]},
            {"fork": 1, "setsid": True, "twice": True, "stubborn": True},
            {"fork": 1, "stubborn": True, "hold_stdout": True},
            {"say": "ready"}, {"silent": 0}]


def measure(programs, directory, size):
    server = start_server(programs, directory, AT_ONCE)
    took, left, wrong, lock = [], [], [], threading.Lock()

    def stop_one(_):
        with server.api() as api:
            answer = api.post("/api/v1/tasks", json={"task": {"description": json.dumps(STUBBORN)}, "agent": "claude",
                                                     "mode": "autonomous"})
            answer.raise_for_status()
            task = answer.json()["id"]
            with server.websocket(f"/api/v1/tasks/{task}/events?after=0") as feed:
                feed.until(lambda m: m.type == "task_event" and m.data["summary"] == "ready", 60)
                began = time.monotonic()
                api.post(f"/api/v1/tasks/{task}/commands", json={"kind": "stop", "reason": "bench"}).raise_for_status()
                end = feed.until(lambda m: m.type == "task_complete", 60)[-1]
                seconds = time.monotonic() - began
            still = survivors(directory, programs.scripted_agent, {task})
            with lock:
                took.append(seconds)
                left.extend(still)
                if end.data["status"] != "cancelled":
                    wrong.append(end.data)

    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(stop_one, range(size["stops"])))
    finally:
        server.stop(60)
    left += survivors(directory, programs.scripted_agent)
    result = {"stops": len(took), "survivors": len(left), "not_cancelled": len(wrong),
              "p50_s": round(percentile(took, 0.5), 3), "p99_s": round(percentile(took, 0.99), 3),
              "max_s": round(max(took), 3), "good": not left and not wrong and len(took) == size["stops"]}
    rows = [(f"{len(took)} stops, {AT_ONCE} at once, rungs of {LADDER_MS} ms: p50", f"{result['p50_s']:.3f} s", ""),
            ("the same, p99", f"{result['p99_s']:.3f} s", "target 3 s"),
            ("processes that survived", str(len(left)), "0")]
    return rows, result
