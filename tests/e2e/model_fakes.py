"""Scripted backends on loopback: OpenAI-compatible chat (plain, llama.cpp, vLLM, TensorRT-LLM), Anthropic Messages and Ollama.

    with Fake("openai", [text("Hello"), calls(("read_file", {"path": "a"}))]) as backend: ...

An answer is what goes over the wire, so that it can be wrong in every way in which real backends are. Answers are used in
order, or a function of the request chooses one. Each request of a chat is recorded, with the moment at which its connection
was closed, and checked: tool results follow their calls, every call has one, and none is without its call.
"""

import asyncio
import itertools
import json
import threading
import time
from dataclasses import dataclass, field

IDS = itertools.count(1)
CHAT_PATHS = ("/v1/chat/completions", "/v1/messages", "/api/chat")
MODEL = "fake-1"
OWNERS = {"llama": "llamacpp", "vllm": "vllm", "trt": "tensorrt_llm"}  # what their lists of models say


# --- answers ---

class Wait:
    """A step of an answer: nothing more until the event is set, or the client has gone."""

    def __init__(self, event):
        self.event = event


@dataclass
class Silence:
    """A step of an answer: nothing more for this time."""
    seconds: float


class Drop:
    """A step of an answer: the connection is reset."""


@dataclass
class Answer:
    """`steps`: bytes, functions of the request that return bytes, Wait, Silence, Drop. Without `whole`, the chunked body has
    no end."""
    steps: list
    status: int = 200
    media: str = "text/event-stream"
    headers: dict = field(default_factory=dict)
    whole: bool = True
    before_head: list = field(default_factory=list)  # steps before the status line


def frame(value):
    return b"data: " + json.dumps(value).encode() + b"\n\n"


DONE = b"data: [DONE]\n\n"


def chunk(delta=None, finish=None, **members):
    return frame({"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1790000000, "model": MODEL,
                  "choices": [{"index": 0, "delta": {} if delta is None else delta, "finish_reason": finish}], **members})


def usage(prompt=None, completion=5, **details):
    """The chunk with the usage. Without a number the prompt is as long as the fake counts it."""
    def made(request):
        tokens = request.counted if prompt is None else prompt
        return frame({"id": "chatcmpl-fake", "object": "chat.completion.chunk", "created": 1790000000, "model": MODEL, "choices": [],
                      "usage": {"prompt_tokens": tokens, "completion_tokens": completion, "total_tokens": tokens + completion, **details}})
    return made


def text(*pieces, finish="stop", tokens=None, before=(), done=True, **options):
    """A streamed answer. A piece that is not a string is a step."""
    body = [chunk({"role": "assistant", "content": None}), *before]
    body += [chunk({"content": piece}) if isinstance(piece, str) else piece for piece in pieces]
    if finish:
        body += [chunk({}, finish), usage(tokens, len(pieces))]
    return Answer([*body, *([DONE] if done else [])], **options)


def fragment(index, call_id=None, name=None, arguments=None, **members):
    """A piece of a tool call as OpenAI streams it."""
    function = {k: v for k, v in (("name", name), ("arguments", arguments)) if v is not None}
    made = {"index": index, **({"id": call_id, "type": "function"} if call_id else {}), "function": function, **members}
    return chunk({"tool_calls": [made]})


def new_call_id():
    return f"call_{next(IDS):08}"


def calls(*wanted, words="", finish="tool_calls"):
    """An answer with tool calls, each (name, arguments), in fragments."""
    body = [chunk({"role": "assistant", "content": None})] + ([chunk({"content": words})] if words else [])
    for index, (name, arguments) in enumerate(wanted):
        written = arguments if isinstance(arguments, str) else json.dumps(arguments)
        half = len(written) // 2
        body += [fragment(index, new_call_id(), name, ""), fragment(index, arguments=written[:half]), fragment(index, arguments=written[half:])]
    return Answer([*body, chunk({}, finish), usage(), DONE])


def refusal(status, body, **headers):
    """An answer that is an error before the first byte of the stream."""
    content = body if isinstance(body, bytes) else json.dumps(body).encode()
    return Answer([content], status=status, media="application/json", headers={k.replace("_", "-"): str(v) for k, v in headers.items()})


def openai_error(message, kind="server_error", code=None, **members):
    return {"error": {"message": message, "type": kind, "param": None, "code": code, **members}}


# Anthropic Messages

def event(kind, **members):
    return f"event: {kind}\n".encode() + frame({"type": kind, **members})


def messages(*blocks, stop=None, output=5, cached=0, written=0, end=True):
    """Blocks: a string, ("tool", name, arguments), ("thinking", text, signature) or a step."""
    def start(request):
        return event("message_start", message={
            "id": "msg_fake", "type": "message", "role": "assistant", "model": MODEL, "content": [], "stop_reason": None, "stop_sequence": None,
            "usage": {"input_tokens": request.counted - cached - written, "cache_creation_input_tokens": written,
                      "cache_read_input_tokens": cached, "output_tokens": 1}})
    body, index, used_tool = [start, event("ping")], 0, False
    for block in blocks:
        if isinstance(block, str):
            opened, deltas = {"type": "text", "text": ""}, [{"type": "text_delta", "text": piece} for piece in halves(block)]
        elif isinstance(block, tuple) and block[0] == "tool":
            used_tool = True
            opened = {"type": "tool_use", "id": f"toolu_{next(IDS):08}", "name": block[1], "input": {}}
            written_arguments = json.dumps(block[2]) if block[2] is not None else ""
            deltas = [{"type": "input_json_delta", "partial_json": piece} for piece in ("", *halves(written_arguments))]
        elif isinstance(block, tuple):
            opened = {"type": "thinking", "thinking": "", "signature": ""}
            deltas = [{"type": "thinking_delta", "thinking": piece} for piece in halves(block[1])] + [{"type": "signature_delta", "signature": block[2]}]
        else:
            body.append(block)
            continue
        body.append(event("content_block_start", index=index, content_block=opened))
        body += [event("content_block_delta", index=index, delta=delta) for delta in deltas]
        body.append(event("content_block_stop", index=index))
        index += 1
    if end:
        reason = stop or ("tool_use" if used_tool else "end_turn")
        body += [event("message_delta", delta={"stop_reason": reason, "stop_sequence": None}, usage={"output_tokens": output}), event("message_stop")]
    return Answer(body)


def anthropic_error(kind, message):
    return {"type": "error", "error": {"type": kind, "message": message}}


# Ollama

def line(**members):
    return json.dumps({"model": MODEL, "created_at": "2026-11-01T00:00:00Z", **members}).encode() + b"\n"


def ollama(*pieces, tools=(), prompt=None, end=True, reason="stop"):
    """NDJSON. Tool calls come whole, in one line, with arguments as an object."""
    body = [line(message={"role": "assistant", "content": piece}, done=False) if isinstance(piece, str) else piece for piece in pieces]
    if tools:
        body.append(line(message={"role": "assistant", "content": "", "tool_calls": [
            {"function": {"name": name, "arguments": arguments}} for name, arguments in tools]}, done=False))
    if end:
        body.append(lambda request: line(message={"role": "assistant", "content": ""}, done=True, done_reason=reason, total_duration=1,
                                         prompt_eval_count=request.counted if prompt is None else prompt, eval_count=len(pieces)))
    return Answer(body, media="application/x-ndjson")


def halves(words):
    middle = len(words) // 2
    return [piece for piece in (words[:middle], words[middle:]) if piece]


# --- what the server sent ---

def content_length(value):
    """A count that grows with every message: one token for four characters of the JSON text, and three for the message."""
    return sum(3 + len(json.dumps(message)) // 4 for message in value.get("messages", [])) + len(json.dumps(value.get("tools", []))) // 4 \
        + len(json.dumps(value.get("system", ""))) // 4


def wrong_openai(listed):
    """The first thing that a strict backend would refuse in OpenAI's messages, or None. Ollama's are nearly the same."""
    open_calls = []
    for number, message in enumerate(listed):
        role = message.get("role")
        if role == "tool":
            call = message.get("tool_call_id")
            if call is not None and call not in open_calls or not open_calls:
                return f"message {number} is a tool result without its call: {message}"
            open_calls.remove(call if call is not None else open_calls[0])
            continue
        if open_calls:
            return f"message {number} follows calls without results: {open_calls}"
        if role == "system" and number > 0:
            return f"message {number} is a system message"
        if role == "assistant":
            open_calls = [call.get("id", f"#{i}") for i, call in enumerate(message.get("tool_calls") or [])]
            if len(set(open_calls)) != len(open_calls):
                return f"message {number} has an id twice: {open_calls}"
        elif role not in ("system", "user"):
            return f"message {number} has the role {role}"
    if open_calls:
        return f"the last calls have no results: {open_calls}"
    return None if listed and listed[-1]["role"] in ("user", "tool") else "the last message is not the user's"


def wrong_anthropic(listed):
    """The first thing that the Messages API would refuse, or None."""
    open_calls = []
    for number, message in enumerate(listed):
        role, content = message.get("role"), message.get("content")
        if role != ("user", "assistant")[number % 2]:
            return f"message {number} is {role}: the roles do not alternate"
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        if not blocks:
            return f"message {number} has no content"
        results = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if role == "user":
            if results != open_calls:
                return f"message {number} has results {results} for calls {open_calls}"
            if results and any(block["type"] == "tool_result" for block in blocks[len(results):]):
                return f"message {number} has a result behind text"
            open_calls = []
        else:
            open_calls = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if any(block["type"] == "text" and not block["text"] for block in blocks):
            return f"message {number} has an empty text block"
    return f"the last calls have no results: {open_calls}" if open_calls else None


@dataclass
class Request:
    """One request of a chat."""
    path: str
    headers: dict
    body: dict
    number: int
    counted: int
    at: float
    closed: threading.Event = field(default_factory=threading.Event)  # the client hung up before the answer's end
    finished: threading.Event = field(default_factory=threading.Event)  # all of the answer was sent

    def roles(self):
        return [message["role"] for message in self.body["messages"]]

    def last(self):
        return self.body["messages"][-1]

    def words(self):
        return json.dumps(self.body["messages"], ensure_ascii=False)


# --- the server ---

class Fake:
    """Owns a thread with an event loop. `kind`: openai, llama, vllm, trt, anthropic or ollama; each answers what the real
    one answers about models, context and counts. `key`: what Authorization or x-api-key must carry."""

    def __init__(self, kind="openai", answers=(), context=32768, key=None, count=content_length, facts=True):
        self.kind, self.context, self.key, self.count, self.facts = kind, context, key, count, facts
        self.choose = answers if callable(answers) else self._in_order(list(answers))
        self.requests, self.others, self.problems = [], [], []
        self._changed = threading.Condition()
        self._loop = asyncio.new_event_loop()
        self._tasks = set()

    @staticmethod
    def _in_order(answers):
        def choose(request):
            return answers[request.number - 1] if request.number <= len(answers) else text("The script is over.")
        return choose

    def start(self):
        listening = threading.Event()

        async def listen():
            self._server = await asyncio.start_server(self._connection, "127.0.0.1", getattr(self, "port", 0), limit=1 << 26)
            self.port = self._server.sockets[0].getsockname()[1]
            listening.set()

        def run():
            asyncio.set_event_loop(self._loop)
            self._loop.run_until_complete(listen())
            self._loop.run_forever()
            for task in list(self._tasks):
                task.cancel()
            self._loop.run_until_complete(asyncio.gather(*self._tasks, return_exceptions=True))
            self._loop.close()

        self._thread = threading.Thread(target=run, daemon=True)
        self._thread.start()
        assert listening.wait(10)
        self.root = f"http://127.0.0.1:{self.port}"
        self.url = self.root + ("" if self.kind == "ollama" else "/v1")
        return self

    def stop(self):
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)

    def __enter__(self):
        return self.start()

    def __exit__(self, kind, *_):
        self.stop()
        if kind is None:
            assert self.problems == [], self.problems

    def wait_for_request(self, number, timeout=20):
        """The request of a chat with this number, counted from 1."""
        with self._changed:
            assert self._changed.wait_for(lambda: len(self.requests) >= number, timeout), \
                f"the backend was asked {len(self.requests)} times, not {number}"
            return self.requests[number - 1]

    async def _connection(self, reader, writer):
        task = asyncio.current_task()
        self._tasks.add(task)
        try:
            while await self._exchange(reader, writer):
                pass
        except (OSError, asyncio.IncompleteReadError, asyncio.CancelledError):
            pass
        finally:
            self._tasks.discard(task)
            writer.close()

    async def _exchange(self, reader, writer):
        """Answers one request; false when the connection must end."""
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
        method, target, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in head[1:] if each)}
        if headers.get("expect", "").lower() == "100-continue":
            writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
        content = await reader.readexactly(int(headers.get("content-length", 0)))
        body = json.loads(content) if content else {}
        path = target.split("?")[0]
        request = None
        if self.key and not (path == "/health" or self.key in (headers.get("x-api-key"), headers.get("authorization", "").removeprefix("Bearer "))):
            answer = refusal(401, anthropic_error("authentication_error", "invalid x-api-key") if self.kind == "anthropic"
                             else openai_error("Incorrect API key provided", "invalid_request_error", "invalid_api_key"))
        elif method == "POST" and path in CHAT_PATHS:
            request = self._record(path, headers, body)
            answer = self.choose(request)
        else:
            self.others.append((method, path, body))
            status, value = self._fact(method, path, body)
            answer = refusal(status, value)
        return await self._send(answer, request, reader, writer)

    def _record(self, path, headers, body):
        wrong = wrong_anthropic(body["messages"]) if path == "/v1/messages" else wrong_openai(body["messages"])
        with self._changed:
            request = Request(path, headers, body, len(self.requests) + 1, self.count(body), time.monotonic())
            self.requests.append(request)
            if wrong:
                self.problems.append(f"request {request.number}: {wrong}")
            self._changed.notify_all()
        return request

    async def _send(self, answer, request, reader, writer):
        gone = asyncio.ensure_future(reader.read(1))  # the client sends nothing before the answer, so this is its end
        try:
            for step in answer.before_head:
                if not await self._step(step, request, writer, gone, raw=True):
                    return False
            head = [f"HTTP/1.1 {answer.status} Scripted", f"Content-Type: {answer.media}", *(f"{k}: {v}" for k, v in answer.headers.items())]
            streamed = answer.media != "application/json"
            if not streamed:
                content = b"".join(answer.steps)
                writer.write("\r\n".join([*head, f"Content-Length: {len(content)}", "", ""]).encode() + content)
                await writer.drain()
            else:
                writer.write("\r\n".join([*head, "Transfer-Encoding: chunked", "", ""]).encode())
                for step in answer.steps:
                    if not await self._step(step, request, writer, gone):
                        return False
                if not answer.whole:
                    return False
                writer.write(b"0\r\n\r\n")
                await writer.drain()
            if request:
                request.finished.set()
            return not gone.done() or await self._push_back(gone, reader)
        except OSError:
            if request:
                request.closed.set()
            return False
        finally:
            if not gone.done():
                gone.cancel()
                await asyncio.gather(gone, return_exceptions=True)

    @staticmethod
    async def _push_back(gone, reader):
        if not gone.result():
            return False
        reader._buffer[:0] = gone.result()  # the first byte of the next request
        return True

    async def _step(self, step, request, writer, gone, raw=False):
        """False when the connection is over."""
        if isinstance(step, Drop):
            writer.transport.abort()
            return False
        if isinstance(step, (Wait, Silence)):
            began = time.monotonic()
            while not (step.event.is_set() if isinstance(step, Wait) else time.monotonic() - began >= step.seconds):
                if gone.done() and not gone.result():
                    if request:
                        request.closed.set()
                    return False
                await asyncio.sleep(0.005)
            return True
        data = step(request) if callable(step) else step
        writer.write(data if raw else b"%x\r\n%s\r\n" % (len(data), data))
        await writer.drain()
        if gone.done() and not gone.result():
            if request:
                request.closed.set()
            return False
        return True

    def _fact(self, method, path, body):
        """What the backend says about its models, its context and the length of a prompt."""
        named = {"id": MODEL, "object": "model", "created": 1790000000, "owned_by": OWNERS.get(self.kind, "openai")}
        absent = 404, openai_error("Not Found", "not_found_error", 404)
        if not self.facts:
            return absent
        if self.kind == "ollama":
            return {"/api/tags": (200, {"models": [{"name": MODEL, "model": MODEL}]}), "/api/version": (200, {"version": "0.14.0"}),
                    "/api/ps": (200, {"models": [{"name": MODEL, "model": MODEL, "context_length": self.context}]}),
                    "/api/show": (200, {"model_info": {"general.architecture": "fake", "fake.context_length": 131072}, "parameters": "",
                                        "capabilities": ["completion", "tools"]})}.get(path, (404, {"error": "not found"}))
        if self.kind == "anthropic":
            about = {"type": "model", "id": MODEL, "display_name": "Fake", "created_at": "2026-01-01T00:00:00Z", "max_input_tokens": self.context, "max_tokens": 4096}
            return {"/v1/models": (200, {"data": [about], "has_more": False}), f"/v1/models/{MODEL}": (200, about),
                    "/v1/messages/count_tokens": (200, {"input_tokens": self.count(body)})}.get(
                        path, (404, anthropic_error("not_found_error", "Not found")))
        if path == "/v1/models":
            more = {"vllm": {"max_model_len": self.context}, "llama": {"meta": {"n_ctx": self.context, "n_ctx_train": 131072}}}
            return 200, {"object": "list", "data": [{**named, **more.get(self.kind, {})}]}
        if self.kind == "llama":
            return {"/props": (200, {"default_generation_settings": {"n_ctx": self.context}, "total_slots": 1}), "/health": (200, {"status": "ok"}),
                    "/v1/chat/completions/input_tokens": (200, {"object": "response.input_tokens", "input_tokens": self.count(body)})}.get(path, absent)
        if self.kind == "vllm" and path == "/tokenize":
            return 200, {"count": self.count(body), "max_model_len": self.context, "tokens": []}
        if self.kind == "trt" and path in ("/health", "/version"):
            return 200, {"version": "1.2.0"}
        return absent
