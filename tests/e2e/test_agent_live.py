"""`shepherd agent test NAME` with the real programs: the live check, and the check of the Agent Client Protocol.

The scripted model is the one inside Shepherd. What the program is told of this machine is only its own throw-away home.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from acp_agents import GOOSE
from agents import CLAUDE
from one_way_agents import OPENCODE
from server import BINARY, environment
from test_agent_acp import AGENT
from test_real_codex import CODEX

PROGRAMS = {"claude": CLAUDE, "codex": CODEX, "goose": GOOSE, "opencode": OPENCODE, "opencode-run": OPENCODE}
ONE_WAY = {"opencode-run"}  # asks nobody


def needs(name):
    return pytest.param(name, marks=pytest.mark.skipif(
        not os.access(PROGRAMS[name], os.X_OK), reason=f"NOT TESTED: {name} is not installed; tools/install-agent says why"))


def agent_test(home, *args, **more):
    return subprocess.run([BINARY, "agent", "test", *map(str, args)], capture_output=True, text=True, timeout=900,
                          env={**environment(home), "TMPDIR": str(home), **more})


def verdicts(result):
    return {check["check"]: check["verdict"] for check in json.loads(result.stdout)["checks"]}


def said(result):
    """All that explains a failure: the report, and the logs of a live check."""
    logs = "".join(f"--- {file.name}\n{file.read_text()[-6000:]}" for line in result.stderr.splitlines() if line.startswith("the logs of")
                   for file in sorted(Path(line.rpartition(": ")[2]).glob("*.ndjson")))
    return result.stdout + result.stderr + logs


@pytest.mark.parametrize("name", [needs(name) for name in PROGRAMS])
def test_a_real_agent_passes_the_live_check(tmp_path, name):
    result = agent_test(tmp_path, name, "--program", PROGRAMS[name], "--json", "--timeout", "30")
    assert result.returncode == 0, said(result)
    skipped = {"approval", "denial"} if name in ONE_WAY else set()
    assert verdicts(result) == {check: "skipped" if check in skipped else "passed"
                                for check in ("command", "log", "approval", "denial", "interrupt", "stop")}
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith("shepherd-agent-test")] == []


@pytest.mark.parametrize("name", [needs("claude")])
def test_the_report_for_people_has_a_line_and_a_time_for_each_check(tmp_path, name):
    result = agent_test(tmp_path, name, "--program", PROGRAMS[name], "--timeout", "30", ANTHROPIC_API_KEY="sk-of-the-user",
                        ANTHROPIC_BASE_URL="http://127.0.0.1:9")
    assert result.returncode == 0, said(result)
    for check in ("command", "approval", "denial", "interrupt", "stop"):
        line, = [line for line in result.stdout.splitlines() if line.startswith(f"pass  {check} ")]
        assert line.endswith(" s)"), line


# A program that is no agent: it fails, the report names what failed, and the logs that say more are kept.
def test_a_program_that_is_no_agent(tmp_path):
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho no model here >&2\nexit 3\n")
    program.chmod(0o755)
    result = agent_test(tmp_path, "claude", "--program", program, "--timeout", "5")
    assert result.returncode == 1 and "FAIL  command" in result.stdout, said(result)
    assert "no model here" in said(result) and "skip  stop" in result.stdout
    missing = agent_test(tmp_path, "claude", "--program", tmp_path / "nothing")
    assert missing.returncode == 3 and "nothing" in missing.stderr, missing.stderr


# An agent that has been pointed at another model might use an account, so nothing more is asked of it.
def test_an_agent_that_asks_another_model_is_named(tmp_path):
    config = tmp_path / "agents.json"
    config.write_text(json.dumps({"agents": {"goose": {"driver": "acp", "command": [sys.executable, "-B", str(AGENT)]}}}))
    result = agent_test(tmp_path, "goose", "--config", config, "--json")
    checks = {check["check"]: check for check in json.loads(result.stdout)["checks"]}
    assert result.returncode == 1 and checks["command"]["defects"][0]["defect"] == "model_not_asked", said(result)
    assert {checks[name]["verdict"] for name in ("approval", "denial", "interrupt", "stop")} == {"skipped"}


def test_an_agent_without_a_live_check_says_so(tmp_path):
    result = agent_test(tmp_path, "kimi", "--program", "no-such-kimi")
    assert result.returncode != 0 and "no-such-kimi" in result.stderr
    assert agent_test(tmp_path, "no-such-agent").returncode == 2


@pytest.mark.parametrize("name", [needs("goose"), needs("opencode")])
def test_a_real_agent_against_the_protocol(tmp_path, name):
    config = tmp_path / "agents.json"
    config.write_text(json.dumps({"agents": {"opencode": {"driver": "acp", "command": [OPENCODE, "acp"]}}}))
    chosen = ["--config", config] if name == "opencode" else ["--program", PROGRAMS[name]]
    result = agent_test(tmp_path, "--acp", name, *chosen, "--json", "--timeout", "30")
    checks = json.loads(result.stdout)["checks"]
    found = {check["check"]: [defect["defect"] for defect in check["defects"]] for check in checks if "defects" in check}
    assert found == {}, said(result)
    assert not {check["check"] for check in checks if check["verdict"] == "skipped"}, said(result)
