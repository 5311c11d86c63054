"""What the scenarios of runner_bench.py share: the programs, a server with runners, who is still alive."""

import os
from dataclasses import dataclass
from pathlib import Path

from server import Server

LADDER_MS = 100  # of each rung, instead of the default's five to ten seconds


@dataclass
class Programs:
    shepherd: Path
    agents: Path

    @property
    def scripted_agent(self):
        return self.agents / "scripted_agent"

    @property
    def tick_watch(self):
        return self.agents / "tick_watch"


def start_server(programs, directory, runners, environment=None):
    """A server with a pool of runners in its own process, whose agent is the scripted one."""
    config = (f"claude:\n  program: {programs.scripted_agent}\n"
              f"runners:\n  stop:\n    interrupt_ms: {LADDER_MS}\n    sigint_ms: {LADDER_MS}\n"
              f"    sigterm_ms: {LADDER_MS}\n")
    return Server(directory / "data", config=config, args=["--runners", str(runners)], binary=str(programs.shepherd),
                  env={"SCRIPTED_AGENT_PIDS": str(directory / "pids"), **(environment or {})}).start(60)


def agent_pids(directory):
    """Every process that an agent of this bench ever was: {task: [pid, …]}."""
    path, found = directory / "pids", {}
    for line in path.read_text().splitlines() if path.exists() else ():
        pid, task = line.split()
        found.setdefault(task, []).append(int(pid))
    return found


def alive(pid, program):
    """Whether the process is there, still runs that program (ids are used again) and is no zombie."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
        return state not in "ZX" and os.readlink(f"/proc/{pid}/exe") == str(program)
    except OSError:
        return False


def survivors(directory, program, tasks=None):
    return [pid for task, pids in agent_pids(directory).items() if tasks is None or task in tasks
            for pid in pids if alive(pid, program)]


def percentile(values, part):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(part * len(ordered)))] if ordered else float("nan")


def judged(value, most):
    return "pass: at most" if value <= most else "MISS: at most"
