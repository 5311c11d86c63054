"""Checks answers against src/api/openapi.json: the status is listed, and the body has exactly the described form."""

import copy
import functools
import json
import re
from pathlib import Path

import jsonschema

PATH = Path(__file__).resolve().parents[2] / "src" / "api" / "openapi.json"
METHODS = {"get", "post", "put", "patch", "delete"}


def resolved(document, node):
    while "$ref" in node:
        target = document
        for step in node["$ref"].removeprefix("#/").split("/"):
            target = target[step]
        node = {**target, **{k: v for k, v in node.items() if k != "$ref"}}
    return node


def closed(document, node, part=False):
    """The schema with its references resolved and closed to unlisted members, unless it says `additionalProperties`.
    Clients ignore unknown members, but the description must list everything that is sent."""
    if isinstance(node, list):
        return [closed(document, each) for each in node]
    if not isinstance(node, dict):
        return node
    node = copy.copy(resolved(document, node))
    for keyword in ("items", "additionalProperties", "not", "contains"):
        if isinstance(node.get(keyword), dict):
            node[keyword] = closed(document, node[keyword])
    for keyword in ("allOf", "anyOf", "oneOf"):
        if keyword in node:
            node[keyword] = [closed(document, each, part=True) for each in node[keyword]]
    if "properties" in node:
        node["properties"] = {name: closed(document, each) for name, each in node["properties"].items()}
        if "additionalProperties" not in node and not part:
            node["unevaluatedProperties" if {"allOf", "anyOf", "oneOf"} & set(node) else "additionalProperties"] = False
    elif "allOf" in node and not part:
        node["unevaluatedProperties"] = False
    return node


class Description:
    def __init__(self, document):
        self.document = document
        self._paths = sorted(((re.compile(re.sub(r"\{\w+\}", "[^/]+", path) + r"\Z"), path) for path in document["paths"]),
                             key=lambda pair: pair[1].count("{"))
        self._validators = {}

    def operations(self):
        return [(method.upper(), path) for path, item in self.document["paths"].items() for method in sorted(set(item) & METHODS)]

    @functools.cache
    def path_of(self, target):
        """The described path that matches a request's path, or None."""
        return next((path for pattern, path in self._paths if pattern.match(target)), None)

    def listeners(self, operation):
        """Which of "public" and "internal" have the operation."""
        servers = operation.get("servers", self.document["servers"])
        return {server["description"].split()[0] for server in servers}

    def operation(self, method, path, listener):
        """The description of a method of a path, or None if this listener does not have it."""
        found = path and self.document["paths"][path].get("get" if method == "HEAD" else method.lower())
        return found if found and listener in self.listeners(found) else None

    def _validator(self, method, path, status, media, schema):
        key = (method, path, status, media)
        if key not in self._validators:
            self._validators[key] = jsonschema.Draft202012Validator(
                closed(self.document, schema), format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
        return self._validators[key]

    def complaint(self, listener, method, target, status, media, body):
        """The problem with an answer, in words, or None. `body` is bytes."""
        path = self.path_of(target)
        operation = self.operation(method, path, listener)
        if operation is None:
            return None if status in (403, 404, 405) else f"{status} of {method} {target} on the {listener} listener, which is not described"
        answers = operation["responses"]
        who = f"{status} of {method} {path}"
        if str(status) not in answers:
            return f"{who} is not described: {body[:300]!r}"
        content = resolved(self.document, answers[str(status)]).get("content", {})
        if not content:
            return None if not body else f"{who} is described without a body: {body[:300]!r}"
        if method == "HEAD":
            return None if not body else f"{who} has a body"
        if media not in content and "*/*" not in content:
            return f"{who} is {media!r}, described as {', '.join(content)}"
        schema = content.get(media, content.get("*/*")).get("schema")
        if schema is None or not media.endswith("json"):
            return None
        error = jsonschema.exceptions.best_match(self._validator(method, path, status, media, schema).iter_errors(json.loads(body)))
        return error and f"{who} is not as described: {error.json_path}: {error.message[:600]}"


DESCRIPTION = Description(json.loads(PATH.read_text()))
