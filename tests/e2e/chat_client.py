"""A client of the chat protocol that checks everything it receives against what the known clients need."""

import http.client
import json
import socket
import threading
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import httpx
import yaml

import sse
from openapi import DESCRIPTION
from streams import WAIT, StreamEnded

INTEGER, TEXT, FLAG, OBJECT = int, str, bool, dict
# What the clients read in the data of each kind of event: required, then allowed to be absent.
EVENTS = {
    "connected": ({"client_id": TEXT}, {}),
    "message_added": ({"role": TEXT, "content": TEXT, "tokens": INTEGER}, {"cut": FLAG, "tool_calls": list, "tool_call_id": TEXT}),
    "delta": ({"delta": TEXT}, {}),
    "reasoning": ({"delta": TEXT}, {}),
    "codeblock": ({"content": TEXT}, {"language": TEXT}),
    "tool_call": ({"tool_call": TEXT, "parameters": OBJECT}, {"tool_call_id": TEXT}),
    "tool_result": ({"tool_name": TEXT, "success": FLAG}, {"error": TEXT}),
    "response_complete": ({"response": TEXT}, {"cut": FLAG, "finish_reason": TEXT, "usage": OBJECT, "total_tokens": INTEGER, "cost_usd": (int, float), "unpriced": FLAG}),
    "error": ({"error": TEXT}, {"code": TEXT}),
    "eviction": ({"messages_evicted": INTEGER, "tokens_freed": INTEGER}, {"total_tokens": INTEGER, "resync": FLAG, "missed": OBJECT}),
    "cleared": ({}, {}),
    "approval": ({"approvalID": TEXT, "state": TEXT}, {"tool": TEXT, "input": OBJECT, "redacted": list}),
}
TEXT_PIECES = ("delta", "codeblock", "reasoning")


def config(url, dialect="openai", model=None, models=None, chat=None, auth="none", **entry):
    """The text of a configuration with one model `local` at this address, or with `models`."""
    if models is None:
        models = {"local": {"type": dialect, "url": url, **({"model": model} if model else {}), **entry}}
    return yaml.safe_dump({"models": models, "chat": chat or {}, "public": {"auth": auth}})


def is_a(value, kind):
    return isinstance(value, kind) and not (kind is int and isinstance(value, bool))


def check_event(value):
    """The rules that hold for every event."""
    assert isinstance(value, dict) and isinstance(value.get("type"), str), f"no event: {value!r}"
    assert isinstance(value.get("data"), dict), f"the data is no object: {value!r}"
    assert value["type"] in EVENTS, f"an unknown event: {value!r}"
    required, optional = EVENTS[value["type"]]
    for name, kind in required.items():
        assert is_a(value["data"].get(name), kind), f"{name} of {value!r}"
    for name, kind in optional.items():
        assert name not in value["data"] or is_a(value["data"][name], kind), f"{name} of {value!r}"
    if value["type"] == "eviction":  # only what retention removed has no total
        assert ("total_tokens" in value["data"]) != ("missed" in value["data"]), f"a total or what was missed: {value!r}"
    if value["type"] in TEXT_PIECES:
        assert value["data"].get("delta") or value["data"].get("content"), f"an empty piece: {value!r}"


def check_session(value):
    """The rules that hold for every answer of /session."""
    assert value["success"] is True
    for name, kind in (("context_size", int), ("model", str), ("total_tokens", int), ("system_tokens", int), ("tokens_exact", bool),
                       ("desired_completion_tokens", int), ("messages", list), ("tools", list)):
        assert is_a(value.get(name), kind), f"{name}: {value.get(name)!r}"
    for tool in value["tools"]:
        assert is_a(tool.get("name"), str) and is_a(tool.get("description"), str) and is_a(tool.get("parameters"), dict), tool
    for number, message in enumerate(value["messages"]):
        assert message["role"] in ("system", "user", "assistant", "tool") and (message["role"] != "system" or number == 0), message
        assert is_a(message.get("content"), str) and is_a(message.get("tokens"), int), message
        for call in message.get("tool_calls", []):
            assert call["type"] == "function" and is_a(call["id"], str) and is_a(call["function"]["name"], str), message
            assert isinstance(json.loads(call["function"]["arguments"]), dict), message
        assert message["role"] != "tool" or is_a(message.get("tool_call_id"), str), message


def check_turn(events):
    """The order of the events of one turn, from the user's message to response_complete."""
    kinds = [event.type for event in events]
    assert kinds[0] == "message_added" and events[0].data["role"] == "user", kinds
    assert kinds[-1] == "response_complete" and kinds.count("response_complete") == 1, kinds
    said, open_calls, current, failed = "", [], None, False
    for event in events[1:-1]:
        data = event.data
        if event.type == "message_added" and data["role"] == "assistant":
            assert not open_calls and current is None, f"an answer before the results of {open_calls}: {kinds}"
            assert not said or said in "".join(data["content"].split()) or not data["content"], (said, data["content"])
            said, open_calls = "", [call["id"] for call in data.get("tool_calls", [])]
        elif event.type == "tool_call":
            assert current is None and data["tool_call_id"] == open_calls[0], (data, open_calls)
            current = "called"
        elif event.type == "tool_result":
            assert current == "called", kinds
            assert data["success"] or data["error"], data
            current = "result"
        elif event.type == "message_added" and data["role"] == "tool":
            assert current == "result" and data["tool_call_id"] == open_calls.pop(0), (data, open_calls)
            current = None
        elif event.type in ("delta",):
            assert not open_calls, f"text before the results: {kinds}"
            said = "".join((said + data["delta"]).split()) if "codeblock" not in kinds else ""
        elif event.type == "error":
            failed = True
        else:
            assert event.type in ("eviction", "codeblock", "reasoning", "message_added", "approval"), kinds
    last = [event for event in events if event.type == "message_added"][-1]
    if not failed:
        assert last.data["role"] == "assistant" and last.data["content"] == events[-1].data["response"], kinds
    return events


@dataclass
class Event:
    type: str
    data: dict
    id: str | None
    at: float  # when it was read


class Updates:
    """One observer: GET /updates on its own connection. A thread reads; `received` grows."""

    def __init__(self, url, headers=None, check=True):
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=120)
        self._connection.request("GET", parts.path, headers={"Accept": "text/event-stream", **(headers or {})})
        self._socket = self._connection.sock
        self.response = self._connection.getresponse()
        self.status = self.response.status
        self.received, self.arrivals, self.comments, self.ended, self.wrong = [], [], 0, None, None
        self._taken = self._last_id = 0
        self._check = check
        self._changed = threading.Condition()
        if self.status == 200:
            assert self.response.headers["content-type"].split(";")[0] == "text/event-stream"
            assert self.response.headers["cache-control"] == "no-cache" and self.response.headers["x-accel-buffering"] == "no"
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        parser, line = sse.Parser(), b""
        try:
            while chunk := self.response.read1(65536):
                now = time.monotonic()
                for each in (line + chunk).split(b"\n")[:-1]:
                    # The Python clients parse the lines that begin with "data: ", one JSON text each.
                    assert not each.startswith(b"data:") or each.startswith(b"data: ") and json.loads(each[6:]) is not None, each
                    self.comments += each.startswith(b":")
                line = (line + chunk).rsplit(b"\n", 1)[-1]
                frames = parser.feed(chunk)
                with self._changed:
                    self.arrivals.append(now)
                    for each in frames:
                        if each.data is not None:
                            self._take(each, now)
                    self._changed.notify_all()
        except Exception as error:  # closed by the test, reset, or an assertion
            self.wrong = error if isinstance(error, (AssertionError, ValueError)) else None
        with self._changed:
            self.ended = True
            self._changed.notify_all()

    def _take(self, each, now):
        assert "\n" not in each.data, "an event over several data lines"
        value = json.loads(each.data)
        if self._check:
            check_event(value)
        if each.id:
            assert int(each.id) >= self._last_id, f"id {each.id} after {self._last_id}"
            self._last_id = int(each.id)
        self.received.append(Event(value.get("type"), value.get("data"), each.id, now))

    def next(self, timeout=WAIT):
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.received) > self._taken or self.ended, timeout), \
                f"nothing arrived within {timeout} s; seen: {self.kinds()}"
            if self.wrong:
                raise self.wrong
            if len(self.received) == self._taken:
                raise StreamEnded(None, "end of /updates")
            self._taken += 1
            return self.received[self._taken - 1]

    def until(self, kind, timeout=WAIT, **members):
        """All events through the next of this kind whose data has these members."""
        deadline, seen = time.monotonic() + timeout, []
        while True:
            seen.append(self.next(max(0.01, deadline - time.monotonic())))
            if seen[-1].type == kind and members.items() <= seen[-1].data.items():
                return seen

    def turn(self, timeout=WAIT):
        """The events of the next turn, in a checked order."""
        seen = self.until("response_complete", timeout)
        begin = max((i for i, each in enumerate(seen) if each.type == "message_added" and each.data["role"] == "user"), default=0)
        begin = next((i for i, each in enumerate(seen) if each.type == "message_added"), begin)
        return check_turn(seen[begin:])

    def kinds(self):
        return [event.type for event in self.received]

    def longest_silence(self, until=None):
        times = [*self.arrivals, until or self.arrivals[-1]]
        return max((b - a for a, b in zip(times, times[1:])), default=0.0)

    def last_id(self):
        return next((event.id for event in reversed(self.received) if event.id), None)

    def close(self):
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._connection.close()

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        self.close()
        if kind is None and self.wrong:
            raise self.wrong


def said(events):
    """The text of a turn as a client shows it."""
    return "".join(event.data.get("delta", event.data.get("content", "")) for event in events if event.type in ("delta", "codeblock"))


class Chat:
    """One session of a server: the default one, or the one with this name."""

    def __init__(self, server, session=None, headers=None, timeout=60):
        self.base = server.public + (f"/sessions/{session}" if session else "")
        self.headers = headers or {}
        self.http = httpx.Client(headers=self.headers, timeout=timeout, trust_env=False)

    def call(self, method, path, status=200, **options):
        answer = self.http.request(method, self.base + path, **options)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        media = answer.headers["content-type"].split(";")[0]
        assert media == "application/json", f"{method} {path} is {media}"
        target = urlsplit(self.base + path).path
        while "//" in target:
            target = target.replace("//", "/")
        complaint = DESCRIPTION.complaint("public", method, target, answer.status_code, media, answer.content)
        assert complaint is None, complaint
        return answer.json()

    def refused(self, method, path, status, code, **options):
        """A call that must fail in this way; returns its body."""
        body = self.call(method, path, status, **options)
        assert body["success"] is False and body["code"] == code and body["error"], body
        return body

    def request(self, prompt, status=200, **fields):
        return self.call("POST", "/request", status, json={"prompt": prompt, **fields})

    def ask(self, prompt, **fields):
        """The response to a prompt that succeeds."""
        answer = self.request(prompt, **fields)
        assert answer["success"] is True, answer
        return answer["response"]

    def fails(self, prompt, code=None, **fields):
        """The error of a prompt that fails: 500, or 200 if the server had to begin its answer before."""
        answer = self.http.post(self.base + "/request", json={"prompt": prompt, **fields})
        body = answer.json()
        assert answer.status_code in (200, 500) and body["success"] is False and body["error"], answer.text
        assert code is None or body["code"] == code, body
        return body

    def stream(self, prompt, **fields):
        """The events of a turn that is asked for with stream:true. The done marker is checked and left out."""
        events, parser = [], sse.Parser()
        with self.http.stream("POST", self.base + "/request", json={"prompt": prompt, "stream": True, **fields}) as answer:
            assert answer.status_code == 200 and answer.headers["content-type"].split(";")[0] == "text/event-stream", answer.read()
            for piece in answer.iter_raw():
                for each in parser.feed(piece):
                    if each.data is not None:
                        events.append(json.loads(each.data))
        assert events[-1] == {"done": True}, events[-1]
        for value in events[:-1]:
            check_event(value)
        return [Event(value["type"], value["data"], None, 0.0) for value in events[:-1]]

    def session(self):
        value = self.call("GET", "/session")
        check_session(value)
        return value

    def messages(self):
        """(role, content) of the conversation without the system prompt."""
        return [(each["role"], each["content"]) for each in self.session()["messages"] if each["role"] != "system"]

    def status(self):
        return self.call("GET", "/status")

    def clear(self):
        return self.call("POST", "/clear", json={})

    def cancel(self):
        return self.call("POST", "/cancel")

    def updates(self, **headers):
        """An observer that has been told that it is connected."""
        opened = Updates(self.base + "/updates", {**self.headers, **{k.replace("_", "-"): v for k, v in headers.items()}})
        first = opened.next()
        assert first.type == "connected", first
        return opened

    def close(self):
        self.http.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()
