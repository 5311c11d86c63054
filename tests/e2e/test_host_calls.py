"""What an agent asks of the machine it runs on, in the Agent Client Protocol: files of the task's directory and commands in terminals."""

import json
import sys
from pathlib import Path

import pytest
import yaml

from agent_run import AgentRun, command_line, survivors, wait_until_gone

AGENT = Path(__file__).parents[1] / "agents" / "acp_host_agent.py"


@pytest.fixture
def acp(server, tmp_path):
    """Starts the agent in a directory, to make these requests."""
    work = tmp_path / "work"
    work.mkdir()
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({"agents": {"asker": {"driver": "acp", "command": [sys.executable, str(AGENT)]}}}))

    def start(*requests, flags=()):
        return AgentRun(server, ["--config", config, "--agent", "asker", *flags, json.dumps(requests)], work, server.env)
    start.work = work
    start.answers = lambda: json.loads((work / "answers.json").read_text())
    return start


def test_files_of_the_directory(acp):
    with acp(["fs/write_text_file", {"path": str(acp.work / "new/a.txt"), "content": "one\ntwo\nthree\n"}],
             ["fs/read_text_file", {"path": str(acp.work / "new/a.txt")}],
             ["fs/read_text_file", {"path": str(acp.work / "new/a.txt"), "line": 2, "limit": 1}],
             ["fs/read_text_file", {"path": str(acp.work / "missing")}]) as run:
        _, code = run.to_end()
    assert code == 0, run.story()
    _, whole, part, missing = acp.answers()
    assert (acp.work / "new/a.txt").read_text() == "one\ntwo\nthree\n"
    assert whole == {"content": "one\ntwo\nthree\n"} and part == {"content": "two\n"}
    assert "there is no" in missing["message"]


def test_an_escape_is_refused(acp, server, tmp_path):
    (tmp_path / "outside").write_text("outside")
    (acp.work / "link").symlink_to(tmp_path)
    token = str(server.data / "admin.token")
    with acp(["fs/read_text_file", {"path": token}],
             ["fs/read_text_file", {"path": "../outside"}],
             ["fs/read_text_file", {"path": str(acp.work / "link/outside")}],
             ["fs/write_text_file", {"path": str(tmp_path / "outside"), "content": "changed"}],
             ["terminal/create", {"command": "pwd", "cwd": str(tmp_path)}]) as run:
        _, code = run.to_end()
    assert code == 0, run.story()
    refused = acp.answers()
    assert len(refused) == 5 and all("code" in each and "content" not in each for each in refused), refused
    assert (tmp_path / "outside").read_text() == "outside"


# More than the runner keeps for an agent that does not read: its answers wait, and none is lost.
def test_answers_wait_for_an_agent_that_does_not_read(acp):
    size = 2 * 1024 * 1024
    (acp.work / "large").write_text("x" * size)
    with acp(["burst", "large", 20]) as run:
        _, code = run.to_end()
    assert code == 0, run.story()
    assert acp.answers() == [[size] * 20]


def test_a_terminal_from_start_to_release(acp):
    with acp(["terminal/create", {"command": "sh", "args": ["-c", "echo $WORD; pwd; exit 3"],
                                  "env": [{"name": "WORD", "value": "hello"}]}],
             ["terminal/wait_for_exit", {"terminalId": "$0.terminalId"}],
             ["terminal/output", {"terminalId": "$0.terminalId"}],
             ["terminal/release", {"terminalId": "$0.terminalId"}],
             ["terminal/output", {"terminalId": "$0.terminalId"}]) as run:
        _, code = run.to_end()
    assert code == 0, run.story()
    _, ended, output, _, gone = acp.answers()
    assert ended["exitCode"] == 3
    assert output["output"] == f"hello\n{acp.work}\n" and output["exitStatus"]["exitCode"] == 3
    assert "released" in gone["message"]


# A second plan of the confinement would count other paths: the command's own directory, and what the agent renamed.
@pytest.mark.parametrize("level", ["secrets", "workspace"])
def test_a_terminal_is_confined_as_the_agent_is(acp, server, level):
    token = server.data / "admin.token"
    assert token.read_text().strip()
    with acp(["write", "/tmp/of-this-agent", "the agent's own"],
             ["terminal/create", {"command": "sh", "args": ["-c", f"cat {token} /tmp/of-this-agent"]}],
             ["terminal/wait_for_exit", {"terminalId": "$1.terminalId"}],
             ["terminal/output", {"terminalId": "$1.terminalId"}],
             ["terminal/create", {"command": str(server.data / "admin.token")}],
             flags=["--confine", level]) as run:
        task, code = run.to_end()
    Path("/tmp/of-this-agent").unlink(missing_ok=True)
    assert code == 0 and task["confined"] == level, run.story()
    output = acp.answers()[3]["output"]
    assert token.read_text().strip() not in output and "No such file" in output
    assert "the agent's own" in output, "it shares the agent's temporary directory"
    assert "No such file" in acp.answers()[4]["message"]


def test_the_end_of_the_run_ends_open_terminals(acp):
    stubborn = ["sh", "-c", "trap '' TERM; echo up; while :; do sleep 0.1; done"]
    with acp(["terminal/create", {"command": stubborn[0], "args": stubborn[1:]}], ["hold"]) as run:
        run.until(lambda event: "holding" in event["summary"])
        assert any("trap" in command_line(pid) for pid in survivors(run.mark))
        run.send("stop")
        task, code = run.to_end()
        assert code == 9, run.story()
        assert wait_until_gone(run.mark) == []
    last = run.of_type("status")[-1]["data"]
    assert any("trap" in process["name"] for process in last["ended"]), last


def test_no_terminal_outlives_a_runner_that_is_killed(acp):
    with acp(["terminal/create", {"command": "sleep", "args": ["600"]}], ["hold"]) as run:
        run.until(lambda event: "holding" in event["summary"])
        assert any(command_line(pid).startswith("sleep 600") for pid in survivors(run.mark))
        run.process.kill()
        assert wait_until_gone(run.mark) == []
