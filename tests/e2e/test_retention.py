"""The server announces what retention removed and never skips it silently."""

import time

import pytest

from server import Server
from tasks import new_task, note, post_events


def page(api, task, query=""):
    return api.get(f"/api/v1/tasks/{task}/events{query}").json()["events"]


@pytest.fixture(scope="module")
def trimmed(tmp_path_factory):
    """A server whose retention keeps next to nothing, and a task whose oldest events were removed."""
    server = Server(tmp_path_factory.mktemp("server") / "data", config="retention:\n  bytes: 1\n").start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        for i in range(30):
            post_events(runner, task, *[note(f"{i}.{k} " + "x" * 300) for k in range(20)])
        # Retention runs once a minute, perhaps in the middle of these posts; it is done when only the newest run is
        # left.
        deadline = time.monotonic() + 200
        while (first := api.get(f"/api/v1/tasks/{task}").json()["firstSequence"]) <= 580:
            assert time.monotonic() < deadline, f"retention stopped at {first}"
            time.sleep(0.5)  # between two polls
    yield server, task, first
    server.kill()


def test_a_gap_is_announced(trimmed):
    server, task, first = trimmed
    assert 1 < first <= 600
    for kind in ("websocket", "sse"):
        with getattr(server, kind)(f"/api/v1/tasks/{task}/events?after=0") as feed:
            gap = feed.next()
            assert gap.type == "gap" and gap.data == {"from": 1, "to": first - 1}
            assert feed.sequences(600 - first + 1) == list(range(first, 601))


def test_a_cursor_inside_the_gap(trimmed):
    server, task, first = trimmed
    if first < 4:
        pytest.fail("too little was dropped to stand inside it")
    with server.websocket(f"/api/v1/tasks/{task}/events?after=2") as feed:
        gap = feed.next()
        assert gap.type == "gap" and gap.data == {"from": 3, "to": first - 1}
        assert feed.sequences(1) == [first]
    with server.websocket(f"/api/v1/tasks/{task}/events?after={first - 1}") as feed:
        assert feed.next().data["sequence"] == first, "nothing is missing for this one"


def test_numbers_go_on_and_repeats_are_still_known(trimmed):
    server, task, first = trimmed
    with server.api() as api, server.runner() as runner:
        assert post_events(runner, task, note("more"))["sequence"] == 601
        assert page(api, task, "?tail=1")[0]["sequence"] == 601
        assert page(api, task)[0]["sequence"] >= first
