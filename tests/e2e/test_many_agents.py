"""A hundred agents at once from one file, good and bad: each log is complete, each end is reported, no process is
left."""

import json
import os
import signal
import subprocess
import uuid

import yaml

from agent_run import EXIT_CODE, MARK, survivors, wait_until_gone
from agents import SCRIPTED
from server import environment

COUNT = 100
KINDS = {
    "tame": [{"think": "hm"}, {"tool": "Bash", "input": {"command": "ls"}, "result": "a"}, {"say": "done"}],
    "bursts": [{"burst": 200, "text": "n"}, {"say": "done"}],
    "slow": [{"repeat": 5, "steps": [{"say": "step"}, {"sleep": 100}]}, {"say": "done"}],
    "garbles": [{"garbage": "nul"}, {"garbage": "utf8"}, {"garbage": "json"}, {"say": "done"}],
    "forks": [{"fork": 2, "setsid": True, "twice": True, "stubborn": True, "hold_stdout": True}, {"say": "done"}],
    "crashes": [{"say": "about to"}, {"crash": "SEGV"}],
    "gives_up": [{"say": "about to"}, {"exit": 3}],
    "ignores": [{"ignore": ["INT", "TERM", "interrupt"]}, {"say": "done"}],
}
FAIL = ("crashes", "gives_up")


def test_a_hundred_at_once(server, api, tmp_path):
    kinds = [list(KINDS)[i % len(KINDS)] for i in range(COUNT)]
    tasks = [{"name": f"{i}-{kind}", "prompt": json.dumps(KINDS[kind]), "agent": "claude", "mode": "autonomous"}
             for i, kind in enumerate(kinds)]
    plan, config, mark = tmp_path / "tasks.yaml", tmp_path / "shepherd.yaml", uuid.uuid4().hex
    plan.write_text(yaml.safe_dump({"parallel": COUNT, "tasks": tasks}))
    config.write_text(f"claude:\n  program: {SCRIPTED}\nrunners:\n  stop:\n    interrupt_ms: 200\n    sigint_ms: 200\n"
                      "    sigterm_ms: 200\n")
    try:
        done = subprocess.run(
            [server.binary, "run", "--json", "--tasks", plan, "--config", config], capture_output=True, text=True,
            timeout=240, stdin=subprocess.DEVNULL, cwd=tmp_path,
            env={**environment(tmp_path), MARK: mark, "SHEPHERD_URL": server.public, "SHEPHERD_TOKEN": server.token,
                 "SHEPHERD_DATA": str(server.data)})
        assert wait_until_gone(mark) == []
    finally:
        for pid in survivors(mark):
            os.kill(pid, signal.SIGKILL)
    assert done.returncode == EXIT_CODE["failed"], done.stderr

    ends = {}
    for line in done.stdout.splitlines():
        value = json.loads(line)
        if value.get("name"):
            ends[value["name"]] = value
    assert len(ends) == COUNT, done.stdout[-2000:] + done.stderr
    for i, kind in enumerate(kinds):
        end = ends[f"{i}-{kind}"]
        assert end["state"] == ("failed" if kind in FAIL else "completed"), end
        events = api.get(f"/api/v1/tasks/{end['taskID']}/events", params={"limit": 1000}).json()["events"]
        assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
        assert events[-1]["type"] == "status" and events[-1]["data"]["state"] == end["state"]
        words = [event["summary"] for event in events if event["type"] == "thinking"]
        if kind == "bursts":
            assert words == [f"n {n}" for n in range(1, 201)] + ["done"]
        if kind not in FAIL:
            assert words[-1] == "done"
