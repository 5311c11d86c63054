"""Checks every answer against openapi.json, and the documents of docs/schemas against their schemas."""

import json
import re
from pathlib import Path

import jsonschema
from referencing import Registry, Resource

from openapi import DESCRIPTION

SCHEMAS = Path(__file__).resolve().parents[2] / "docs" / "schemas"


def _load():
    texts = {p.name.removesuffix(".schema.json"): json.loads(p.read_text()) for p in SCHEMAS.glob("*.schema.json")}
    registry = Registry()
    for name, schema in texts.items():
        resource = Resource.from_contents(schema)
        registry = registry.with_resource(f"{name}.schema.json", resource)
        if "$id" in schema:
            registry = registry.with_resource(schema["$id"], resource)
    return {name: jsonschema.Draft202012Validator(schema, registry=registry,
                                                  format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
            for name, schema in texts.items()}


_validators = _load()


def validate(kind, value):
    """Fails the test if value does not match docs/schemas/<kind>.schema.json."""
    assert kind in _validators, f"docs/schemas/{kind}.schema.json is missing"
    error = jsonschema.exceptions.best_match(_validators[kind].iter_errors(value))
    assert error is None, f"not a valid {kind}: {error.json_path}: {error.message}\n{json.dumps(value)[:2000]}"


def _all(kind, values):
    assert isinstance(values, list)
    for each in values:
        validate(kind, each)


# The schema of a successful answer, by method and path.
_ANSWERS = [
    (re.compile(r"^GET /api/v1/tasks$"), lambda answer: _all("task", answer)),
    (re.compile(r"^POST /api/v1/tasks$"), lambda answer: validate("task", answer)),
    (re.compile(r"^(GET|PATCH) /api/v1/tasks/[^/]+$"), lambda answer: validate("task", answer)),
    (re.compile(r"^POST /api/v1/tasks/[^/]+/commands$"), lambda answer: validate("command-answer", answer)),
    (re.compile(r"^POST /api/v1/claims$"), lambda answer: validate("claim", answer)),
    (re.compile(r"^PUT /api/v1/tasks/[^/]+/lease$"), lambda answer: validate("claim", answer)),
    (re.compile(r"^GET /api/v1/tasks/[^/]+/data$"), lambda answer: validate("task-data", answer)),
    (re.compile(r"^GET /api/v1/tasks/[^/]+/events$"), lambda answer: _all("event", answer["events"])),
    (re.compile(r"^GET /api/v1/tasks/[^/]+/timeline$"), lambda answer: validate("timeline", answer)),
    (re.compile(r"^GET /api/v1/inbox$"), lambda answer: validate("inbox", answer)),
    (re.compile(r"^GET /api/v1/findings$"), lambda answer: validate("findings", answer)),
    (re.compile(r"^GET /api/v1/stats$"), lambda answer: validate("stats", answer)),
    (re.compile(r"^GET /api/v1/observability/sessions/[^/]+$"), lambda answer: validate("session", answer)),
    (re.compile(r"^GET /api/v1/tasks/[^/]+/events/\d+$"), lambda answer: validate("event", answer)),
]


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
        validate("problem", value)
        assert value["status"] == response.status_code
        return
    if media != "application/json":
        return
    for pattern, check in _ANSWERS:
        if pattern.match(f"{response.request.method} {path}"):
            check(response.json())


def check_message(message):
    """Checks one WebSocket message."""
    validate("stream-message", message)


def check_frame(event, data, frame_id):
    """Checks one frame of an event stream that has data."""
    validate("stream-sse-data", {"event": event, "data": data, **({} if frame_id is None else {"id": frame_id})})
