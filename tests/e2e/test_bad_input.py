"""For any input, the answer names the problem, the server keeps running, and the log keeps its events."""

import json
import socket
import struct
import time

import pytest
import websockets

from raw_http import Raw, RawWebSocket, events_path
from tasks import eventually, new_task, note, post_events


@pytest.fixture
def task(api, runner):
    """A task with three events that must survive."""
    made = new_task(api)
    post_events(runner, made, note("one"), note("two"), note("three"))
    yield made
    events = api.get(f"/api/v1/tasks/{made}/events").json()["events"]
    assert [e["summary"] for e in events] == ["one", "two", "three"], "bad input changed the log"


def refused(answer, status, *words):
    assert answer.status_code == status, answer.text
    problem = answer.json()
    assert problem["code"] and problem["detail"], "a problem names itself and says what to do"
    for word in words:
        assert word in answer.text, answer.text


# --- bodies ---

@pytest.mark.parametrize("body", [
    b"", b"{", b"[", b'{"type":"log"', b'{"type":"log"}}', b"[{}", b"nul", b"\x00", b'{"type":"log",}', b"[1]", b'"x"', b"7",
    b"null", b'{"events":{}}', b'{"events":[7]}', b'{"type":"log","type":"log"}', b"[" * 100_000,
    b'{"type":"log","data":' + b'{"a":' * 200 + b"1" + b"}" * 200 + b"}",
], ids=lambda b: repr(b[:24]))
def test_bodies_that_are_not_events(runner, task, body):
    refused(runner.post(events_path(task), content=body, headers={"Content-Type": "application/json"}), 400)


@pytest.mark.parametrize("member", [
    {"type": 5}, {"type": None}, {"type": ""}, {"type": "t" * 65}, {"summary": 5}, {"summary": {}}, {"sequence": "1"},
    {"sequence": 0}, {"sequence": -1}, {"sequence": 1.5}, {"sequence": 2 ** 63}, {"timestamp": "yesterday"},
    {"timestamp": 5}, {"tool": []}, {"input": 7}, {"output": "x"}, {"metadata": []}, {"data": 1}, {"callID": {}},
    {"eventID": "x" * 65}, {"eventID": 3}, {"durationMS": "long"},
], ids=str)
def test_members_of_the_wrong_type(runner, task, member):
    answer = runner.post(events_path(task), json=[{**note("x"), **member}])
    refused(answer, 400, next(iter(member)))
    assert answer.json()["index"] == 0


def test_number_beyond_every_range(runner, task):
    refused(runner.post(events_path(task), json=note("x", metadata={"n": 2 ** 70})), 400, "number")


@pytest.mark.parametrize("text", [b"\xff", b"\xc3", b"\xed\xa0\x80", b"\xf8\x88\x80\x80\x80", b"\xc0\xaf"])
def test_bad_utf8(runner, task, text):
    body = b'{"type":"log","summary":"a' + text + b'b"}'
    refused(runner.post(events_path(task), content=body, headers={"Content-Type": "application/json"}), 400)


def test_huge_body_is_refused_before_it_is_sent(server, runner, task):
    with Raw(server.internal) as raw:
        raw.request("POST", events_path(task), [f"Authorization: Bearer {server.token}",
                                                "Content-Type: application/json", f"Content-Length: {100 << 20}"])
        assert raw.refusal() == (413, "body_too_large")


def test_huge_chunked_body(server, task):
    with Raw(server.internal) as raw:
        raw.request("POST", events_path(task), [f"Authorization: Bearer {server.token}",
                                                "Content-Type: application/json", "Transfer-Encoding: chunked"])
        sent = raw.send_until_answered(b"100000\r\n" + b" " * 0x100000 + b"\r\n" for _ in range(100))
        assert raw.refusal() == (413, "body_too_large")
        assert 16 << 20 < sent < 40 << 20, "up to 16 MiB are read, and what was under way"


def test_event_over_the_limit(runner, task):
    refused(runner.post(events_path(task), json=note("x", metadata={"blob": ["y" * 400] * 800})), 413)


def test_too_many_events(runner, task):
    refused(runner.post(events_path(task), json=[{"type": "log"}] * 10_001), 413, "too_many_events")


def test_members_that_nobody_reads_are_named(api):
    """An unknown member is not an error, because clients of other versions send more, but the answer names it."""
    answer = api.post("/api/v1/tasks", json={"prompt": "x", "workflow": "nightly", "bogus": 1})
    assert answer.status_code == 201
    assert answer.json()["warnings"] == ['"workflow" is no member of a task and was ignored. Did you mean "workflowID"?',
                                         '"bogus" is no member of a task and was ignored.']
    assert "warnings" not in api.get(f"/api/v1/tasks/{answer.json()['id']}").json()
    assert "warnings" not in api.post("/api/v1/tasks", json={"prompt": "x", "runner": {"sandboxTemplateName": "t"}}).json()


def test_context_over_the_limit(api):
    refused(api.post("/api/v1/tasks", json={"task": {"description": "x", "context": "y" * 1_500_001}}), 413)


@pytest.mark.parametrize("body", [
    {}, {"task": {}}, {"task": 7}, {"task": {"description": 7}}, {"prompt": []}, {"prompt": "x", "labels": []},
    {"prompt": "x", "labels": {"a": 1}}, {"prompt": "x", "id": "../etc"}, {"prompt": "x", "id": "a b"},
    {"prompt": "x", "id": "i" * 129}, {"prompt": "x", "id": ".."}, {"prompt": "x", "maxTurns": "many"},
    {"prompt": "x", "repo": "url"},
], ids=str)
def test_bad_task_requests(api, body):
    refused(api.post("/api/v1/tasks", json=body), 400)


@pytest.mark.parametrize("body", [{}, {"event": "exploded"}, {"event": 1}, {"event": "completed", "details": 5}], ids=str)
def test_bad_status_requests(runner, task, body):
    refused(runner.post(f"/api/v1/tasks/{task}/status", json=body), 400)


# --- queries and paths ---

BAD_CURSORS = ["after=-1", "after=x", "after=1.5", "after=99999999999999999999999", "tail=-1", "tail=x", "after=%zz",
               "after=%00"]
BAD_PAGES = ["before=-3", "before=x", "limit=0", "limit=-5", "limit=x", "after=1&before=x"]


@pytest.mark.parametrize("query", BAD_CURSORS + BAD_PAGES)
def test_bad_cursors_of_a_page(api, task, query):
    refused(api.get(f"{events_path(task)}?{query}"), 400)


@pytest.mark.parametrize("query", BAD_CURSORS)
def test_bad_cursors_of_a_stream(server, api, task, query):
    refused(api.get(f"{events_path(task)}?{query}", headers={"Accept": "text/event-stream"}), 400)
    with pytest.raises(websockets.exceptions.InvalidStatus) as handshake:
        server.websocket(f"{events_path(task)}?{query}")
    assert handshake.value.response.status_code == 400


def test_huge_cursor_is_ahead(api, task):
    refused(api.get(f"{events_path(task)}?after=9223372036854775807"), 409)


@pytest.mark.parametrize("target,code", [
    ("/api/v1/tasks/../../etc/passwd", "unknown_path"), ("/api/v1/tasks/..%2f..%2fetc%2fpasswd/events", "unknown_task"),
    ("/../../etc/passwd", "unknown_path"), ("/%2e%2e/%2e%2e/etc/passwd", "unknown_path"), ("/api/v1/tasks/%00/events", "unknown_task"),
    ("/api/v1/tasks//events", "unknown_path"), ("/nowhere", "unknown_path"), ("//", "unknown_path"), ("/api/v1/tasks/a%zz", "unknown_task"),
    ("/static/../../etc/passwd", "unknown_path"), ("/assets/../../etc/passwd", "unknown_path"), ("/assets/..%2f..%2fetc%2fpasswd", "unknown_asset"),
])
def test_strange_paths(server, target, code):
    with Raw(server.public) as raw:
        raw.request("GET", target, [f"Authorization: Bearer {server.token}"])
        status, headers, body = raw.response()
        assert status == 404 and json.loads(body)["code"] == code
        assert b"root:" not in body


# --- HTTP itself ---

HOST = b"Host: 127.0.0.1\r\n"
# Follows a request whose end is unclear. An answer to this line means that a request was smuggled in.
SMUGGLED = b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"


@pytest.mark.parametrize("data,status,code", [
    (b"hello\r\n\r\n", 400, "malformed_request"),
    (b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", 400, "malformed_request"),
    (b"GET  / HTTP/1.1\r\n\r\n", 400, "malformed_request"),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 100 + b"\r\n\r\n", 400, "malformed_request"),
    (b"GET / HTTP/1.1\r\n" + HOST + b"Bad Header: x\r\n\r\n", 400, "malformed_header"),
    (b"GET / HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n\r\n", 400, "malformed_header"),
    (b"GET / HTTP/1.1\r\n" + HOST + b"X: a\rb\r\n\r\n", 400, "malformed_header"),
    (b"GET / HTTP/1.1\r\n\r\n", 400, "bad_host"),
    (b"GET / HTTP/1.1\r\n" + HOST + b"Host: other\r\n\r\n", 400, "bad_host"),
    (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", 414, "target_too_long"),
    (b"GET /healthz HTTP/1.1\r\n" + HOST + b"".join(b"X-%d: y\r\n" % i for i in range(10_000)) + b"\r\n", 431, "headers_too_large"),
    (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: y\r\n" * 101 + b"\r\n", 431, "too_many_headers"),
    (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"y" * 200_000 + b"\r\n\r\n", 431, "headers_too_large"),
], ids=["words", "version", "spaces", "tls", "header-name", "nul", "cr", "no-host", "two-hosts", "long-target", "10000-headers", "101-headers", "long-header"])
def test_not_http(server, data, status, code):
    with Raw(server.public) as raw:
        raw.send_until_answered([data])
        assert raw.refusal() == (status, code)


def test_a_method_that_nobody_has(server):
    with Raw(server.public) as raw:
        raw.request("BREW", "/")
        status, headers, body = raw.response()
        assert (status, headers["allow"], json.loads(body)["code"]) == (405, "GET, HEAD", "method_not_allowed")


@pytest.mark.parametrize("framing,status,code", [
    ("Content-Length: 3\r\nTransfer-Encoding: chunked", 400, "bad_transfer_encoding"),
    ("Transfer-Encoding: chunked\r\nContent-Length: 3", 400, "bad_transfer_encoding"),
    ("Content-Length: 0\r\nTransfer-Encoding: chunked", 400, "bad_transfer_encoding"),
    ("Content-Length: 3\r\nContent-Length: 4", 400, "bad_content_length"),
    ("Content-Length: 3\r\nContent-Length: 3", 400, "bad_content_length"),
    ("Content-Length: 3, 3", 400, "bad_content_length"),
    ("Content-Length: nine", 400, "bad_content_length"),
    ("Content-Length: +3", 400, "bad_content_length"),
    ("Content-Length: -3", 400, "bad_content_length"),
    ("Content-Length: 0x3", 400, "bad_content_length"),
    ("Content-Length: 3 3", 400, "bad_content_length"),
    ("Content-Length:", 400, "bad_content_length"),
    ("Content-Length: 99999999999999999999", 400, "bad_content_length"),
    ("Content-Length : 3", 400, "malformed_header"),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", 400, "bad_transfer_encoding"),
    ("Transfer-Encoding: chunked\r\nTransfer-Encoding: identity", 400, "bad_transfer_encoding"),
    ("Transfer-Encoding: identity", 501, "bad_transfer_encoding"),
    ("Transfer-Encoding: gzip, chunked", 501, "bad_transfer_encoding"),
    ("Transfer-Encoding: chunked, identity", 501, "bad_transfer_encoding"),
    ("Transfer-Encoding: xchunked", 501, "bad_transfer_encoding"),
    ("Transfer-Encoding:\x0bchunked", 400, "malformed_header"),
    ("Transfer-Encoding : chunked", 400, "malformed_header"),
    ("X: y\r\n Transfer-Encoding: chunked", 400, "malformed_header"),
], ids=lambda v: v.replace("\r\n", "+") if isinstance(v, str) and ":" in v else "")
@pytest.mark.parametrize("listener", ["public", "internal"])
def test_where_a_body_ends_is_never_guessed(server, task, listener, framing, status, code):
    """The server refuses each before reading it and does not treat the bytes after it as a request."""
    with Raw(getattr(server, listener)) as raw:
        raw.request("POST", events_path(task), [f"Authorization: Bearer {server.token}", "Content-Type: application/json", framing],
                    b"0\r\n\r\n" + SMUGGLED)
        assert raw.refusal() == (status, code)


@pytest.mark.parametrize("body", [
    b"zz\r\n{}\r\n0\r\n\r\n", b"-1\r\n{}\r\n0\r\n\r\n", b"0x1e\r\n" + b" " * 30 + b"\r\n0\r\n\r\n", b"fffffffffffffffff\r\n{}\r\n0\r\n\r\n",
    b"1e\r\n" + b" " * 31 + b"\r\n0\r\n\r\n", b"1e\n" + b" " * 30 + b"\n0\n\n", b"1e;" + b"x" * 300 + b"\r\n" + b" " * 30 + b"\r\n0\r\n\r\n",
], ids=["letters", "negative", "0x", "overflow", "no-end", "lf", "long-extension"])
def test_broken_chunks(server, task, body):
    with Raw(server.internal) as raw:
        raw.request("POST", events_path(task), [f"Authorization: Bearer {server.token}", "Content-Type: application/json",
                                                "Transfer-Encoding: chunked"], body + SMUGGLED)
        assert raw.refusal() == (400, "malformed_chunk")


def test_chunked_goes_not_with_http_1_0(server):
    with Raw(server.internal) as raw:
        raw.send(b"POST /api/v1/claims HTTP/1.0\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n" + SMUGGLED)
        assert raw.refusal() == (400, "bad_transfer_encoding")


def test_slow_loris_is_cut(server):
    """The server gives up a request whose head never ends after the header deadline (10 s), however it trickles."""
    with Raw(server.public, timeout=25) as raw:
        began = time.monotonic()
        raw.send(f"GET /healthz HTTP/1.1\r\nHost: {raw.host}\r\nX".encode())

        def trickle():
            while time.monotonic() - began < 25:
                yield b"X"
                time.sleep(0.25)  # the pause between two bytes is the attack

        raw.send_until_answered(trickle())
        took = time.monotonic() - began
        assert raw.refusal() == (408, "request_timeout")
        assert 10 <= took < 14, f"after {took:.1f} s; the deadline is looked at every second"


@pytest.mark.parametrize("framing,body", [
    ("Content-Length: 500", b'{"type":"log","summary":"ha'),
    ("Content-Length: 500", b'{"type":"log","summary":"half"}'),
    ("Content-Length: 500", b'[{"type":"log","summary":"half"},'),
    ("Transfer-Encoding: chunked", b'1f\r\n{"type":"log","summary":"half"}\r\n'),
    ("Transfer-Encoding: chunked", b'1f\r\n{"type":"log","summary":"half"}\r\n0\r\n'),
], ids=["in-a-word", "a-whole-event", "a-list", "chunks", "chunks-end"])
@pytest.mark.parametrize("goes", ["closes", "half-closes", "resets"])
def test_half_a_body_then_gone(server, task, framing, body, goes):
    """The server stores nothing of it (see `task`) and releases the connection at once, not at the body deadline."""
    with Raw(server.internal) as raw:
        raw.request("POST", events_path(task), [f"Authorization: Bearer {server.token}", "Content-Type: application/json", framing], body)
        eventually(lambda: server.holds(raw.socket))
        held = server.connection_of(raw.socket)
        if goes == "half-closes":
            raw.socket.shutdown(socket.SHUT_WR)
            assert raw.socket.recv(65536) == b"", "half a request gets no answer"
        if goes == "resets":
            raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    eventually(lambda: not server.has_open(held), 5)


# --- WebSocket frames ---

def test_websocket_unmasked_frame(server, task):
    with RawWebSocket(server, task) as raw:
        raw.frame(0x81, b"{}", masked=False)
        assert raw.close_code()[0] == 1002


@pytest.mark.parametrize("first,payload,code", [
    (0x83, b"", 1002),  # reserved opcode
    (0xC1, b"{}", 1002),  # reserved bit
    (0x80, b"{}", 1002),  # continuation of nothing
    (0x09, b"", 1002),  # fragmented ping
    (0x89, b"x" * 126, 1002),  # long ping
    (0x81, b"\xff\xfe", 1007),  # not UTF-8
    (0x88, b"\x03", 1002),  # an incomplete close code
    (0x88, b"\x03\xed", 1002),  # a close code that must not be sent (1005)
], ids=["opcode", "bit", "continuation", "ping-part", "ping-long", "utf8", "close-half", "close-1005"])
def test_websocket_violations(server, task, first, payload, code):
    with RawWebSocket(server, task) as raw:
        raw.frame(first, payload)
        assert raw.close_code()[0] == code


def test_websocket_oversized_message(server, task):
    with RawWebSocket(server, task) as raw:
        raw.frame(0x81, b"", length=1 << 40)
        assert raw.close_code()[0] == 1009


def test_websocket_oversized_by_fragments(server, task):
    with RawWebSocket(server, task) as raw:
        try:
            raw.frame(0x01, b"x" * 40_000)
            raw.frame(0x00, b"x" * 40_000)
        except (BrokenPipeError, ConnectionResetError):
            pass
        assert raw.close_code()[0] == 1009


def test_websocket_fragments_are_joined(server, task):
    """A fragmented text message is one message; a ping may come between its parts and is answered."""
    with RawWebSocket(server, task) as raw:
        raw.frame(0x01, b'{"type":"no_such_')
        raw.frame(0x89, b"between")
        raw.frame(0x80, b'thing","id":"f1"}')
        seen = []
        while (10, b"between") not in seen or not any(b"f1" in payload for opcode, payload in seen if opcode == 1):
            seen.append(raw.next_frame())
        (answer,) = [json.loads(p) for o, p in seen if o == 1 and b"f1" in p]
        assert answer["type"] == "error"


def test_websocket_nonsense_is_answered(server, task):
    with server.websocket(events_path(task)) as feed:
        feed.events(3)
        for text in ("nonsense", "[]", "{}", '{"type":7}', '{"type":"steer"}'):
            feed._socket.send(text)
            assert feed.until(lambda m: m.type == "error")[-1].type == "error"
        assert feed._socket.ping().wait(10), "still open"


def test_a_peer_that_is_gone_without_a_word(server, runner, api):
    """A peer that answers no ping loses its connection after two pings (one every 15 s). Until then it costs other
    clients nothing."""
    made = new_task(api)
    with RawWebSocket(server, made, timeout=60) as dead, server.websocket(events_path(made)) as feed:
        began, held = time.monotonic(), server.connection_of(dead.socket)
        for number in range(1, 21):
            post_events(runner, made, note(f"event {number}"))
            assert feed.sequences(1) == [number]
        pings = 0
        while True:
            try:
                opcode, _ = dead.next_frame()
            except (ConnectionError, TimeoutError):
                break
            assert opcode in (1, 9), "no close frame: there is nobody to read it"
            pings += opcode == 9
        took = time.monotonic() - began
        assert pings == 2 and 44 < took < 50, f"{pings} pings, cut after {took:.1f} s"
        assert not server.has_open(held)
        post_events(runner, made, note("after"))
        assert feed.sequences(1) == [21]


KEY, VERSION = "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13"
UPGRADE = ["Upgrade: websocket", "Connection: Upgrade"]


def test_upgrade_of_a_route_that_has_none(server):
    """RFC 9110, 7.8: a server may ignore Upgrade and then answers as if it were absent."""
    with Raw(server.public) as raw:
        raw.request("GET", "/healthz", [*UPGRADE, VERSION, KEY])
        status, headers, body = raw.response()
        assert status == 200 and json.loads(body)["status"] == "ok" and "upgrade" not in headers


@pytest.mark.parametrize("headers,status,code", [
    ([*UPGRADE, "Sec-WebSocket-Version: 12", KEY], 426, "websocket_version"),
    ([*UPGRADE, KEY], 426, "websocket_version"),
    ([*UPGRADE, VERSION], 400, "bad_websocket_handshake"),
    ([*UPGRADE, VERSION, KEY, KEY], 400, "bad_websocket_handshake"),
    ([*UPGRADE, VERSION, "Sec-WebSocket-Key: x"], 400, "bad_websocket_handshake"),
    ([*UPGRADE, VERSION, "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAAA!"], 400, "bad_websocket_handshake"),
], ids=["version-12", "no-version", "no-key", "two-keys", "short-key", "key-of-no-alphabet"])
def test_bad_websocket_handshakes(server, task, headers, status, code):
    with Raw(server.public) as raw:
        raw.request("GET", events_path(task), [f"Authorization: Bearer {server.token}", *headers])
        assert raw.refusal() == (status, code)


@pytest.mark.parametrize("method,version", [("POST", "HTTP/1.1"), ("GET", "HTTP/1.0")])
def test_a_handshake_is_a_get_of_http_1_1(server, task, method, version):
    with Raw(server.public) as raw:
        raw.send("\r\n".join([f"{method} {events_path(task)} {version}", f"Host: {raw.host}", f"Authorization: Bearer {server.token}", *UPGRADE, VERSION, KEY, "", ""]).encode())
        assert raw.refusal() == (400, "bad_websocket_handshake")


@pytest.mark.parametrize("headers", [["Upgrade: websocket", VERSION, KEY], ["Connection: Upgrade", VERSION, KEY],
                                     ["Upgrade: h2c", "Connection: Upgrade", VERSION, KEY]], ids=["no-connection", "no-upgrade", "h2c"])
def test_half_a_handshake_is_a_plain_request(server, task, headers):
    with Raw(server.public) as raw:
        raw.request("GET", events_path(task), [f"Authorization: Bearer {server.token}", *headers])
        status, _, body = raw.response()
        assert status == 200 and len(json.loads(body)["events"]) == 3


# --- after all that ---

def test_still_well(server, api, runner):
    made = new_task(api)
    post_events(runner, made, note("fine"))
    with server.websocket(events_path(made)) as feed:
        assert feed.sequences(1) == [1]
    assert api.get("/healthz").status_code == 200


def test_a_page_goes_on_after_its_last_task_was_deleted(api):
    batch = new_task(api)
    made = {new_task(api, labels={"batch": batch}) for _ in range(4)}
    page = api.get("/api/v1/tasks", params={"label": f"batch={batch}", "limit": 2})
    seen = [task["id"] for task in page.json()]
    assert api.delete(f"/api/v1/tasks/{seen[-1]}").status_code == 204
    page = api.get(page.links["next"]["url"]).raise_for_status()
    seen += [task["id"] for task in page.json()]
    assert len(seen) == 4 and set(seen) == made, "each once"


def test_compressed_bodies_are_refused_by_name(runner, task):
    answer = runner.post(events_path(task), content=b"\x1f\x8b\x08",
                         headers={"Content-Type": "application/json", "Content-Encoding": "gzip"})
    assert answer.status_code == 415 and answer.json()["code"] == "unsupported_content_encoding"
