"""Commands in the real program: they enter, reach a runner, and settle."""

import datetime
import threading
import time

import pytest

from streams import WAIT
from tasks import end_task, new_task, note, post_events

CAPABILITIES = {"commands": ["steer", "interrupt", "approve", "deny", "stop"], "acknowledges": ["steer", "stop"],
                "approvals": True, "deltas": False, "cost": False, "resumesSessions": False}


def command(api, task, kind, expect=202, **members):
    answer = api.post(f"/api/v1/tasks/{task}/commands", json={"kind": kind, **members})
    assert answer.status_code == expect, answer.text
    return answer.json()


def result(runner, task, command_id, state, **members):
    post_events(runner, task, {"type": "command_result", "summary": state, "data": {"id": command_id, "state": state, **members}})


def commands_of(api, task):
    return {c["id"]: c for c in api.get(f"/api/v1/tasks/{task}").json()["commands"]}


def log_of(api, task):
    return api.get(f"/api/v1/tasks/{task}/events").json()["events"]


def wait_for(fact, timeout=WAIT):
    deadline = time.monotonic() + timeout
    while not (value := fact()):
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)
    return value


@pytest.fixture
def runner_feed(server, task):
    """A runner's command feed of the task, open and registered at the server."""
    with server.websocket(f"/api/v1/tasks/{task}/events?types=command", base=server.internal) as feed:
        feed.until(lambda m: m.type == "caught_up")
        yield feed


def test_a_command_and_how_it_settles(server, api, runner, task, runner_feed):
    with server.sse(f"/api/v1/tasks/{task}/events") as watcher:
        answer = command(api, task, "steer", id="c1", content="look at the tests first", metadata={"from": "page"})
        assert answer == {"taskID": task, "id": "c1", "kind": "steer", "state": "accepted", "sequence": 1}
        [given] = runner_feed.events(1)
        assert given["data"] == {"id": "c1", "kind": "steer", "content": "look at the tests first",
                                 "metadata": {"from": "page"}, "by": server.ready.get("person", given["data"]["by"])}
        assert given["data"]["by"], "a command carries the person's name"
        assert given["summary"] == "steer: look at the tests first"
        assert commands_of(api, task)["c1"]["state"] == "accepted"
        result(runner, task, "c1", "delivered")
        assert commands_of(api, task)["c1"]["state"] == "delivered"
        result(runner, task, "c1", "acknowledged")
        assert commands_of(api, task)["c1"]["state"] == "acknowledged"
        assert [e["type"] for e in watcher.events(3)] == ["command", "command_result", "command_result"]


def test_the_same_id_gives_the_same_answer(api, task, runner_feed):
    first = command(api, task, "steer", id="twice", content="one")
    assert command(api, task, "steer", id="twice", content="one") == first
    assert len(log_of(api, task)) == 1
    made = command(api, task, "interrupt")
    assert made["id"] and made["id"] != "twice"


def test_nobody_runs_it(api, task):
    answer = command(api, task, "steer", id="c1", content="hello?")
    assert (answer["state"], answer["reason"]) == ("refused", "no_runner")
    assert [e["type"] for e in log_of(api, task)] == ["command", "command_result"]


def test_a_watcher_is_not_a_runner(server, api, task):
    with server.websocket(f"/api/v1/tasks/{task}/events?types=command") as public:
        public.until(lambda m: m.type == "caught_up")
        assert command(api, task, "interrupt")["reason"] == "no_runner"
    with server.websocket(f"/api/v1/tasks/{task}/events", base=server.internal) as everything:
        everything.until(lambda m: m.type == "caught_up")
        assert command(api, task, "interrupt")["reason"] == "no_runner"


def test_stop_of_a_queued_task_cancels_it(server, api):
    task = new_task(api, agent="none-such")
    with server.sse(f"/api/v1/tasks/{task}/events") as watcher:
        assert command(api, task, "stop", reason="wrong branch")["state"] == "acknowledged"
        seen, _ = watcher.to_end()
    assert [m.data["type"] for m in seen if m.type == "task_event"] == ["command", "command_result", "status"]
    assert seen[-1].type == "task_complete" and seen[-1].data["status"] == "cancelled"
    assert command(api, task, "stop", expect=409)["code"] == "task_ended"


def test_what_the_agent_cannot_do(api, runner, task, runner_feed):
    assert api.get(f"/api/v1/tasks/{task}").json()["capabilities"] is None
    post_events(runner, task, {"type": "status", "summary": "running",
                               "data": {"state": "running", "capabilities": CAPABILITIES}})
    assert api.get(f"/api/v1/tasks/{task}").json()["capabilities"] == CAPABILITIES
    assert command(api, task, "set_mode", mode="autonomous")["reason"] == "unsupported"
    assert command(api, task, "steer", content="x")["state"] == "accepted"


def test_what_nobody_takes_expires(api, runner, task, runner_feed):
    command(api, task, "steer", id="short", content="quick", expiresSeconds=1)
    command(api, task, "steer", id="long", content="slow")
    command(api, task, "steer", id="taken", content="taken", expiresSeconds=1)
    result(runner, task, "taken", "delivered")
    wait_for(lambda: commands_of(api, task)["short"]["state"] == "expired")
    states = {k: v["state"] for k, v in commands_of(api, task).items()}
    assert states == {"short": "expired", "long": "accepted", "taken": "delivered"}


def test_a_crash_does_not_forget_what_expires(make_server):
    server = make_server().start()
    with server.api() as api:
        task = new_task(api)
        with server.websocket(f"/api/v1/tasks/{task}/events?types=command", base=server.internal) as feed:
            feed.until(lambda m: m.type == "caught_up")
            command(api, task, "steer", id="c1", content="x", expiresSeconds=1)
            server.kill()
    server.start()
    with server.api() as api:
        wait_for(lambda: commands_of(api, task)["c1"]["state"] == "expired")
        assert [e["type"] for e in log_of(api, task)] == ["command", "command_result"]


def approval(approval_id="a1", state="pending", **data):
    """An approval as the driver of Claude Code sends it (tests/golden/claude/expected)."""
    pending = state == "pending"
    asked = {"input": {"command": "rm -rf build", "description": "Start afresh"}} if pending else {"message": "decided by an operator"}
    return {"type": "approval", "summary": f"{'Needs approval' if pending else state.capitalize()}: Running rm -rf build", "tool": "Bash",
            "callID": "toolu_1", "sessionID": "s1", "eventID": approval_id if pending else f"{approval_id}/{state}",
            "data": {"approvalID": approval_id, "state": state, "kind": "permission", "tool": "Bash", **asked, **data}}


def test_the_first_answer_wins(api, runner, task, runner_feed):
    post_events(runner, task, approval())
    [waiting] = api.get(f"/api/v1/tasks/{task}").json()["approvals"]
    assert (waiting["approvalID"], waiting["tool"], waiting["sequence"]) == ("a1", "Bash", 1)
    answers = []
    people = [threading.Thread(target=lambda i=i: answers.append(
        command(api, task, "approve" if i % 2 else "deny", id=f"p{i}", approvalID="a1"))) for i in range(8)]
    [p.start() for p in people]
    [p.join() for p in people]
    assert sorted(a["state"] for a in answers) == ["accepted"] + ["refused"] * 7
    assert {a.get("reason") for a in answers} == {None, "already_answered"}
    [given] = runner_feed.events(1)
    assert given["data"]["id"] == next(a["id"] for a in answers if a["state"] == "accepted")
    post_events(runner, task, approval(state="approved"))
    assert api.get(f"/api/v1/tasks/{task}").json()["approvals"] == []
    assert command(api, task, "approve", approvalID="a2")["reason"] == "approval_not_open"


def test_an_approval_with_a_deadline_is_denied(api, runner, task, runner_feed):
    soon = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=1)
    post_events(runner, task, approval(expiresAt=soon.isoformat()))
    [denial] = runner_feed.events(1)
    assert denial["data"]["kind"] == "deny" and denial["data"]["approvalID"] == "a1"
    assert denial["data"]["by"] == "shepherd" and denial["data"]["message"] == "no operator answered in time"
    assert command(api, task, "approve", approvalID="a1")["reason"] == "already_answered"


def test_commands_on_a_websocket(server, api, task, runner_feed):
    with server.websocket(f"/api/v1/tasks/{task}/events") as stream:
        stream.until(lambda m: m.type == "caught_up")
        stream.send({"type": "steer", "id": "w1", "taskID": task, "data": {"content": "from the page"}})
        accepted = stream.until(lambda m: m.type == "command_accepted")[-1]
        assert accepted.data == {"taskID": task, "id": "w1", "kind": "steer", "state": "accepted", "sequence": 1}
        stream.send({"type": "interrupt", "id": "w2"})
        assert stream.until(lambda m: m.type == "command_accepted")[-1].data["id"] == "w2"
        stream.send({"type": "steer", "id": "w3", "data": {}})
        assert stream.until(lambda m: m.type == "error")[-1].data["code"] == "bad_member"
    assert [e["data"]["id"] for e in runner_feed.events(2)] == ["w1", "w2"]
    with server.websocket("/api/v1/events") as stream:
        stream.until(lambda m: m.type == "caught_up")
        stream.send({"type": "stop", "id": "w4"})
        assert stream.until(lambda m: m.type == "error")[-1].data["code"] == "bad_message"
        stream.send({"type": "stop", "id": "w5", "taskID": "no-such-task"})
        assert stream.until(lambda m: m.type == "error")[-1].data["code"] == "unknown_task"
        stream.send({"type": "interrupt", "id": "w6", "taskID": task})
        assert stream.until(lambda m: m.type == "command_accepted")[-1].task == task


def test_who_may_command(server, api, task):
    def token(scope, **members):
        return api.post("/api/v1/tokens", json={"name": scope + " person", "scope": scope, **members}).json()["secret"]

    for scope in ("viewer", "producer"):
        with server.api(token(scope)) as other:
            assert command(other, task, "interrupt", expect=403)["code"] == "forbidden"
        with server.websocket(f"/api/v1/tasks/{task}/events", token=token(scope)) as stream:
            stream.send({"type": "interrupt", "id": "x"})
            assert stream.until(lambda m: m.type == "error")[-1].data["code"] == "forbidden"
    with server.api(token("operator")) as other:
        command(other, task, "interrupt", id="op", by="somebody else")
    assert commands_of(api, task)["op"]["by"] == "operator person"


@pytest.mark.parametrize("body, code", [
    ({"kind": "dance"}, "unknown_kind"), ({}, "unknown_kind"), ({"kind": "steer"}, "bad_member"),
    ({"kind": "stop", "id": "a b"}, "bad_command_id"), ({"kind": "stop", "id": "x" * 57}, "bad_command_id"),
    ({"kind": "stop", "expiresSeconds": 0}, "bad_member"), ([], "bad_command")])
def test_bad_commands(api, task, body, code):
    answer = api.post(f"/api/v1/tasks/{task}/commands", json=body)
    assert (answer.status_code, answer.json()["code"]) == (400, code)
    assert log_of(api, task) == []


def test_where_there_is_no_task(api):
    assert command(api, "no-such-task", "stop", expect=404)["code"] == "unknown_task"


def test_the_end_settles_what_is_open(api, runner, task, runner_feed):
    command(api, task, "steer", id="c1", content="too late")
    post_events(runner, task, approval(), note("last words"))
    end_task(runner, task)
    ended = api.get(f"/api/v1/tasks/{task}").json()
    assert (ended["commands"][0]["state"], ended["commands"][0]["reason"]) == ("refused", "task_ended")
    assert ended["approvals"] == []
    assert command(api, task, "steer", id="c1", content="too late")["state"] == "refused", "the same id, the same command"


def test_the_server_ends_what_ran_out_of_time(make_server):
    server = make_server(config="runners:\n  timeout_grace_seconds: 0\n").start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api, timeout=1)
        post_events(runner, task, {"type": "status", "summary": "running", "data": {"state": "running"}})
        wait_for(lambda: api.get(f"/api/v1/tasks/{task}").json()["status"]["state"] == "timed_out")
        post_events(runner, task, note("still here"))
        assert log_of(api, task)[-1]["late"] is True
