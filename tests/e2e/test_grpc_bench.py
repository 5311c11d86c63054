"""The benchmark of streaming agents in its short form: nothing is lost. Only the benchmark on a quiet machine judges
the times."""

import json
import subprocess
import sys
from pathlib import Path

import server as server_module

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "bench"))
from grpc_bench import TARGET_MS  # noqa: E402

BENCH = Path(__file__).resolve().parents[2] / "bench" / "grpc_bench.py"


def test_a_word_there_and_back():
    done = subprocess.run([sys.executable, "-B", BENCH, "--program", server_module.BINARY, "--quick"], capture_output=True, text=True, timeout=95)
    assert done.stdout, done.stderr
    seen = json.loads(done.stdout.splitlines()[-1])
    print(seen)
    assert set(seen) == {"bench", "good", "agents", "words", "acknowledged", "p50_ms", "p99_ms", "max_ms"}
    assert seen["agents"] == 100 and seen["acknowledged"] == seen["words"] == 300
    assert 0 < seen["p50_ms"] <= seen["p99_ms"] <= seen["max_ms"]
    # The benchmark reports whether it was fast enough; on a busy machine it may not be.
    assert seen["good"] == (seen["p99_ms"] < TARGET_MS) and done.returncode == (0 if seen["good"] else 1), done.stderr
