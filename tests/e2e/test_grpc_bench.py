"""The bench of streaming agents, in its short form: nothing is lost. How long it took is the bench's to judge, on a quiet machine."""

import json
import subprocess
import sys
from pathlib import Path

import server as server_module

BENCH = Path(__file__).resolve().parents[2] / "bench" / "grpc_bench.py"


def test_a_word_there_and_back():
    done = subprocess.run([sys.executable, "-B", BENCH, "--program", server_module.BINARY, "--quick"], capture_output=True, text=True, timeout=95)
    assert done.stdout, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    print(seen)
    assert seen["agents"] == 100 and seen["acknowledged"] == seen["words"] == 300
    assert seen["p99_ms"] > 0
