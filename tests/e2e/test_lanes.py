"""Reads take turns: one caller's expensive reads neither stop the others nor outlive their client, and the state at an
event is read from checkpoints."""

import sqlite3
from concurrent.futures import ThreadPoolExecutor

import pytest

from raw_http import Raw
from tasks import eventually, new_task, post_events

EVENTS = 20_000
PART = 2_500


@pytest.fixture(scope="module")
def logged(shared_server):
    """A task with a long log in which event n says so: its usage costs n / 1,000."""
    with shared_server.api() as api, shared_server.runner() as runner:
        task = new_task(api)
        for first in range(1, EVENTS + 1, PART):
            post_events(runner, task, *[{"type": "usage", "summary": f"event {n}", "sessionID": "s", "data": {"costUSD": n / 1000}}
                                        for n in range(first, first + PART)])
    return task


@pytest.fixture
def viewer(api):
    answer = api.post("/api/v1/tokens", json={"name": "eve", "scope": "viewer"})
    assert answer.status_code == 201, answer.text
    return answer.json()["secret"]


def metric(api, name, lane):
    for line in api.get("/metrics").text.splitlines():
        if line.startswith(f'{name}{{lane="{lane}"}} '):
            return float(line.split()[-1])
    return 0


def ask(server, token, target):
    """A request on a connection of its own, without reading the answer."""
    raw = Raw(server.public, timeout=60)
    raw.request("GET", target, [f"Authorization: Bearer {token}"])
    return raw


def check_state(answer, n):
    assert answer.status_code == 200, answer.text
    task = answer.json()
    assert (task["at"], task["lastSequence"], task["whole"]) == (n, n, True)
    assert task["usage"]["costUSD"] == pytest.approx(n / 1000)


PLACES = (1, 2, 4095, 4096, 4097, 5000, 5001, 8191, 8192, 9999, 10_000, 15_000, 19_999, EVENTS)


@pytest.mark.parametrize("n", PLACES)
def test_the_state_at_an_event(api, logged, n):
    check_state(api.get(f"/api/v1/tasks/{logged}", params={"at": n}), n)


def test_many_readers_at_once_get_the_right_answers(server, logged, viewer):
    def read(i):
        n = 1 + i * 131
        with server.api(viewer) as api:
            check_state(api.get(f"/api/v1/tasks/{logged}", params={"at": n}), n)
    with ThreadPoolExecutor(16) as pool:
        list(pool.map(read, range(150)))


def test_too_many_requests_of_one_caller_are_refused(server, api, logged, viewer):
    """Sends more than a lane takes from one caller. The log is long enough that they come faster than they are done."""
    raws = [ask(server, viewer, f"/api/v1/tasks/{logged}/timeline") for _ in range(700)]
    statuses = []
    for raw in raws:
        status, headers, _ = raw.response()
        assert status != 503 or int(headers["retry-after"]) > 0
        statuses.append(status)
        raw.socket.close()
    assert set(statuses) == {200, 503}, statuses
    assert metric(api, "shepherd_lane_refused_total", "scans") == statuses.count(503)
    check_state(api.get(f"/api/v1/tasks/{logged}", params={"at": 7}), 7)


def test_a_client_that_goes_away_takes_its_reads_back(server, api, logged, viewer):
    before = metric(api, "shepherd_lane_abandoned_total", "scans")
    for _ in range(150):
        ask(server, viewer, f"/api/v1/tasks/{logged}/timeline").socket.close()
    eventually(lambda: metric(api, "shepherd_lane_abandoned_total", "scans") > before)
    eventually(lambda: metric(api, "shepherd_lane_waiting", "scans") == 0)


def test_logs_without_checkpoints_get_them_from_their_first_reader(make_server):
    """As a data directory of a program that knew no checkpoints."""
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        for first in range(1, 15_001, PART):
            post_events(runner, task, *[{"type": "usage", "summary": "", "sessionID": "s", "data": {"costUSD": n / 1000}}
                                        for n in range(first, first + PART)])
    server.stop()

    def places():
        with sqlite3.connect(server.data / "shepherd.db") as db:
            return [row[0] for row in db.execute("SELECT sequence FROM checkpoint ORDER BY sequence")]
    assert places() == [5000, 10_000, 12_500]
    with sqlite3.connect(server.data / "shepherd.db") as db:
        db.execute("DELETE FROM checkpoint")
    server.start()
    with server.api() as api:
        check_state(api.get(f"/api/v1/tasks/{task}", params={"at": 14_000}), 14_000)
        eventually(lambda: places() == [4096, 8192, 12_288])
        check_state(api.get(f"/api/v1/tasks/{task}", params={"at": 14_000}), 14_000)
        check_state(api.get(f"/api/v1/tasks/{task}", params={"at": 12_287}), 12_287)
