"""Many agents at a steady rate: how late their lines are seen, and what carrying them costs."""

import json
import os
import subprocess
import sys
import time
from pathlib import Path

from runner_bench_parts import judged, start_server

RATE = 50
# An agent of this version does not know live text: what it says is one line. A newer one says it in eight, of which two
# are live text.
WHOLE_LINES = '{"version": "1.0.100 (Claude Code)"}'
LATE_MS, CPU_PERCENT, FLAT_MIB = 100, 5, 5  # the targets
# Memory grows until the newest events of every watched task are in it; the full form waits for that first.
WARM_SECONDS, FULL_WARM_SECONDS = 3.0, 80.0
TICKS = os.sysconf("SC_CLK_TCK")


def measure(programs, directory, size):
    """Each agent prints 50 lines a second."""
    return _measure(programs, directory, size, "lines", {"SCRIPTED_AGENT": WHOLE_LINES})


def measure_live(programs, directory, size):
    """Each agent says something 50 times a second with live text: 400 lines, 50 events, 100 deltas."""
    return _measure(programs, directory, size, "messages with live text", {})


def _measure(programs, directory, size, what, environment):
    server = start_server(programs, directory, size["agents"], environment)
    warm = FULL_WARM_SECONDS if size["full"] else WARM_SECONDS
    watch = subprocess.Popen([programs.tick_watch, server.public.split("//")[1], server.token], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, text=True)
    try:
        assert watch.stdout.readline() == "following\n"
        lines = int(RATE * (60 + warm + size["seconds"]))
        script = json.dumps([{"rate": RATE, "lines": lines}])
        with server.api() as api:
            for _ in range(size["agents"]):
                api.post("/api/v1/tasks", json={"task": {"description": script}, "agent": "claude",
                                                "mode": "autonomous"}).raise_for_status()
            _wait_until_running(api, size["agents"])
        time.sleep(warm)
        _ask(watch)
        cpu, memory, began = _cpu_seconds(server, programs), _memory(server), time.monotonic()
        time.sleep(size["seconds"])
        seen = _ask(watch)
        took = time.monotonic() - began
        cpu = (_cpu_seconds(server, programs) - cpu) / took
        grown = _memory(server) - memory
        wardens = len(_own_processes(server, programs)) - 1
    except BaseException:
        print(f"the server: {server.process.poll()}\n{server.log()}", file=sys.stderr)
        raise
    finally:
        watch.stdin.close()
        watch.wait(10)
        server.stop(60)
    share = 100 * cpu / size["agents"]
    complete = seen["broken"] == 0 and seen["tasks"] == size["agents"]
    result = {**seen, "cpu_percent_per_agent": round(share, 3), "memory_mib": round((memory + grown) / 2**20, 1),
              "grown_mib": round(grown / 2**20, 2), "wardens": wardens, "lines_per_second": round(seen["ticks"] / took),
              "good": complete}
    rows = [(f"{size['agents']} agents x {RATE} {what}/s: seen a second", f"{seen['ticks'] / took:,.0f}", ""),
            ("line to consumer, p50", f"{seen['p50_ms']:.2f} ms", ""),
            ("line to consumer, p99", f"{seen['p99_ms']:.2f} ms", f"{judged(seen['p99_ms'], LATE_MS)} {LATE_MS} ms, aim 20 ms"),
            ("CPU of server + runner per agent", f"{share:.2f} %", f"{judged(share, CPU_PERCENT)} {CPU_PERCENT} % of a core, aim 1 %"),
            ("memory of server + runner", f"{result['memory_mib']:.1f} MiB", ""),
            (f"the same, grown in {took:.0f} s", f"{result['grown_mib']:+.2f} MiB",
             f"{judged(result['grown_mib'], FLAT_MIB)} {FLAT_MIB} MiB" if size["full"] else "its caches fill"),
            ("lines lost, repeated or out of order", str(seen["broken"]), "0")]
    return rows, result


def _wait_until_running(api, count):
    deadline = time.monotonic() + 60
    while True:
        running = len(api.get("/api/v1/tasks", params={"state": "running", "limit": 500}).json())
        if running >= count:
            return
        assert time.monotonic() < deadline, f"{running} of {count} agents run after a minute"
        time.sleep(0.1)  # between two looks


def _ask(watch):
    watch.stdin.write("\n")
    watch.stdin.flush()
    return json.loads(watch.stdout.readline())


def _own_processes(server, programs):
    """The server and the wardens it started: everything below it that runs its program."""
    children = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rsplit(")", 1)[1].split()
                children.setdefault(int(fields[1]), []).append(int(entry.name))
            except OSError:
                continue
    found, open_ones = [], [server.process.pid]
    while open_ones:
        pid = open_ones.pop()
        open_ones += children.get(pid, [])
        try:
            if os.readlink(f"/proc/{pid}/exe") == str(programs.shepherd):
                found.append(pid)
        except OSError:
            continue
    return found


def _cpu_seconds(server, programs):
    total = 0
    for pid in _own_processes(server, programs):
        fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
        total += int(fields[11]) + int(fields[12])
    return total / TICKS


def _memory(server):
    return server.rss_bytes()
