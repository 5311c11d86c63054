"""`shepherd run --tasks`: many tasks from a file."""

import json
import os
import pty
import re
import select
import signal
import subprocess
import time

from server import BINARY
from terminal import Terminal


def run_file(server, tmp_path, text, *args, **options):
    path = tmp_path / "tasks.yaml"
    path.write_text(text)
    return subprocess.Popen([BINARY, "run", "--tasks", path, *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            stdin=subprocess.DEVNULL, text=True, env={**server.env, "SHEPHERD_DATA": str(server.data)},
                            **options)


FOUR = """
parallel: 2
defaults: {environment: {WORD: hello}}
tasks:
  - {name: good, command: [sh, -c, 'echo $WORD; pwd'], directory: sub}
  - {name: bad, command: [sh, -c, 'echo broken >&2; exit 3']}
  - {name: slow, command: [sleep, '600'], timeout: 1s}
  - {name: other, command: ['true'], environment: {WORD: bye}}
"""


def test_all_of_them_with_a_table_and_the_worst_exit_code(server, api, tmp_path):
    (tmp_path / "sub").mkdir()
    run = run_file(server, tmp_path, FOUR)
    out, errors = run.communicate(timeout=90)
    assert run.returncode == 7, errors
    table = out[out.index("NAME"):].splitlines()
    states = {line.split()[0]: line.split()[1] for line in table[1:] if line}
    assert states == {"good": "completed", "bad": "failed", "slow": "timed_out", "other": "completed"}
    assert "\x1b" not in out
    titles = {task["title"]: task for task in api.get("/api/v1/tasks").json()}
    log = json.dumps(api.get(f"/api/v1/tasks/{titles['good']['id']}/events").json())
    assert "hello" in log and str(tmp_path / "sub") in log


def test_as_json(server, tmp_path):
    run = run_file(server, tmp_path, "- {name: a, command: [echo, x]}\n- {name: b, command: ['false']}\n", "--json",
                   "--parallel", "2")
    out, _ = run.communicate(timeout=60)
    assert run.returncode == 7
    last = {line["name"]: line for line in map(json.loads, out.splitlines())}
    assert last["a"]["state"] == "completed" and last["b"]["state"] == "failed"
    assert last["a"]["taskID"] and last["a"]["elapsedMS"] >= 0


def test_the_last_table_fits_a_narrow_terminal(server, tmp_path):
    """Whole task ids, one line per task; the results are in the lines above it."""
    path = tmp_path / "tasks.yaml"
    path.write_text("- {name: 'a task with a rather long name', command: [sh, -c, 'echo broken >&2; exit 3']}\n- {name: b, command: ['true']}\n")
    terminal = Terminal(["run", "--tasks", path], {**server.env, "SHEPHERD_DATA": str(server.data)}, columns=80, lines=30)
    assert terminal.end(60) == 7
    lines = terminal.text().splitlines()
    start, = [i for i, line in enumerate(lines) if line.startswith("NAME")]
    assert "RESULT" not in lines[start]
    table = [line for line in lines[start + 1:] if line]
    assert len(table) == 2 and all(re.search(r"(completed|failed) .* task-[0-9a-z]{26}$", line) for line in table), terminal.text()
    assert table[0].startswith("a task with a ") and any("broken" in line for line in lines[:start])


def test_a_terminal_gets_live_lines(server, tmp_path):
    path = tmp_path / "tasks.yaml"
    path.write_text("parallel: 2\ntasks:\n" + "".join(
        f"  - {{name: t{i}, command: [sh, -c, 'echo working; sleep 0.6; echo end']}}\n" for i in range(3)))
    master, slave = pty.openpty()
    run = subprocess.Popen([BINARY, "run", "--tasks", path], stdout=slave, stderr=slave, stdin=slave,
                           env={**server.env, "SHEPHERD_DATA": str(server.data), "TERM": "xterm", "COLUMNS": "100"})
    os.close(slave)
    seen = b""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if not select.select([master], [], [], 0.2)[0]:
            continue
        try:
            seen += os.read(master, 65536)
        except OSError:
            break
    assert run.wait(10) == 0
    os.close(master)
    text = seen.decode()
    assert "\x1b[3A" in text, "the three lines are drawn over"
    assert "queued" in text and "running" in text and "completed" in text


def test_ctrl_c_starts_no_more_and_twice_stops(server, tmp_path):
    run = run_file(server, tmp_path, "- {name: a, command: [sh, -c, 'echo ready; exec sleep 600']}\n- {name: b, command: ['true']}\n",
                   "--json")
    for line in run.stdout:
        if json.loads(line)["state"] == "running":
            break
    run.send_signal(signal.SIGINT)
    for line in run.stdout:
        if json.loads(line)["state"] == "paused":
            break
    run.send_signal(signal.SIGINT)
    out, _ = run.communicate(timeout=60)
    assert run.returncode == 9
    last = {line["name"]: line["state"] for line in map(json.loads, out.splitlines())}
    assert last == {"a": "cancelled", "b": "cancelled"}


def test_a_file_with_a_mistake_runs_nothing(server, tmp_path):
    run = run_file(server, tmp_path, "- prompt: x\n- {promt: y}\n")
    _, errors = run.communicate(timeout=30)
    assert run.returncode == 2
    assert "tasks.yaml:2" in errors and 'did you mean "prompt"' in errors
