"""A scripted model: as much of the Messages API on loopback as the real Claude Code needs.

    api = ModelAPI([Reply(tool("Bash", command="ls")), Reply(text("done"))]).start()

Replies are used in order, or chosen by a function of the request. Requests without tools are the agent's own side
requests (titles, summaries); they get a short answer and are not counted.
"""

import itertools
import json
import threading
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

IDS = itertools.count(1)


def text(words):
    return {"type": "text", "text": words}


def tool(name, /, **arguments):
    return {"type": "tool_use", "id": f"toolu_scripted{next(IDS):012}", "name": name, "input": arguments}


@dataclass
class Reply:
    """One answer of the model. It waits for `before_last` after all but the last piece has been sent, so that a test
    can act during the answer."""
    blocks: tuple
    before_last: threading.Event = None
    status: int = 200

    def __init__(self, *blocks, before_last=None, status=200):
        self.blocks, self.before_last, self.status = blocks, before_last, status


@dataclass
class Request:
    """One request of the agent's main loop."""
    body: dict
    headers: dict
    number: int
    results: dict = field(default_factory=dict)  # tool results of the newest message: call id -> text
    words: str = ""  # the rest of the newest message

    def __post_init__(self):
        content = self.body["messages"][-1]["content"]
        for block in content if isinstance(content, list) else [text(content)]:
            if block["type"] == "tool_result":
                self.results[block["tool_use_id"]] = _flat(block.get("content", ""))
            elif block["type"] == "text":
                self.words += block["text"]

    def history(self):
        """The whole conversation so far as one text."""
        return json.dumps(self.body["messages"], ensure_ascii=False)


class ModelAPI:
    """Owns a listening thread; `stop` ends it. Without a reply from the test the agent's request fails."""

    def __init__(self, replies):
        self._choose = replies if callable(replies) else self._in_order(list(replies))
        self.requests = []
        self.lock = threading.Lock()
        self.arrived = threading.Condition(self.lock)
        self.server = None

    @staticmethod
    def _in_order(replies):
        def choose(request):
            if request.number > len(replies):
                return Reply(text("The script of the model is over."))
            return replies[request.number - 1]
        return choose

    def start(self):
        api = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                api._answer(self)

            def do_GET(self):
                _send_json(self, 200, {})

            do_HEAD = do_GET

            def log_message(self, *_):
                pass

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        threading.Thread(target=self.server.serve_forever, args=(0.05,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        return self

    def stop(self):
        self.server.shutdown()
        self.server.server_close()

    def wait_for_request(self, number, timeout=60):
        """The main loop's request with this number, counted from 1."""
        with self.arrived:
            assert self.arrived.wait_for(lambda: len(self.requests) >= number, timeout), \
                f"the agent asked the model {len(self.requests)} times, not {number}"
            return self.requests[number - 1]

    def _answer(self, handler):
        body = json.loads(handler.rfile.read(int(handler.headers.get("Content-Length", 0))) or b"{}")
        path = handler.path.split("?")[0]
        if path.endswith("/count_tokens"):
            return _send_json(handler, 200, {"input_tokens": 1000})
        if path != "/v1/messages":
            return _send_json(handler, 200, {})
        if not body.get("tools"):
            return self._send(handler, body, Reply(text("Scripted")))
        with self.arrived:
            request = Request(body, dict(handler.headers), len(self.requests) + 1)
            self.requests.append(request)
            self.arrived.notify_all()
        self._send(handler, body, self._choose(request))

    def _send(self, handler, body, reply):
        if reply.status != 200:
            return _send_json(handler, reply.status, {"type": "error", "error": {
                "type": "overloaded_error" if reply.status == 529 else "api_error", "message": "scripted failure"}})
        message = {"id": f"msg_scripted{next(IDS):012}", "type": "message", "role": "assistant",
                   "model": body.get("model", "scripted"), "content": [], "stop_reason": None, "stop_sequence": None,
                   "usage": {"input_tokens": 3, "cache_creation_input_tokens": 420, "cache_read_input_tokens": 8000,
                             "output_tokens": 1}}
        stop = "tool_use" if any(block["type"] == "tool_use" for block in reply.blocks) else "end_turn"
        if not body.get("stream"):
            return _send_json(handler, 200, {**message, "content": list(reply.blocks), "stop_reason": stop})
        handler.send_response(200)
        handler.send_header("Content-Type", "text/event-stream")
        handler.send_header("Transfer-Encoding", "chunked")
        handler.end_headers()
        try:
            for last, event in _with_last(_events(message, reply.blocks, stop)):
                if last == "content" and reply.before_last:
                    reply.before_last.wait(30)
                data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n".encode()
                handler.wfile.write(b"%x\r\n%s\r\n" % (len(data), data))
                handler.wfile.flush()
            handler.wfile.write(b"0\r\n\r\n")
        except OSError:
            pass  # the agent was interrupted and hung up


def _events(message, blocks, stop):
    yield {"type": "message_start", "message": message}
    for index, block in enumerate(blocks):
        if block["type"] == "tool_use":
            yield {"type": "content_block_start", "index": index, "content_block": {**block, "input": {}}}
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", json.dumps(block["input"]))]
        else:
            yield {"type": "content_block_start", "index": index, "content_block": {"type": "text", "text": ""}}
            half = len(block["text"]) // 2
            deltas = [{"type": "text_delta", "text": piece} for piece in (block["text"][:half], block["text"][half:])]
        for delta in deltas:
            yield {"type": "content_block_delta", "index": index, "delta": delta}
        yield {"type": "content_block_stop", "index": index}
    yield {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None},
           "usage": {"output_tokens": 20}}
    yield {"type": "message_stop"}


def _with_last(events):
    """Marks the last piece of content."""
    events = list(events)
    last = max((i for i, event in enumerate(events) if event["type"] == "content_block_delta"), default=-1)
    for i, event in enumerate(events):
        yield ("content" if i == last else ""), event


def _flat(content):
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)


def _send_json(handler, status, value):
    data = json.dumps(value).encode()
    handler.send_response(status)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(data)))
    handler.end_headers()
    if handler.command != "HEAD":
        handler.wfile.write(data)
