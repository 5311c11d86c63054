"""SIGKILLs of the runner itself: its agents go with it."""

import json
import os
import signal
import subprocess
import threading
import time
from concurrent.futures import ThreadPoolExecutor

from runner_bench_parts import percentile, start_server, survivors
from runner_stop import STUBBORN

AT_ONCE = 4
PATIENCE_SECONDS = 10


def measure(programs, directory, size):
    server = start_server(programs, directory, 0)
    took, left, lock = [], [], threading.Lock()

    def kill_one(_):
        runner = subprocess.Popen(
            [programs.shepherd, "run", "--json", "--agent", "claude", "--program", programs.scripted_agent,
             "--mode", "autonomous", json.dumps(STUBBORN)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, text=True,
            env={**server.env, "SHEPHERD_URL": server.public, "SHEPHERD_TOKEN": server.token,
                 "SHEPHERD_DATA": str(server.data)})
        task = json.loads(runner.stdout.readline())["taskID"]
        with server.websocket(f"/api/v1/tasks/{task}/events?after=0") as feed:
            feed.until(lambda m: m.type == "task_event" and m.data["summary"] == "ready", 60)
        began = time.monotonic()
        os.kill(runner.pid, signal.SIGKILL)
        runner.wait()
        while still := survivors(directory, programs.scripted_agent, {task}):
            if time.monotonic() > began + PATIENCE_SECONDS:
                break
            time.sleep(0.002)  # between two looks at /proc
        runner.stdout.close()
        with lock:
            took.append(time.monotonic() - began)
            left.extend(still)

    try:
        with ThreadPoolExecutor(AT_ONCE) as pool:
            list(pool.map(kill_one, range(size["kills"])))
    finally:
        server.stop(60)
    left = sorted({*left, *survivors(directory, programs.scripted_agent)})
    result = {"kills": len(took), "survivors": len(left), "p50_s": round(percentile(took, 0.5), 3),
              "p99_s": round(percentile(took, 0.99), 3), "good": not left and len(took) == size["kills"]}
    rows = [(f"{len(took)} SIGKILLs of the runner: agents gone, p50", f"{result['p50_s']:.3f} s", ""),
            ("the same, p99", f"{result['p99_s']:.3f} s", ""), ("processes that survived", str(len(left)), "0")]
    return rows, result
