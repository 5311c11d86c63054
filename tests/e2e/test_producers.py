"""The two kinds of producers: strict ones that number for a spool, and those that fire and forget."""

import random
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
    """The internal port as the older runners expect it: no credentials."""
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
    """A runner that posts each event from its own goroutine, without waiting, retrying or credentials."""
    count, order = 60, list(range(1, 61))
    rng = random.Random(SEED)
    # Arrival is shuffled within a few places, as racing connections do it.
    order.sort(key=lambda n: n + rng.uniform(-6, 6))
    failures = []

    def send(numbers):
        with httpx.Client(base_url=server.internal, timeout=30, trust_env=False) as client:
            for number in numbers:
                answer = client.post(path(task), json=note(f"e{number}", sequence=number))
                if answer.status_code != 200:
                    failures.append(answer.text)

    threads = [threading.Thread(target=send, args=(order[i::8],)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert not failures
    logged = log_of(api, task)
    ours = [e["summary"] for e in logged if e["type"] == "thinking"]
    assert sorted(ours, key=lambda s: int(s[1:])) == [f"e{n}" for n in range(1, count + 1)], f"seed {SEED}"
    if not any(e["type"] == "log" for e in logged):
        assert ours == [f"e{n}" for n in range(1, count + 1)], f"nothing was missing, so the order holds; seed {SEED}"


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
            time.sleep(0.05)  # between two looks at the log
        waited = time.monotonic() - began
    first, named, fourth, fifth = log_of(api, task)
    assert [first["summary"], fourth["summary"], fifth["summary"]] == ["e1", "e4", "e5"]
    assert named["type"] == "log"
    text = named["summary"] + str(named.get("data", ""))
    assert "2" in text and "3" in text, named
    assert 1.5 < waited < 6, "early numbers wait about two seconds"


def test_full_reorder_window_does_not_wait(server, api, task):
    """More than 64 early events: the wait ends by number, not by time."""
    with httpx.Client(base_url=server.internal, timeout=30, trust_env=False) as client:
        began = time.monotonic()
        client.post(path(task), json=[note(f"e{n}", sequence=n) for n in range(2, 72)]).raise_for_status()
        assert len(log_of(api, task)) == 71
        assert time.monotonic() - began < 1.9


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
