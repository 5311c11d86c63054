"""The endpoint that OpenAI's clients use: models and stateless calls, with the official packages and on the wire."""

import json
import socket
import threading
import time

import anthropic
import httpx
import httpx2
import openai
import pytest
import yaml

from llama import Llama
from model_fakes import MODEL, Drop, Fake, Silence, Wait, calls, chunk, frame, messages, openai_error, refusal, text
from recording_proxy import Proxy
from server import Server
from tasks import eventually
from v1_client import Raw, ask, finish, official, said

ANSWER = "The capital of France is Paris."
TOOL = {"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}
TOOLS = [TOOL, {"type": "function", "function": {"name": "get_time", "parameters": {"type": "object", "properties": {}}}}]
IMAGE = {"type": "image_url", "image_url": {"url": "data:image/png;base64,iVBORw0KGgo="}}
GATES = {}


def words_of(request):
    content = request.last()["content"]
    return content if isinstance(content, str) else next(part["text"] for part in content if part["type"] == "text")


def script(request):
    """Chooses an answer by the first word of the last message."""
    if request.last()["role"] == "tool":
        return text("It is", " sunny.")
    word, _, rest = words_of(request).partition(" ")
    if word == "HOLD":
        return text("Beginning", Wait(GATES.setdefault(rest, threading.Event())), " and end.")
    if word == "MUTE":
        return text("never", before=[Wait(GATES.setdefault(rest, threading.Event()))])
    if word == "SILENT":
        return text("At last.", before=[Silence(float(rest))])
    if word == "THINK":
        return text("Done.", before=[chunk({"reasoning_content": "Let me "}), chunk({"reasoning_content": "ponder"})])
    if word == "TOOL":
        return calls(("get_weather", {"city": "Paris"}), ("get_weather", {"city": "Rome"}), words="Looking.")
    if word == "LENGTH":
        return text("cut", finish="length")
    if word == "ECHO":
        return text(rest)
    if word == "REFUSE":
        return refusal(int(rest), openai_error("The model has no idea", "invalid_request_error"))
    if word == "FULL":
        return refusal(400, openai_error("too long", "exceed_context_size_error", 400, n_prompt_tokens=9000, n_ctx=8192))
    if word == "BREAK":
        return text("Half of", frame(openai_error("The slot has gone")), finish=None, done=False)
    if word == "DROP":
        return text("Half of", Drop(), finish=None, done=False)
    if word == "MUCH":
        return text(*["x" * 8192] * int(rest))
    return text("The capital", " of France", " is Paris.")


def model_entry(backend, kind="openai", **more):
    return {"type": kind, "url": backend.url, **more}


def start(directory, models, chat=None, auth="none", **options):
    settings = {"models": models, "chat": chat or {}, "public": {"auth": auth}}
    return Server(directory / "data", config=yaml.safe_dump(settings), **options).start()


class World:
    """Two backends: `local`, of chat sessions, and `claude`."""

    def __init__(self, directory, **chat):
        self.backend = Fake("llama", script, context=8192).start()
        self.claude = Fake("anthropic", lambda request: messages(("thinking", "Hm", "sig"), "From Claude.")).start()
        price = {"as_of": "2026-11-01", "input": 1.0, "output": 2.0, "cache_read": 0.1}
        self.server = start(directory, {"local": model_entry(self.backend, price=price), "claude": model_entry(self.claude, "anthropic", model=MODEL)},
                            {"models": ["local"], "tools": [], **chat})
        self.raw = Raw(self.server)
        self.client = official(self.server)
        eventually(lambda: len(self.raw.http.get("/v1/models").json()["data"]) == 3)  # the server has asked its backend

    def sent(self):
        """What the backend was asked last."""
        return self.backend.requests[-1].body

    def close(self):
        self.server.kill()
        for backend in (self.backend, self.claude):
            backend.stop()
            assert backend.problems == [], backend.problems


@pytest.fixture(scope="module")
def shared(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("v1"))
    yield made
    made.close()


@pytest.fixture
def world(shared):
    yield shared
    assert shared.server.alive(), shared.server.log()

@pytest.fixture
def make(tmp_path):
    """Starts servers with these models that end with the test."""
    made = []

    def begin(models, **options):
        made.append(start(tmp_path / f"server-{len(made)}", models, **options))
        return made[-1]

    yield begin
    for each in made:
        each.kill()

# --- models ---

def test_the_models(world):
    listed = {model.id: model for model in world.client.models.list()}
    assert list(listed) == [MODEL, "claude", "local"], "the model of chats by its backend's name, and every configured one"
    assert all(model.object == "model" and model.created > 0 and model.owned_by for model in listed.values())
    assert listed["local"].model_extra["context_length"] == listed[MODEL].model_extra["max_model_len"] == 8192
    assert world.client.models.retrieve("claude").id == "claude"
    with pytest.raises(openai.NotFoundError) as error:
        world.client.models.retrieve("gpt-5")
    assert error.value.code == "model_not_found" and "/v1/models" in error.value.message

def test_every_id_reaches_its_model(world):
    for model, expected in ((MODEL, ANSWER), ("local", ANSWER), ("claude", "From Claude.")):
        answer = world.client.chat.completions.create(model=model, messages=[{"role": "user", "content": "Hello"}])
        assert (answer.choices[0].message.content, answer.model) == (expected, model)
    with pytest.raises(openai.NotFoundError) as error:
        world.client.chat.completions.create(**ask("x", "local+tools"))
    assert error.value.code == "model_not_found" and error.value.param == "model"

def test_the_list_falls_back_and_a_single_model_does_not(make):
    with Fake("openai", lambda request: text("From the second.")) as second:
        gone = socket.socket()
        gone.bind(("127.0.0.1", 0))  # and never listens
        first = {"type": "openai", "url": f"http://127.0.0.1:{gone.getsockname()[1]}/v1", "model": "org/first"}
        server = make({"a": first, "b": model_entry(second, model="second")})
        client = official(server)
        assert client.chat.completions.create(**ask("x", "org/first")).choices[0].message.content == "From the second."
        assert client.models.retrieve("org/first").id == "org/first", "an id with a slash"
        with pytest.raises(openai.InternalServerError) as error:
            client.chat.completions.create(**ask("x", "a"))
        assert error.value.status_code == 503 and error.value.code == "model_unreachable"
        gone.close()

# --- a plain relay ---

def test_a_whole_answer(world):
    answer = world.client.chat.completions.create(model="local", messages=[{"role": "user", "content": "Hello"}])
    choice = answer.choices[0]
    assert (choice.message.role, choice.message.content, choice.finish_reason) == ("assistant", ANSWER, "stop")
    request = world.backend.requests[-1]
    assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (request.counted, 3)
    assert answer.usage.total_tokens == request.counted + 3
    assert answer.usage.model_extra["cost"] == pytest.approx((request.counted * 1.0 + 3 * 2.0) / 1e6)
    assert answer.id.startswith("chatcmpl-") and abs(answer.created - time.time()) < 60
    assert [message["content"] for message in request.body["messages"]] == ["Hello"], "no system prompt and no history of others"

def test_a_stream(world):
    pieces = list(world.client.chat.completions.create(model="local", messages=[{"role": "user", "content": "Hello"}], stream=True))
    assert "".join(piece.choices[0].delta.content or "" for piece in pieces) == ANSWER and all(piece.choices[0].delta.content for piece in pieces[1:-1])
    assert pieces[-1].choices[0].finish_reason == "stop" and pieces[0].choices[0].delta.role == "assistant"
    assert all(piece.usage is None for piece in pieces)
    chunks, comments = world.raw.stream(ask("Hello", stream_options={"include_usage": True}))
    assert chunks[-1]["choices"] == [] and chunks[-1]["usage"]["completion_tokens"] == 3 and comments == 0
    assert said(chunks) == ANSWER and finish(chunks) == "stop"

def test_pieces_come_as_the_model_says_them(world):
    with world.client.chat.completions.create(**ask("HOLD pieces"), stream=True) as stream:
        assert [next(stream).choices[0].delta.content for _ in range(2)] == ["", "Beginning"]
        GATES["pieces"].set()
        assert "".join(piece.choices[0].delta.content or "" for piece in stream) == " and end."

def test_tools_are_the_clients_to_run(world):
    body = ask("TOOL", tools=[TOOL], tool_choice="auto", parallel_tool_calls=True)
    answer = world.client.chat.completions.create(**body).choices[0]
    assert answer.finish_reason == "tool_calls" and answer.message.content == "Looking."
    assert [json.loads(call.function.arguments)["city"] for call in answer.message.tool_calls] == ["Paris", "Rome"]
    assert world.sent()["tools"][0]["function"]["name"] == "get_weather" and world.sent()["tool_choice"] == "auto"
    chunks, _ = world.raw.stream(body)
    streamed = [call for each in chunks for choice in each["choices"] for call in choice["delta"].get("tool_calls", [])]
    assert [(call["index"], call["function"]["name"]) for call in streamed] == [(0, "get_weather"), (1, "get_weather")] and finish(chunks) == "tool_calls"
    history = [*body["messages"], answer.message.model_dump(exclude_none=True),
               *({"role": "tool", "tool_call_id": call.id, "content": "sunny"} for call in answer.message.tool_calls)]
    final = world.client.chat.completions.create(model="local", messages=history, tools=[TOOL])
    assert final.choices[0].message.content == "It is sunny."
    assert [call["id"] for call in world.sent()["messages"][1]["tool_calls"]] == [call.id for call in answer.message.tool_calls]

def test_options_are_passed_on(world):
    world.client.chat.completions.create(**ask("x"), temperature=0.25, top_p=0.5, stop=["\n", "END"], seed=7, max_completion_tokens=99,
                                         response_format={"type": "json_object"}, user="ada", extra_body={"min_p": 0.1, "no_such_option": 1})
    sent = world.sent()
    assert (sent["temperature"], sent["top_p"], sent["stop"], sent["seed"], sent["min_p"], sent["user"]) == (0.25, 0.5, ["\n", "END"], 7, 0.1, "ada")
    assert sent["response_format"] == {"type": "json_object"} and sent["max_completion_tokens"] == 99 and "max_tokens" not in sent
    assert "no_such_option" not in sent and sent["model"] == MODEL
    world.client.chat.completions.create(**ask("x"), max_tokens=5)
    assert world.sent()["max_tokens"] == 5

def test_content_parts_are_passed_on(world):
    parts = [{"type": "text", "text": "ECHO I see it."}, IMAGE]
    answer = world.client.chat.completions.create(model="local", messages=[{"role": "system", "content": [{"type": "text", "text": "Be terse."}]},
                                                                          {"role": "user", "content": parts}])
    assert answer.choices[0].message.content == "I see it."
    assert world.sent()["messages"] == [{"role": "system", "content": "Be terse."}, {"role": "user", "content": parts}]
    world.client.chat.completions.create(model="claude", messages=[{"role": "user", "content": parts}])
    image = world.claude.requests[-1].body["messages"][0]["content"][1]
    assert image == {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw0KGgo="}}

def test_reasoning(world):
    answer = world.client.chat.completions.create(**ask("THINK")).choices[0].message
    assert answer.content == "Done." and answer.model_extra["reasoning_content"] == "Let me ponder"
    for model, thought in (("local", "Let me ponder"), ("claude", "Hm")):
        chunks, _ = world.raw.stream(ask("THINK", model))
        assert said(chunks, "reasoning_content") == thought and said(chunks) in ("Done.", "From Claude.")

def test_an_answer_that_was_cut(world):
    assert world.client.chat.completions.create(**ask("LENGTH")).choices[0].finish_reason == "length"

# --- with the server's own tools ---

@pytest.fixture(scope="module")
def tooled(tmp_path_factory):
    """A server with tools over a directory: reading needs no approval, writing is allowed, commands ask."""
    def tool_script(request):
        told, word = request.last(), words_of(next_prompt(request)).partition(" ")[0]
        if told["role"] == "tool":
            return refusal(500, openai_error("crashed")) if word == "CRASH" else text("It says: ", told["content"].strip())
        return {"READ": calls(("read_file", {"path": "notes.txt"}), words="Let me look."), "CLASH": calls(("server_read_file", {"path": "notes.txt"})),
                "CRASH": calls(("write_file", {"path": "made.txt", "content": "once"})), "RUN": calls(("run_command", {"command": "true"})),
                "MINE": calls(("get_weather", {"city": "Paris"}))}.get(word, text(ANSWER))

    place = tmp_path_factory.mktemp("v1-tools")
    (place / "notes.txt").write_text("Remember the milk.\n")
    with Fake("openai", tool_script) as backend:
        server = start(place, {"local": model_entry(backend, model=MODEL)}, {"tools_root": str(place), "allow": ["write_file"], "log_api_calls": True})
        yield backend, server
        server.kill()

def next_prompt(request):
    """A request that ends with the newest prompt."""
    listed = request.body["messages"]
    last = max(at for at, message in enumerate(listed) if message["role"] == "user")
    return type(request)(request.path, request.headers, {"messages": listed[:last + 1]}, request.number, request.counted, request.at)

def test_models_with_the_servers_tools(tooled):
    _, server = tooled
    assert [model.id for model in official(server).models.list()] == [MODEL, "local", MODEL + "+tools", "local+tools"]

def test_the_servers_tools_run_in_the_server(tooled):
    backend, server = tooled
    answer = official(server).chat.completions.create(**ask("READ", "local+tools"))
    assert answer.choices[0].message.content == "It says: Remember the milk." and answer.choices[0].message.tool_calls is None
    assert answer.choices[0].finish_reason == "stop" and answer.usage.completion_tokens == 5 + 2, "of both calls"
    offered = [tool["function"]["name"] for tool in backend.requests[-1].body["tools"]]
    assert "read_file" in offered and "write_file" in offered and "run_command" not in offered, "no person can be asked"
    chunks, _ = Raw(server).stream(ask("READ", "local+tools"))
    assert said(chunks) == "Let me look.\n\nIt says: Remember the milk." and finish(chunks) == "stop"
    assert not any("tool_calls" in choice["delta"] for each in chunks for choice in each["choices"])
    plain = official(server).chat.completions.create(**ask("READ")).choices[0]
    assert plain.finish_reason == "tool_calls" and "tools" not in backend.requests[-1].body, "a plain model has none"
    refused = official(server).chat.completions.create(**ask("RUN", "local+tools")).choices[0].message.content
    assert "no tool" in refused

def test_a_clients_tools_win(tooled):
    backend, server = tooled
    mine = {"type": "function", "function": {"name": "read_file", "parameters": {"type": "object", "properties": {}}}}
    answer = official(server).chat.completions.create(**ask("CLASH", "local+tools"), tools=[mine]).choices[0]
    assert answer.message.content == "It says: Remember the milk."
    assert {"read_file", "server_read_file"} <= {tool["function"]["name"] for tool in backend.requests[-1].body["tools"]}
    called = official(server).chat.completions.create(**ask("MINE", "local+tools"), tools=[TOOL]).choices[0]
    assert called.finish_reason == "tool_calls" and [call.function.name for call in called.message.tool_calls] == ["get_weather"]

def test_a_retry_repeats_no_tool(tooled):
    backend, server = tooled
    before = len(backend.requests)
    with pytest.raises(openai.InternalServerError) as error:
        official(server, max_retries=2).chat.completions.create(**ask("CRASH", "local+tools"))
    assert error.value.code == "model_failed" and error.value.response.headers["x-should-retry"] == "false"
    assert [request.last()["role"] for request in backend.requests[before:]].count("user") == 1, "the tool would have run again"
    _, problem, _ = Raw(server).broken_stream(ask("CRASH", "local+tools"))
    assert problem["code"] == "model_failed"

def test_tools_are_in_the_log_of_their_call(tooled):
    _, server = tooled
    answer = Raw(server).post(ask("READ", "local+tools"))
    with server.api() as api:
        eventually(lambda: api.get(f"/api/v1/tasks/{answer['id']}").json()["status"]["state"] == "completed")
        log = api.get(f"/api/v1/tasks/{answer['id']}/events").json()["events"]
    assert [event["type"] for event in log if event["type"] in ("message", "tool_call", "tool_result")] == \
        ["message", "message", "tool_call", "tool_result", "message", "message"]

# --- errors ---

def test_errors_before_the_answer(world):
    for stream in (False, True):
        for words, kind, status, code in (("REFUSE 400", openai.BadRequestError, 400, "model_refused"),
                                          ("REFUSE 500", openai.InternalServerError, 502, "model_failed"),
                                          ("REFUSE 401", openai.InternalServerError, 502, "model_key"),
                                          ("FULL", openai.BadRequestError, 400, "context_length_exceeded")):
            with pytest.raises(kind) as error:
                world.client.chat.completions.create(**ask(words), stream=stream)
            assert (error.value.status_code, error.value.code) == (status, code), words
            assert "has no idea" in error.value.message or words == "FULL" or code == "model_key", error.value.message
    world.client.chat.completions.create(**ask("Hello"))

def test_errors_in_the_middle(world):
    world.client.chat.completions.create(**ask("Hello"))
    for words, code in (("BREAK", "model_failed"), ("DROP", "model_broke_off")):
        seen = []
        with pytest.raises(openai.APIError) as error:
            for piece in world.client.chat.completions.create(**ask(words), stream=True):
                seen.append(piece.choices[0].delta.content)
        assert seen == ["", "Half of"] and error.value.code == code and error.value.message
        chunks, problem, _ = world.raw.broken_stream(ask(words))
        assert said(chunks) == "Half of" and problem["type"] == "server_error" and chunks[-1] != "[DONE]"
        world.client.chat.completions.create(**ask("Hello"))  # after three failures in a row the backend would rest
        world.raw.refused(ask(words), 502, code)
        world.client.chat.completions.create(**ask("Hello"))

def test_wrong_requests(world):
    raw = world.raw
    for body, param in ((ask("x", n=2), "n"), (ask("x", logprobs=True), "logprobs"), ({"model": "local", "messages": []}, "messages"),
                        ({"messages": [{"role": "user", "content": "x"}]}, "model"), (ask("x", tools=[{"type": "web_search"}]), "tools[0].type"),
                        ({"model": "local", "messages": [{"role": "user", "content": "x"}, {"role": "judge", "content": "x"}]}, "messages[1].role")):
        error = raw.refused(body, 400, "bad_member")
        assert error["param"] == param and error["type"] == "invalid_request_error" and param in error["message"]
    raw.refused(None, 400, "bad_json", content=b'{"model":', headers={"Content-Type": "application/json"})
    raw.refused(None, 415, "unsupported_media_type", content=b"model=local", headers={"Content-Type": "application/x-www-form-urlencoded"})
    raw.refused(None, 413, "body_too_large", content=b"x" * (17 << 20), headers={"Content-Type": "application/json"})
    unknown = raw.http.post("/v1/embeddings", json={"model": "local", "input": "x"})
    assert unknown.status_code == 404 and unknown.json()["error"]["code"] == "unknown_path"
    large = world.client.chat.completions.create(model="local", messages=[{"role": "user", "content": "ECHO large"},
                                                                         {"role": "assistant", "content": "y" * 1_000_000}, {"role": "user", "content": "ECHO yes"}])
    assert large.choices[0].message.content == "yes"

def test_without_a_model(make):
    server = make({})
    raw = Raw(server)
    error = raw.refused(ask("x"), 503, "no_model")
    assert "models:" in error["message"] and error["type"] == "server_error"
    with pytest.raises(openai.InternalServerError) as refused:
        official(server).models.list()
    assert refused.value.status_code == 503 and refused.value.code == "no_model"

def test_tokens_are_keys(make):
    with Fake("openai", script) as backend:
        server = make({"local": model_entry(backend, model=MODEL)}, auth="token")
        with server.api() as api:
            keys = {scope: api.post("/api/v1/tokens", json={"name": scope, "scope": scope}).json()["secret"] for scope in ("viewer", "operator")}
        assert official(server, keys["operator"]).chat.completions.create(**ask("x")).choices[0].message.content == ANSWER
        assert Raw(server, {"x-api-key": keys["operator"]}).post(ask("x"))["choices"]
        assert official(server, keys["viewer"]).models.list().data
        with pytest.raises(openai.PermissionDeniedError) as error:
            official(server, keys["viewer"]).chat.completions.create(**ask("x"))
        assert error.value.code == "forbidden" and error.value.type == "permission_error"
        for call in (lambda client: client.models.list(), lambda client: client.chat.completions.create(**ask("x"))):
            with pytest.raises(openai.AuthenticationError) as error:
                call(official(server, "sk-wrong"))
            assert error.value.status_code == 401 and error.value.type == "authentication_error" and error.value.code
        assert Raw(server).refused(ask("x"), 401, "missing_credentials")["type"] == "authentication_error"
        assert len(backend.requests) == 2

def test_a_busy_backend_says_when_to_come_back(make):
    with Fake("openai", lambda request: refusal(429, openai_error("slow down"), retry_after=31)) as backend:
        server = make({"local": model_entry(backend, model=MODEL)})
        with pytest.raises(openai.RateLimitError) as error:
            official(server).chat.completions.create(**ask("x"))
        assert error.value.code == "model_busy" and error.value.response.headers["retry-after"] == "31"

def test_a_client_repeats_a_failed_relay(make):
    with Fake("openai", lambda request: refusal(500, openai_error("crashed")) if request.number == 1 else text("Better now.")) as backend:
        server = make({"local": model_entry(backend, model=MODEL)})
        answer = official(server, max_retries=2).chat.completions.create(**ask("x"))
        assert answer.choices[0].message.content == "Better now." and len(backend.requests) == 2

# --- clients that go away, and slow ones ---

@pytest.mark.parametrize("words, stream", [("HOLD gone-1", True), ("MUTE gone-2", True), ("HOLD gone-3", False)])
def test_a_client_that_goes_away_ends_the_backends_call(world, words, stream):
    number = len(world.backend.requests) + 1
    body = json.dumps(ask(words, stream=stream)).encode()
    host, port = world.server.public.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as client:
        client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        asked = world.backend.wait_for_request(number)
        if words.startswith("HOLD") and stream:
            assert b"Beginning" in read_until(client, b"Beginning")
    assert asked.closed.wait(10), "the backend still generates"

def read_until(client, wanted):
    seen = bytearray()
    while wanted not in seen[-2 * 65536:]:
        piece = client.recv(65536)
        assert piece, bytes(seen[-1000:])
        seen += piece
    return bytes(seen)

def test_a_slow_client_holds_up_no_memory(world):
    """Three megabytes in small pieces, whose frames would be more, for clients that do not read."""
    before = world.server.rss_bytes()
    body = json.dumps(ask("MUCH 400", stream=True)).encode()
    host, port = world.server.public.removeprefix("http://").split(":")
    first, clients = len(world.backend.requests), []
    for _ in range(4):
        client = socket.socket()
        # Before it connects: the window of an open connection does not grow again, and reading would take minutes.
        client.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 64 << 10)
        client.connect((host, int(port)))
        client.sendall(b"POST /v1/chat/completions HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(body), body))
        clients.append(client)
    for number in range(4):
        assert world.backend.wait_for_request(first + number + 1).finished.wait(30), "a slow client holds up the backend"
    assert world.server.rss_bytes() - before < 100 << 20
    for client in clients:
        whole = read_until(client, b"data: [DONE]\n\n")
        assert whole.count(b"x") >= 400 * 8192
        client.close()

def test_a_long_silence(world):
    """Comments keep a client with httpx's ordinary patience, which is 5 s."""
    with httpx.Client(base_url=world.server.public, trust_env=False) as impatient:
        raw = Raw(world.server)
        raw.http.close()
        raw.http = impatient
        chunks, comments = raw.stream(ask("SILENT 9"))
    assert said(chunks) == "At last." and comments >= 2

def test_a_server_that_stops_answers_its_clients(make):
    with Fake("openai", script) as backend:
        server = make({"local": model_entry(backend, model=MODEL)})
        seen = []
        waiting = [threading.Thread(target=lambda stream=stream: seen.append(stopped(server, stream))) for stream in (True, False)]
        for each in waiting:
            each.start()
        backend.wait_for_request(2)
        assert server.stop() == 0
        for each in waiting:
            each.join(10)
        assert seen == ["shutting_down", "shutting_down"]

def stopped(server, stream):
    """The code of the error that ends this call."""
    try:
        answer = official(server).chat.completions.create(**ask("MUTE stop"), stream=stream)
        list(answer)
    except openai.APIError as error:
        return error.code
    return "no error"

# --- Open WebUI ---

def test_open_webui(world):
    """Its requests, as it sends them: the conversation, and background calls for a title and the like."""
    headers = {"X-OpenWebUI-Chat-Id": "chat-7", "X-OpenWebUI-User-Id": "u-1", "X-OpenWebUI-User-Email": "ada@example.com", "X-OpenWebUI-User-Role": "user",
               "HTTP-Referer": "https://openwebui.com/", "X-Title": "Open WebUI"}
    before = Raw(world.server).http.get("/session").json()["messages"]
    listed = world.raw.http.get("/v1/models", headers=headers)
    assert listed.status_code == 200 and all(isinstance(model["name"], str) for model in listed.json()["data"])
    conversation = {"stream": True, "model": "local", "messages": [{"role": "user", "content": [{"type": "text", "text": "Hello"}]}], "temperature": 0.7,
                    "stream_options": {"include_usage": True}, "chat_id": "chat-7", "session_id": "s", "id": "m", "features": {}, "variables": {},
                    "background_tasks": {"title_generation": True}, "params": {}, "tool_servers": [], "tool_ids": None, "files": None}
    chunks, _ = world.raw.stream(conversation, headers=headers)
    assert said(chunks) == ANSWER and chunks[-1]["usage"]["total_tokens"] > 0
    title = world.raw.post({"model": "local", "stream": False, "max_completion_tokens": 1000, "metadata": {"task": "title_generation"},
                            "messages": [{"role": "user", "content": 'ECHO { "title": "Paris" }'}]}, headers=headers)
    assert json.loads(title["choices"][0]["message"]["content"])["title"] == "Paris"
    assert Raw(world.server).http.get("/session").json()["messages"] == before, "no call touches the chat session"

# --- each call as a task ---

def test_calls_are_tasks_if_configured(make):
    with Fake("openai", script) as backend:
        price = {"as_of": "2026-11-01", "input": 1.0, "output": 2.0}
        server = make({"local": model_entry(backend, model=MODEL, price=price)}, chat={"log_api_calls": True}, auth="token")
        raw = Raw(server, {**server.headers(), "X-OpenWebUI-Chat-Id": "chat-7", "X-OpenWebUI-User-Name": "Ada"})
        secret = "ghp_" + "a1B2" * 9
        answer = raw.post({"model": "local", "messages": [{"role": "system", "content": "Be terse."}, {"role": "user", "content": "old"},
                                                          {"role": "assistant", "content": "older answer"}, {"role": "user", "content": f"ECHO the key {secret}"}]})
        assert secret in answer["choices"][0]["message"]["content"], "a relay changes nothing"
        raw.stream(ask("THINK"))
        raw.refused(ask("REFUSE 400"), 400, "model_refused")
        with server.api() as api:
            tasks = eventually(lambda: ended_calls(api, 3))
            words = {task["title"].split()[0]: task for task in tasks}
            echo, think, refused = words["ECHO"], words["THINK"], words["REFUSE"]
            assert (echo["status"]["state"], think["status"]["state"], refused["status"]["state"]) == ("completed", "completed", "failed")
            assert echo["id"] == answer["id"] and echo["labels"] == {"openwebui-chat": "chat-7", "openwebui-user-name": "Ada"}
            assert echo["usage"]["inputTokens"] == answer["usage"]["prompt_tokens"] and echo["usage"]["costUSD"] == pytest.approx(answer["usage"]["cost"])
            log = api.get(f"/api/v1/tasks/{echo['id']}/events").text
            assert secret not in log and secret not in json.dumps(echo) and "older answer" not in log and "Be terse." in log
            assert "has no idea" in api.get(f"/api/v1/tasks/{refused['id']}/events").text
            assert api.get("/sessions").json()["sessions"] == [], "they are no chat sessions"
            # A server that is killed during a call.
            threading.Thread(target=ask_in_vain, args=(server,), daemon=True).start()
            backend.wait_for_request(4)
            eventually(lambda: api.get("/api/v1/tasks?agent=api-call&state=running").json())
        server.kill()
        server.start()
        with server.api() as api:
            (killed,) = eventually(lambda: [task for task in ended_calls(api, 4) if task["title"].startswith("MUTE")])
            assert killed["status"]["state"] == "failed" and "server ended" in killed["status"]["error"]

def ask_in_vain(server):
    with pytest.raises(httpx.TransportError):
        httpx.post(server.public + "/v1/chat/completions", json=ask("MUTE killed"), headers=server.headers(), trust_env=False, timeout=60)

def ended_calls(api, number):
    tasks = [task for task in api.get("/api/v1/tasks?agent=api-call").json() if task["status"]["state"] in ("completed", "failed", "cancelled")]
    return tasks if len(tasks) >= number else []

def test_calls_are_no_tasks_otherwise(world):
    world.client.chat.completions.create(**ask("Hello"))
    assert httpx.get(world.server.public + "/api/v1/tasks?agent=api-call", trust_env=False).json() == []

# --- a real llama.cpp ---

@pytest.fixture(scope="module")
def real(tmp_path_factory):
    with Llama(context=16384, slots=2) as backend, Proxy(backend.port) as proxy:
        server = start(tmp_path_factory.mktemp("v1-llama"), {"local": {"type": "openai", "url": proxy.url + "/v1", "options": {"parallel_tool_calls": True}}})
        yield backend, server, proxy
        server.kill()

def test_llama_answers_through_the_server_as_it_does_alone(real):
    backend, server, _ = real
    alone = openai.OpenAI(base_url=backend.url + "/v1", api_key="none", http_client=httpx2.Client(trust_env=False))
    ours = official(server)
    for words, tools in (("What?", None), ("WEATHER", TOOLS), ("TWO", TOOLS), ("THINK", None), ("CODE", None), ("UTF8", None)):
        body = {"messages": [{"role": "user", "content": words}], **({"tools": tools, "parallel_tool_calls": True} if tools else {})}
        expected = alone.chat.completions.create(model="scripted", **body)
        answer = ours.chat.completions.create(model="local", **body)
        streamed = list(ours.chat.completions.create(model="scripted", stream=True, stream_options={"include_usage": True}, **body))
        wanted, got = expected.choices[0], answer.choices[0]
        assert (got.message.content or "", got.finish_reason) == (wanted.message.content or "", wanted.finish_reason), words
        assert got.message.model_extra.get("reasoning_content") == wanted.message.model_extra.get("reasoning_content"), words
        assert [call.function for call in got.message.tool_calls or []] == [call.function for call in wanted.message.tool_calls or []], words
        assert (answer.usage.prompt_tokens, answer.usage.completion_tokens) == (expected.usage.prompt_tokens, expected.usage.completion_tokens), words
        assert "".join(piece.choices[0].delta.content or "" for piece in streamed if piece.choices) == (wanted.message.content or ""), words
        assert streamed[-1].usage.prompt_tokens == expected.usage.prompt_tokens

def test_llama_stops_when_the_client_goes(real):
    backend, server, proxy = real
    before = proxy.unfinished()
    stream = official(server).chat.completions.create(**ask("LONG"), stream=True)
    assert [next(stream) for _ in range(5)]
    backend.pause()  # so that the answer cannot come to its own end
    stream.close()
    backend.resume()
    eventually(lambda: backend.busy_slots() == 0)
    assert proxy.unfinished() == before + 1, "the answer came to its own end"

def test_llama_bounds_and_overflows(real):
    _, server, _ = real
    cut = official(server).chat.completions.create(**ask("LONG"), max_tokens=7)
    assert cut.choices[0].finish_reason == "length" and cut.usage.completion_tokens == 7
    with pytest.raises(openai.BadRequestError) as error:
        official(server).chat.completions.create(**ask("x" * 20000))
    assert error.value.code == "context_length_exceeded"
