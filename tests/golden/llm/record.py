"""Makes recordings/: real answers of llama.cpp, and made ones after what other servers send (README.md)."""

import json
import pathlib
import sys
from types import SimpleNamespace

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE.parents[1] / "e2e"))

import model_fakes as fakes  # noqa: E402
from llama import Llama  # noqa: E402

OUT = HERE / "recordings"
TOOLS = [{"type": "function", "function": {"name": name, "description": name, "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}}}} for name in ("get_weather", "get_time")]


def keep(name, status, body):
    (OUT / f"{name}.{status}").write_bytes(body)


# --- llama.cpp ---

def openai(api, case, prompt, **members):
    body = {"model": "scripted", "messages": [{"role": "user", "content": prompt}], "stream": True, "stream_options": {"include_usage": True}, **members}
    with api.stream("POST", "/v1/chat/completions", json=body) as answer:
        keep(f"openai-llama-{case}", answer.status_code, b"".join(answer.iter_raw()))


def anthropic(api, case, prompt, tools=None):
    body = {"model": "scripted", "messages": [{"role": "user", "content": prompt}], "stream": True, "max_tokens": 200}
    if tools:
        body["tools"] = [{"name": each["function"]["name"], "description": "", "input_schema": each["function"]["parameters"]} for each in tools]
    with api.stream("POST", "/v1/messages", json=body) as answer:
        keep(f"anthropic-llama-{case}", answer.status_code, b"".join(answer.iter_raw()))


def record_llama():
    with Llama(context=2048) as server:
        openai(server.api, "text", "Hello")
        openai(server.api, "call", "WEATHER", tools=TOOLS)
        openai(server.api, "two-calls", "TWO", tools=TOOLS, parallel_tool_calls=True)
        openai(server.api, "reasoning", "THINK")
        openai(server.api, "code", "CODE")
        openai(server.api, "utf8", "UTF8")
        openai(server.api, "length", "LONG", max_tokens=6)
        openai(server.api, "overflow", "x" * 3000)
        openai(server.api, "refused", "Hello", messages=[{"role": "nobody"}])
        anthropic(server.api, "text", "Hello")
        anthropic(server.api, "call", "WEATHER", TOOLS)
        anthropic(server.api, "two-calls", "TWO", TOOLS)
        anthropic(server.api, "reasoning", "THINK")
        anthropic(server.api, "utf8", "UTF8")
        anthropic(server.api, "overflow", "x" * 3000)
        keep("openai-llama-plain", 200, server.api.post("/v1/chat/completions", json={
            "model": "scripted", "messages": [{"role": "user", "content": "Hello"}]}).content)
    with Llama(context=512, key="sk-right") as server:
        answer = server.api.post("/v1/chat/completions", json={}, headers={"Authorization": "Bearer sk-wrong"})
        keep("openai-llama-key", answer.status_code, answer.content)


# --- others, as far as the end-to-end tests' fakes have them ---

def body_of(answer):
    request = SimpleNamespace(counted=42)
    return b"".join(step(request) if callable(step) else step for step in answer.steps)


def made(name, answer):
    keep(name, answer.status, body_of(answer))


def record_made():
    chunk, fragment, done = fakes.chunk, fakes.fragment, fakes.DONE
    role = chunk({"role": "assistant", "content": ""})
    tail = [chunk({}, "tool_calls"), fakes.usage(), done]

    def calls(*fragments, end=tail):
        return fakes.Answer([role, *fragments, *end])

    # vLLM: `reasoning`, null names behind the first fragment, an error in the stream that [DONE] follows.
    made("openai-made-vllm-reasoning", fakes.Answer([role, chunk({"reasoning": "Let me"}), chunk({"reasoning": " see"}), chunk({"content": "Done."}),
                                                     chunk({}, "stop"), fakes.usage(), done]))
    made("openai-made-vllm-null-names", calls(
        fragment(0, "chatcmpl-tool-1", "get_weather", ""), chunk({"tool_calls": [{"index": 0, "id": None, "type": None, "function": {"name": None, "arguments": '{"city": '}}]}),
        chunk({"tool_calls": [{"index": 0, "function": {"name": None, "arguments": '"Oslo"}'}}]})))
    made("openai-made-vllm-error", fakes.Answer([role, chunk({"content": "Half"}), fakes.frame({"error": {
        "message": "EngineCore encountered an issue.", "type": "InternalServerError", "param": None, "code": 500}}), done]))
    made("openai-made-vllm-cut-call", calls(fragment(0, "c1", "get_weather", '{"city": "Os'), end=[chunk({}, "length"), fakes.usage(), done]))
    # Ollama's and other servers' whole calls, without index or id.
    made("openai-made-whole-calls", calls(chunk({"tool_calls": [{"id": "call_a", "index": 0, "type": "function", "function": {"name": "get_time", "arguments": "{}"}}]}),
                                          chunk({"tool_calls": [{"id": "call_b", "index": 0, "type": "function", "function": {"name": "get_weather", "arguments": '{"city":"Rome"}'}}]})))
    made("openai-made-no-index", calls(chunk({"tool_calls": [{"function": {"name": "get_time", "arguments": ""}}]}),
                                       chunk({"tool_calls": [{"function": {"name": "get_weather", "arguments": '{"city":'}}]}),
                                       chunk({"tool_calls": [{"function": {"arguments": '"Rome"}'}}]})))
    made("openai-made-stop-with-calls", calls(fragment(0, "c1", "get_time", "{}"), end=[chunk({}, "stop"), done]))
    # TensorRT-LLM and gateways.
    made("openai-made-no-done", fakes.text("No ", "mark.", done=False))
    made("openai-made-broke-off", fakes.Answer([role, chunk({"content": "Half an ans"})]))
    made("openai-made-bare-error", fakes.Answer([role, chunk({"content": "Half"}), b'{"error":{"message":"upstream died","code":502}}\n']))
    made("openai-made-named-error", fakes.Answer([role, b'event: error\ndata: {"message":"upstream died"}\n\n']))
    made("openai-made-comments", fakes.Answer([b": OPENROUTER PROCESSING\n\n" * 2, *fakes.text("After", " a while.").steps]))
    made("openai-made-crlf", fakes.Answer([body_of(fakes.text("With", " CRLF.")).replace(b"\n", b"\r\n")]))
    made("openai-made-cached", fakes.Answer([role, chunk({"content": "Hit."}), chunk({}, "stop"), fakes.usage(
        100, 2, prompt_tokens_details={"cached_tokens": 64}, completion_tokens_details={"reasoning_tokens": 1}), done]))
    made("openai-made-split-utf8", fakes.Answer([role, *[b'data: {"choices":[{"index":0,"delta":{"content":"' + half + b'"}}]}\n\n'
                                                         for half in (b"a\xf0\x9f", b"\x98\x80b", b"\\ud83d", b"\xff")], chunk({}, "stop"), done]))
    made("openai-made-flat-overflow", fakes.refusal(400, {"object": "error", "type": "BadRequestError", "code": 400, "param": None,
                                                          "message": "The sum of prompt length (700.0), query length (0) should not exceed max_num_tokens (512)"}))
    made("openai-made-azure-filter", fakes.refusal(400, {"error": {"message": ["The response was", "filtered"], "type": None, "param": "prompt", "code": "content_filter"}}))
    made("openai-made-quota", fakes.refusal(429, fakes.openai_error("You exceeded your current quota", "insufficient_quota", "insufficient_quota")))
    made("openai-made-html", fakes.refusal(502, b"<html><body><h1>502 Bad Gateway</h1></body></html>\n"))

    made("anthropic-made-text", fakes.messages("Hello there.", cached=30, written=10))
    made("anthropic-made-tools", fakes.messages("Both.", ("tool", "get_time", None), ("tool", "get_weather", {"city": "Rome"})))
    made("anthropic-made-thinking", fakes.messages(("thinking", "Let me ponder", "EqQBCgIYAhIM1gbcDa9GJwZA2b3h="), ("tool", "get_time", {})))
    made("anthropic-made-refusal", fakes.messages("I can", stop="refusal"))
    made("anthropic-made-overloaded", fakes.Answer([*fakes.messages("Half", end=False).steps,
                                                    fakes.event("error", error={"type": "overloaded_error", "message": "Overloaded"})]))
    made("anthropic-made-broke-off", fakes.messages("Half", end=False))
    made("anthropic-made-too-long", fakes.refusal(400, fakes.anthropic_error("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum")))

    made("ollama-made-text", fakes.ollama("Hello", " there."))
    made("ollama-made-tools", fakes.ollama("", tools=[("get_time", {}), ("get_weather", {"city": "Rome"})]))
    made("ollama-made-thinking", fakes.ollama(fakes.line(message={"role": "assistant", "content": "", "thinking": "Hm"}, done=False), "Done."))
    made("ollama-made-length", fakes.ollama("Cut", reason="length"))
    made("ollama-made-error", fakes.ollama("Half", json.dumps({"error": "an error was encountered while running the model"}).encode() + b"\n", end=False))
    made("ollama-made-broke-off", fakes.ollama("Half", end=False))
    made("ollama-made-overflow", fakes.refusal(400, {"error": "the input length exceeds the context length"}))


if __name__ == "__main__":
    OUT.mkdir(exist_ok=True)
    for old in OUT.iterdir():
        old.unlink()
    record_llama()
    record_made()
    print(f"{len(list(OUT.iterdir()))} recordings")
