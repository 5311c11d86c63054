"""Checks what the server sends against src/api/openapi.json: the status of an answer is listed, and the body of an
answer, a stream message or a callback has exactly the described form."""

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


def choice(parts, then=False):
    """{value: schema} and the member's name if one constant member distinguishes the parts of a union; otherwise None.
    Looking the schema up by that value gives the same result as trying every part, in a tenth of the time."""
    found, names = {}, set()
    for part in parts:
        given = part.get("if", {}) if then else part
        constants = {name: each["const"] for name, each in given.get("properties", {}).items() if "const" in each}
        if len(constants) != 1 or then and set(part) != {"if", "then"}:
            return None
        (name, value), = constants.items()
        names.add(name)
        found[value] = part["then"] if then else part
    return {"on": names.pop(), "of": found, "must": not then} if len(names) == 1 else None


def chosen(validator, cases, instance, schema):
    """The keyword for the result of `choice`."""
    if not isinstance(instance, dict):
        return
    value = instance.get(cases["on"])
    if value in cases["of"]:
        yield from validator.descend(instance, cases["of"][value])
    elif cases["must"]:
        yield jsonschema.ValidationError(f"{value!r} is not one of {list(cases['of'])}")


Validator = jsonschema.validators.extend(jsonschema.Draft202012Validator, {"x-choice": chosen, "x-data": chosen})


def closed(document, node, part=False, strict=True):
    """The schema with its references resolved and (strict) closed to unlisted members, unless it says
    `additionalProperties`. Clients ignore unknown members, but the description must list everything that is sent."""
    if not isinstance(node, dict):
        return node
    node = copy.copy(resolved(document, node))
    for keyword in ("items", "additionalProperties", "not", "contains"):
        if isinstance(node.get(keyword), dict):
            node[keyword] = closed(document, node[keyword], strict=strict)
    for keyword in ("allOf", "anyOf", "oneOf"):
        if keyword in node:
            node[keyword] = [closed(document, each, True, strict) for each in node[keyword]]
    for keyword in ("if", "then", "else"):
        if keyword in node:
            node[keyword] = closed(document, node[keyword], True, strict)
    parts = [each for keyword in ("allOf", "anyOf", "oneOf") for each in node.get(keyword, [])] + [node[k] for k in ("then", "else") if k in node]
    open_end = part or not strict or "additionalProperties" in node or any(each.get("additionalProperties") is True for each in parts)
    if "properties" in node:
        node["properties"] = {name: closed(document, each, strict=strict) for name, each in node["properties"].items()}
        if not open_end:
            inside = all(set(each.get("properties", {})) <= set(node["properties"]) for each in parts)
            node["additionalProperties" if inside else "unevaluatedProperties"] = False
    elif "allOf" in node and not open_end:
        node["unevaluatedProperties"] = False
    for keyword, name, then in (("oneOf", "x-choice", False), ("allOf", "x-data", True)):
        if keyword in node and (cases := choice(node[keyword], then)):
            del node[keyword]
            node[name] = cases
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

    def _validator(self, key, schema, strict=True):
        if key not in self._validators:
            self._validators[key] = Validator(closed(self.document, schema, strict=strict),
                                              format_checker=jsonschema.Draft202012Validator.FORMAT_CHECKER)
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
        if not content or status == 101:  # messages follow 101, and each is checked by itself
            return None if not body else f"{who} is described without a body: {body[:300]!r}"
        if method == "HEAD":
            return None if not body else f"{who} has a body"
        if media not in content and "*/*" not in content:
            return f"{who} is {media!r}, described as {', '.join(content)}"
        schema = content.get(media, content.get("*/*")).get("schema")
        if schema is None or not media.endswith("json"):
            return None
        return self._judged(who, (method, path, status, media), schema, json.loads(body))

    def _judged(self, who, key, schema, value, strict=True):
        error = jsonschema.exceptions.best_match(self._validator(key, schema, strict).iter_errors(value))
        return error and f"{who} is not as described: {error.json_path}: {error.message[:600]}\n{json.dumps(value)[:2000]}"

    def complaint_of(self, name, value, strict=True):
        """The problem with a value of the schema with this name, or None. If not strict, other members are allowed."""
        return self._judged(name, (name, strict), self.document["components"]["schemas"][name], value, strict)

    def complaint_of_callback(self, headers, body):
        """The problem with a callback: its headers (names in lower case) and its body as bytes."""
        (described,) = (item["post"] for item in self.document["webhooks"].values())
        for parameter in described["parameters"]:
            value = headers.get(parameter["name"].lower())
            if value is None:
                return f"a callback lacks the header {parameter['name']}"
            if wrong := self._judged(parameter["name"], ("webhook", parameter["name"]), parameter["schema"], value):
                return wrong
        media = headers.get("content-type", "").split(";")[0]
        content = described["requestBody"]["content"]
        if media not in content:
            return f"a callback is {media!r}, described as {', '.join(content)}"
        return self._judged("a callback", ("webhook", media), content[media]["schema"], json.loads(body))


DESCRIPTION = Description(json.loads(PATH.read_text()))
