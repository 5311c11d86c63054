"""The benchmark of the runner in its short form: its guarantees hold on every machine that runs the tests."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

import server as server_module
from agents import SCRIPTED

BENCH = Path(__file__).resolve().parents[2] / "bench" / "runner_bench.py"


def bench(*arguments):
    done = subprocess.run([sys.executable, "-B", BENCH, "--program", server_module.BINARY, "--agents-from",
                           Path(SCRIPTED).parent, "--quick", *arguments], capture_output=True, text=True, timeout=280)
    print(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize("scenario", ["load", "live"])
def test_many_agents_at_once(scenario):
    """Nothing is lost. `make bench-runner` measures latency on a machine without other work."""
    seen = bench("--only", scenario, "--agents", "100", "--seconds", "4")[scenario]
    assert seen["tasks"] == 100 and seen["broken"] == 0 and seen["ticks"] > 0
    assert seen["memory_mib"] < 512


@pytest.mark.parametrize("scenario,count", [("stop", 100), ("kill", 10)])
def test_nobody_survives(scenario, count):
    seen = bench("--only", scenario)[scenario]
    assert seen["survivors"] == 0 and seen[scenario + "s"] == count
