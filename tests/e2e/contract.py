"""Checks everything that the server sends against openapi.json: every answer, stream message and callback."""

from openapi import DESCRIPTION


def validate(name, value):
    """Fails the test if value does not match openapi.json's schema of this name."""
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
    """Checks one WebSocket message from the server."""
    validate("StreamMessage", message)


def check_request(message):
    """Checks one WebSocket message that a client sends and the server must accept."""
    validate("ClientMessage", message)


def check_frame(event, data, frame_id):
    """Checks one frame of an event stream that has data."""
    validate("SseMessage", {"event": event, "data": data, **({} if frame_id is None else {"id": frame_id})})


def check_callback(headers, body):
    """Checks one callback as its receiver gets it; header names are in lower case."""
    complaint = DESCRIPTION.complaint_of_callback(headers, body)
    assert complaint is None, complaint
