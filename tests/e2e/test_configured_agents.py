"""Agents of the configuration that are programs: by a name of one's own, with arguments and variables, and what
`shepherd agents` and `doctor` say of them."""

import json
import os
import re

import pytest
import yaml

from agent_run import AgentRun
from agents import SCRIPTED
from tasks import new_id

pytestmark = pytest.mark.skipif(not os.access(SCRIPTED, os.X_OK), reason="SCRIPTED_AGENT_BIN is not set")

SCRIPT = json.dumps([{"say": "hello"}])


@pytest.fixture
def configured(tmp_path):
    def write(entries):
        path = tmp_path / "config.yaml"
        path.write_text(yaml.safe_dump({"agents": entries}))
        return path
    return write


def through_env(**variables):
    """A program with arguments of its own: env, which runs the scripted agent with more variables."""
    return ["env", *(f"{name}={value}" for name, value in variables.items()), SCRIPTED]


def test_a_program_of_ones_own_speaks_claudes_dialect(server, configured, tmp_path):
    config = configured({"mine": {"driver": "claude", "command": through_env(SCRIPTED_AGENT='[{"say":"from my command"}]')}})
    with AgentRun(server, ["--config", config, "--agent", "mine", "go"], tmp_path, server.env) as run:
        task, code = run.to_end()
    assert code == 0 and task["agent"] == "mine", run.story()
    assert [event["summary"] for event in run.of_type("thinking")] == ["from my command"]
    assert "steer" in task["capabilities"]["commands"], "it is driven as Claude Code is"


def test_a_resumed_task_keeps_its_agent(server, configured, tmp_path):
    config = configured({"mine": {"driver": "claude", "command": through_env(SCRIPTED_AGENT=SCRIPT)}})
    with AgentRun(server, ["--config", config, "--agent", "mine", "go"], tmp_path, server.env) as run:
        run.to_end()
    with AgentRun(server, ["--config", config, "--resume", run.task, "go on"], tmp_path, server.env) as again:
        task, code = again.to_end()
    assert code == 0 and task["agent"] == "mine", again.story()


def test_a_program_of_ones_own_prints_text(server, configured, tmp_path):
    config = configured({"reverse": {"driver": "text", "command": ["rev"]}})
    with AgentRun(server, ["--config", config, "--agent", "reverse", "stressed"], tmp_path, server.env) as run:
        task, code = run.to_end()
    assert code == 0, run.story()
    assert [event["summary"] for event in run.of_type("output")] == ["desserts"]


def test_its_variables_reach_it_and_their_secrets_no_log(server, configured, tmp_path):
    config = configured({"mine": {"driver": "text", "command": ["sh", "-c", "echo colour $COLOUR, key $MY_API_KEY"],
                                  "env": {"COLOUR": "green", "MY_API_KEY": "correct-horse-battery"}}})
    with AgentRun(server, ["--config", config, "--agent", "mine", "go"], tmp_path, server.env) as run:
        run.to_end()
    said, = run.of_type("output")
    assert said["summary"].startswith("colour green, key ") and "correct-horse" not in json.dumps(run.events)
    shown = server.cli("config", "--config", config, "--json").stdout
    assert json.loads(shown)["agents"]["value"]["mine"]["env"] == {"COLOUR": "(not shown)", "MY_API_KEY": "(not shown)"}
    assert "correct-horse" not in shown


def test_runners_claim_its_tasks(make_server):
    entry = {"driver": "text", "command": ["rev"]}
    pool = make_server(args=["--runners", "1"], config=yaml.safe_dump({"agents": {"reverse": entry}})).start()
    with pool.api() as api:
        task = new_id("configured")
        assert api.post("/api/v1/tasks", json={"id": task, "prompt": "stressed", "agent": "reverse"}).status_code == 201
        with pool.websocket(f"/api/v1/tasks/{task}/events?after=0") as feed:
            events = []
            while (message := feed.next(60)).type != "task_complete":
                if message.type == "task_event":
                    events.append(message.data)
    assert [event["summary"] for event in events if event["type"] == "output"] == ["desserts"]


@pytest.mark.parametrize("entry, message", [
    ({"command": ["x"]}, 'needs a "driver"'), ({"driver": "claud", "command": ["x"]}, "must be one of acp, claude"),
    ({"driver": "claude"}, 'needs a "command"'), ({"driver": "claude", "command": "x"}, "a program and its arguments"),
    ({"driver": "claude", "comand": ["x"]}, 'did you mean "command"'),
    ({"driver": "claude", "command": ["x"], "env": {"A=B": "c"}}, "no name for a variable"),
    ({"driver": "claude", "command": ["x"], "address": "127.0.0.1:1"}, 'has no "address"')])
def test_a_wrong_entry_is_explained(server, configured, entry, message):
    result = server.cli("run", "--config", configured({"mine": entry}), "--agent", "mine", "hello", check=False)
    assert result.returncode == 2 and message in result.stderr, result.stderr


def test_a_drivers_name_is_no_agents_name(server, configured):
    result = server.cli("config", "--config", configured({"text": {"driver": "text", "command": ["rev"]}}), check=False)
    assert result.returncode == 2 and "is a driver's" in result.stderr, result.stderr


def test_a_program_that_is_not_here_is_named_before_a_task_is_made(server, configured):
    config = configured({"absent": {"driver": "claude", "command": ["no-such-program"]}})
    result = server.cli("run", "--config", config, "--agent", "absent", "hello", check=False)
    assert result.returncode == 2 and "agents.absent.command" in result.stderr, result.stderr
    with server.api() as api:
        assert not any(task["agent"] == "absent" for task in api.get("/api/v1/tasks?limit=1000").json())


def test_agents_lists_what_is_here_and_how_to_get_the_others(server, configured, tmp_path):
    program = tmp_path / "claude"
    program.write_text("#!/bin/sh\necho '2.1.325 (Claude Code)'\n")
    program.chmod(0o755)
    config = configured({"mine": {"driver": "text", "command": ["rev"]}, "gone": {"driver": "text", "command": ["no-such-program"]},
                         "auditor": {"address": "127.0.0.1:50051"}})
    here = {"PATH": f"{tmp_path}:/usr/bin:/bin"}
    rows = {row["name"]: row for row in map(json.loads, server.cli("agents", "--config", config, "--json", env=here).stdout.splitlines())}
    assert rows["claude"]["installed"] and rows["claude"]["version"] == "2.1.325 (Claude Code)"
    assert rows["claude"]["place"] == str(program) and "steer" in rows["claude"]["capabilities"]["commands"]
    assert rows["mine"]["driver"] == "text" and rows["mine"]["place"].endswith("/rev")
    assert rows["auditor"]["driver"] == "grpc" and rows["auditor"]["place"] == "127.0.0.1:50051"
    assert not rows["gone"]["installed"] and "place" not in rows["gone"]
    shown = re.sub(" +", " ", server.cli("agents", "--config", config, env=here).stdout)
    assert "claude claude 2.1.325 (Claude Code) steer, queue, interrupt, set_mode, approve, questions, resume, live, sub-agents, money" in shown, shown
    program.unlink()
    missing = server.cli("agents", "--config", config, env=here).stdout
    assert re.search(r"NOT INSTALLED +HOW TO INSTALL\nclaude +npm install -g @anthropic-ai/claude-code\n", missing), missing
