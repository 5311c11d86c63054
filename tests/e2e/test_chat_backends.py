"""The quirks of real backends, replayed: each is answered, named or survived, and the next prompt works."""

import json
import threading
import time

import pytest

from chat_client import Chat, config, said
from model_fakes import (DONE, MODEL, Answer, Drop, Fake, Silence, Wait, anthropic_error, calls, chunk, event, fragment, frame, line, messages, ollama,
                         openai_error, refusal, text, usage)
from server import Server
from tasks import eventually

LIST = {"path": "."}


class Bench:
    """A backend with given answers, and a server with a session on it."""

    def __init__(self, directory, kind, answers, chat=None, context=32768, key=None, count=None, models=None, **entry):
        self.backend = Fake(kind, answers, context=context, key=key, **({"count": count} if count else {})).start()
        dialect = kind if kind in ("anthropic", "ollama") else "openai"
        root = directory / "files"
        root.mkdir()
        (root / "notes.txt").write_text("Remember the milk.\n")
        settings = {"tools_root": str(root), "system": "Be brief.", **(chat or {})}
        text_ = config(self.backend.url, dialect, model=MODEL, models=models and models(self.backend), chat=settings, **entry)
        self.server = Server(directory / "data", config=text_).start()
        self.chat = Chat(self.server)

    def usage(self):
        with self.server.api() as api:
            return api.get("/api/v1/tasks", params={"agent": "chat"}).json()[0]["usage"]

    def close(self):
        self.chat.close()
        self.server.kill()
        self.backend.stop()
        assert self.backend.problems == [], self.backend.problems


@pytest.fixture
def bench(tmp_path):
    made = []

    def make(kind, *answers, **options):
        made.append(Bench(tmp_path, kind, answers[0] if len(answers) == 1 and callable(answers[0]) else answers, **options))
        return made[-1]

    yield make
    for each in made:
        each.close()


# --- tool calls in fragments ---

ROLE = chunk({"role": "assistant", "content": None})
END = [chunk({}, "tool_calls"), usage(), DONE]


def one(*pieces):
    return Answer([ROLE, *pieces, *END])


FRAGMENTS = {
    "name and type are null after the first": one(fragment(0, "call_1", "list_files", ""), chunk({"tool_calls": [
        {"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": '{"path"'}}]}), chunk({"tool_calls": [
            {"index": 0, "function": {"name": None, "arguments": ': "."}'}}]})),
    "no index": one(chunk({"tool_calls": [{"id": "call_1", "type": "function", "function": {"name": "list_files", "arguments": '{"path"'}}]}),
                    chunk({"tool_calls": [{"id": "call_1", "function": {"arguments": ': "."}'}}]})),
    "no id": one(chunk({"tool_calls": [{"index": 0, "type": "function", "function": {"name": "list_files", "arguments": '{"path": "."}'}}]})),
    "neither index nor id": one(chunk({"tool_calls": [{"function": {"name": "list_files", "arguments": '{"pa'}}]}),
                                chunk({"tool_calls": [{"function": {"arguments": 'th": "."}'}}]})),
    "whole, in one chunk, as Ollama sends it": one(chunk({"role": "assistant", "content": "", "tool_calls": [
        {"id": "call_x", "index": 0, "type": "function", "function": {"name": "list_files", "arguments": '{"path":"."}'}}]}, None)),
    "finished with stop": Answer([ROLE, fragment(0, "call_1", "list_files", '{"path": "."}'), chunk({}, "stop"), usage(), DONE]),
    "the finish is in the chunk with the call": Answer([ROLE, chunk({"tool_calls": [
        {"index": 0, "id": "call_1", "type": "function", "function": {"name": "list_files", "arguments": '{"path": "."}'}}]}, "tool_calls"), DONE]),
    "empty fragments between": one(fragment(0, "call_1", "list_files", ""), fragment(0, arguments=""), fragment(0, arguments='{"path": "."}'),
                                   fragment(0, arguments="")),
    "comments, pings and empty deltas between": one(b": ping\n\n", fragment(0, "call_1", "list_files", '{"path'), b":\n\n", chunk({}), chunk({"content": ""}),
                                                    fragment(0, arguments='": "."}')),
    "a null among the deltas": one(chunk({"content": None, "tool_calls": None}), fragment(0, "call_1", "list_files", '{"path": "."}')),
}


@pytest.mark.parametrize("case", FRAGMENTS)
def test_a_tool_call_in_any_form(bench, case):
    made = bench("openai", FRAGMENTS[case], text("Done."))
    with made.chat.updates() as watched:
        assert made.chat.ask("Look") == "Done."
        called = next(each.data for each in watched.turn() if each.type == "tool_call")
    assert called["tool_call"] == "list_files" and called["parameters"] == LIST and called["tool_call_id"]
    result = made.backend.requests[1].last()
    assert result["role"] == "tool" and result["tool_call_id"] == called["tool_call_id"] and "notes.txt" in result["content"]


def test_two_calls_whose_fragments_interleave(bench):
    made = bench("openai", one(fragment(0, "call_a", "read_file", ""), fragment(1, "call_b", "list_files", ""), fragment(0, arguments='{"path": '),
                               fragment(1, arguments='{"path"'), fragment(0, arguments='"notes.txt"}'), fragment(1, arguments=': "."}')), text("Done."))
    with made.chat.updates() as watched:
        made.chat.ask("Look")
        called = [(each.data["tool_call"], each.data["parameters"], each.data["tool_call_id"]) for each in watched.turn() if each.type == "tool_call"]
    assert called == [("read_file", {"path": "notes.txt"}, "call_a"), ("list_files", LIST, "call_b")]


@pytest.mark.parametrize("name, arguments, words", [
    ("no_such_tool", {}, "no_such_tool"), ("read_file", '{"path": ', "JSON"), ("read_file", "[1]", "object"), ("read_file", {"file": 3}, "path"),
    ("", {}, ""), ("read_file", {"path": "../../etc/passwd"}, "")])
def test_a_call_that_cannot_work_is_a_result_for_the_model(bench, name, arguments, words):
    made = bench("openai", calls((name, arguments)), text("I see."))
    with made.chat.updates() as watched:
        assert made.chat.ask("Look") == "I see."
        result = next(each.data for each in watched.turn() if each.type == "tool_result")
    assert result["success"] is False and words in result["error"], result
    assert words in made.backend.requests[1].last()["content"]
    made.chat.session()  # which checks that a client can parse the arguments, too
    json.loads(made.backend.requests[1].body["messages"][-2]["tool_calls"][0]["function"]["arguments"])  # a strict template needs JSON


def test_a_call_that_was_cut_off_does_not_run(bench):
    made = bench("openai", Answer([ROLE, fragment(0, "call_1", "read_file", '{"path": "notes.txt"}'), chunk({}, "length"), usage(), DONE]), text("Shorter."))
    with made.chat.updates() as watched:
        assert made.chat.ask("Look") == "Shorter."
        results = [each.data for each in watched.turn() if each.type == "tool_result"]
    assert results == [] or results[0]["success"] is False


def test_the_same_id_twice(bench):
    made = bench("openai", one(fragment(0, "call_1", "list_files", '{"path": "."}'), fragment(1, "call_1", "read_file", '{"path": "notes.txt"}')), text("Done."))
    assert made.chat.ask("Look") == "Done."
    assert len(made.backend.requests[1].body["messages"][-3]["tool_calls"]) == 2


# --- streams that end oddly ---

def test_no_done_marker(bench):
    made = bench("openai", text("All of it.", done=False), text("Two."))
    assert made.chat.ask("Hello") == "All of it." and made.chat.ask("Hello") == "Two."


MID_STREAM = {
    "an error object": (frame(openai_error("it broke", code=500)), "it broke"),
    "an error object, then [DONE]": (frame(openai_error("it broke", code=500)) + DONE, "it broke"),
    "an event named error": (b"event: error\n" + frame({"message": "it broke"}), "it broke"),
    "a bare line": (json.dumps(openai_error("it broke")).encode() + b"\n\n", "it broke"),
    "a flat error": (frame({"object": "error", "message": "it broke", "code": 500}), "it broke"),
    "an error that is text": (frame({"error": "it broke"}), "it broke"),
    "the end": (b"", ""),
    "half of a JSON text": (b'data: {"choices":[{"delta":{"cont', ""),
}


@pytest.mark.parametrize("case", MID_STREAM)
def test_a_failure_in_the_middle(bench, case):
    data, words = MID_STREAM[case]
    made = bench("openai", Answer([ROLE, chunk({"content": "Half an "}), data] if data else [ROLE, chunk({"content": "Half an "})]), text("Fine."))
    with made.chat.updates() as watched:
        body = made.chat.fails("Hello")
        assert words in body["error"] and body["code"] in ("model_failed", "model_broke_off"), body
        seen = watched.until("response_complete")
        assert "error" in [each.type for each in seen] and said(seen) == "Half an "
    assert len(made.backend.requests) == 1, "no second try after the first token"
    assert made.chat.ask("Hello") == "Fine."


@pytest.mark.parametrize("case", ["reset", "closed", "half a chunk"])
def test_a_connection_that_breaks(bench, case):
    steps = {"reset": [chunk({"content": "Half "}), Drop()], "closed": [chunk({"content": "Half "})], "half a chunk": [chunk({"content": "Half "})]}[case]
    made = bench("openai", Answer([ROLE, *steps], whole=False), text("Fine."))
    assert made.chat.fails("Hello")["code"] in ("model_broke_off", "model_failed", "model_unreachable")
    assert made.chat.ask("Hello") == "Fine."


# --- refusals before the first byte ---

@pytest.mark.parametrize("status, headers", [(429, {"retry_after": 1}), (503, {}), (529, {}), (503, {"retry_after": "1"})])
def test_a_busy_backend_is_asked_again(bench, status, headers):
    made = bench("openai", refusal(status, openai_error("busy"), **headers), text("Now."))
    began = time.monotonic()
    assert made.chat.ask("Hello") == "Now."
    assert len(made.backend.requests) == 2
    assert time.monotonic() - began > (0.9 if headers else 0), "it waits as long as it was told"


def test_a_backend_that_stays_busy(bench):
    made = bench("openai", lambda request: refusal(429, openai_error("Too many requests", "rate_limit_error")))
    body = made.chat.fails("Hello")
    assert body["code"] == "model_busy" and "Too many requests" in body["error"], body
    assert 2 <= len(made.backend.requests) <= 10


REFUSALS = {
    "OpenAI's": (400, openai_error("bad thing", "invalid_request_error"), "model_refused", "bad thing"),
    "a flat one of TensorRT-LLM": (400, {"object": "error", "message": "bad thing", "type": "BadRequestError", "param": None, "code": 400}, "model_refused", "bad thing"),
    "Ollama's": (404, {"error": "model 'x' not found"}, "model_refused", "not found"),
    "a message that is a list": (422, {"error": {"message": ["bad", "thing"], "code": "422"}}, "model_refused", "bad"),
    "FastAPI's": (422, {"detail": [{"loc": ["body"], "msg": "bad thing"}]}, "model_refused", "bad thing"),
    "a page": (502, b"<html>Bad gateway</html>", "model_failed", "502"),
    "nothing": (404, b"", "model_refused", "404"),
    "the wrong key": (401, openai_error("Incorrect API key provided: sk-12", "invalid_request_error", "invalid_api_key"), "model_key", "does not accept the key"),
    "no permission": (403, openai_error("Not for you", "permission_error"), "model_key", "does not accept the key"),
}


@pytest.mark.parametrize("case", REFUSALS)
def test_a_refusal(bench, case):
    status, value, code, words = REFUSALS[case]
    made = bench("openai", lambda request: refusal(status, value))
    body = made.chat.fails("Hello")
    assert body["code"] == code and words in body["error"], body


OVERFLOWS = [
    openai_error("the request exceeds the available context size", "exceed_context_size_error", 400, n_prompt_tokens=99, n_ctx=64),
    openai_error("This model's maximum context length is 64 tokens. However, you requested 10 output tokens and your prompt contains 99 input tokens",
                 "BadRequestError", 400),
    openai_error("This model's maximum context length is 64 tokens, however you requested 109 tokens (99 in your prompt; 10 for the completion)",
                 "invalid_request_error", "context_length_exceeded"),
    {"error": "the prompt is longer than the context length"},
    {"object": "error", "message": "maximum context length is 64 tokens. However, you requested 10 output tokens and your prompt contains 99 input tokens",
     "type": "BadRequestError", "code": 400},
]


@pytest.mark.parametrize("body", OVERFLOWS)
def test_a_backend_that_says_that_its_context_is_full(bench, body):
    """The oldest turn goes, and the call is made again; a prompt that cannot fit alone is context_full."""
    def answer(request):
        return refusal(400, body) if len(request.body["messages"]) > 4 else text("Fits.")
    made = bench("openai", answer)
    for _ in range(2):
        assert made.chat.ask("Hello") == "Fits."
    with made.chat.updates() as watched:
        made.chat.ask("Hello")
        assert "eviction" in [each.type for each in watched.turn()]


def test_a_context_that_is_always_full(bench):
    made = bench("openai", lambda request: refusal(400, OVERFLOWS[0]))
    body = made.chat.fails("Hello")
    assert body["code"] == "context_full" and made.chat.messages() == []
    assert len(made.backend.requests) <= 3


NO_ROOM = [{"error": "the prompt is longer than the context length"},
           openai_error("the request exceeds the available context size", "exceed_context_size_error", 400, n_prompt_tokens=99999, n_ctx=20000)]


@pytest.mark.parametrize("body", NO_ROOM)
def test_a_prompt_that_can_never_fit_costs_nothing(bench, body):
    """Without a count the server finds out by trying with fewer messages; those come back when that did not help."""
    made = bench("openai", lambda request: refusal(400, body) if "BIG" in request.words() else text("Fine."), context=0)
    for i in range(4):
        assert made.chat.ask(f"Hello {i}") == "Fine."
    before = made.chat.messages()
    with made.chat.updates() as watched:
        assert made.chat.fails("BIG")["code"] == "context_full"
        evicted = [each.data["messages_evicted"] for each in watched.until("response_complete") if each.type == "eviction"]
    assert evicted == [1], "only the prompt itself is taken back"
    assert made.chat.messages() == before
    assert made.chat.ask("Hello") == "Fine." and len(made.chat.messages()) == len(before) + 2


# --- text ---

def test_invalid_utf8_is_replaced(bench):
    bad = b'data: {"choices":[{"index":0,"delta":{"content":"a\xff\xfeb"},"finish_reason":null}]}\n\n'
    made = bench("openai", Answer([ROLE, bad, chunk({}, "stop"), usage(), DONE]))
    response = made.chat.ask("Hello")
    assert response.startswith("a") and response.endswith("b") and "�" in response


def test_frames_in_any_pieces(bench):
    whole = b"".join([ROLE, chunk({"content": "Grüße 😀"}), chunk({}, "stop"), DONE]).replace(b"\n\n", b"\r\n\r\n")
    made = bench("openai", Answer([whole[i:i + 3] for i in range(0, len(whole), 3)]))
    assert made.chat.ask("Hello") == "Grüße 😀"


@pytest.mark.parametrize("member", ["reasoning_content", "reasoning"])
def test_reasoning_under_both_names(bench, member):
    made = bench("openai", Answer([ROLE, chunk({member: "Let me "}), chunk({member: "think."}), chunk({"content": "Four."}), chunk({}, "stop"), usage(), DONE]),
                 chat={"show_reasoning": True})
    with made.chat.updates() as watched:
        assert made.chat.ask("2+2") == "Four."
        turn = watched.turn()
    assert "".join(each.data["delta"] for each in turn if each.type == "reasoning") == "Let me think."
    assert said(turn) == "Four."


# --- what is sent ---

def test_only_fields_that_strict_backends_know(bench):
    """TensorRT-LLM refuses unknown fields, and calls no tool unless it is asked to."""
    made = bench("trt", text("Yes."))
    made.chat.ask("Hello")
    body = made.backend.requests[0].body
    assert set(body) <= {"model", "messages", "stream", "stream_options", "tools", "tool_choice", "max_tokens", "max_completion_tokens"}, set(body)
    assert body["tool_choice"] == "auto" and body["stream_options"] == {"include_usage": True} and body["model"] == MODEL
    assert [each["role"] for each in body["messages"]] == ["system", "user"]


REFUSED_MEMBERS = {
    "OpenAI's newer models": ("max_tokens", 400, openai_error(
        "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.", "invalid_request_error",
        "unsupported_parameter")),
    "a gateway with FastAPI": ("stream_options", 422, {"detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}),
    "Mistral": ("stream_options", 422, {"object": "error", "type": "invalid_request_error", "message": {
        "detail": [{"type": "extra_forbidden", "loc": ["body", "stream_options"], "msg": "Extra inputs are not permitted"}]}}),
}


@pytest.mark.parametrize("case", REFUSED_MEMBERS)
def test_a_member_that_the_server_takes_otherwise_or_not_at_all(bench, case):
    member, status, body = REFUSED_MEMBERS[case]
    made = bench("openai", lambda request: refusal(status, body) if member in request.body else text("Fine."), context=0)
    for _ in range(3):
        assert made.chat.ask("Hello", max_tokens=50) == "Fine."
    assert len(made.backend.requests) == 4, "it is learnt once"
    assert made.backend.requests[-1].body.get("max_tokens", made.backend.requests[-1].body.get("max_completion_tokens")) == 50


@pytest.mark.parametrize("status", [400, 500])
def test_a_template_that_wants_alternating_roles(bench, status):
    """A turn without an answer leaves two messages of the user in a row, which Gemma's and Mistral's templates refuse for ever."""
    def answer(request):
        roles = [each["role"] for each in request.body["messages"]]
        if request.last()["content"] == "Fails":
            return refusal(400, openai_error("no"))
        if any(one == other for one, other in zip(roles, roles[1:])):
            return refusal(status, openai_error("Conversation roles must alternate user/assistant/user/assistant/..."))
        return text("Fine.")
    made = bench("openai", answer)
    assert made.chat.ask("Hello") == "Fine."
    made.chat.fails("Fails")
    assert made.chat.ask("Two") == "Fine."
    assert made.backend.requests[-1].last()["content"] == "Fails\n\nTwo"
    assert made.chat.messages()[2:] == [("user", "Fails"), ("user", "Two"), ("assistant", "Fine.")]


def test_context_and_counts_of_vllm(bench):
    made = bench("vllm", text("Yes."), context=5000)
    assert made.chat.session()["context_size"] == 5000
    made.chat.ask("Hello")
    session = made.chat.session()
    assert session["tokens_exact"] is True and session["total_tokens"] == made.backend.requests[0].counted + 1


def test_honest_estimates_where_the_backend_cannot_count(bench):
    made = bench("openai", text("Yes.", tokens=500), context=0)
    assert made.chat.session()["tokens_exact"] is False
    made.chat.ask("Hello")
    assert made.chat.session()["total_tokens"] == 501, "the usage corrects the estimate"


def test_options_and_headers_of_the_configuration(bench):
    made = bench("openai", text("Yes."), options={"temperature": 0.25, "top_p": 0.5}, headers={"X-Team": "red"})
    made.chat.ask("Hello")
    request = made.backend.requests[0]
    assert request.body["temperature"] == 0.25 and request.body["top_p"] == 0.5 and request.headers["x-team"] == "red"


def test_reasoning_goes_back_within_a_turn_if_configured(bench):
    think = Answer([ROLE, chunk({"reasoning_content": "Look first."}), fragment(0, "call_1", "list_files", '{"path": "."}'), *END])
    made = bench("openai", think, text("Done."), text("Next."), reasoning_back=True)
    made.chat.ask("Hello")
    made.chat.ask("Again")
    assert made.backend.requests[1].body["messages"][2].get("reasoning_content") == "Look first."


@pytest.mark.parametrize("how", ["file", "command", "environment"])
def test_keys_come_from_outside_and_stay_there(tmp_path, how):
    key = "sk-very-secret-key-0123456789abcdef"
    (tmp_path / "key").write_text(key + "\n")
    entry = {"file": {"key_file": str(tmp_path / "key")}, "command": {"key_command": f"cat {tmp_path / 'key'}"}, "environment": {"key_env": "MY_KEY"}}[how]
    with Fake("openai", [text("Yes."), refusal(400, openai_error(f"I was given {key}", "invalid_request_error"))], key=key) as backend:
        server = Server(tmp_path / "data", config=config(backend.url, **entry, chat={"tools": []}), env={"MY_KEY": key}).start()
        try:
            with Chat(server) as chat:
                assert chat.ask("Hello") == "Yes."
                body = chat.fails("Hello")
                seen = json.dumps([body, chat.session(), chat.status()]) + server.log() + server.cli("config", check=False).stdout
                with server.api() as api:
                    seen += api.get("/api/v1/events" if False else "/api/v1/tasks").text
                    seen += "".join(api.get(f"/api/v1/tasks/{each['id']}/events", params={"detail": 1}).text for each in api.get("/api/v1/tasks").json())
                assert key not in seen
            server.stop()
            assert [path for path in server.data.rglob("*") if path.is_file() and key.encode() in path.read_bytes()] == []
        finally:
            server.kill()


# --- several backends ---

def test_the_next_backend_takes_over_before_the_first_token(tmp_path):
    with Fake("openai", lambda request: refusal(503, openai_error("down"))) as first, Fake("openai", lambda request: text("Second.")) as second:
        models = {"a": {"type": "openai", "url": first.url, "model": MODEL}, "b": {"type": "openai", "url": second.url, "model": MODEL},
                  "gone": {"type": "openai", "url": "http://127.0.0.1:1/v1", "model": "x"}}
        server = Server(tmp_path / "data", config=config("", models=models, chat={"models": ["gone", "a", "b"], "tools": []})).start()
        try:
            with Chat(server) as chat:
                for _ in range(6):
                    assert chat.ask("Hello") == "Second."
                assert len(first.requests) < 6 * 3, "a backend that keeps failing is left alone for a while"
        finally:
            server.kill()


def test_no_other_backend_after_the_first_token(tmp_path):
    with Fake("openai", [Answer([ROLE, chunk({"content": "Half"})])]) as first, Fake("openai", [text("Second.")]) as second:
        models = {"a": {"type": "openai", "url": first.url, "model": MODEL}, "b": {"type": "openai", "url": second.url, "model": MODEL}}
        server = Server(tmp_path / "data", config=config("", models=models, chat={"models": ["a", "b"], "tools": []})).start()
        try:
            with Chat(server) as chat:
                assert chat.fails("Hello")["code"] in ("model_broke_off", "model_failed")
                assert second.requests == []
        finally:
            server.kill()


def test_a_silent_backend_is_named(bench):
    made = bench("openai", Answer([], before_head=[Silence(30)]), Answer([ROLE, Silence(30)]), text("Fine."), first_token_seconds=1)
    for _ in range(1):
        body = made.chat.fails("Hello")
        assert body["code"] == "model_unreachable" and "token" in body["error"], body


def test_cancel_before_the_first_byte(bench):
    gate = threading.Event()
    made = bench("openai", Answer([], before_head=[Wait(gate)]), text("Fine."))
    with made.chat.updates() as watched:
        made.chat.request("Hello", **{"async": True})
        request = made.backend.wait_for_request(1)
        assert made.chat.cancel()["cancelled"] is True
        assert request.closed.wait(5)
        watched.until("response_complete")
    assert made.chat.ask("Hello") == "Fine."


# --- Anthropic ---

def test_anthropic_text_and_facts(bench):
    made = bench("anthropic", messages("Hello ", "there."), context=100000)
    session = made.chat.session()
    assert session["context_size"] == 100000 and session["model"] == MODEL
    assert made.chat.ask("Hello") == "Hello there."
    request = made.backend.requests[0]
    assert request.headers["anthropic-version"] == "2023-06-01" and request.body["max_tokens"] > 0 and "Be brief." in json.dumps(request.body["system"])
    assert request.path == "/v1/messages" and request.body["stream"] is True


def test_anthropic_tools_and_thinking(bench):
    made = bench("anthropic", messages(("thinking", "Let me look.", "sig-1"), "Looking.", ("tool", "list_files", LIST), ("tool", "read_file", {"path": "notes.txt"})),
                 messages("Both seen."), messages("Next."))
    with made.chat.updates() as watched:
        assert made.chat.ask("Hello") == "Both seen."
        assert [each.data["tool_call"] for each in watched.turn() if each.type == "tool_call"] == ["list_files", "read_file"]
    sent = made.backend.requests[1].body["messages"]
    assert [each["role"] for each in sent] == ["user", "assistant", "user"]
    assert sent[1]["content"][0] == {"type": "thinking", "thinking": "Let me look.", "signature": "sig-1"}
    assert [block["type"] for block in sent[2]["content"]] == ["tool_result", "tool_result"]
    made.chat.ask("Again")
    assert made.chat.messages()[-1] == ("assistant", "Next.")


def test_anthropic_tool_without_arguments(bench):
    made = bench("anthropic", messages(("tool", "list_files", None)), messages("Done."))
    assert made.chat.ask("Hello") == "Done."
    assert made.backend.requests[1].body["messages"][1]["content"][0]["input"] == {}


def test_anthropic_usage_with_caches_and_prices(bench):
    price = {"as_of": "2026-11-01", "input": 3.0, "output": 15.0, "cache_read": 0.3, "cache_write": 3.75}
    made = bench("anthropic", messages("Yes.", output=7, cached=100, written=200), price=price, count=lambda body: 1000)
    made.chat.ask("Hello")
    used = eventually(lambda: (found := made.usage()) and found.get("outputTokens") and found)
    assert used["outputTokens"] == 7 and used["cacheReadTokens"] == 100 and used["cacheWriteTokens"] == 200 and used["inputTokens"] in (700, 1000)
    assert abs(used["costUSD"] - (700 * 3.0 + 100 * 0.3 + 200 * 3.75 + 7 * 15.0) / 1e6) < 1e-9
    assert made.chat.session()["total_tokens"] == 1007


def test_what_a_turn_costs(bench):
    """The sum of its calls; a class of tokens without a price makes it unpriced, never a guess."""
    price = {"as_of": "2026-11-01", "input": 3.0, "output": 15.0}
    answers = [messages(("tool", "list_files", LIST), output=10), messages("Done.", output=20), messages("Cached.", output=5, cached=100)]
    made = bench("anthropic", *answers, price=price, count=lambda body: 1000)
    with made.chat.updates() as watched:
        made.chat.ask("Look")
        end = watched.turn()[-1].data
        assert abs(end["cost_usd"] - (2000 * 3.0 + 30 * 15.0) / 1e6) < 1e-12 and "unpriced" not in end, end
        made.chat.ask("Again")
        end = watched.turn()[-1].data
        assert end["unpriced"] is True and "cost_usd" not in end, end


ANTHROPIC_FAILURES = {
    "overloaded before": (refusal(529, anthropic_error("overloaded_error", "Overloaded")), True, None),
    "rate limit": (refusal(429, anthropic_error("rate_limit_error", "Slow down"), retry_after=1), True, None),
    "in the stream": (Answer([*messages("Half", end=False).steps, event("error", error={"type": "overloaded_error", "message": "Overloaded"})]), False, "Overloaded"),
    "no end": (messages("Half", end=False), False, ""),
    "prompt too long": (refusal(400, anthropic_error("invalid_request_error", "prompt is too long: 300 tokens > 200 maximum")), False, ""),
    "credit": (refusal(400, anthropic_error("invalid_request_error", "Your credit balance is too low")), False, "credit balance"),
}


@pytest.mark.parametrize("case", ANTHROPIC_FAILURES)
def test_anthropic_failures(bench, case):
    answer, again, words = ANTHROPIC_FAILURES[case]
    made = bench("anthropic", answer, messages("Fine."), messages("Fine."))
    if again:
        assert made.chat.ask("Hello") == "Fine."
    elif case == "prompt too long":
        assert made.chat.fails("Hello")["code"] == "context_full"
    else:
        assert words in made.chat.fails("Hello")["error"]
        assert made.chat.ask("Hello") == "Fine."


@pytest.mark.parametrize("stop, finish", [("max_tokens", "length"), ("refusal", "content_filter"), ("stop_sequence", "stop"), ("model_context_window_exceeded", "length")])
def test_anthropic_stop_reasons(bench, stop, finish):
    made = bench("anthropic", messages("Said.", stop=stop))
    with made.chat.updates() as watched:
        made.chat.ask("Hello")
        assert watched.turn()[-1].data["finish_reason"] == finish


def test_anthropic_roles_alternate_after_a_cancelled_turn(bench):
    """A prompt without an answer must not leave two messages of the user in a row; the fake refuses that."""
    gate = threading.Event()
    made = bench("anthropic", Answer([], before_head=[Wait(gate)]), messages("Fine."))
    made.chat.request("Hello", **{"async": True})
    made.backend.wait_for_request(1)
    made.chat.cancel()
    assert made.chat.ask("Again") == "Fine."


# --- Ollama ---

def test_ollama_native(bench):
    made = bench("ollama", ollama("Hel", "lo."), models=lambda backend: {"local": {"type": "ollama", "url": backend.url, "model": MODEL, "context": 16384}})
    assert made.chat.ask("Hello") == "Hello."
    body = made.backend.requests[0].body
    assert body["options"]["num_ctx"] == 16384 and body["stream"] is True
    assert body.get("truncate") is False and body.get("shift") is False, "without these it cuts the prompt silently"


def test_ollama_tools(bench):
    made = bench("ollama", ollama(tools=[("list_files", LIST), ("read_file", {"path": "notes.txt"})]), ollama("Done."))
    with made.chat.updates() as watched:
        assert made.chat.ask("Hello") == "Done."
        called = [(each.data["tool_call"], each.data["parameters"]) for each in watched.turn() if each.type == "tool_call"]
    assert called == [("list_files", LIST), ("read_file", {"path": "notes.txt"})]
    assert [each["role"] for each in made.backend.requests[1].body["messages"]][-3:] == ["assistant", "tool", "tool"]
    assert made.backend.requests[1].body["messages"][-3]["tool_calls"][0]["function"]["arguments"] == LIST, "an object, not a string"


def test_ollama_error_in_the_stream(bench):
    made = bench("ollama", Answer([line(message={"role": "assistant", "content": "Half"}, done=False), b'{"error":"it broke"}\n'], media="application/x-ndjson"),
                 ollama("Fine."))
    assert "it broke" in made.chat.fails("Hello")["error"]
    assert made.chat.ask("Hello") == "Fine."


def test_a_silently_shortened_prompt_is_noticed(bench):
    """An old Ollama cuts the prompt from the front and answers 200; its count is far below the estimate."""
    made = bench("ollama", ollama("Cut.", prompt=40), context=32768)
    made.chat.ask("x" * 8000)
    assert "cut" in made.server.log().lower() or "context" in made.server.log().lower(), made.server.log()
