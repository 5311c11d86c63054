"""The two kinds of producers: strict ones that number their events from a spool, and fire-and-forget ones."""

import json
import random
import socket
import threading
import time

import httpx
import pytest

from server import Server
from tasks import new_id, new_task, note, post_events

STRICT = "Shepherd-Producer"
SEED = 20260218


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    """The internal port as the older runners expect it: without credentials."""
    server = Server(tmp_path_factory.mktemp("server") / "data", config="internal:\n  auth: none\n").start()
    yield server
    server.kill()


def path(task):
    return f"/api/v1/tasks/{task}/events"


def log_of(api, task):
    return api.get(path(task), params={"limit": 5000}).json()["events"]


def summaries(api, task):
    return [e["summary"] for e in log_of(api, task)]


# --- strict ---

def test_strict_producer_counts_from_one(api, runner, task):
    headers = {STRICT: new_id("spool")}
    first = runner.post(path(task), json=[note("1", sequence=1), note("2", sequence=2)], headers=headers)
    assert first.json() == {"status": "accepted", "sequence": 2, "producerSequence": 2}
    hole = runner.post(path(task), json=note("4", sequence=4), headers=headers)
    assert hole.status_code == 409 and hole.json()["expectedSequence"] == 3
    assert runner.post(path(task), json=note("3", sequence=3), headers=headers).json()["sequence"] == 3
    assert summaries(api, task) == ["1", "2", "3"]


def test_strict_producer_must_start_at_one(api, runner, task):
    answer = runner.post(path(task), json=note("5", sequence=5), headers={STRICT: new_id("spool")})
    assert answer.status_code == 409 and answer.json()["expectedSequence"] == 1


def test_repeats_are_harmless(api, runner, task):
    headers, events = {STRICT: new_id("spool")}, [note(str(i), sequence=i) for i in range(1, 6)]
    for chunk in (events[:3], events[:3], events[1:5], events):
        answer = runner.post(path(task), json=chunk, headers=headers)
        assert answer.status_code == 200, answer.text
    assert answer.json() == {"status": "accepted", "sequence": 5, "producerSequence": 5}
    assert summaries(api, task) == ["1", "2", "3", "4", "5"]


def test_a_number_is_not_used_twice(api, runner, task):
    headers = {STRICT: new_id("spool")}
    runner.post(path(task), json=note("mine", sequence=1), headers=headers)
    answer = runner.post(path(task), json=[note("other", sequence=1), note("next", sequence=2)], headers=headers)
    assert answer.status_code == 409 and answer.json()["code"] == "sequence_reused"
    assert summaries(api, task) == ["mine"]


def test_strict_producers_do_not_share_numbers(api, runner, task):
    for spool in (new_id("a"), new_id("b")):
        assert runner.post(path(task), json=note(spool, sequence=1), headers={STRICT: spool}).status_code == 200
    assert len(summaries(api, task)) == 2
    assert [e["sequence"] for e in log_of(api, task)] == [1, 2], "the log numbers its events"


# --- fire and forget ---

def test_out_of_order_from_many_connections(server, api, task):
    """A runner that posts each event from its own goroutine, without waiting, retries or credentials."""
    count, order = 60, list(range(1, 61))
    rng = random.Random(SEED)
    # Arrivals are shuffled within a few places, like racing connections.
    order.sort(key=lambda n: n + rng.uniform(-6, 6))
    failures = []

    def send(number):
        answer = httpx.post(server.internal + path(task), json=note(f"e{number}", sequence=number), timeout=30, trust_env=False)
        if answer.status_code != 200:
            failures.append(answer.text)

    threads = [threading.Thread(target=send, args=(number,)) for number in order]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not failures
    logged = log_of(api, task)
    ours = [e["summary"] for e in logged if e["type"] == "thinking"]
    assert [e["summary"] for e in logged if e["type"] != "thinking"] == [], f"nothing was missing; seed {SEED}"
    assert ours == [f"e{n}" for n in range(1, count + 1)], f"the order of their numbers; seed {SEED}"


def test_early_numbers_wait_for_their_predecessors(server, api, task):
    def send(number):
        with httpx.Client(base_url=server.internal, timeout=30, trust_env=False) as client:
            client.post(path(task), json=note(f"e{number}", sequence=number)).raise_for_status()

    early = [threading.Thread(target=send, args=(n,)) for n in (3, 2)]
    for thread in early:
        thread.start()
    send(1)
    for thread in early:
        thread.join(10)
    assert summaries(api, task) == ["e1", "e2", "e3"]


def test_missing_numbers_are_named(server, api, task):
    with httpx.Client(base_url=server.internal, timeout=30, trust_env=False) as client:
        client.post(path(task), json=note("e1", sequence=1)).raise_for_status()
        began = time.monotonic()
        client.post(path(task), json=[note("e4", sequence=4), note("e5", sequence=5)]).raise_for_status()
        deadline = time.monotonic() + 10
        while len(log_of(api, task)) < 4 and time.monotonic() < deadline:
            time.sleep(0.05)  # between two polls of the log
        waited = time.monotonic() - began
    first, named, fourth, fifth = log_of(api, task)
    assert [first["summary"], fourth["summary"], fifth["summary"]] == ["e1", "e4", "e5"]
    assert named["type"] == "log"
    assert named["summary"] == "Producer numbers 2-3 have not arrived", named
    assert 1.5 < waited < 6, "early numbers wait about two seconds"


def test_full_reorder_window_does_not_wait(server, api, task):
    """More than 4,096 early events end the wait by number, not by time."""
    with httpx.Client(base_url=server.internal, timeout=30, trust_env=False) as client:
        answer = client.post(path(task), json=[note(f"e{n}", sequence=n) for n in range(2, 4100)])
        assert answer.json() == {"status": "accepted", "sequence": 4099, "producerSequence": 4099}
    assert log_of(api, task)[0]["summary"] == "Producer numbers 1 have not arrived"


class Burst:
    """The requests of a runner's goroutines: each on its own connection, all at once, no retry, no credentials."""

    def __init__(self, server, requests):
        host, port = server.internal.removeprefix("http://").split(":")
        self.sockets = []
        for target, body in requests:
            content = json.dumps(body).encode()
            one = socket.create_connection((host, int(port)), timeout=60)
            head = f"POST {target} HTTP/1.1\r\nHost: {host}:{port}\r\nUser-Agent: Go-http-client/1.1\r\n" \
                   f"Content-Type: application/json\r\nContent-Length: {len(content)}\r\nAccept-Encoding: gzip\r\n\r\n"
            self.sockets.append((one, head.encode() + content))

    def fire(self):
        """The answers' status codes, in the order of the requests."""
        for one, message in self.sockets:
            one.sendall(message)
        codes = []
        for one, _ in self.sockets:
            answer = b""
            while b"\r\n" not in answer:
                part = one.recv(4096)
                assert part, "the connection was closed without an answer"
                answer += part
            codes.append(int(answer.split()[1]))
            one.close()
        return codes


def line_of(task, number):
    """A request as the older runners send it: an array of one event under `events`."""
    return path(task), {"events": [{"sequence": number, "timestamp": "2026-02-18T14:00:00Z", "type": "tool_call",
                                    "summary": f"e{number}", "tool": "Bash", "input": {"command": f"echo {number}"}}]}


def end_of(task, event="completed"):
    return f"/api/v1/tasks/{task}/status", {"event": event, "message": "task completed", "details": {"pr_url": "https://example.com/pull/1"}}


IN_FLIGHT = 500


@pytest.mark.parametrize("end_at", [IN_FLIGHT, IN_FLIGHT // 2, 1, 0], ids=["end_last", "end_amid", "end_second", "end_first"])
def test_five_hundred_in_flight_are_all_in_the_log_in_order(server, api, end_at):
    """Also if the end of the task overtakes some or all of them."""
    for seed in (SEED, SEED + 1):
        task = new_task(api)
        requests = [line_of(task, n) for n in range(1, IN_FLIGHT + 1)]
        random.Random(seed).shuffle(requests)
        requests.insert(end_at, end_of(task))
        assert set(Burst(server, requests).fire()) == {200}, f"seed {seed}"
        logged = log_of(api, task)
        assert [e["summary"] for e in logged if e["type"] == "tool_call"] == [f"e{n}" for n in range(1, IN_FLIGHT + 1)], f"seed {seed}"
        assert not [e["summary"] for e in logged if e["type"] == "log"], f"nothing was missing; seed {seed}"
        assert [e["sequence"] for e in logged] == list(range(1, IN_FLIGHT + 2))
        [end] = [e["sequence"] for e in logged if e["type"] == "status"]
        assert all(e.get("late", False) == (e["sequence"] > end) for e in logged), "what came after the end says so"
        row = api.get(f"/api/v1/tasks/{task}").json()["status"]
        assert row["state"] == "completed" and row["prURL"] == "https://example.com/pull/1"
        if end_at > 1:
            assert end == IN_FLIGHT + 1, "what was on its way before the end is before it"


def test_the_end_does_not_lose_what_comes_after_it(server, api, task):
    with httpx.Client(base_url=server.internal, timeout=30, trust_env=False) as client:
        client.post(path(task), json=note("e1", sequence=1)).raise_for_status()
        client.post(end_of(task)[0], json=end_of(task)[1]).raise_for_status()
        assert client.post(path(task), json=note("e2", sequence=2)).status_code == 200
        assert client.post(path(task), json=note("unnumbered")).status_code == 200
        assert client.post(f"/api/v1/tasks/{task}/status", json={"event": "progress", "message": "still here"}).status_code == 200
        assert client.post(end_of(task)[0], json=end_of(task)[1]).status_code == 200, "the same end again"
        other = client.post(end_of(task)[0], json={"event": "failed", "message": "no"})
        assert other.status_code == 409 and other.json()["currentState"] == "completed"
        strict = client.post(path(task), json=note("e3", sequence=1), headers={STRICT: new_id("spool")})
        assert strict.status_code == 410, "it has a spool, and says its end last"
    assert [(e["summary"], e.get("late", False)) for e in log_of(api, task)] == [
        ("e1", False), ("task completed", False), ("e2", True), ("unnumbered", True), ("still here", True)]
    assert api.get(f"/api/v1/tasks/{task}").json()["status"]["message"] == "task completed"


def test_fire_and_forget_repeats(server, api, task):
    with httpx.Client(base_url=server.internal, timeout=30, trust_env=False) as client:
        for _ in range(3):
            client.post(path(task), json=[note("e1", sequence=1), note("e2", sequence=2)]).raise_for_status()
    assert summaries(api, task) == ["e1", "e2"]


# --- no number ---

def test_event_id_deduplicates(api, runner, task):
    same = {"eventID": new_id("uuid")}
    post_events(runner, task, note("a", **same))
    post_events(runner, task, note("a", **same), note("b"))
    post_events(runner, task, note("b"))
    assert summaries(api, task) == ["a", "b", "b"], "without an id a repeat is an event of its own"


def test_event_ids_are_per_task(api, runner):
    same = {"eventID": new_id("uuid")}
    one, two = new_task(api), new_task(api)
    post_events(runner, one, note("x", **same))
    post_events(runner, two, note("x", **same))
    assert summaries(api, one) == summaries(api, two) == ["x"]


def test_event_id_length(runner, task):
    assert runner.post(path(task), json=note("x", eventID="i" * 64)).status_code == 200
    assert runner.post(path(task), json=note("x", eventID="i" * 65)).status_code == 400
