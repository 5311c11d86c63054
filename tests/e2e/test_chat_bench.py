"""The benchmark of chats in its short form: no token is lost. Only the benchmark on a quiet machine judges the times."""

import json
import subprocess
import sys
from pathlib import Path

import server as server_module

BENCH = Path(__file__).resolve().parents[2] / "bench" / "chat_bench.py"


def test_the_short_benchmark():
    done = subprocess.run([sys.executable, "-B", BENCH, "--program", server_module.BINARY, "--quick"], capture_output=True, text=True, timeout=200)
    assert done.stdout, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    print(done.stdout)
    assert seen["many"]["tokens"] == seen["many"]["expected"] == 200 * 250, done.stderr
    assert set(seen) == {"bench", "good", "fast", "llama", "many", "idle"}
    # The benchmark reports whether it was fast enough; on a busy machine it may not be.
    assert done.returncode == (0 if seen["good"] else 1) and seen["good"] == ("OVER" not in done.stdout), done.stdout
