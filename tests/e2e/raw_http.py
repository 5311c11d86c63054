"""Raw connections, to send what well-behaved clients cannot send."""

import base64
import json
import os
import select
import socket
import struct
from urllib.parse import urlsplit


def events_path(task):
    return f"/api/v1/tasks/{task}/events"


class Raw:
    """A TCP connection to a listener."""

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

    def send_until_answered(self, pieces):
        """Sends the pieces until the peer answers, so that its answer is not lost in a reset. A reset is an error.
        Returns the number of bytes sent."""
        sent = 0
        for piece in pieces:
            while piece:
                readable, writable, _ = select.select([self.socket], [self.socket], [], self.socket.gettimeout())
                assert readable or writable, "the peer takes nothing and says nothing"
                if readable:
                    return sent
                count = self.socket.send(piece[:65536])
                piece, sent = piece[count:], sent + count
        return sent

    def refusal(self):
        """(status, code) of the only answer on this connection, which the peer then closes cleanly."""
        status, headers, body = self.response()
        assert headers["content-type"] == "application/problem+json" and headers["connection"] == "close", headers
        rest = self.buffer
        while chunk := self.socket.recv(65536):
            rest += chunk
        assert rest == b"", f"something was answered that nobody asked: {rest[:300]!r}"
        return status, json.loads(body)["code"]

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
        """Reads to the end; true if the peer closed the connection."""
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
