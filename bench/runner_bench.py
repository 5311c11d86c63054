#!/usr/bin/env python3
"""What the runner costs and how surely it ends agents, measured on this machine with scripted agents.

    make bench-runner                       everything, about ten minutes
    make bench-runner ARGS="--quick"        a minute: fewer agents, stops and kills
    make bench-runner ARGS="--only stop"    one of: load, live, stop, kill

load   N agents print 50 lines a second; a consumer of all tasks says how old a line is when it arrives. CPU is that of
       server, runner and wardens together, divided by the number of agents.
live   the same, but what a line said comes in eight lines, with live text: 400 lines a second of each agent.
stop   agents that ignore everything but SIGKILL, with orphaned children in sessions of their own, are stopped; from the
       POST of the command to the end of the task. The ladder's waits are shortened to 100 ms each.
kill   the runner itself is killed with SIGKILL; until nobody of its agent is left.

The last line is one JSON object. Exit code 1 when a process survived or a line was lost, repeated or out of order.
"""

import argparse
import json
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests" / "e2e")]

import runner_kill  # noqa: E402
import runner_load  # noqa: E402
import runner_stop  # noqa: E402
from runner_bench_parts import Programs  # noqa: E402

SCENARIOS = {"load": runner_load.measure, "live": runner_load.measure_live, "stop": runner_stop.measure, "kill": runner_kill.measure}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/bin/shepherd", help="the shepherd to measure")
    parser.add_argument("--agents-from", default=ROOT / "build/dev/bin", help="where scripted_agent and tick_watch are")
    parser.add_argument("--only", choices=SCENARIOS, action="append")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--agents", type=int, help="agents at once (load)")
    parser.add_argument("--seconds", type=float, help="of measured load")
    parser.add_argument("--stops", type=int)
    parser.add_argument("--kills", type=int)
    parser.add_argument("--json", action="store_true", help="only the JSON line")
    options = parser.parse_args()
    programs = Programs(Path(options.program).resolve(), Path(options.agents_from).resolve())
    whole = not options.quick
    size = {"agents": options.agents or (100 if whole else 20), "seconds": options.seconds or (30 if whole else 5),
            "stops": options.stops or (1000 if whole else 100), "kills": options.kills or (100 if whole else 10), "full": whole}

    results, good = {}, True
    for name in options.only or SCENARIOS:
        with tempfile.TemporaryDirectory(prefix="shepherd-bench-") as directory:
            rows, results[name] = SCENARIOS[name](programs, Path(directory), size)
        good = good and results[name]["good"]
        if not options.json:
            for what, value, target in rows:
                print(f"{name:6} {what:48} {value:>16}   {target}", flush=True)
    print(json.dumps({"bench": "runner", "size": size, **results}))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
