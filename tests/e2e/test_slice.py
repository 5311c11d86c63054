"""One task from its creation to its end, through every interface."""

import json
import threading
import time

import pytest

from streams import WAIT, StreamEnded
from tasks import end_task, new_id, new_task, note, post_events

STREAMS = ["websocket", "sse"]


def events_path(task, query=""):
    return f"/api/v1/tasks/{task}/events{query}"


def page(api, task, query=""):
    answer = api.get(events_path(task, query))
    assert answer.status_code == 200, answer.text
    return answer.json()["events"]


def sequences(events):
    return [e["sequence"] for e in events]


def fill(runner, task, count, **members):
    post_events(runner, task, *[note(f"step {i}", **members) for i in range(1, count + 1)])


# --- tasks ---

def test_create_answers_the_task(api):
    answer = api.post("/api/v1/tasks", json={
        "task": {"description": "Fix the login", "context": "long story", "sourceURL": "https://example.com/i/7",
                 "sourceType": "issue", "sourceID": "7"},
        "repo": {"url": "https://example.com/r.git", "ref": "main"}, "labels": {"team": "web"}})
    assert answer.status_code == 201
    task = answer.json()
    assert task["id"].startswith("task-")
    assert task["task"] == {"description": "Fix the login", "sourceURL": "https://example.com/i/7", "sourceType": "issue",
                            "sourceID": "7"}, "the context is for runners alone"
    assert task["labels"] == {"team": "web"}
    assert task["status"]["phase"] == "Pending" and task["status"]["state"] == "queued"
    assert task["lastSequence"] == 0, "creating a task appends nothing"
    assert api.get(f"/api/v1/tasks/{task['id']}").json() == task


def test_prompt_is_shorthand(api):
    answer = api.post("/api/v1/tasks", json={"prompt": "Say hello"})
    assert answer.status_code == 201
    assert answer.json()["task"]["description"] == "Say hello"


def test_same_id_same_body_is_the_same_task(api):
    body = {"id": new_id(), "prompt": "once"}
    assert api.post("/api/v1/tasks", json=body).status_code == 201
    again = api.post("/api/v1/tasks", json=body)
    assert again.status_code == 200 and again.json()["id"] == body["id"]
    other = api.post("/api/v1/tasks", json={**body, "prompt": "twice"})
    assert other.status_code == 409


def test_idempotency_key(api):
    headers = {"Idempotency-Key": new_id("key")}
    first = api.post("/api/v1/tasks", json={"prompt": "once"}, headers=headers)
    again = api.post("/api/v1/tasks", json={"prompt": "once"}, headers=headers)
    assert (first.status_code, again.status_code) == (201, 200)
    assert first.json()["id"] == again.json()["id"]
    assert api.post("/api/v1/tasks", json={"prompt": "other"}, headers=headers).status_code == 409


def test_list_filters_and_pages(api, runner):
    label = new_id("l")
    made = [new_task(api, labels={"batch": label}) for _ in range(5)]
    end_task(runner, made[0])
    listed = api.get("/api/v1/tasks", params={"label": f"batch={label}"}).json()
    assert [t["id"] for t in listed] == made[::-1], "newest first"
    active = api.get("/api/v1/tasks", params={"label": f"batch={label}", "active": "true"}).json()
    assert [t["id"] for t in active] == made[:0:-1]
    first = api.get("/api/v1/tasks", params={"label": f"batch={label}", "limit": 2})
    seen, link = [t["id"] for t in first.json()], first.headers.get("link")
    while link:
        target = link[link.index("<") + 1:link.index(">")]
        following = api.get(target)
        seen += [t["id"] for t in following.json()]
        link = following.headers.get("link")
    assert seen == made[::-1]


def test_patch_and_delete(api, runner, task):
    patched = api.patch(f"/api/v1/tasks/{task}", json={"title": "Better", "labels": {"a": "b"}})
    assert patched.status_code == 200 and patched.json()["labels"] == {"a": "b"}
    fill(runner, task, 3)
    assert api.delete(f"/api/v1/tasks/{task}").status_code in (200, 204)
    assert api.get(f"/api/v1/tasks/{task}").status_code == 404
    assert api.get(events_path(task)).status_code == 404


# --- events in ---

@pytest.mark.parametrize("shape", ["one", "array", "object", "ndjson"])
def test_every_shape_of_a_post(api, runner, task, shape):
    events = [note("first", sequence=1), note("second", sequence=2)]
    if shape == "one":
        for event in events:
            answer = runner.post(events_path(task), json=event)
    elif shape == "array":
        answer = runner.post(events_path(task), json=events)
    elif shape == "object":
        answer = runner.post(events_path(task), json={"events": events})
    else:
        body = "\n".join(json.dumps(e) for e in events) + "\n"
        answer = runner.post(events_path(task), content=body, headers={"Content-Type": "application/x-ndjson"})
    assert answer.status_code == 200, answer.text
    assert answer.json() == {"status": "accepted", "sequence": 2, "producerSequence": 2}
    assert [(e["sequence"], e["summary"]) for e in page(api, task)] == [(1, "first"), (2, "second")]


def test_an_event_keeps_what_it_brought(api, runner, task):
    event = {"type": "tool_call", "timestamp": "2026-02-18T14:00:00.5+01:00", "summary": "Running go test ./...",
             "tool": "Bash", "input": {"command": "go test ./..."}, "callID": "c1", "sessionID": "s1",
             "metadata": {"k": [1, 2.5, None]}, "durationMS": 12, "ownField": {"kept": "\u2028 <b>"}}
    post_events(runner, task, event)
    (stored,) = page(api, task)
    for name in ("type", "summary", "tool", "input", "callID", "sessionID", "metadata", "durationMS", "ownField"):
        assert stored[name] == event[name]
    assert stored["version"] == 1
    assert stored["timestamp"].startswith("2026-02-18T1")


def test_an_unknown_type_is_kept(api, runner, task):
    post_events(runner, task, {"type": "novelty", "summary": "from the future"})
    assert page(api, task)[0]["type"] == "novelty"
    assert page(api, task, "?types=novelty")[0]["summary"] == "from the future"


def test_all_or_nothing(api, runner, task):
    answer = runner.post(events_path(task), json=[note("good"), {"type": 7}, note("good")])
    assert answer.status_code == 400
    assert answer.json()["index"] == 1
    assert page(api, task) == []


def test_command_is_reserved(api, runner, task):
    answer = runner.post(events_path(task), json={"type": "command", "summary": "approve me"})
    assert answer.status_code == 403 and answer.json()["code"] == "reserved_type"
    assert page(api, task) == []


def test_first_event_makes_it_running(api, runner, task):
    fill(runner, task, 1)
    status = api.get(f"/api/v1/tasks/{task}").json()["status"]
    assert (status["phase"], status["state"]) == ("Running", "running")


def test_end_is_final(api, runner, task):
    end_task(runner, task, "completed", message="done", details={"pr_url": "https://example.com/pr/1"})
    end_task(runner, task, "completed")
    shown = api.get(f"/api/v1/tasks/{task}").json()
    assert shown["status"]["phase"] == "Succeeded" and shown["status"]["prURL"] == "https://example.com/pr/1"
    assert shown["completionTime"]
    other = runner.post(f"/api/v1/tasks/{task}/status", json={"event": "failed"})
    assert other.status_code == 409 and other.json()["currentState"] == "completed"
    strict = {"Shepherd-Producer": new_id("spool")}
    assert runner.post(events_path(task), json=note("too late", sequence=1), headers=strict).status_code == 410


def test_unknown_task(api, runner):
    assert api.get(events_path("nobody")).status_code == 404
    assert runner.post(events_path("nobody"), json=note("x")).status_code == 404


def test_content_type(runner, task):
    answer = runner.post(events_path(task), content=b"{}", headers={"Content-Type": "text/plain"})
    assert answer.status_code == 415


# --- pages ---

def test_cursors_exclude_their_number(api, runner, task):
    fill(runner, task, 10)
    assert sequences(page(api, task)) == list(range(1, 11))
    assert sequences(page(api, task, "?after=7")) == [8, 9, 10]
    assert sequences(page(api, task, "?before=4")) == [1, 2, 3]
    assert sequences(page(api, task, "?before=9&limit=3")) == [6, 7, 8]
    assert sequences(page(api, task, "?after=2&limit=3")) == [3, 4, 5]
    assert sequences(page(api, task, "?tail=2")) == [9, 10]
    assert sequences(page(api, task, "?tail=99")) == list(range(1, 11))


def test_types_filter_a_page(api, runner, task):
    post_events(runner, task, note("a"), {"type": "log", "summary": "b"}, {"type": "error", "summary": "c"}, note("d"))
    assert sequences(page(api, task, "?types=log,error")) == [2, 3]


def test_cursor_ahead(api, server, runner, task):
    fill(runner, task, 3)
    for accept in ("application/json", "text/event-stream"):
        answer = api.get(events_path(task, "?after=4"), headers={"Accept": accept})
        assert answer.status_code == 409 and answer.json()["code"] == "cursor_ahead"
    with pytest.raises(Exception) as refused:
        server.websocket(events_path(task, "?after=4"))
    assert refused.value.response.status_code == 409
    with pytest.raises(Exception) as refused:
        server.websocket(events_path("nobody"))
    assert refused.value.response.status_code == 404


def test_detail_holds_what_was_cut(api, runner, task):
    command = "echo " + "x" * 2000
    post_events(runner, task, {"type": "tool_call", "tool": "Bash", "summary": "long", "input": {"command": command}},
                note("short"))
    shown = page(api, task)[0]
    assert len(shown["input"]["command"]) < 600
    detail = api.get(f"/api/v1/tasks/{task}/events/1/detail")
    assert detail.status_code == 200 and command in detail.text
    assert api.get(f"/api/v1/tasks/{task}/events/2/detail").status_code == 404
    assert command in api.get(events_path(task, "?detail=1")).text


# --- streams ---

@pytest.mark.parametrize("kind", STREAMS)
def test_replay_then_live_without_a_seam(server, runner, task, kind):
    fill(runner, task, 5)
    with getattr(server, kind)(events_path(task)) as feed:
        assert feed.sequences(5) == [1, 2, 3, 4, 5]
        caught_up = feed.next()
        assert caught_up.type == "caught_up" and caught_up.data["sequence"] == 5
        for i in range(6, 30):
            post_events(runner, task, note(f"live {i}"))
        assert feed.sequences(24) == list(range(6, 30))


@pytest.mark.parametrize("kind", STREAMS)
def test_resume_is_exact(server, runner, task, kind):
    fill(runner, task, 20)
    for after in (0, 1, 10, 19):
        with getattr(server, kind)(events_path(task, f"?after={after}")) as feed:
            assert feed.sequences(20 - after) == list(range(after + 1, 21))
    with getattr(server, kind)(events_path(task, "?after=20")) as feed:
        assert feed.next().type == "caught_up"
        post_events(runner, task, note("next"))
        assert feed.sequences(1) == [21]


@pytest.mark.parametrize("kind", STREAMS)
def test_tail_on_a_stream(server, runner, task, kind):
    fill(runner, task, 10)
    with getattr(server, kind)(events_path(task, "?tail=3")) as feed:
        assert feed.sequences(3) == [8, 9, 10]


@pytest.mark.parametrize("kind", STREAMS)
def test_filtered_stream_moves_its_position(server, runner, task, kind):
    for _ in range(5):
        post_events(runner, task, *[note("noise") for _ in range(700)])
    post_events(runner, task, {"type": "error", "summary": "found"})
    with getattr(server, kind)(events_path(task, "?types=error")) as feed:
        seen = feed.until(lambda m: m.type == "caught_up")
        assert [m.data["sequence"] for m in seen if m.type == "task_event"] == [3501]
        positions = [m.data["sequence"] for m in seen if m.type == "position"]
        assert positions and positions == sorted(positions), "a replay tells how far it has come"
        # A quiet filtered stream gets it too, within seconds.
        post_events(runner, task, note("noise"))
        moved = feed.until(lambda m: m.type == "position" and m.data["sequence"] == 3502)
        assert moved[-1].type == "position"


@pytest.mark.parametrize("kind", STREAMS)
def test_end_of_a_stream(server, runner, task, kind):
    fill(runner, task, 2)
    with getattr(server, kind)(events_path(task)) as feed:
        feed.events(2)
        end_task(runner, task, "failed", message="no luck", details={"error": "boom"})
        messages, end = feed.to_end()
        assert [m.data["sequence"] for m in messages if m.type == "task_event"] == [3]
        complete = messages[-1]
        assert complete.type == "task_complete"
        assert complete.data["taskID"] == task and complete.data["status"] in ("Failed", "failed")
        assert complete.data["error"] == "boom" and complete.data["lastSequence"] == 3
        if kind == "websocket":
            assert end.code == 1000
        else:
            assert complete.id == "3.end" and end.reason == "end of response"


def test_reconnect_after_the_end_is_204(server, runner, task):
    fill(runner, task, 2)
    end_task(runner, task)
    with server.sse(events_path(task), headers={"Last-Event-ID": "3.end"}) as feed:
        assert feed.status == 204
    with server.sse(events_path(task), headers={"Last-Event-ID": "2"}) as feed:
        assert [m.type for m in feed.to_end()[0] if m.type != "caught_up"] == ["task_event", "task_complete"]


def test_sse_ids(server, runner, task):
    fill(runner, task, 3)
    with server.sse(events_path(task, "?after=1")) as feed:
        first = feed.frame()
        assert first.data is None and first.id == "1", "the first frame is an id alone"
        events = [m for m in feed.until(lambda m: m.type == "caught_up") if m.type == "task_event"]
        assert [e.id for e in events] == ["2", "3"]
        headers = feed.response.headers
        assert "no-store" in headers["cache-control"] or "no-cache" in headers["cache-control"]
        assert headers["x-accel-buffering"] == "no"
    with server.sse(events_path(task, "?after=0"), headers={"Last-Event-ID": "2"}) as feed:
        assert feed.sequences(1) == [3], "Last-Event-ID wins over after"


def test_streams_on_the_internal_port(server, runner, task):
    fill(runner, task, 2)
    with server.websocket(events_path(task), base=server.internal) as feed:
        assert feed.sequences(2) == [1, 2]
    with server.sse(events_path(task), base=server.internal) as feed:
        assert feed.sequences(2) == [1, 2]


@pytest.mark.parametrize("kind", STREAMS)
def test_many_tasks_on_one_stream(server, api, runner, kind):
    mine, other = [new_task(api) for _ in range(3)], new_task(api)
    with getattr(server, kind)(f"/api/v1/events?tasks={','.join(mine)}") as feed:
        feed.until(lambda m: m.type == "caught_up")
        for i in range(5):
            for each in [*mine, other]:
                post_events(runner, each, note(f"{i}"))
        end_task(runner, mine[0])
        post_events(runner, mine[1], note("still here"))
        seen = feed.until(lambda m: m.type == "task_event" and m.data["summary"] == "still here")
        by_task = {}
        for message in seen:
            if message.type == "task_event":
                by_task.setdefault(message.task, []).append(message.data["sequence"])
        assert by_task == {mine[0]: [1, 2, 3, 4, 5, 6], mine[1]: [1, 2, 3, 4, 5, 6], mine[2]: [1, 2, 3, 4, 5]}
        assert [m.task or m.data["taskID"] for m in seen if m.type == "task_complete"] == [mine[0]]


def test_multiplexed_resume_by_cursor(server, api, runner):
    tasks = [new_task(api) for _ in range(3)]
    path = f"/api/v1/events?tasks={','.join(tasks)}"
    with server.sse(path) as feed:
        feed.until(lambda m: m.type == "caught_up")
        for each in tasks:
            post_events(runner, each, note("one"))
        feed.events(3)
        cursor = feed.last_id
    for each in tasks:
        post_events(runner, each, note("two"))
    with server.sse(path, headers={"Last-Event-ID": cursor}) as feed:
        assert sorted((m.task, m.data["sequence"]) for m in feed.until(lambda m: m.type == "caught_up")
                      if m.type == "task_event") == sorted((t, 2) for t in tasks)
    with server.websocket(f"{path}&after={cursor}") as feed:
        assert [e["sequence"] for e in feed.events(3)] == [2, 2, 2]


def test_all_tasks_from_now(server, api, runner, task):
    fill(runner, task, 3)
    with server.websocket("/api/v1/events") as feed:
        feed.until(lambda m: m.type == "caught_up")
        fresh = new_task(api)
        post_events(runner, fresh, note("born later"))
        message = feed.until(lambda m: m.type == "task_event")[-1]
        assert (message.task, message.data["sequence"]) == (fresh, 1)


def test_subscribe_changes_the_set(server, api, runner):
    first, second = new_task(api), new_task(api)
    with server.websocket(f"/api/v1/events?tasks={first}") as feed:
        feed.until(lambda m: m.type == "caught_up")
        feed.send({"type": "subscribe", "id": "1", "tasks": [second]})
        feed.send({"type": "unsubscribe", "id": "2", "tasks": [first]})
        answers = [m.data for m in feed.until(lambda m: m.type == "subscribed" and m.data["tasks"] == [second])]
        assert answers[-1] == {"all": False, "tasks": [second]}
        post_events(runner, first, note("out"))
        post_events(runner, second, note("last"))
        later = feed.until(lambda m: m.type == "task_event" and m.data["summary"] == "last")
        assert all(m.task != first for m in later if m.type == "task_event")


@pytest.mark.parametrize("kind", STREAMS)
def test_deltas_are_live_and_never_stored(server, api, runner, task, kind):
    with getattr(server, kind)(events_path(task, "?deltas=1")) as asked, \
            getattr(server, kind)(events_path(task)) as not_asked:
        asked.until(lambda m: m.type == "caught_up")
        not_asked.until(lambda m: m.type == "caught_up")
        for text in ("Hel", "lo"):
            answer = runner.post(f"/api/v1/tasks/{task}/deltas", json={"block": "b1", "text": text})
            assert answer.status_code in (200, 202, 204), answer.text
        post_events(runner, task, note("Hello"))
        seen = asked.until(lambda m: m.type == "task_event")
        assert [m.data["text"] for m in seen if m.type == "delta"] == ["Hel", "lo"]
        assert [m.type for m in not_asked.until(lambda m: m.type == "task_event")] == ["task_event"]
    assert sequences(page(api, task)) == [1]


# --- redaction ---

def test_secrets_never_come_out(server, api, runner, task):
    secrets = ["ghp_" + "a1B2" * 9, "AKIA" + "ABCD2345EFGH6789", "postgres://u:hunter2secret@db/x"]
    post_events(runner, task, note(f"using {secrets[0]}", metadata={"k": secrets[1]}, input={"url": secrets[2]}))
    end_task(runner, task, message=f"left {secrets[0]}")
    everything = api.get(events_path(task)).text + api.get(f"/api/v1/tasks/{task}").text
    with server.websocket(events_path(task)) as feed:
        everything += json.dumps([m.data for m in feed.to_end()[0]])
    detail = api.get(f"/api/v1/tasks/{task}/events/1/detail")
    everything += detail.text
    assert "[redacted:" in everything
    for secret in (secrets[0], secrets[1], "hunter2secret"):
        assert secret not in everything
    for path in server.data.rglob("*"):
        if path.is_file():
            assert secrets[0].encode() not in path.read_bytes(), path


# --- search ---

def test_search_says_how_far_it_has_read(api, runner, task):
    word = new_id("needle").replace("-", "")
    post_events(runner, task, note(f"looking for {word} in hay"), note("nothing here"))
    deadline = time.monotonic() + WAIT
    while True:
        answer = api.get("/api/v1/search", params={"q": word})
        assert answer.status_code == 200
        value = answer.json()
        assert value["indexedThrough"] <= value["head"]
        hits = value["results"]
        if hits or time.monotonic() > deadline:
            break
    assert len(hits) == 1
    assert task in json.dumps(hits) and word in json.dumps(hits)


# --- one log under load ---

def test_many_watchers_see_the_same_log(server, runner, task):
    count, results = 300, {}

    def watch(name, kind, after):
        with getattr(server, kind)(events_path(task, f"?after={after}")) as feed:
            results[name] = feed.sequences(count)

    threads = [threading.Thread(target=watch, args=(f"{kind}{i}", kind, 0)) for kind in STREAMS for i in range(5)]
    for thread in threads:
        thread.start()
    for i in range(count // 3):
        post_events(runner, task, note(f"a{i}"), note(f"b{i}"), note(f"c{i}"))
    for thread in threads:
        thread.join(WAIT)
    assert len(results) == 10
    assert all(seen == list(range(1, count + 1)) for seen in results.values())


def test_a_closed_stream_is_an_exception(server, runner, task):
    end_task(runner, task)
    with server.websocket(events_path(task)) as feed, pytest.raises(StreamEnded):
        for _ in range(10):
            feed.next()
