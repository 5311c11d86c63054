"""The scripted agent misbehaves as its README says. A test with an agent tamer than it claims would prove nothing."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from agents import SCRIPTED, TWO_WAY, Conversation
from server import BINARY, environment

STREAM = ["-p", "--output-format", "stream-json", "--verbose"]


@pytest.fixture
def env(tmp_path):
    return {**environment(tmp_path), "SCRIPTED_AGENT_PIDS": str(tmp_path / "pids"), "SHEPHERD_TASK_ID": "t-1"}


def printed(script, env, *args, **options):
    return subprocess.run([SCRIPTED, *(args or STREAM), json.dumps(script)], capture_output=True, timeout=60, env=env,
                          **options)


def talk(script, env, tmp_path):
    return Conversation(SCRIPTED, tmp_path, {**env, "SCRIPTED_AGENT": json.dumps(script)})


def pids(tmp_path):
    return [int(line.split()[0]) for line in (tmp_path / "pids").read_text().splitlines()]


def running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] not in "ZX"
    except OSError:
        return False


def translated(tmp_path, text, *args):
    done = subprocess.run([BINARY, "translate", "--agent", "claude", *args], input=text, capture_output=True, timeout=60,
                          env=environment(tmp_path))
    assert done.returncode == 0, done.stderr
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_every_tame_step_is_known_to_the_driver(env, tmp_path):
    script = [{"think": "hm"}, {"say": "words"}, {"tool": "Read", "input": {"file_path": "a"}},
              {"tool": "Bash", "input": {"command": "exit 3"}, "run": True}, {"sleep": 1},
              {"tool": "Bash", "input": {"command": "rm x"}, "permission": True}, {"retry": 529},
              {"agent": "look", "steps": [{"tool": "Read", "input": {"file_path": "b"}}]},
              {"repeat": 2, "steps": [{"say": "again"}]}, {"burst": 3}, {"rate": 1000, "lines": 3}]
    done = printed(script, env, *STREAM, "--include-partial-messages")
    assert done.returncode == 0, done.stderr
    events = translated(tmp_path, done.stdout)
    assert [event for event in events if event["type"] == "log"] == []
    assert {"session_start", "thinking", "tool_call", "tool_result", "approval", "error", "usage"} <= \
        {event["type"] for event in events}
    nested = [event for event in events if event.get("parentCallID")]
    assert [event["type"] for event in nested] == ["tool_call", "tool_result"]


@pytest.mark.parametrize("kind", ["nul", "utf8", "json", "unknown", "escape"])
def test_garbage_is_not_protocol(kind, env, tmp_path):
    done = printed([{"garbage": kind}, {"say": "still here"}], env)
    events = translated(tmp_path, done.stdout)
    assert len([event for event in events if event["type"] == "log"]) == 1
    assert "still here" in [event["summary"] for event in events]


def test_bytes_and_sizes(env):
    assert printed([{"raw": "half a line", "newline": False}, {"exit": 0}], env).stdout.endswith(b"half a line")
    assert b"\x00\xff" in printed([{"hex": "00ff"}], env).stdout
    assert max(map(len, printed([{"huge": 3_000_000}], env).stdout.splitlines())) > 3_000_000
    assert len(printed([{"flood": 1_000_000}], env).stdout) > 1_000_000
    assert printed([{"stderr": "oh"}], env).stderr == b"oh\n"


def test_ends(env):
    assert printed([{"exit": 7}], env).returncode == 7
    assert printed([{"crash": "SEGV"}], env).returncode == -signal.SIGSEGV
    assert printed([{"crash": "KILL"}], env).returncode == -signal.SIGKILL
    failed = printed([{"fail": "error_max_turns", "error": "too many"}], env)
    assert failed.returncode == 1 and b"error_max_turns" in failed.stdout
    bounded = printed([{"burst": 9}], env, *STREAM, "--max-turns", "2")
    assert bounded.returncode == 1 and b'"terminal_reason":"max_turns"' in bounded.stdout
    assert printed([{"say": "x"}, {"nonsense": 1}], env).returncode == 70, "a broken script is told"


def test_other_formats(env):
    assert printed([{"say": "last word"}], env, "-p").stdout == b"last word\n"
    single = json.loads(printed([{"say": "last word"}], env, "-p", "--output-format", "json").stdout)
    assert single["type"] == "result" and single["result"] == "last word"
    every = json.loads(printed([{"say": "x"}], env, "-p", "--output-format", "json", "--verbose").stdout)
    assert [line["type"] for line in every] == ["system", "assistant", "result"]
    assert b"--verbose" in printed([], env, "-p", "--output-format", "stream-json").stderr


def test_an_older_version(env):
    older = {**env, "SCRIPTED_AGENT": json.dumps({"steps": [], "version": "1.0.3 (Claude Code)",
                                                  "refuses": ["--input-format"]})}
    said = subprocess.run([SCRIPTED, "--version"], capture_output=True, env=older, timeout=10).stdout
    assert said == b"1.0.3 (Claude Code)\n"
    refused = subprocess.run([SCRIPTED, *TWO_WAY], capture_output=True, env=older, timeout=10, stdin=subprocess.DEVNULL)
    assert refused.returncode == 1 and b"unknown option '--input-format'" in refused.stderr


def test_deaf_to_everything_but_sigkill(env, tmp_path):
    script = [{"ignore": ["INT", "TERM", "interrupt", "eof"]}, {"say": "ready"}, {"silent": 0}]
    with talk(script, env, tmp_path) as agent:
        agent.say("go")
        agent.until_kind("assistant/text")
        agent.request("interrupt")
        for number in (signal.SIGINT, signal.SIGTERM):
            os.kill(agent.process.pid, number)
        agent.process.stdin.close()
        with pytest.raises(subprocess.TimeoutExpired):
            agent.process.wait(0.5)
        os.kill(agent.process.pid, signal.SIGKILL)
        assert agent.process.wait(10) == -signal.SIGKILL
        assert "control_response" not in agent.kinds()


def test_silent_but_mortal(env, tmp_path):
    with talk([{"say": "ready"}, {"silent": 0}], env, tmp_path) as agent:
        agent.say("go")
        agent.until_kind("assistant/text")
        os.kill(agent.process.pid, signal.SIGTERM)
        assert agent.process.wait(10) == 143


def test_closed_output_and_lives(env, tmp_path):
    with talk([{"say": "bye"}, {"close": "stdout"}, {"silent": 0}], env, tmp_path) as agent:
        agent.say("go")
        agent.until_kind("assistant/text")
        assert agent._lines.get(timeout=10) is None, "the end of its output"
        assert running(agent.process.pid)


def test_children_outlive_it_and_are_stubborn(env, tmp_path):
    script = [{"fork": 2, "setsid": True, "twice": True, "stubborn": True}, {"fork": 1, "hold_stdout": True},
              {"say": "ready"}, {"exit": 0}]
    done = subprocess.Popen([SCRIPTED, *STREAM, json.dumps(script)], stdout=subprocess.PIPE, env=env)
    done.wait(10)
    agent, *children = pids(tmp_path)
    try:
        assert agent == done.pid and len(children) == 3
        assert all(running(pid) for pid in children)
        sessions = {os.getsid(pid) for pid in children[:2]}
        assert os.getsid(0) not in sessions and len(sessions) == 2
        for pid in children:
            os.kill(pid, signal.SIGTERM)
        deadline = time.monotonic() + 10
        while running(children[2]):
            assert time.monotonic() < deadline
            time.sleep(0.01)  # between two polls
        assert all(running(pid) for pid in children[:2])
    finally:
        for pid in children:
            if running(pid):
                os.kill(pid, signal.SIGKILL)
        done.stdout.close()


def test_a_real_command_is_killed_by_an_interrupt(env, tmp_path):
    with talk([{"tool": "Bash", "input": {"command": "echo began; sleep 300"}, "run": True}], env, tmp_path) as agent:
        agent.say("go")
        agent.until_kind("assistant/tool_use")
        deadline = time.monotonic() + 10
        while len(pids(tmp_path)) < 2:
            assert time.monotonic() < deadline
            time.sleep(0.01)  # between two polls
        agent.request("interrupt")
        agent.until_kind("result/error_during_execution")
        assert not running(pids(tmp_path)[1])


def test_a_background_command_begins_a_turn(env, tmp_path):
    with talk([{"background": "make", "ms": 50}, {"say": "started"}], env, tmp_path) as agent:
        agent.say("go")
        agent.until_kind("result/success")
        assert agent.until_kind("result/success")["origin"] == {"kind": "task-notification"}
        assert agent.close() == 0
        assert [e for e in translated(tmp_path, agent.printed().encode(), "--format", "stream-json")
                if e["type"] == "log"] == []


def test_a_script_in_a_message_changes_the_turn(env, tmp_path):
    command = f"while [ ! -e {tmp_path}/go ]; do sleep 0.02; done"
    with talk([{"tool": "Bash", "input": {"command": command}, "run": True}, {"say": "as planned"}], env, tmp_path) as agent:
        agent.say("go")
        agent.until_kind("assistant/tool_use")
        agent.say(json.dumps([{"say": "something else"}]))
        agent.until_kind("command_lifecycle/queued")
        (tmp_path / "go").touch()
        assert agent.until_kind("result/success")["result"] == "something else"
        agent.close()
