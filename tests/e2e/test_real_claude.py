"""The real Claude Code under `shepherd run`: watched, steered, asked for approval, interrupted and stopped.

The model is scripted and on loopback, the home directory is temporary, and the key is worthless.
"""

import json
import threading
import time
from datetime import datetime

import pytest

from agent_run import EXIT_CODE, AgentRun, command_line, survivors, wait_until_gone
from agents import CLAUDE, claude_environment, needs_claude
from model_api import ModelAPI, Reply, text, tool

pytestmark = needs_claude

QUESTION = [{"question": "Which colour?", "header": "Colour", "multiSelect": False,
             "options": [{"label": "Red", "description": "warm"}, {"label": "Blue", "description": "cold"}]}]
# A command that runs until the test creates a file.
UNTIL_GO = "touch began; while [ ! -e go ]; do sleep 0.05; done; echo went"


class Desk:
    """A work directory, a scripted model, and runs of the real agent on them."""

    def __init__(self, server, tmp_path):
        self.server, self.home, self.work = server, tmp_path / "home", tmp_path / "work"
        self.home.mkdir()
        self.work.mkdir()
        self.model = None

    def run(self, replies, *arguments, prompt="do what the script says"):
        self.model = ModelAPI(replies).start()
        return AgentRun(self.server, [prompt, "--agent", "claude", "--program", CLAUDE, *arguments], self.work,
                        claude_environment(self.home, self.model.url))

    def files(self):
        return sorted(path.name for path in self.work.iterdir() if not path.name.startswith("."))


@pytest.fixture
def desk(server, tmp_path):
    made = Desk(server, tmp_path)
    yield made
    if made.model:
        made.model.stop()


def test_a_run_with_tools(desk):
    (desk.work / "add.py").write_text("def add(a, b):\n    return a - b\n")
    path = str(desk.work / "add.py")
    with desk.run([Reply(text("Reading it first."), tool("Read", file_path=path)),
                   Reply(tool("Edit", file_path=path, old_string="a - b", new_string="a + b")),
                   Reply(tool("Bash", command="python3 -c 'import add; print(add.add(2, 3))'; exit 3")),
                   Reply(text("Fixed."))], "--mode", "autonomous") as run:
        task, code = run.to_end()
    assert code == 0, run.story()
    assert task["status"]["state"] == "completed" and task["usage"]["costUSD"] > 0
    assert (desk.work / "add.py").read_text() == "def add(a, b):\n    return a + b\n"
    start, = run.of_type("session_start")
    assert start["data"]["agentVersion"] == "2.1.325"
    calls = {event["tool"]: event for event in run.of_type("tool_call")}
    assert list(calls) == ["Read", "Edit", "Bash"]
    assert calls["Read"]["summary"] == "Reading add.py"
    results = {event["tool"]: event for event in run.of_type("tool_result")}
    assert results["Read"]["output"]["success"] and results["Edit"]["output"]["success"]
    assert not results["Bash"]["output"]["success"] and "5" in results["Bash"]["output"]["summary"]
    assert all(results[name]["callID"] == calls[name]["callID"] for name in calls)
    assert [event["summary"] for event in run.of_type("thinking")] == ["Reading it first.", "Fixed."]
    assert run.of_type("log") == [], "everything the agent printed is known"
    assert survivors(run.mark) == []


def test_it_is_told_the_rules_and_sub_agents_are_heard(desk):
    """Rules reach the model without a file in the tree; the installed version forwards the messages of sub-agents."""
    rules = desk.home / "rules.md"
    rules.write_text("- Never push to trunk.\n")

    def reply(request):
        if "MAIN-TASK" not in request.history():
            return Reply(text("There are three files."))
        if "toolu_scripted" in request.history():
            return Reply(text("Three, it says."))  # the request after the sub-agent has ended
        return Reply(tool("Agent", description="count", prompt="Count the files.", subagent_type="general-purpose"))

    with desk.run(reply, "--mode", "autonomous", "--rules", rules, prompt="MAIN-TASK: use a sub-agent") as run:
        task, code = run.to_end()
    assert code == 0, run.story()
    assert "# Rules\\n\\n- Never push to trunk." in json.dumps(desk.model.requests[0].body["system"])
    assert list(desk.work.iterdir()) == [], "nothing was put into its place to work"
    started = next(event for event in run.of_type("status") if "capabilities" in event["data"])
    assert started["data"]["agentVersion"] == "2.1.325 (Claude Code)"
    said = {event["summary"]: event.get("parentCallID") for event in run.of_type("thinking")}
    assert said["There are three files."] == run.of_type("tool_call")[0]["callID"], run.story()
    assert said["Three, it says."] is None


def test_a_steer_changes_what_happens_next(desk):
    def model(request):
        if request.number == 1:
            return Reply(tool("Bash", command=UNTIL_GO))
        if request.number == 2:
            said = "use the other name" in request.history()
            return Reply(tool("Bash", command="touch steered" if said else "touch unsteered"))
        return Reply(text("Done."))

    with desk.run(model, "--mode", "autonomous") as run:
        run.until_type("tool_call")
        steer = run.send("steer", content="use the other name")
        run.settled(steer, ("delivered",))
        (desk.work / "go").touch()
        assert run.settled(steer)["state"] == "acknowledged"
        task, code = run.to_end()
    assert code == 0, run.story()
    assert desk.files() == ["began", "go", "steered"]
    order = [(e["type"], (e.get("data") or {}).get("state")) for e in run.events
             if e["type"] in ("command", "command_result", "tool_result")]
    assert order[0] == ("command", None), "every watcher sees the command before anything comes of it"


def test_an_approval_with_changed_input(desk):
    with desk.run([Reply(tool("Bash", command="touch asked", description="Makes a file")), Reply(text("Done."))],
                  "--mode", "interactive") as run:
        asked = run.until_type("approval")
        assert asked["data"]["state"] == "pending" and asked["data"]["input"]["command"] == "touch asked"
        run.until_state("waiting_for_input")
        seen = run.api.get(f"/api/v1/tasks/{run.task}").json()
        assert seen["status"]["state"] == "waiting_for_input"
        settled = run.command("approve", approvalID=asked["data"]["approvalID"], input={"command": "touch changed"})
        assert settled["state"] == "acknowledged", run.story()
        task, code = run.to_end()
    assert code == 0 and task["status"]["state"] == "completed", run.story()
    assert desk.files() == ["changed"]
    assert [event["data"]["state"] for event in run.of_type("approval")] == ["pending", "approved"]


def test_a_denial(desk):
    with desk.run([Reply(tool("Bash", command="touch asked")), Reply(text("Then not."))], "--mode", "interactive") as run:
        asked = run.until_type("approval")
        settled = run.command("deny", approvalID=asked["data"]["approvalID"], message="keep the tree clean")
        assert settled["state"] == "acknowledged", run.story()
        task, code = run.to_end()
    assert code == 0, run.story()
    assert desk.files() == []
    assert list(desk.model.requests[1].results.values()) == ["keep the tree clean"], "the model is told why"
    result, = run.of_type("tool_result")
    assert result["output"] == {"success": False, "denied": True, "summary": "keep the tree clean"}


def test_a_tools_time_is_without_the_persons(desk):
    with desk.run([Reply(tool("Bash", command="touch asked")), Reply(text("Done."))], "--mode", "interactive") as run:
        asked = run.until_type("approval")
        time.sleep(3)  # a person thinks
        run.command("approve", approvalID=asked["data"]["approvalID"])
        run.to_end()
    call, result = run.of_type("tool_call")[0], run.of_type("tool_result")[0]
    approved = next(event for event in run.of_type("approval") if event["data"]["state"] == "approved")
    assert ms_between(call, approved) >= 3000
    assert result["durationMS"] <= ms_between(approved, result) + 100, run.story()


def test_what_an_event_has_not_got_is_marked_and_in_its_detail(desk):
    """For a long answer, output and input, the event has the total size and the detail has all of it."""
    answer = "".join(f"Line {n} of a long answer.\n" for n in range(1000))
    content = "".join(f"{n} bottles\n" for n in range(500))
    printed = "\n".join(str(n) for n in range(1, 401))
    path = str(desk.work / "song.txt")
    with desk.run([Reply(tool("Bash", command="seq 1 400")), Reply(tool("Write", file_path=path, content=content)),
                   Reply(text(answer))], "--mode", "autonomous") as run:
        task, code = run.to_end()
        assert code == 0, run.story()

        def detail(event):
            return run.api.get(f"/api/v1/tasks/{run.task}/events/{event['sequence']}/detail").json()

        said = run.of_type("thinking")[-1]
        assert len(said["data"]["text"]) == 16384 and answer.startswith(said["data"]["text"])
        assert said["cut"] == {"text": len(answer)} and detail(said)["text"] == answer
        shell, write = run.of_type("tool_result")
        assert shell["output"]["summary"].endswith("... (truncated)") and shell["cut"] == {"output": len(printed)}
        assert detail(shell)["output"] == {"success": True, "summary": printed} and "raw" in detail(shell)
        call = run.of_type("tool_call")[1]
        assert list(call["cut"]) == ["input"]
        assert detail(call)["input"] == {"file_path": path, "content": content} and "raw" in detail(call)
        assert "cut" not in run.of_type("tool_call")[0] and "input" not in detail(run.of_type("tool_call")[0])


def test_a_server_keeps_as_much_as_it_is_told_to(make_server, tmp_path):
    server = make_server(config="condense:\n  command: 5000\n  result: 5000\n  string: 5000\n").start()
    desk = Desk(server, tmp_path)
    content = "x" * 4000
    try:
        with desk.run([Reply(tool("Bash", command="seq 1 1000")), Reply(tool("Bash", command=f"true {content}")),
                       Reply(tool("Write", file_path=str(desk.work / "x"), content=content)), Reply(text("Done."))],
                      "--mode", "autonomous") as run:
            task, code = run.to_end()
    finally:
        desk.model.stop()
    assert code == 0, run.story()
    assert [event.get("cut") for event in run.of_type("tool_call")] == [None, None, None]
    assert run.of_type("tool_result")[0]["output"]["summary"] == "\n".join(str(n) for n in range(1, 1001))
    assert run.of_type("tool_call")[1]["input"]["command"] == f"true {content}"
    assert run.of_type("tool_call")[2]["input"]["content"] == content


def test_tokens_are_live_during_a_turn(desk):
    """The agent's own counts, message by message; the end of the turn reports the same tokens and their cost."""
    def seen(wanted, timeout=60):
        deadline = time.monotonic() + timeout
        while True:
            usage = run.api.get(f"/api/v1/tasks/{run.task}").json()["usage"]
            if wanted(usage):
                return usage
            assert time.monotonic() < deadline, usage
            time.sleep(0.2)  # between two polls of the task

    with desk.run([Reply(tool("Bash", command="true")), Reply(tool("Bash", command=UNTIL_GO)), Reply(text("Done."))],
                  "--mode", "autonomous") as run:
        wait_for_file(desk.work / "began")
        live = seen(lambda usage: tokens(usage) > 0)
        assert tokens(live) == 2 * (3 + 420 + 8000 + 20) and live["costUSD"] == 0 and live["apiCalls"] == 2, live
        (desk.work / "go").touch()
        task, code = run.to_end()
    assert code == 0, run.story()
    assert tokens(task["usage"]) == 3 * (3 + 420 + 8000 + 20), task["usage"]
    assert task["usage"]["costUSD"] > 0
    partial, = [event for event in run.of_type("usage") if event["data"].get("partial")]
    assert partial["data"]["outputTokens"] == 40


def test_a_question_is_answered(desk):
    with desk.run([Reply(tool("AskUserQuestion", questions=QUESTION)), Reply(text("Blue it is."))],
                  "--mode", "interactive") as run:
        asked = run.until_type("approval")
        assert asked["data"]["kind"] == "question"
        settled = run.command("answer", approvalID=asked["data"]["approvalID"], answers={"Which colour?": "Blue"})
        assert settled["state"] == "acknowledged", run.story()
        task, code = run.to_end()
    assert code == 0, run.story()
    assert '"Which colour?"="Blue"' in "".join(desk.model.requests[1].results.values())


def test_interrupt_and_resume(desk):
    with desk.run([Reply(tool("Bash", command="touch began; sleep 300")), Reply(text("Went on."))],
                  "--mode", "autonomous") as run:
        run.until_type("tool_call")
        wait_for_file(desk.work / "began")
        others = [pid for pid in survivors(run.mark) if "sleep 300" not in command_line(pid)]
        assert others != survivors(run.mark), "the tool runs"
        assert run.command("interrupt", reason="not that")["state"] == "acknowledged", run.story()
        run.until_state("interrupted")
        assert wait_until_gone(run.mark, but=others) == []
        assert run.process.poll() is None, "an interrupted task waits for an operator"
        assert run.command("resume", guidance="finish without it")["state"] == "acknowledged", run.story()
        task, code = run.to_end()
    assert code == 0 and task["status"]["state"] == "completed", run.story()
    assert "finish without it" in desk.model.requests[1].history()


class QueuedTurn:
    """A run whose first turn is over and whose second turn, for a queued message, plays `replies`."""

    def __init__(self, desk, mode, *replies):
        self.desk, self.mode = desk, mode
        self.run = desk.run([Reply(tool("Bash", command=UNTIL_GO)), Reply(text("First done.")), *replies], "--mode", mode)

    def __enter__(self):
        run = self.run
        self.allow()
        wait_for_file(self.desk.work / "began")
        queue = run.send("queue", content="QUEUED-WORD")
        run.settled(queue, ("delivered",))
        (self.desk.work / "go").touch()
        assert run.settled(queue)["state"] == "acknowledged", run.story()
        assert "QUEUED-WORD" in self.desk.model.wait_for_request(3).words, "it is the next turn's own message"
        return self

    def __exit__(self, *_):
        self.run.__exit__()

    def asked(self):
        return self.run.until(lambda e: e["type"] == "approval" and e["data"]["state"] == "pending")["data"]

    def allow(self):
        """In interactive mode, approves the next call; in other modes there is no request."""
        if self.mode == "interactive":
            settled = self.run.command("approve", approvalID=self.asked()["approvalID"])
            assert settled["state"] == "acknowledged", self.run.story()

    def ends_well(self):
        task, code = self.run.to_end()
        assert code == 0 and task["status"]["state"] == "completed", self.run.story()
        assert "Stream closed" not in json.dumps(self.run.events)
        assert [e["data"]["turns"] for e in self.run.of_type("usage") if "outcome" in e["data"]][-1] >= 2


def test_an_approval_and_a_question_in_a_queued_turn(desk):
    """The agent's input must outlive the turn in which the message was queued; otherwise the agent gets no answers."""
    with QueuedTurn(desk, "interactive", Reply(tool("Bash", command="touch queued")),
                    Reply(tool("AskUserQuestion", questions=QUESTION)), Reply(text("Blue it is."))) as turn:
        asked = turn.asked()
        assert asked["input"]["command"] == "touch queued"
        assert turn.run.command("approve", approvalID=asked["approvalID"])["state"] == "acknowledged", turn.run.story()
        question = turn.asked()
        assert question["kind"] == "question"
        settled = turn.run.command("answer", approvalID=question["approvalID"], answers={"Which colour?": "Blue"})
        assert settled["state"] == "acknowledged", turn.run.story()
        turn.ends_well()
    assert desk.files() == ["began", "go", "queued"]
    assert '"Which colour?"="Blue"' in "".join(desk.model.requests[4].results.values())


def test_a_question_in_a_queued_turn_that_nobody_is_there_for(desk):
    with QueuedTurn(desk, "autonomous", Reply(tool("AskUserQuestion", questions=QUESTION)), Reply(text("Red."))) as turn:
        turn.ends_well()
    assert "No operator is here to answer" in "".join(desk.model.requests[3].results.values())


@pytest.mark.parametrize("mode", ["interactive", "autonomous"])
def test_a_steer_in_a_queued_turn(desk, mode):
    again = UNTIL_GO.replace("began", "began2").replace("-e go", "-e go2")
    with QueuedTurn(desk, mode, Reply(tool("Bash", command=again)), Reply(text("Done."))) as turn:
        turn.allow()
        wait_for_file(desk.work / "began2")
        steer = turn.run.send("steer", content="STEERED-WORD")
        turn.run.settled(steer, ("delivered",))
        (desk.work / "go2").touch()
        assert turn.run.settled(steer)["state"] == "acknowledged", turn.run.story()
        turn.ends_well()
    assert "STEERED-WORD" in desk.model.requests[3].history()


@pytest.mark.parametrize("mode", ["interactive", "autonomous"])
def test_an_interrupt_in_a_queued_turn(desk, mode):
    with QueuedTurn(desk, mode, Reply(tool("Bash", command="touch began2; sleep 300")), Reply(text("Went on."))) as turn:
        turn.allow()
        wait_for_file(desk.work / "began2")
        assert turn.run.command("interrupt", reason="not that")["state"] == "acknowledged", turn.run.story()
        turn.run.until_state("interrupted")
        assert turn.run.command("resume", guidance="without it")["state"] == "acknowledged", turn.run.story()
        turn.ends_well()
    assert "without it" in desk.model.requests[3].history()


def test_stop_in_the_middle_of_a_tool(desk):
    command = "setsid sleep 300 & (sleep 300 &) ; touch began; sleep 300"
    with desk.run([Reply(tool("Bash", command=command))], "--mode", "autonomous") as run:
        run.until_type("tool_call")
        wait_for_file(desk.work / "began")
        assert len(survivors(run.mark)) >= 4, "the agent, its shell, and what that started"
        run.send("stop", reason="enough")
        task, code = run.to_end()
        assert task["status"]["state"] == "cancelled", run.story()
        assert code == EXIT_CODE["cancelled"]
        assert wait_until_gone(run.mark) == []
    ended = [event for event in run.of_type("status") if event["data"].get("state") == "cancelled"][-1]["data"]["ended"]
    assert ended and all({"pid", "name", "how"} <= set(each) for each in ended), ended
    assert any("claude" in each["name"] for each in ended), ended


def test_an_api_that_is_overloaded_does_not_look_like_a_hang(desk):
    with desk.run([Reply(status=529), Reply(text("Back again."))], "--mode", "autonomous") as run:
        retry = run.until_type("error")
        assert retry["data"]["code"] == "api_retry" and retry["data"]["status"] == 529
        task, code = run.to_end()
    assert code == 0 and task["status"]["state"] == "completed", run.story()


def tokens(usage):
    return sum(usage[kind] for kind in ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens"))


def ms_between(earlier, later):
    first, last = (datetime.fromisoformat(event["timestamp"].replace("Z", "+00:00")) for event in (earlier, later))
    return (last - first).total_seconds() * 1000


def wait_for_file(path, timeout=60):
    deadline = threading.Event()
    timer = threading.Timer(timeout, deadline.set)
    timer.start()
    while not path.exists():
        assert not deadline.wait(0.02), f"{path.name} was not made within {timeout} s"
    timer.cancel()
