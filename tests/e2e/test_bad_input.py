"""Whatever arrives, the answer names the problem, the server lives on, and the log keeps what it has."""

import base64
import json
import os
import socket
import struct
import time
from urllib.parse import urlsplit

import pytest
import websockets

from tasks import new_task, note, post_events


@pytest.fixture
def task(api, runner):
    """A task with three events that must survive."""
    made = new_task(api)
    post_events(runner, made, note("one"), note("two"), note("three"))
    yield made
    events = api.get(f"/api/v1/tasks/{made}/events").json()["events"]
    assert [e["summary"] for e in events] == ["one", "two", "three"], "bad input changed the log"


def events_path(task):
    return f"/api/v1/tasks/{task}/events"


class Raw:
    """A TCP connection to a listener, for what well-behaved clients cannot send."""

    def __init__(self, url, timeout=15):
        parts = urlsplit(url)
        self.host = f"{parts.hostname}:{parts.port}"
        self.socket = socket.create_connection((parts.hostname, parts.port), timeout=timeout)
        self.buffer = b""

    def send(self, data):
        self.socket.sendall(data)

    def request(self, method, target, headers=(), body=b"", host=None):
        lines = [f"{method} {target} HTTP/1.1", f"Host: {host or self.host}", *headers]
        self.send("\r\n".join([*lines, "", ""]).encode("latin-1") + body)

    def read_until(self, marker):
        while marker not in self.buffer:
            chunk = self.socket.recv(65536)
            if not chunk:
                raise ConnectionError(f"closed; had {self.buffer[:200]!r}")
            self.buffer += chunk
        found, self.buffer = self.buffer.split(marker, 1)
        return found

    def response(self):
        """(status, headers, body) of one answer."""
        head = self.read_until(b"\r\n\r\n").decode("latin-1").split("\r\n")
        headers = {k.lower(): v.strip() for k, _, v in (line.partition(":") for line in head[1:])}
        length = int(headers.get("content-length", 0))
        while len(self.buffer) < length:
            chunk = self.socket.recv(65536)
            if not chunk:
                break
            self.buffer += chunk
        body, self.buffer = self.buffer[:length], self.buffer[length:]
        return int(head[0].split()[1]), headers, body

    def closed_by_peer(self):
        """Reads to the end; true when the peer ended the connection."""
        try:
            while self.socket.recv(65536):
                pass
            return True
        except ConnectionResetError:
            return True
        except TimeoutError:
            return False

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.socket.close()


class RawWebSocket(Raw):
    def __init__(self, server, task, **options):
        super().__init__(server.public, **options)
        self.request("GET", events_path(task), [
            f"Authorization: Bearer {server.token}", "Upgrade: websocket", "Connection: Upgrade",
            "Sec-WebSocket-Version: 13", f"Sec-WebSocket-Key: {base64.b64encode(os.urandom(16)).decode()}"])
        assert self.response()[0] == 101

    def frame(self, first_byte, payload=b"", masked=True, length=None):
        length = len(payload) if length is None else length
        mask = 0x80 if masked else 0
        if length < 126:
            head = struct.pack("!BB", first_byte, mask | length)
        elif length < 65536:
            head = struct.pack("!BBH", first_byte, mask | 126, length)
        else:
            head = struct.pack("!BBQ", first_byte, mask | 127, length)
        key = b"\x01\x02\x03\x04"
        if masked:
            payload = bytes(b ^ key[i % 4] for i, b in enumerate(payload))
        self.send(head + (key if masked else b"") + payload)

    def _take(self, count):
        while len(self.buffer) < count:
            chunk = self.socket.recv(65536)
            if not chunk:
                raise ConnectionError("closed without a close frame")
            self.buffer += chunk
        taken, self.buffer = self.buffer[:count], self.buffer[count:]
        return taken

    def next_frame(self):
        first, second = self._take(2)
        length = second & 0x7F
        if length == 126:
            (length,) = struct.unpack("!H", self._take(2))
        elif length == 127:
            (length,) = struct.unpack("!Q", self._take(8))
        return first & 0x0F, self._take(length)

    def close_code(self):
        while True:
            opcode, payload = self.next_frame()
            if opcode == 8:
                return struct.unpack("!H", payload[:2])[0], payload[2:].decode()


def refused(answer, status, *words):
    statuses = status if isinstance(status, tuple) else (status,)
    assert answer.status_code in statuses, answer.text
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
        status, headers, body = raw.response()
        assert status == 413 and json.loads(body)["code"]


def test_huge_chunked_body(server, task):
    with Raw(server.internal) as raw:
        raw.request("POST", events_path(task), [f"Authorization: Bearer {server.token}",
                                                "Content-Type: application/json", "Transfer-Encoding: chunked"])
        try:
            for _ in range(100):
                raw.send(b"100000\r\n" + b" " * 0x100000 + b"\r\n")
        except (BrokenPipeError, ConnectionResetError):
            return  # cut while we were still talking: also an answer
        assert raw.response()[0] == 413


def test_event_over_the_limit(runner, task):
    refused(runner.post(events_path(task), json=note("x", metadata={"blob": ["y" * 400] * 800})), 413)


def test_too_many_events(runner, task):
    refused(runner.post(events_path(task), json=[{"type": "log"}] * 10_001), (400, 413))


def test_members_that_nobody_reads_are_named(api):
    """A slip is no error, since clients of other versions send more, but it does not go unnoticed."""
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


@pytest.mark.parametrize("target", [
    "/api/v1/tasks/../../etc/passwd", "/api/v1/tasks/..%2f..%2fetc%2fpasswd/events", "/../../etc/passwd",
    "/%2e%2e/%2e%2e/etc/passwd", "/api/v1/tasks/%00/events", "/api/v1/tasks//events", "/nowhere", "//", "/api/v1/tasks/a%zz",
    "/static/../../etc/passwd",
])
def test_strange_paths(server, target):
    with Raw(server.public) as raw:
        raw.request("GET", target, [f"Authorization: Bearer {server.token}"])
        status, headers, body = raw.response()
        assert 400 <= status < 500
        assert b"root:" not in body
        assert json.loads(body)["code"]


# --- HTTP itself ---

@pytest.mark.parametrize("data,statuses", [
    (b"hello\r\n\r\n", (400,)),
    (b"GET / HTTP/9.9\r\nHost: x\r\n\r\n", (400, 403, 421, 505)),
    (b"GET  / HTTP/1.1\r\n\r\n", (400,)),
    (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 100 + b"\r\n\r\n", (400,)),
    (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: nine\r\n\r\n", (400,)),
    (b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n\r\nabc", (400,)),
    (b"POST / HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\nabc", (400, 404, 405)),
    (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nBad Header: x\r\n\r\n", (400,)),
    (b"GET / HTTP/1.1\r\nHost: 127.0.0.1\r\nX: a\0b\r\n\r\n", (400,)),
    (b"GET /" + b"a" * 100_000 + b" HTTP/1.1\r\n\r\n", (400, 414, 431)),
    (b"BREW / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n", (400, 404, 405, 501)),
], ids=lambda v: repr(v[:30]) if isinstance(v, bytes) else "")
def test_not_http(server, data, statuses):
    with Raw(server.public) as raw:
        try:
            raw.send(data)
        except (BrokenPipeError, ConnectionResetError):
            pass
        try:
            status, _, body = raw.response()
        except (ConnectionResetError, BrokenPipeError):
            return  # the rest of a refused request met a closed connection
        assert status in statuses, body


def test_ten_thousand_headers(server):
    with Raw(server.public) as raw:
        try:
            raw.request("GET", "/healthz", [f"X-{i}: y" for i in range(10_000)])
            assert raw.response()[0] in (400, 431)
        except (ConnectionResetError, BrokenPipeError):
            pass


def test_one_huge_header(server):
    with Raw(server.public) as raw:
        try:
            raw.request("GET", "/healthz", ["X: " + "y" * 200_000])
            assert raw.response()[0] in (400, 431)
        except (ConnectionResetError, BrokenPipeError):
            pass


def test_slow_loris_is_cut(server):
    """A request whose head never ends is given up after the header deadline (10 s), however it trickles."""
    with Raw(server.public, timeout=25) as raw:
        began = time.monotonic()
        raw.send(f"GET /healthz HTTP/1.1\r\nHost: {raw.host}\r\n".encode())
        raw.socket.settimeout(1)
        while time.monotonic() - began < 25:
            try:
                raw.send(b"X")
                raw.socket.recv(65536)
                break  # an answer, or the end
            except TimeoutError:
                continue
            except (BrokenPipeError, ConnectionResetError):
                break
        assert 5 < time.monotonic() - began < 20


def test_half_a_body_then_gone(server, task):
    with Raw(server.internal) as raw:
        raw.request("POST", events_path(task), [f"Authorization: Bearer {server.token}",
                                                "Content-Type: application/json", "Content-Length: 500"],
                    b'{"type":"log","summary":"ha')


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
    (0x88, b"\x03", 1002),  # half a close code
    (0x88, b"\x03\xed", 1002),  # a close code that must not travel (1005)
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


def test_half_open_websocket_costs_nobody(server, runner, api):
    """A peer that vanished without a FIN: its stream stalls, others do not."""
    made = new_task(api)
    dead = RawWebSocket(server, made)
    post_events(runner, made, note("x"))
    with server.websocket(events_path(made)) as feed:
        assert feed.sequences(1) == [1]
        post_events(runner, made, note("y"))
        assert feed.sequences(1) == [2]
    dead.socket.close()


def test_upgrade_of_a_route_that_has_none(server):
    with Raw(server.public) as raw:
        raw.request("GET", "/healthz", ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                                        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="])
        assert raw.response()[0] in (200, 400, 404, 426)


def test_bad_websocket_handshakes(server, task):
    for headers in (["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 12",
                     "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA=="],
                    ["Upgrade: websocket", "Connection: Upgrade", "Sec-WebSocket-Version: 13"]):
        with Raw(server.public) as raw:
            raw.request("GET", events_path(task), [f"Authorization: Bearer {server.token}", *headers])
            status, _, _ = raw.response()
            assert status in (200, 400, 426)


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
