"""The official packages of OpenAI and Anthropic against our fakes: the fakes speak the real protocols."""

import json

import anthropic
import httpx2
import openai
import pytest

from model_fakes import MODEL, Fake, anthropic_error, calls, messages, openai_error, refusal, text

TOOL = {"type": "function", "function": {"name": "get_weather", "description": "The weather", "parameters": {
    "type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}}


def test_the_openai_package_reads_our_fake():
    with Fake("openai", [text("Hel", "lo"), calls(("get_weather", {"city": "Paris"})), refusal(429, openai_error("slow", "rate_limit_error"), retry_after=1)], key="k") as backend:
        client = openai.OpenAI(base_url=backend.url, api_key="k", max_retries=0, http_client=httpx2.Client(trust_env=False))
        with client.chat.completions.stream(model=MODEL, messages=[{"role": "user", "content": "x"}], stream_options={"include_usage": True}) as stream:
            whole = stream.get_final_completion()
        assert whole.choices[0].message.content == "Hello" and whole.usage.completion_tokens == 2
        with client.chat.completions.stream(model=MODEL, messages=[{"role": "user", "content": "x"}], tools=[TOOL]) as stream:
            (call,) = stream.get_final_completion().choices[0].message.tool_calls
        assert json.loads(call.function.arguments) == {"city": "Paris"}
        with pytest.raises(openai.RateLimitError):
            client.chat.completions.create(model=MODEL, messages=[{"role": "user", "content": "x"}], stream=True)
        assert [model.id for model in client.models.list()] == [MODEL]


def test_the_anthropic_package_reads_our_fake():
    answers = [messages(("thinking", "Let me see", "sig=="), "Hello ", ("tool", "get_weather", {"city": "Paris"}), output=9, cached=2),
               refusal(529, anthropic_error("overloaded_error", "Overloaded"))]
    with Fake("anthropic", answers, key="k") as backend:
        client = anthropic.Anthropic(base_url=backend.root, api_key="k", max_retries=0, http_client=httpx2.Client(trust_env=False))
        with client.messages.stream(model=MODEL, max_tokens=100, messages=[{"role": "user", "content": "x"}]) as stream:
            whole = stream.get_final_message()
        thought, words, call = whole.content
        assert (thought.thinking, thought.signature, words.text, call.name, call.input) == ("Let me see", "sig==", "Hello ", "get_weather", {"city": "Paris"})
        assert whole.stop_reason == "tool_use" and whole.usage.output_tokens == 9 and whole.usage.cache_read_input_tokens == 2
        with pytest.raises(anthropic.APIStatusError) as error:
            with client.messages.stream(model=MODEL, max_tokens=100, messages=[{"role": "user", "content": "x"}]) as stream:
                stream.get_final_message()
        assert error.value.status_code == 529
        assert client.messages.count_tokens(model=MODEL, messages=[{"role": "user", "content": "x"}]).input_tokens > 0
        assert [model.id for model in client.models.list()] == [MODEL]
