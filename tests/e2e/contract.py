"""Checks what the server sends against openapi.json: every answer, every message of a stream, every callback."""

from openapi import DESCRIPTION


def validate(name, value):
    """Fails the test when value is not what openapi.json describes under this name."""
    complaint = DESCRIPTION.complaint_of(name, value)
    assert complaint is None, complaint


def check_response(response, listener="public"):
    """An httpx response hook."""
    media = response.headers.get("content-type", "").split(";")[0]
    assert media != "text/event-stream", "this client does not follow streams"
    response.read()
    path = response.request.url.path
    complaint = DESCRIPTION.complaint(listener, response.request.method, path, response.status_code, media, response.content)
    assert complaint is None, complaint
    if response.status_code >= 400:
        assert media == "application/problem+json", f"{response.status_code} of {path} is {media!r}: {response.text[:300]}"
        value = response.json()
        validate("Problem", value)
        assert value["status"] == response.status_code


def check_message(message):
    """One WebSocket message that the server sent."""
    validate("StreamMessage", message)


def check_request(message):
    """One WebSocket message that a client sends and the server must take."""
    validate("ClientMessage", message)


def check_frame(event, data, frame_id):
    """One frame of an event stream that has data."""
    validate("SseMessage", {"event": event, "data": data, **({} if frame_id is None else {"id": frame_id})})


def check_callback(headers, body):
    """One callback as its receiver gets it; the names of headers in lower case."""
    complaint = DESCRIPTION.complaint_of_callback(headers, body)
    assert complaint is None, complaint
