"""Real agents of the Agent Client Protocol that are stopped or killed, whose model fails, and whose session is taken up again."""

import json
import os
import signal

import pytest

from acp_agents import AGENTS, Starter, command, results, wait_for_file
from agent_run import EXIT_CODE, command_line, survivors, wait_until_gone
from model_fakes import Drop, Fake, openai_error, refusal, text


@pytest.fixture
def started(server, tmp_path):
    starter = Starter(server, tmp_path)
    yield starter
    starter.end()


def script(*answers):
    """The answers in order, the last one for ever; a title is asked for between them."""
    def answer(request):
        count = results(request)
        return text("A title") if count is None else answers[min(count, len(answers) - 1)]
    return answer


@pytest.mark.parametrize("make, tools", AGENTS)
def test_a_stop_in_the_middle_of_a_tool_leaves_nothing(started, make, tools):
    with Fake("openai", script(command(tools, "(sleep 300 &) ; touch began; sleep 300"))) as model:
        run = started(make, model, "--mode", "autonomous", "Work")
        wait_for_file(run.work / "began", 120)
        assert any("sleep" in command_line(pid) for pid in survivors(run.mark))
        run.send("stop", reason="enough")
        task, code = run.to_end()
        assert task["status"]["state"] == "cancelled" and code == EXIT_CODE["cancelled"], run.story()
        assert wait_until_gone(run.mark) == []


@pytest.mark.parametrize("make, tools", AGENTS)
def test_an_agent_that_is_killed_has_failed(started, make, tools):
    with Fake("openai", script(command(tools, "touch began; sleep 300"))) as model:
        run = started(make, model, "--mode", "autonomous", "Work")
        wait_for_file(run.work / "began", 120)
        program = make(started.home, model)["command"][0]
        killed = [pid for pid in survivors(run.mark) if command_line(pid).startswith(program)]
        assert killed, [command_line(pid) for pid in survivors(run.mark)]
        for pid in killed:
            os.kill(pid, signal.SIGKILL)
        task, code = run.to_end()
        assert task["status"]["state"] == "failed" and code == EXIT_CODE["failed"], run.story()
        assert "SIGKILL" in task["status"]["message"], task["status"]
        assert len([e for e in run.of_type("tool_call")]) == len([e for e in run.of_type("tool_result")]), run.story()
        assert wait_until_gone(run.mark) == []


@pytest.mark.parametrize("status, kind", [(401, "invalid_api_key"), (429, "rate_limit_exceeded"), (500, "server_error")])
@pytest.mark.parametrize("make, tools", AGENTS)
def test_a_model_that_refuses_is_told_or_tried_again(started, make, tools, status, kind):
    """An agent gives up with an error that is in the log, or it tries again until an operator stops it."""
    with Fake("openai", lambda request: refusal(status, openai_error(f"scripted {status}", kind))) as model:
        run = started(make, model, "--mode", "autonomous", "Work")
        model.wait_for_request(1, 120)
        answer = run.api.post(f"/api/v1/tasks/{run.task}/commands", json={"kind": "stop", "reason": "enough"})
        assert answer.status_code in (202, 409), f"409: it has given up already; {answer.text}"
        task, code = run.to_end()
        assert task["status"]["state"] in ("failed", "cancelled"), run.story()
        assert code == EXIT_CODE[task["status"]["state"]]
        if task["status"]["state"] == "failed":
            assert [event for event in run.of_type("error") if event["data"]["fatal"]], run.story()
        # Goose itself says "Authentication required" of a key that its model's API refuses.
        wants_login = any(event["data"]["code"] == "login_required" for event in run.of_type("error"))
        assert not wants_login or (status == 401 and "goose" in run.of_type("session_start")[0]["summary"]), run.story()
        assert wait_until_gone(run.mark) == []


@pytest.mark.parametrize("make, tools", AGENTS)
def test_an_answer_that_breaks_off_is_not_the_end(started, make, tools):
    asked = []

    def answer(request):
        if results(request) is None:
            return text("A title")
        asked.append(request)
        return text("Half of", Drop()) if len(asked) == 1 else text("The whole answer.")

    with Fake("openai", answer) as model:
        run = started(make, model, "--mode", "autonomous", "Work")
        task, code = run.to_end(240)
    said = " ".join(event["summary"] for event in run.of_type("thinking"))
    if task["status"]["state"] == "completed":
        assert "The whole answer." in said or "Half of" in said, run.story()
    else:
        assert [event for event in run.of_type("error") if event["data"]["fatal"]], run.story()
    assert wait_until_gone(run.mark) == []


@pytest.mark.parametrize("make, tools", AGENTS)
def test_a_session_is_taken_up_again(started, make, tools):
    with Fake("openai", script(text("I will remember PLUM."))) as model:
        first = started(make, model, "--mode", "autonomous", "Remember PLUM.")
        task, code = first.to_end()
        assert code == 0, first.story()
    session = first.of_type("session_start")[0]["sessionID"]
    with Fake("openai", script(text("The word is PLUM."))) as model:
        again = started(make, model, "--mode", "autonomous", "--resume", first.task, "Which word?")
        task, code = again.to_end()
        assert code == 0, again.story()
        asked = [json.dumps(request.body) for request in model.requests]
    assert again.of_type("session_start")[0]["sessionID"] == session
    assert any("Remember PLUM." in body and "Which word?" in body for body in asked)
    said = [event["summary"] for event in again.of_type("thinking")]
    assert said == ["The word is PLUM."], "what was said before is not said again"
