"""The dashboard's requests: inbox, time bar, the state at an event, findings, stats, agents and sessions."""

import json
import time
from datetime import datetime, timedelta, timezone

from tasks import end_task, eventually, new_task, note, post_events


def approval(approval_id, state="pending", **data):
    return {"type": "approval", "summary": f"Needs approval: {approval_id}", "tool": "Bash",
            "data": {"approvalID": approval_id, "state": state, "kind": "permission", "tool": "Bash",
                     "input": {"command": "git push", "text": "<b>\u202e"}, **data}}


def entries(api, task=None):
    items = api.get("/api/v1/inbox", params={"limit": 1000}).json()["items"]
    return [item for item in items if task is None or item["taskID"] == task]


# --- inbox ---


def test_an_approval_is_in_the_inbox_until_it_is_answered(api, runner):
    task = new_task(api, title="Push it", agent="")
    post_events(runner, task, note("working"), approval("a1", expiresAt="2099-01-01T00:00:00Z"))
    (item,) = eventually(lambda: entries(api, task))
    assert item["kind"] == "approval" and item["title"] == "Push it" and item["sequence"] == 2
    assert item["approval"]["approvalID"] == "a1" and item["approval"]["tool"] == "Bash"
    assert item["approval"]["input"] == {"command": "git push", "text": "<b>\u202e"}
    assert item["approval"]["expiresAt"] == "2099-01-01T00:00:00.000Z"
    event = api.get(f"/api/v1/tasks/{task}/events/2").json()
    assert item["since"] == event["receivedAt"]
    post_events(runner, task, approval("a1", "approved"))
    eventually(lambda: not entries(api, task))


def test_urgent_before_old_and_failed_last(api, runner):
    failed, asks, hurries, waits = (new_task(api) for _ in range(4))
    post_events(runner, failed, note("x"))
    end_task(runner, failed, "failed", message="no disk")
    post_events(runner, waits, {"type": "status", "summary": "what next?", "data": {"state": "waiting_for_input"}})
    post_events(runner, asks, approval("a1"))
    post_events(runner, hurries, approval("a2", expiresAt="2098-01-01T00:00:00Z"))
    mine = [hurries, asks, waits, failed]
    eventually(lambda: {e["taskID"] for e in entries(api)} >= set(mine))
    assert [e["taskID"] for e in entries(api) if e["taskID"] in mine] == mine
    assert [e["kind"] for e in entries(api, failed)] == ["failed"]
    assert entries(api, failed)[0]["summary"] == "no disk"
    answer = api.get("/api/v1/inbox", params={"limit": 1}).json()
    assert len(answer["items"]) == 1 and answer["total"] >= 4


def test_a_failure_is_dismissed_also_for_the_next_start(make_server):
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        post_events(runner, task, note("x"))
        assert api.post("/api/v1/inbox/dismiss", json={"taskID": task}).status_code == 409
        end_task(runner, task, "failed", message="broken")
        eventually(lambda: entries(api, task))
        assert api.post("/api/v1/inbox/dismiss", json={"taskID": task}).status_code == 200
        assert entries(api, task) == []
        other = new_task(api)
        end_task(runner, other, "failed")
        eventually(lambda: entries(api, other))
    server.kill()
    server.start()
    with server.api() as api:
        eventually(lambda: entries(api, other))
        assert entries(api, task) == []


def test_who_may_see_and_dismiss(server, api, runner):
    mine, other = new_task(api), new_task(api)
    for task in (mine, other):
        end_task(runner, task, "failed")
        eventually(lambda t=task: entries(api, t))
    def token(**members):
        return api.post("/api/v1/tokens", json={"name": "t", **members}).json()["secret"]
    with server.api(token(scope="viewer")) as viewer:
        assert entries(viewer, other)
        assert viewer.post("/api/v1/inbox/dismiss", json={"taskID": mine}).status_code == 403
    with server.api(token(scope="producer", task=mine)) as producer:
        assert {e["taskID"] for e in entries(producer)} == {mine}
        for path in ("/api/v1/findings", "/api/v1/stats", "/api/v1/observability/agents"):
            assert producer.get(path).status_code == 403, path
    with server.api("") as nobody:
        assert nobody.get("/api/v1/inbox").status_code == 401
    for body in ({}, {"taskID": 7}, {"taskID": "../x"}, []):
        assert api.post("/api/v1/inbox/dismiss", json=body).status_code == 400


def test_a_stream_is_told_that_the_inbox_changed(server, api, runner):
    task = new_task(api)
    with server.websocket("/api/v1/events") as feed:
        post_events(runner, task, approval("a1"))
        told = feed.until(lambda message: message.type == "inbox_update")[-1]
        assert told.data["total"] >= 1
    assert entries(api, task)


def test_the_command_line_lists_it(server, api, runner):
    task = new_task(api, title="Evil \u001b[31mred\u001b[0m title")
    post_events(runner, task, approval("a1"))
    eventually(lambda: entries(api, task))
    shown = server.cli("inbox", "--limit", "1000").stdout
    (item,) = [item for item in shown.split("\n\n") if task in item]
    assert item.startswith("approval") and f"\n    shepherd approve {task} a1" in item and "\x1b" not in item
    assert task in server.cli("inbox", "--json", "--limit", "1000").stdout


# --- replay ---


def test_the_time_bar_of_a_log(api, runner):
    task = new_task(api)
    start = datetime(2026, 2, 18, 14, tzinfo=timezone.utc)
    def at(seconds, type, **members):
        return {"type": type, "summary": type, "timestamp": (start + timedelta(seconds=seconds)).isoformat(), **members}
    post_events(runner, task, at(0, "thinking"), at(10, "error"), at(12, "thinking"), at(95, "result"), at(99, "thinking"))
    bar = api.get(f"/api/v1/tasks/{task}/timeline", params={"buckets": 10}).json()
    assert (bar["from"], bar["to"]) == ("2026-02-18T14:00:00.000Z", "2026-02-18T14:01:39.000Z")
    assert (bar["firstSequence"], bar["lastSequence"]) == (1, 5)
    assert [b["events"] for b in bar["buckets"]] == [1, 2, 0, 0, 0, 0, 0, 0, 0, 2]
    assert [b["errors"] for b in bar["buckets"]] == [0, 1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert [b["first"] for b in bar["buckets"]][:3] == [1, 2, 4]
    assert [(m["sequence"], m["kind"]) for m in bar["marks"]] == [(2, "error"), (4, "result")]
    empty = api.get(f"/api/v1/tasks/{new_task(api)}/timeline").json()
    assert empty["buckets"] == [] and empty["from"] is None
    assert api.get("/api/v1/tasks/nobody/timeline").status_code == 404
    assert api.get(f"/api/v1/tasks/{task}/timeline?buckets=0").status_code == 400


def test_the_task_as_it_was(api, runner):
    task = new_task(api)
    def usage(cost):
        return {"type": "usage", "summary": "", "sessionID": "s", "data": {"costUSD": cost}}
    post_events(runner, task, note("one"), usage(0.5), approval("a1"), usage(0.75))
    end_task(runner, task, "failed", message="broken")
    def at(n):
        answer = api.get(f"/api/v1/tasks/{task}", params={"at": n})
        return answer.json() if answer.status_code == 200 else answer.json()["code"]
    assert at(0)["status"]["state"] == "queued" and at(0)["lastSequence"] == 0
    assert at(1)["status"]["state"] == "running" and at(1)["activity"] == "one"
    assert at(2)["usage"]["costUSD"] == 0.5 and at(2)["approvals"] == []
    assert [a["approvalID"] for a in at(3)["approvals"]] == ["a1"]
    now = api.get(f"/api/v1/tasks/{task}").json()
    assert {k: v for k, v in at(5).items() if k not in ("at", "whole")} == now
    assert at(5)["at"] == 5 and at(5)["whole"] is True
    assert at(6) == "cursor_ahead"


# --- findings and stats ---


def stats(api, **parameters):
    """The answer once the ledger is up to date."""
    def look():
        answer = api.get("/api/v1/stats", params=parameters).json()
        return answer if answer["indexedThrough"] == answer["head"] else None
    return eventually(look)


def test_findings_across_tasks(make_server):
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        tasks = [new_task(api, title=f"Review {i}") for i in range(3)]
        for i, task in enumerate(tasks):
            post_events(runner, task, note("x"),
                        {"type": "finding", "summary": f"finding {i}",
                         "data": {"severity": "high" if i else "low", "confidence": 0.5, "category": "xss", "file": "a.ts"}})
        stats(api)
        found = api.get("/api/v1/findings").json()
        assert [f["summary"] for f in found["items"]] == ["finding 2", "finding 1", "finding 0"] and found["next"] is None
        first = found["items"][0]
        assert first["title"] == "Review 2" and first["sequence"] == 2 and first["data"]["file"] == "a.ts"
        assert (first["severity"], first["confidence"], first["category"]) == ("high", 0.5, "xss")
        assert [f["taskID"] for f in api.get("/api/v1/findings?severity=low").json()["items"]] == [tasks[0]]
        assert [f["taskID"] for f in api.get(f"/api/v1/findings?task={tasks[1]}").json()["items"]] == [tasks[1]]
        page = api.get("/api/v1/findings?limit=2").json()
        rest = api.get("/api/v1/findings", params={"after": page["next"]}).json()
        assert [f["summary"] for f in page["items"] + rest["items"]] == ["finding 2", "finding 1", "finding 0"]
        assert api.delete(f"/api/v1/tasks/{tasks[2]}").status_code == 204
        assert [f["summary"] for f in api.get("/api/v1/findings").json()["items"]] == ["finding 1", "finding 0"]
        assert api.get("/api/v1/findings?after=nonsense!").status_code == 400


def test_stats_add_up_and_survive_a_kill(make_server):
    server = make_server().start()
    def usage(cost, tokens):
        return {"type": "usage", "summary": "", "sessionID": "s",
                "data": {"costUSD": cost, "inputTokens": tokens, "outputTokens": 1, "cacheReadTokens": 2, "cacheWriteTokens": 3}}
    with server.api() as api, server.runner() as runner:
        first, second = new_task(api, model="opus"), new_task(api, model="haiku")
        post_events(runner, first, usage(0.25, 100))
        post_events(runner, first, usage(0.75, 150))
        post_events(runner, second, usage(1, 10),
                    {"type": "tool_call", "summary": "", "tool": "Bash", "callID": "c"},
                    {"type": "tool_result", "summary": "", "tool": "Bash", "callID": "c", "durationMS": 1000,
                     "output": {"success": False, "summary": ""}},
                    {"type": "error", "summary": "x"})
        end_task(runner, second, "failed")
        total = stats(api)["totals"]
        assert total["costUSD"] == 1.75
        assert total["tokens"] == {"input": 160, "output": 2, "cacheRead": 4, "cacheWrite": 6}
        assert (total["events"], total["errors"], total["toolCalls"]) == (7, 1, 1)
        assert (total["tasks"], total["failed"], total["running"]) == (2, 1, 1)
    server.kill()
    server.start()
    with server.api() as api, server.runner() as runner:
        assert stats(api)["totals"] == total, "a restart counts nothing twice"
        post_events(runner, first, usage(1, 150))
        answer = stats(api, by="model", **{"from": "-1h", "step": 60})
        assert [(s["key"], round(sum(p["costUSD"] for p in s["points"]), 9)) for s in answer["series"]] == [
            ("haiku", 1), ("opus", 1)]
        assert answer["stepSeconds"] == 60 and len(answer["series"][0]["points"]) in (60, 61)
        (tool,) = answer["tools"]
        assert (tool["tool"], tool["calls"], tool["failures"]) == ("Bash", 1, 1)
        assert 900 <= tool["p50MS"] <= 1100
        assert answer["now"] == {"running": 1, "waiting": 0, "queued": 0, "needsYou": 1}
        for wrong in ("from=yesterday", "to=-2d", "by=colour", "step=60&from=-30d", "step=x"):
            assert api.get(f"/api/v1/stats?{wrong}").status_code == 400, wrong


def test_tasks_of_a_time(api, runner):
    early = new_task(api)
    post_events(runner, early, note("early"))
    middle = new_task(api)
    post_events(runner, middle, note("middle"))
    begin = api.get(f"/api/v1/tasks/{middle}").json()["lastEventAt"]
    time.sleep(0.005)  # timestamps have milliseconds
    late = new_task(api)
    post_events(runner, late, note("late"))
    post_events(runner, early, note("late, too"))
    end = api.get(f"/api/v1/tasks/{late}").json()["lastEventAt"]
    def ids(**parameters):
        return {t["id"] for t in api.get("/api/v1/tasks", params=parameters).json()} & {early, middle, late}
    assert ids(**{"from": begin, "to": end}) == {middle}
    assert ids(**{"from": end}) == {early, late}
    assert ids(**{"from": "-1h"}) == {early, middle, late}
    assert ids(**{"from": "-1h", "text": middle}) == {middle}
    assert api.get("/api/v1/tasks?from=x").status_code == 400


# --- the names of earlier dashboards ---


def test_agents_and_sessions(server, api, runner):
    task = new_task(api, workflowID="w1")
    post_events(runner, task, {"type": "session_start", "summary": "", "sessionID": task + "-s", "data": {"model": "m"}},
                {**note("one"), "sessionID": task + "-s"}, note("elsewhere"),
                {"type": "usage", "summary": "", "sessionID": task + "-s", "data": {"costUSD": 0.5}})
    agents = api.get("/api/v1/observability/agents", params={"workflow_id": "w1"}).json()["agents"]
    (agent,) = [a for a in agents if a["agent_id"] == task]
    assert agent["status"] == "running" and agent["session_id"] == task + "-s" and agent["metrics"]["cost_usd"] == 0.5
    session = api.get(f"/api/v1/observability/sessions/{task}-s").json()
    assert session["agent_id"] == task and session["metrics"]["cost_usd"] == 0.5 and session["completed_at"] is None
    assert [e["sequence"] for e in session["events"]] == [1, 2, 4]
    # The session continues in another task; both are one story.
    resumed = new_task(api)
    post_events(runner, resumed, {**note("resumed"), "type": "session_start", "sessionID": task + "-s"},
                {"type": "usage", "summary": "", "sessionID": task + "-s", "data": {"costUSD": 0.25}})
    session = api.get(f"/api/v1/observability/sessions/{task}-s").json()
    assert [(e["agent_id"], e["sequence"]) for e in session["events"]] == [
        (task, 1), (task, 2), (task, 4), (resumed, 1), (resumed, 2)]
    assert session["metrics"]["cost_usd"] == 0.75 and len(session["agents"]) == 2
    newest = api.get(f"/api/v1/observability/sessions/{task}-s?limit=3").json()["events"]
    assert [(e["agent_id"], e["sequence"]) for e in newest] == [(task, 4), (resumed, 1), (resumed, 2)]
    assert api.get("/api/v1/observability/sessions/nobody").status_code == 404
    page = api.get(f"/api/v1/observability/agents/{task}/events").json()
    assert [e["sequence"] for e in page["events"]] == [1, 2, 3, 4]
    assert "shepherd_" in api.get("/api/v1/observability/metrics").text
    with server.websocket("/api/v1/observability/dashboard/ws") as feed:
        post_events(runner, task, note("live"))
        assert feed.events(1)[0]["summary"] == "live"
    end_task(runner, task)
    assert task not in {a["agent_id"] for a in api.get("/api/v1/observability/agents?limit=1000").json()["agents"]}
    ended = api.get("/api/v1/observability/agents?status=completed&limit=1000").json()["agents"]
    assert task in {a["agent_id"] for a in ended}


# --- rows ---


def of(task, kind):
    return lambda message: message.type == kind and message.task == task


def test_a_page_hears_of_a_task_that_comes_changes_and_goes(server, api, runner):
    with server.websocket("/api/v1/events") as feed:
        task = new_task(api, title="One")
        assert feed.until(of(task, "task_update"))[-1].data["title"] == "One"
        api.patch(f"/api/v1/tasks/{task}", json={"title": "Two"})
        feed.until(lambda message: message.type == "task_update" and message.data["title"] == "Two")
        post_events(runner, task, note("working"))
        feed.until(lambda message: message.type == "task_update" and message.data["lastSequence"] == 1)
        assert api.delete(f"/api/v1/tasks/{task}").status_code == 204
        feed.until(of(task, "task_deleted"))


def test_a_page_of_some_tasks_hears_of_those_alone(server, api):
    mine, other = new_task(api), new_task(api)
    with server.websocket(f"/api/v1/events?tasks={mine}") as feed:
        feed.until(lambda message: message.type == "caught_up")
        for task in (other, mine):
            assert api.delete(f"/api/v1/tasks/{task}").status_code == 204
        heard = [message for message in feed.until(of(mine, "task_deleted")) if message.type in ("task_update", "task_deleted")]
        assert [(message.type, message.task) for message in heard] == [("task_deleted", mine)]


def test_rows_carry_no_payload(server, api, runner):
    label = {"payload": f"{time.monotonic_ns():x}"}
    big = new_task(api, labels=label, title="", agent="sh", command=["sh", "-c", "true " + "y" * 100_000], allowedTools=["Read"],
                   task={"description": "First line\n" + "d" * 500_000, "context": "c" * 1_000_000, "sourceURL": "https://example.com/7"})
    with server.websocket("/api/v1/events") as feed:
        post_events(runner, big, note("x"))
        update = feed.until(of(big, "task_update"))[-1].data
    listed = api.get("/api/v1/tasks", params={"label": f"payload={label['payload']}"})
    (row,) = listed.json()
    assert len(listed.content) < 2_000 and row["title"] == "First line" and row["task"] == {"sourceURL": "https://example.com/7"}
    assert update["title"] == "First line" and update["task"] == row["task"] and "command" not in update and "allowedTools" not in update
    whole = api.get(f"/api/v1/tasks/{big}").json()
    assert len(whole["task"]["description"]) == 500_011 and len(whole["command"][2]) == 100_005 and whole["allowedTools"] == ["Read"]
    assert [task["id"] for task in api.get("/api/v1/tasks", params={"text": "dddd"}).json()] == [big]
    assert len(runner.get(f"/api/v1/tasks/{big}/data").json()["context"]) == 1_000_000


def test_rows_updates_and_inbox_cost_what_they_show(make_server):
    """Ten tasks with 1 MiB each beside ten small ones: the same bytes. `shepherd bench --only rows` has the times."""
    server, cost = make_server().start(), {}
    with server.api() as api, server.runner() as runner:
        for size in (100, 1_000_000):
            label = {"size": str(size)}
            tasks = [new_task(api, labels=label, title="One of ten", task={"description": "d" * size, "context": "c" * size})
                     for _ in range(10)]
            with server.websocket("/api/v1/events?tasks=" + ",".join(tasks)) as feed:
                feed.until(lambda message: message.type == "caught_up")
                for task in tasks:
                    for _ in range(15):
                        post_events(runner, task, *[note("a small step")] * 10)
                behind, watched = set(tasks), 0
                while behind:
                    message = feed.next()
                    watched += len(json.dumps(message.data))
                    if message.type == "task_update" and message.data["lastSequence"] == 150:
                        behind.discard(message.task)
            post_events(runner, tasks[0], approval("a"))
            eventually(lambda: entries(api, tasks[0]))
            listed = api.get("/api/v1/tasks", params={"label": f"size={size}"})
            assert len(listed.json()) == 10
            cost[size] = (watched, len(listed.content), len(json.dumps(entries(api, tasks[0]))))
    (_, *small), (watched, *large) = cost.values()
    assert watched < 2_000_000, "1,500 small events"
    assert all(much < 1.1 * little for much, little in zip(large, small)), cost


def test_what_every_row_shows_is_short(api):
    for body in ({"title": "t" * 5_000}, {"model": "m" * 5_000}, {"workflowID": "w" * 5_000}):
        refused = api.post("/api/v1/tasks", json={"prompt": "x", **body})
        assert refused.status_code == 400 and "4096 bytes" in refused.json()["detail"], refused.text
    task = new_task(api)
    assert api.patch(f"/api/v1/tasks/{task}", json={"title": "t" * 5_000}).status_code == 400
