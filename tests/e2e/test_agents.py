"""Checks the tests' own agent programs: the scripted agent prints what the real one prints.

Each conversation runs with both, without Shepherd in between. Their lines must be of the same kinds in the same order,
and `shepherd translate` must recognise all of them.
"""

import json
import os
import signal
import subprocess

import pytest

from agents import CLAUDE, SCRIPTED, Conversation, claude_environment, kind_of, needs_claude, result_text
from model_api import ModelAPI, Reply, text, tool
from server import BINARY, environment

QUESTION = [{"question": "Which colour?", "header": "Colour", "multiSelect": False,
             "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}]
ENDED = ("result/success", "result/error_during_execution")


class Stage:
    """One of the two programs with the same instructions."""

    def __init__(self, name, tmp_path):
        self.name, self.home, self.work = name, tmp_path / "home", tmp_path / "work"
        self.home.mkdir()
        self.work.mkdir()
        self.model = None

    def open(self, script, replies, args=()):
        if self.name == "scripted":
            program, env = SCRIPTED, {**environment(self.home), "SCRIPTED_AGENT": json.dumps(script)}
        else:
            self.model = ModelAPI(replies).start()
            program, env = CLAUDE, claude_environment(self.home, self.model.url)
        return Conversation(program, self.work, {**env, "CLAUDE_CODE_EMIT_SESSION_STATE_EVENTS": "1"}, args)


@pytest.fixture(params=["scripted", pytest.param("claude", marks=needs_claude)])
def stage(request, tmp_path):
    made = Stage(request.param, tmp_path)
    yield made
    if made.model:
        made.model.stop()


def translated(stage, printed):
    result = subprocess.run([BINARY, "translate", "--agent", "claude", "--format", "stream-json"], input=printed, capture_output=True, text=True,
                            timeout=60, env=environment(stage.home))
    assert result.returncode == 0, result.stderr
    return [json.loads(line) for line in result.stdout.splitlines()]


def check(stage, conversation, *kinds):
    """Checks the kinds of lines in order, and that the driver recognises all of them."""
    # Both report their state; how often depends on their speed.
    seen = [kind for kind in conversation.kinds() if kind != "system/session_state_changed"]
    assert seen == list(kinds)
    unknown = [event for event in translated(stage, conversation.printed()) if event["type"] == "log"]
    assert unknown == []


BEGIN = ("command_lifecycle/queued", "command_lifecycle/started", "system/init", "user/string")
GOOD_END = ("result/success", "command_lifecycle/completed")


def test_a_turn_with_a_tool(stage):
    with stage.open([{"say": "Looking."}, {"tool": "Bash", "input": {"command": "echo here"}, "run": True},
                     {"say": "Done."}],
                    [Reply(text("Looking."), tool("Bash", command="echo here")), Reply(text("Done."))],
                    ["--allowedTools", "Bash"]) as agent:
        agent.say("look around")
        result = agent.until_kind("result/success")
        assert result["result"] == "Done." and result["total_cost_usd"] > 0 and not result["is_error"]
        assert agent.close() == 0
        check(stage, agent, *BEGIN, "assistant/text", "assistant/tool_use", "user/tool_result", "assistant/text", *GOOD_END)
        output = [result_text(value) for _, value in agent.seen if kind_of(value) == "user/tool_result"]
        assert [words.strip() for words in output] == ["here"]


def test_permission_with_changed_input(stage):
    with stage.open([{"tool": "Bash", "input": {"command": "touch asked"}, "permission": True, "run": True},
                     {"say": "Done."}], [Reply(tool("Bash", command="touch asked")), Reply(text("Done."))]) as agent:
        agent.say("make a file")
        request = agent.until_kind("control_request/can_use_tool")
        assert request["request"]["input"]["command"] == "touch asked"
        agent.answer(request, behavior="allow", updatedInput={"command": "touch changed"})
        agent.until_kind("result/success")
        assert agent.close() == 0
        check(stage, agent, *BEGIN, "assistant/tool_use", "control_request/can_use_tool", "control_response",
              "user/tool_result", "assistant/text", *GOOD_END)
    assert [path.name for path in stage.work.iterdir()] == ["changed"]


def test_denial(stage):
    with stage.open([{"tool": "Bash", "input": {"command": "touch asked"}, "permission": True, "run": True},
                     {"say": "Then not."}],
                    [Reply(tool("Bash", command="touch asked")), Reply(text("Then not."))]) as agent:
        agent.say("make a file")
        agent.answer(agent.until_kind("control_request/can_use_tool"), behavior="deny", message="not today")
        denied = agent.until_kind("user/tool_result")
        assert result_text(denied) == "not today" and denied["message"]["content"][0]["is_error"]
        assert len(agent.until_kind("result/success")["permission_denials"]) == 1
        agent.close()
        check(stage, agent, *BEGIN, "assistant/tool_use", "control_request/can_use_tool", "control_response",
              "user/tool_result", "assistant/text", *GOOD_END)
    assert list(stage.work.iterdir()) == []


def test_question(stage):
    with stage.open([{"ask": QUESTION}, {"say": "Thank you."}],
                    [Reply(tool("AskUserQuestion", questions=QUESTION)), Reply(text("Thank you."))]) as agent:
        agent.say("ask me")
        request = agent.until_kind("control_request/can_use_tool")
        assert request["request"]["requires_user_interaction"] is True
        agent.answer(request, behavior="allow",
                     updatedInput={**request["request"]["input"], "answers": {"Which colour?": "Blue"}})
        assert '"Which colour?"="Blue"' in result_text(agent.until_kind("user/tool_result"))
        agent.until_kind("result/success")
        agent.close()
        check(stage, agent, *BEGIN, "assistant/tool_use", "control_request/can_use_tool", "control_response",
              "user/tool_result", "assistant/text", *GOOD_END)


def test_interrupt_of_a_question_and_another_turn(stage):
    with stage.open([{"ask": QUESTION}, {"say": "never"}, {"end": "turn"}, {"say": "Again."}],
                    [Reply(tool("AskUserQuestion", questions=QUESTION)), Reply(text("Again."))]) as agent:
        agent.say("ask me")
        agent.until_kind("control_request/can_use_tool")
        agent.request("interrupt")
        result = agent.until_kind("result/error_during_execution")
        assert result["terminal_reason"] == "aborted_tools" and result["is_error"]
        agent.until_kind("command_lifecycle/cancelled")
        agent.say("go on")
        agent.until_kind("result/success")
        assert agent.close() == 0
        check(stage, agent, *BEGIN, "assistant/tool_use", "control_request/can_use_tool", "control_cancel_request",
              "control_response", "user/tool_result", "user/text", "result/error_during_execution",
              "command_lifecycle/cancelled", *BEGIN, "assistant/text", *GOOD_END)


def test_message_during_a_tool_joins_the_turn(stage):
    """A file that the test creates ends the tool."""
    command = "while [ ! -e go ]; do sleep 0.05; done; echo went"
    with stage.open([{"tool": "Bash", "input": {"command": command}, "run": True}],
                    [Reply(tool("Bash", command=command)), Reply(text("I see your message: also this"))],
                    ["--allowedTools", "Bash"]) as agent:
        agent.say("run it")
        agent.until_kind("assistant/tool_use")
        agent.say("also this")
        agent.until_kind("command_lifecycle/queued")
        (stage.work / "go").touch()
        agent.until_kind("result/success")
        agent.close()
        # The real program reports the end of the joined message before the result, and the first one's after it.
        kinds = [k for k in agent.kinds() if k not in ("command_lifecycle/completed", "system/session_state_changed")]
        assert kinds == [*BEGIN, "assistant/tool_use", "command_lifecycle/queued", "user/tool_result", "user/string",
                         "command_lifecycle/started", "assistant/text", "result/success"]
    if stage.model:
        assert "also this" in stage.model.requests[1].history()


def test_permission_mode(stage):
    with stage.open([{"tool": "Write", "input": {"file_path": str(stage.work / "a"), "content": "a"},
                      "permission": True}, {"say": "Done."}],
                    [Reply(tool("Write", file_path=str(stage.work / "a"), content="a")), Reply(text("Done."))]) as agent:
        agent.request("set_permission_mode", mode="acceptEdits")
        answer = agent.until_kind("control_response")
        assert answer["response"]["response"] == {"mode": "acceptEdits"}
        assert agent.until_kind("system/status")["permissionMode"] == "acceptEdits"
        agent.say("write")
        assert agent.until_kind("system/init")["permissionMode"] == "acceptEdits"
        agent.until_kind("result/success")
        agent.close()
        assert "control_request/can_use_tool" not in agent.kinds()


def test_terminate(stage):
    with stage.open([{"ask": QUESTION}], [Reply(tool("AskUserQuestion", questions=QUESTION))]) as agent:
        agent.say("ask me")
        agent.until_kind("control_request/can_use_tool")
        os.kill(agent.process.pid, signal.SIGTERM)
        assert agent.process.wait(10) == 143
        assert not any(kind.startswith("result/") for kind in agent.kinds())


def test_bad_input_ends_it(stage):
    with stage.open([{"wait": "message"}], []) as agent:
        agent.process.stdin.write(b"this is not JSON\n")
        agent.process.stdin.flush()
        assert agent.process.wait(10) == 1


@needs_claude
@pytest.mark.parametrize("arguments,format_name", [
    (["--output-format", "stream-json", "--verbose"], "stream-json-one-way"),
    (["--output-format", "json", "--verbose"], "json"), (["--output-format", "json"], "json"), ([], "text")])
def test_the_other_formats_of_the_real_program(arguments, format_name, tmp_path):
    """Shepherd's fallback formats still give a useful log, and the totals that the format has."""
    model = ModelAPI([Reply(tool("Bash", command="echo here")), Reply(text("Done."))]).start()
    printed = subprocess.run([CLAUDE, "-p", "look", "--allowedTools", "Bash", *arguments], capture_output=True, text=True,
                             timeout=60, cwd=tmp_path, env=claude_environment(tmp_path, model.url))
    model.stop()
    assert printed.returncode == 0, printed.stderr
    done = subprocess.run([BINARY, "translate", "--agent", "claude", "--format", format_name, "--status"],
                          input=printed.stdout, capture_output=True, text=True, timeout=60, env=environment(tmp_path))
    events = [json.loads(line) for line in done.stdout.splitlines()]
    assert [event for event in events if event["type"] == "log"] == []
    assert events[-1]["data"]["state"] == "completed"
    assert "Done." in [event["summary"] for event in events]
    if format_name != "text":
        assert [event["data"]["costUSD"] > 0 for event in events if event["type"] == "usage"] == [True]


def test_versions_look_alike():
    said = subprocess.run([SCRIPTED, "--version"], capture_output=True, text=True, timeout=10).stdout
    assert said == "2.1.325 (Claude Code)\n"


@needs_claude
def test_the_real_program_is_the_pinned_one(tmp_path):
    said = subprocess.run([CLAUDE, "--version"], capture_output=True, text=True, timeout=30,
                          env=claude_environment(tmp_path, "http://127.0.0.1:9")).stdout
    assert said == "2.1.325 (Claude Code)\n"
