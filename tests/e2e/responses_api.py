"""A scripted model for the real Codex: as much of the Responses API on loopback as it needs.

    api = ResponsesAPI([Turn(say("On it."), run("ls")), Turn(say("done"))]).start()

Turns are used in order, or chosen by a function of the request.
"""

import itertools
import json
import socket
import threading
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

IDS = itertools.count(1)


def say(words):
    return {"type": "message", "text": words}


def call(name, /, **arguments):
    return {"type": "function_call", "id": f"fc_{next(IDS):06}", "call_id": f"call_{next(IDS):06}", "name": name,
            "arguments": json.dumps(arguments), "status": "completed"}


def run(command, **arguments):
    return call("exec_command", cmd=command, **arguments)


@dataclass
class Turn:
    """One answer of the model. With `breaks` the connection ends in the middle of it; a status other than 200 is an
    error without an answer."""
    items: tuple
    status: int = 200
    breaks: bool = False

    def __init__(self, *items, status=200, breaks=False):
        self.items, self.status, self.breaks = items, status, breaks


@dataclass
class Asked:
    """One request of the agent."""
    body: dict
    number: int

    def history(self):
        return json.dumps(self.body["input"], ensure_ascii=False)

    def words(self, role="user"):
        """What users, or others of that role, have said."""
        said = [item for item in self.body["input"] if item.get("role") == role]
        return [part["text"] for item in said for part in item.get("content", ())]


class ResponsesAPI:
    """Owns a listening thread; `stop` ends it."""

    def __init__(self, turns):
        self._choose = turns if callable(turns) else self._in_order(list(turns))
        self.requests = []
        self.lock = threading.Lock()
        self.server = None

    @staticmethod
    def _in_order(turns):
        return lambda asked: turns[asked.number - 1] if asked.number <= len(turns) else Turn(say("The script is over."))

    def start(self):
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                api._answer(self)

            def do_GET(self):
                _send(self, 404, {})

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}/v1"
        return self

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def _answer(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers.get("Content-Length", 0))) or b"{}")
        if not handler.path.endswith("/responses"):
            return _send(handler, 404, {})
        with self.lock:
            asked = Asked(body, len(self.requests) + 1)
            self.requests.append(asked)
        turn = self._choose(asked)
        if turn.status != 200:
            return _send(handler, turn.status, {"error": {"message": "scripted failure", "type": "scripted", "code": None}})
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        try:
            for event in _events(turn.items):
                if turn.breaks and event["type"] == "response.completed":
                    handler.connection.shutdown(socket.SHUT_RDWR)
                    handler.close_connection = True
                    return
                data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                handler.wfile.flush()
            handler.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass  # the agent was interrupted and hung up


def _events(items):
    response = f"resp_{next(IDS):06}"
    yield {"type": "response.created", "response": {"id": response}}
    for item in items:
        if item["type"] == "message":
            yield from _message(item["text"])
        else:
            yield {"type": "response.output_item.done", "output_index": 0, "item": item}
    yield {"type": "response.completed", "response": {"id": response, "usage": {
        "input_tokens": 1000, "input_tokens_details": {"cached_tokens": 400}, "output_tokens": 42,
        "output_tokens_details": {"reasoning_tokens": 12}, "total_tokens": 1042}}}


def _message(text):
    name = f"msg_{next(IDS):06}"
    item = {"type": "message", "id": name, "role": "assistant", "status": "in_progress", "content": []}
    where = {"item_id": name, "output_index": 0, "content_index": 0}
    yield {"type": "response.output_item.added", "output_index": 0, "item": item}
    yield {"type": "response.content_part.added", **where, "part": {"type": "output_text", "text": ""}}
    half = len(text) // 2
    for piece in (text[:half], text[half:]):
        yield {"type": "response.output_text.delta", **where, "delta": piece}
    whole = [{"type": "output_text", "text": text, "annotations": []}]
    yield {"type": "response.output_item.done", "output_index": 0, "item": {**item, "status": "completed", "content": whole}}


def _send(handler, status, value):
    data = json.dumps(value).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    handler.wfile.write(data)
