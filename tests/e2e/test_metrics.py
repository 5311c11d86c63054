"""/metrics has the format that Prometheus expects, and the right number changes."""

import re
import subprocess

import pytest

from tasks import end_task, eventually, new_id, new_task, note, post_events


def scrape(api):
    answer = api.get("/metrics")
    assert answer.status_code == 200
    assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
    return answer.text


def value(text, name, **labels):
    """The value of the series with exactly these labels; 0 if there is none."""
    for line in text.splitlines():
        found = re.fullmatch(rf"{name}(?:\{{(.*)\}})? (\S+)", line)
        if found and dict(re.findall(r'(\w+)="([^"]*)"', found[1] or "")) == labels:
            return float(found[2])
    return 0


@pytest.fixture
def grows(api):
    """Waits until a series has grown by this much."""
    before = scrape(api)

    def check(by, name, **labels):
        was = value(before, name, **labels)
        eventually(lambda: value(scrape(api), name, **labels) - was == pytest.approx(by))
    return check


def test_promtool_accepts_it(server, api, runner):
    task = new_task(api, agent="claude")
    post_events(runner, task, note("x"), {"type": "tool_call", "summary": "x", "tool": "Ba\"sh", "callID": "c"},
                {"type": "tool_result", "summary": "x", "tool": "Ba\"sh", "callID": "c", "output": {"success": True, "summary": ""}})
    end_task(runner, task)
    eventually(lambda: "Ba\\\"sh" in scrape(api))
    with server.websocket(f"/api/v1/tasks/{task}/events") as feed:
        feed.events(1)
        text = scrape(api)
    result = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, text=True)
    assert result.returncode == 0 and not result.stdout + result.stderr, result.stdout + result.stderr


def test_events_are_counted(api, runner, task, grows):
    post_events(runner, task, *[note("x") for _ in range(25)])
    grows(25, "shepherd_events_appended_total")
    grows(1, "shepherd_http_requests_total", listener="internal", route="/api/v1/tasks/{id}/events", method="POST", code="200")


def test_money_tokens_and_errors_by_agent_and_model(api, runner, grows):
    agent = new_id("agent")
    task = new_task(api, agent=agent, model="big")
    usage = {"costUSD": 0.25, "inputTokens": 100, "outputTokens": 20, "cacheReadTokens": 7, "cacheWriteTokens": 3}
    post_events(runner, task, {"type": "usage", "summary": "u", "sessionID": "s", "data": usage})
    post_events(runner, task, {"type": "usage", "summary": "u", "sessionID": "s", "data": {**usage, "costUSD": 0.75}})
    post_events(runner, task, {"type": "error", "summary": "e", "data": {"code": "x", "fatal": False}})
    who = {"agent": agent, "model": "big"}
    grows(0.75, "shepherd_cost_usd_total", **who)
    for name, count in {"input": 100, "output": 20, "cache_read": 7, "cache_write": 3}.items():
        grows(count, "shepherd_tokens_total", **{"class": name}, **who)
    grows(1, "shepherd_agent_errors_total", **who)


def test_tools_with_failures_and_durations(api, runner, task, grows):
    tool = new_id("tool")
    for number, (ms, good) in enumerate([(50, True), (5_000, False)]):
        call = {"tool": tool, "callID": f"c{number}", "summary": "x"}
        post_events(runner, task, {"type": "tool_call", **call},
                    {"type": "tool_result", **call, "durationMS": ms, "output": {"success": good, "summary": ""}})
    grows(2, "shepherd_tool_calls_total", tool=tool)
    grows(1, "shepherd_tool_failures_total", tool=tool)
    grows(1, "shepherd_tool_duration_seconds_bucket", tool=tool, le="0.1")
    grows(2, "shepherd_tool_duration_seconds_bucket", tool=tool, le="10")
    grows(2, "shepherd_tool_duration_seconds_count", tool=tool)


def test_tasks_by_state_agent_and_model(api, runner, grows):
    agent = new_id("agent")
    task, other = new_task(api, agent=agent, model="m"), new_task(api, agent=agent, model="m")
    who = {"agent": agent, "model": "m"}
    grows(2, "shepherd_tasks", state="queued", **who)
    grows(2, "shepherd_tasks_waiting")
    runner.post(f"/api/v1/tasks/{task}/status", json={"event": "started"})
    grows(1, "shepherd_tasks", state="running", **who)
    grows(1, "shepherd_tasks", state="queued", **who)
    end_task(runner, task, event="failed")
    grows(0, "shepherd_tasks", state="running", **who)
    grows(1, "shepherd_tasks_ended_total", state="failed", **who)
    grows(1, "shepherd_task_duration_seconds_count")
    api.delete(f"/api/v1/tasks/{other}")
    grows(0, "shepherd_tasks", state="queued", **who)


def test_what_waits_for_a_person(api, runner, task, grows):
    post_events(runner, task, {"type": "approval", "summary": "May I?", "tool": "Bash",
                               "data": {"approvalID": "a1", "state": "pending", "kind": "permission"}})
    grows(1, "shepherd_inbox_entries", kind="approval")
    eventually(lambda: value(scrape(api), "shepherd_inbox_oldest_age_seconds", kind="approval") > 0.5)
    end_task(runner, task)
    grows(0, "shepherd_inbox_entries", kind="approval")


def test_runners_slots_and_lost_leases(make_server):
    server = make_server(config="runners:\n  lease_seconds: 1\n").start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api, agent="a")
        assert runner.post("/api/v1/claims", json={"runner": "r1", "agents": ["a"]}).json()["taskID"] == task
        post_events(runner, task, note("x"))
        eventually(lambda: value(scrape(api), "shepherd_leases") == 1 and value(scrape(api), "shepherd_runners") == 1)
        eventually(lambda: value(scrape(api), "shepherd_lease_losses_total") == 1)
        eventually(lambda: value(scrape(api), "shepherd_leases") == 0)
        assert value(scrape(api), "shepherd_runners") == 1, "it may still ask for work"
        assert runner.delete("/api/v1/runners/r1").status_code == 204
        eventually(lambda: value(scrape(api), "shepherd_runners") == 0)


def test_a_scrape_is_small_and_every_family_is_described(api):
    text = scrape(api)
    families = set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))
    assert families and families == set(re.findall(r"^# HELP (\S+)", text, re.MULTILINE))
    assert all(name.startswith(("shepherd_", "process_")) for name in families)
    buckets = [line for line in text.splitlines() if "_bucket{" in line and "tool=" not in line]
    assert len(buckets) < 60, "a histogram for each route was most of a scrape"
