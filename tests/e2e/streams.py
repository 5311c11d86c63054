"""Stream consumers with one interface: WebSocket (websockets library) and SSE (http.client and sse.py)."""

import http.client
import json
import queue
import socket
import threading
import time
from dataclasses import dataclass
from urllib.parse import urlsplit

import websockets.sync.client

import contract
import sse

WAIT = 15.0  # how long a test waits for an expected fact


class StreamEnded(Exception):
    def __init__(self, code=None, reason=""):
        super().__init__(f"stream ended: {code} {reason}")
        self.code = code
        self.reason = reason


@dataclass
class Message:
    type: str
    task: str | None
    data: dict
    id: str | None = None  # the SSE id; on a WebSocket over many logs, the cursor


class _Feed:
    """next() returns messages in order, validated; keepalives are dropped."""

    def next(self, timeout=WAIT):
        raise NotImplementedError

    def until(self, wanted, timeout=WAIT):
        """All messages through the first for which wanted(message) is true."""
        deadline, seen = time.monotonic() + timeout, []
        while True:
            seen.append(self.next(max(0.01, deadline - time.monotonic())))
            if wanted(seen[-1]):
                return seen

    def events(self, count, timeout=WAIT):
        """The data of the next `count` task events; other messages between them are dropped."""
        found = []
        while len(found) < count:
            message = self.next(timeout)
            if message.type == "task_event":
                found.append(message.data)
        return found

    def sequences(self, count, timeout=WAIT):
        return [e["sequence"] for e in self.events(count, timeout)]

    def to_end(self, timeout=WAIT):
        """(all messages to the end, how it ended)"""
        seen, deadline = [], time.monotonic() + timeout
        while True:
            try:
                seen.append(self.next(max(0.01, deadline - time.monotonic())))
            except StreamEnded as end:
                return seen, end

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class WebSocketFeed(_Feed):
    def __init__(self, url, headers=None, **options):
        self._socket = websockets.sync.client.connect(url.replace("http", "ws", 1), additional_headers=headers or {},
                                                      open_timeout=WAIT, max_size=None, max_queue=None, compression=None,
                                                      **options)
        self.response = self._socket.response
        self.subprotocol = self._socket.subprotocol
        self._asked = {}  # messages sent, by id

    def next(self, timeout=WAIT):
        try:
            text = self._socket.recv(timeout)
        except websockets.exceptions.ConnectionClosed as closed:
            frame = closed.rcvd
            raise StreamEnded(frame.code if frame else 1006, frame.reason if frame else "") from None
        assert isinstance(text, str), "the server sends text messages only"
        value = json.loads(text)
        contract.check_message(value)
        if value["type"] in ("command_accepted", "subscribed") and value.get("id") in self._asked:
            contract.check_request(self._asked.pop(value["id"]))  # what the server takes is described
        return Message(value["type"], value.get("taskID"), value.get("data"), value.get("cursor"))

    def send(self, value):
        if "id" in value:
            self._asked[value["id"]] = value
        self._socket.send(json.dumps(value))

    def close(self):
        self._socket.close()


class SSEFeed(_Feed):
    def __init__(self, url, headers=None):
        parts = urlsplit(url)
        self._connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=60)
        self._connection.request("GET", parts.path + ("?" + parts.query if parts.query else ""),
                                 headers={"Accept": "text/event-stream", **(headers or {})})
        self._socket = self._connection.sock
        self.response = self._connection.getresponse()
        self.status = self.response.status
        self._frames = queue.Queue()
        self.last_id = None
        if self.status == 200:
            assert self.response.headers["content-type"].split(";")[0] == "text/event-stream"
            threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        parser = sse.Parser()
        try:
            while chunk := self.response.read1(65536):
                for frame in parser.feed(chunk):
                    self._frames.put(frame)
            self._frames.put(StreamEnded(None, "end of response"))
        except Exception as error:  # reset, or closed by the test
            self._frames.put(StreamEnded(None, repr(error)))

    def frame(self, timeout=WAIT):
        """The next frame unfiltered, including keepalives and id-only frames."""
        try:
            item = self._frames.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError("nothing arrived on the event stream") from None
        if isinstance(item, StreamEnded):
            self._frames.put(item)
            raise item
        if item.id is not None:
            self.last_id = item.id
        return item

    def next(self, timeout=WAIT):
        while True:
            frame = self.frame(timeout)
            if frame.data is None:
                continue
            data = json.loads(frame.data)
            contract.check_frame(frame.event, data, frame.id)
            if frame.event == "keepalive":
                continue
            return Message(frame.event, data.get("taskID"), data, frame.id)

    def close(self):
        try:
            self._socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self._connection.close()
