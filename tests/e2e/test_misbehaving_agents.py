"""Misbehaving agents under `shepherd run`: the log stays correct and no process is left behind."""

import json
import os
import signal

import pytest

from agent_run import EXIT_CODE, AgentRun, survivors, wait_until_gone
from agents import SCRIPTED
from server import environment
from tasks import new_id

LADDER = "runners:\n  stop:\n    interrupt_ms: 100\n    sigint_ms: 100\n    sigterm_ms: 100\n"
STUBBORN = [{"ignore": ["INT", "TERM", "interrupt", "eof"]},
            {"fork": 2, "setsid": True, "twice": True, "stubborn": True},
            {"fork": 1, "stubborn": True, "hold_stdout": True}, {"say": "ready"}, {"silent": 0}]


@pytest.fixture
def run(server, tmp_path):
    """Starts `shepherd run` with a script; kills its remaining processes after the test."""
    work = tmp_path / "work"
    work.mkdir()
    config = tmp_path / "shepherd.yaml"
    config.write_text(LADDER)
    made = []

    def start(script, *arguments):
        made.append(AgentRun(server, [json.dumps(script), "--agent", "claude", "--program", SCRIPTED, "--config", config,
                                      "--mode", "autonomous", *arguments], work, environment(tmp_path)))
        return made[-1]

    yield start
    for each in made:
        each.__exit__()
        for pid in survivors(each.mark):
            os.kill(pid, signal.SIGKILL)


def summaries(agent_run, kind):
    return [event["summary"] for event in agent_run.of_type(kind)]


def test_lines_that_are_not_protocol(run):
    kinds = ["nul", "utf8", "json", "unknown", "escape"]
    agent = run([*({"garbage": kind} for kind in kinds), {"garbage": "blank"}, {"say": "still here"}])
    task, code = agent.to_end()
    assert code == 0 and task["status"]["state"] == "completed", agent.story()
    assert len(agent.of_type("log")) == len(kinds), agent.story()
    assert "still here" in summaries(agent, "thinking")


def test_a_huge_line_and_a_last_one_without_newline(run):
    agent = run([{"huge": 8_000_000}, {"say": "after it"}, {"raw": "cut off", "newline": False}, {"exit": 0}])
    agent.to_end()
    assert "after it" in summaries(agent, "thinking")
    assert any("cut off" in words for words in summaries(agent, "log"))
    big = agent.of_type("thinking")[0]
    detail = agent.api.get(f"/api/v1/tasks/{agent.task}/events/{big['sequence']}/detail")
    assert detail.status_code == 200 and len(json.dumps(big)) < 100_000
    kept = detail.json()
    assert big["cut"] == {"text": 8_000_000} and "x" * 80 in big["data"]["text"]
    assert kept["text"] == "x" * 8_000_000
    assert kept["truncated"] is True and kept["bytes"] > 16_000_000, "the line that it came in is as long again"
    assert len(detail.content) < 9 << 20


def test_a_flood_arrives_whole_and_in_order(run):
    agent = run([{"burst": 5000, "text": "n"}])
    task, code = agent.to_end(120)
    assert code == 0
    assert summaries(agent, "thinking") == [f"n {i}" for i in range(1, 5001)]


def test_what_it_says_on_standard_error_is_kept(run):
    agent = run([{"stderr": "a warning"}, {"say": "x"}])
    agent.to_end()
    assert any("a warning" in words for words in summaries(agent, "log"))


@pytest.mark.parametrize("step,word", [({"exit": 7}, "7"), ({"crash": "SEGV"}, "the agent crashed (SIGSEGV)"), ({"crash": "KILL"}, "the agent was killed from outside (SIGKILL)")])
def test_a_crash_is_a_failure_that_says_how(run, step, word):
    agent = run([{"say": "about to"}, step])
    task, code = agent.to_end()
    assert code == EXIT_CODE["failed"] and task["status"]["state"] == "failed", agent.story()
    assert word in task["status"]["message"], task["status"]


def test_a_child_that_holds_the_output_does_not_keep_the_task(run):
    agent = run([{"fork": 1, "setsid": True, "twice": True, "stubborn": True, "hold_stdout": True}, {"say": "done"}])
    task, code = agent.to_end()
    assert code == 0 and task["status"]["state"] == "completed", agent.story()
    assert wait_until_gone(agent.mark) == []


def test_closes_its_output_but_lives(run):
    agent = run([{"say": "bye"}, {"close": "stdout"}, {"silent": 0}])
    agent.until(lambda event: event["summary"] == "bye")
    agent.send("stop")
    task, code = agent.to_end()
    assert task["status"]["state"] == "cancelled", agent.story()
    assert wait_until_gone(agent.mark) == []


def test_stop_of_one_that_ignores_everything(run):
    agent = run(STUBBORN)
    agent.until(lambda event: event["summary"] == "ready")
    agent.send("stop", reason="enough")
    task, code = agent.to_end()
    assert task["status"]["state"] == "cancelled", agent.story()
    assert survivors(agent.mark) == [], "nobody is left when the log says so"
    ended = [event for event in agent.of_type("status") if event["data"].get("state") == "cancelled"][-1]["data"]["ended"]
    assert len(ended) >= 4, "the agent and its three children"
    assert all("KILL" in each["how"] for each in ended), ended


def test_the_runner_is_killed(run):
    agent = run(STUBBORN)
    agent.until(lambda event: event["summary"] == "ready")
    os.kill(agent.process.pid, signal.SIGKILL)
    assert wait_until_gone(agent.mark, timeout=30) == []


def test_the_server_is_killed_in_the_middle(make_server, tmp_path):
    """The agent continues, and the log is complete once the server is back."""
    first = make_server().start()
    work = tmp_path / "work"
    work.mkdir()
    script = [{"rate": 100, "lines": 300}]
    arguments = [json.dumps(script), "--agent", "claude", "--program", SCRIPTED, "--mode", "autonomous", "--id", new_id()]
    with AgentRun(first, arguments, work, environment(tmp_path)) as agent:
        agent.until(lambda event: event["summary"].startswith("tick 50 "))
        first.kill()
        first.listen, first.internal_listen = (url.split("//")[1] for url in (first.public, first.internal))
        first.start()
        agent.feed = first.websocket(f"/api/v1/tasks/{agent.task}/events?after=0")
        agent.events = []
        task, code = agent.to_end(120)
    assert code == 0 and task["status"]["state"] == "completed", agent.story()
    ticks = [words.split()[1] for words in summaries(agent, "thinking") if words.startswith("tick ")]
    assert ticks == [str(n) for n in range(1, 301)]
    assert [event["sequence"] for event in agent.events] == list(range(1, len(agent.events) + 1))
