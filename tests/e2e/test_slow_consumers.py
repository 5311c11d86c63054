"""A consumer that does not read costs the server little and other consumers nothing."""

import base64
import json
import os
import resource
import socket
import statistics
import time
from urllib.parse import urlsplit

import pytest

from tasks import new_task, note, post_events

STALLED = 1000
BURST_BYTES = 24 << 20
WRITE_DEADLINE = 30  # seconds


@pytest.fixture(autouse=True, scope="module")
def many_files():
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 8192) if hard > 0 else 8192, hard))
    yield
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def stalled_websocket(server, task, query=""):
    """A WebSocket whose client never reads beyond the handshake."""
    parts = urlsplit(server.public)
    connection = socket.socket()
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    connection.settimeout(20)
    connection.connect((parts.hostname, parts.port))
    connection.sendall((f"GET /api/v1/tasks/{task}/events{query} HTTP/1.1\r\nHost: {parts.netloc}\r\n"
                        f"Authorization: Bearer {server.token}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                        "Sec-WebSocket-Version: 13\r\n"
                        f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}\r\n\r\n").encode())
    head = b""
    while b"\r\n\r\n" not in head:
        head += connection.recv(1)
    assert b" 101 " in head.split(b"\r\n")[0]
    return connection


def latencies(server, runner, task, feed, count=60):
    """Seconds from before the POST to the event's arrival on an open stream."""
    found = []
    for i in range(count):
        mark = f"mark {time.monotonic_ns():x}"  # hexadecimal, because digits alone can look like a card number
        began = time.perf_counter()
        post_events(runner, task, note(mark))
        while True:
            text = feed._socket.recv(20)
            if mark in text:
                break
        found.append(time.perf_counter() - began)
    return statistics.median(found)


def pour(runner, task, total):
    """Posts about `total` bytes of events to a task's log."""
    event = note("x", metadata={"pad": ["y" * 400] * 40})
    chunk = [event] * 40
    size = len(json.dumps(event)) * len(chunk)
    sent = 0
    while sent < total:
        post_events(runner, task, *chunk)
        sent += size


def settled_growth(server, before, most):
    """The server's growth in bytes. Beyond `most` it may be a background batch, which ends within seconds; what is kept
    for a consumer stays until the write deadline."""
    deadline = time.monotonic() + WRITE_DEADLINE / 3
    while (grown := server.rss_bytes() - before) >= most and time.monotonic() < deadline:
        time.sleep(0.2)
    return grown


# Each consumer ends up BURST_BYTES behind; buffering that for each would take 24 GiB. Live consumers share the hub's
# pieces; replaying ones each hold the store page that they were about to send.
@pytest.mark.parametrize("query,most_bytes_each", [("?tail=1", 16 << 10), ("", 256 << 10)], ids=["live", "replaying"])
def test_a_thousand_that_stall(make_server, query, most_bytes_each):
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        task, quiet = new_task(api), new_task(api)
        with server.websocket(f"/api/v1/tasks/{quiet}/events") as healthy:
            before = latencies(server, runner, quiet, healthy)
            pour(runner, task, BURST_BYTES)  # the baseline of hub and store without a consumer
            with server.websocket(f"/api/v1/tasks/{task}/events?tail=1") as beside:
                beside.events(1)
                pour(runner, task, BURST_BYTES)
                idle = server.rss_bytes()
            sockets = [stalled_websocket(server, task, query) for _ in range(STALLED)]
            try:
                pour(runner, task, BURST_BYTES)
                during = latencies(server, runner, quiet, healthy)
                with server.websocket(f"/api/v1/tasks/{task}/events?tail=1") as beside:
                    beside.events(1)
                    busy = latencies(server, runner, task, beside)
                grown = settled_growth(server, idle, STALLED * most_bytes_each)
            finally:
                for each in sockets:
                    each.close()
        print(f"median ms: before {before * 1e3:.2f}, beside stalled {during * 1e3:.2f}, same task {busy * 1e3:.2f}; "
              f"RSS grew by {grown / STALLED / 1024:.0f} KiB for each that stalls")
        assert grown < STALLED * most_bytes_each
        assert during < before * 3 + 0.005, "a healthy consumer of another task"
        assert busy < before * 4 + 0.010, "a healthy consumer of the same task"
    assert server.stop() == 0


def test_a_consumer_that_never_reads_is_cut(make_server):
    """The write deadline is 30 s without progress."""
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        connection = stalled_websocket(server, task)
        assert server.holds(connection)
        began = time.monotonic()
        pour(runner, task, 12 << 20)
        full = time.monotonic()
        # Both ends are still open, with data waiting in the kernel. Watch the server's side disappear.
        while server.holds(connection) and time.monotonic() - full < 40:
            time.sleep(0.1)  # between two polls
        cut = time.monotonic()
        connection.close()
        # It stopped accepting bytes somewhere between the two; deadlines are checked every second.
        assert cut - began > WRITE_DEADLINE and cut - full < WRITE_DEADLINE + 3, f"cut {cut - began:.1f} s after the first, {cut - full:.1f} s after the last byte"
        assert api.get(f"/api/v1/tasks/{task}").status_code == 200
