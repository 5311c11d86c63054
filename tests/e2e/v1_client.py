"""Clients of /v1: the official openai package, and one that checks every byte against /openapi.json."""

import json

import httpx
import httpx2
import openai

import sse
from openapi import DESCRIPTION


def checked(response):
    """An httpx2 response hook: an answer that is no stream is as described, and errors are in OpenAI's form."""
    media = response.headers.get("content-type", "").split(";")[0]
    if media == "text/event-stream":
        return
    response.read()
    complaint = DESCRIPTION.complaint("public", response.request.method, response.request.url.path, response.status_code, media, response.content)
    assert complaint is None, complaint
    if response.status_code >= 400:
        assert media == "application/json" and isinstance(response.json()["error"], dict), response.text


def official(server, key="none", **options):
    """The official client, without the developer's environment."""
    transport = httpx2.Client(trust_env=False, event_hooks={"response": [checked]}, timeout=options.pop("timeout", 60))
    return openai.OpenAI(base_url=server.public + "/v1", api_key=key, http_client=transport, **{"max_retries": 0, **options})


class Raw:
    """What a client sees on the wire."""

    def __init__(self, server, headers=None, timeout=60):
        self.http = httpx.Client(base_url=server.public, headers=headers or {}, timeout=timeout, trust_env=False)

    def post(self, body, status=200, path="/v1/chat/completions", **options):
        sent = options if "content" in options else {"json": body, **options}
        answer = self.http.post(path, **sent)
        assert answer.status_code == status, f"{answer.status_code} {answer.text[:500]}"
        media = answer.headers["content-type"].split(";")[0]
        complaint = DESCRIPTION.complaint("public", "POST", path, status, media, answer.content)
        assert complaint is None and media == "application/json", complaint or media
        return answer.json()

    def refused(self, body, status, code, **options):
        """The error of a request that must fail in this way."""
        error = self.post(body, status, **options)["error"]
        assert error["code"] == code and error["message"], error
        return error

    def stream(self, body, **options):
        """(chunks, comments) of a stream that ends with its end mark. Every chunk is checked."""
        chunks, error, comments = self.broken_stream(body, **options)
        assert error is None, error
        assert chunks.pop() == "[DONE]"
        assert chunks[0]["choices"][0]["delta"] == {"role": "assistant", "content": ""}, chunks[0]
        assert len({(each["id"], each["created"], each["model"]) for each in chunks}) == 1
        return chunks, comments

    def broken_stream(self, body, **options):
        """(chunks, the error in the stream or None, number of comments)"""
        chunks, error, parser, raw = [], None, sse.Parser(), b""
        with self.http.stream("POST", "/v1/chat/completions", json={"stream": True, **body}, **options) as answer:
            assert answer.status_code == 200, answer.read()
            assert answer.headers["content-type"].split(";")[0] == "text/event-stream" and answer.headers["x-accel-buffering"] == "no"
            for piece in answer.iter_raw():
                raw += piece
                for frame in parser.feed(piece):
                    if frame.data is None:
                        continue
                    assert error is None, f"something follows an error: {frame.data}"
                    value = frame.data if frame.data == "[DONE]" else json.loads(frame.data)
                    if "error" in value:
                        error = value["error"]
                        complaint = DESCRIPTION.complaint_of("CompletionProblem", value)
                    else:
                        chunks.append(value)
                        complaint = None if value == "[DONE]" else DESCRIPTION.complaint_of("CompletionChunk", value)
                    assert complaint is None, complaint
        return chunks, error, raw.count(b"\n: ") + raw.startswith(b": ")

    def close(self):
        self.http.close()


def ask(words, model="local", **members):
    return {"model": model, "messages": [{"role": "user", "content": words}], **members}


def said(chunks, member="content"):
    return "".join(choice["delta"].get(member) or "" for chunk in chunks for choice in chunk["choices"])


def finish(chunks):
    (reason,) = [choice["finish_reason"] for chunk in chunks for choice in chunk["choices"] if choice["finish_reason"]]
    return reason
