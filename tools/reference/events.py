"""docs/events.md: the event types of model/event_type and their schemas."""

import json
import re

from reference import markdown, schemas
from reference.tree import Unreadable

NAME = "events.md"
PROSE = """# Events

A task's log is a list of events, numbered 1, 2, 3, … without holes. An event is a JSON object; `docs/schemas/event.schema.json` is its
schema, and every message of the end-to-end tests is validated against it. Changes are additive: new types and new members may appear,
so ignore those you do not know. An unknown type that a producer posts is stored and delivered as it is.

A producer posts the same object without `sequence` and `receivedAt` (`docs/schemas/posted-event.schema.json`). Only `type` is required;
`command` events are written by the server alone. `docs/http-api.md` describes the requests.
"""


def types(source):
    """The names in the order of the enum, which the table of names must match."""
    header = source.one("event_type.h").read_text()
    body = re.search(r"enum class EventType[^{]*\{(.*?)\}", header, re.DOTALL)
    names = re.findall(r'"(\w*)"', re.search(r"kNames\{(.*?)\};", source.one("event_type.cpp").read_text(), re.DOTALL).group(1))
    enum = re.findall(r"^\s*(\w+),", body.group(1), re.MULTILINE) if body else []
    if enum[1:] != names[1:]:
        raise Unreadable("event_type.h and event_type.cpp do not have the same types in the same order")
    return names[1:]


def resolved(document, node):
    return document[node["$ref"].removeprefix(schemas.POINTER)] if "$ref" in node else node


def kind(document, schema):
    schema = resolved(document, schema)
    if "const" in schema:
        return markdown.code(json.dumps(schema["const"]))
    if "enum" in schema:
        return ", ".join(markdown.code(str(v)) for v in schema["enum"])
    if schema.get("format") == "date-time":
        return "time"
    of = schema.get("type", "any")
    text = " or ".join(of) if isinstance(of, list) else of
    if of == "array" and "items" in schema:
        text += f" of {kind(document, schema['items'])}s" if isinstance(schema["items"].get("type"), str) else ""
    return text


def members(document, schema, prefix=""):
    required = schema.get("required", [])
    for name, each in schema.get("properties", {}).items():
        yield [markdown.code(prefix + name), kind(document, each), markdown.cell(each.get("description", "")) +
               (" (always there)" if name in required and not prefix else "")]
        if each.get("type") == "object":
            yield from members(document, each, prefix + name + ".")


def page(source):
    document = schemas.schemas(source)
    known, schema = types(source), document["Event"]
    data = {c["if"]["properties"]["type"]["const"]: c["then"]["properties"]["data"] for c in schema["allOf"]}
    if sorted(known) != sorted(data):
        odd = sorted(set(known) ^ set(data))
        raise Unreadable(f"the types of event_type.h and of Event in openapi.json differ: {', '.join(odd)}")
    out = [PROSE, "## Members of every event\n",
           markdown.table(["member", "type", "meaning"], [[a, b, c.strip()] for a, b, c in members(document, schema)]),
           "## Types\n\nThe tables list the members of `data`.\n"]
    for name in known:
        its = resolved(document, data[name])
        out.append(f"### {name}\n")
        if its.get("description"):
            out.append(its["description"].rstrip(".") + ".\n")
        rows = [[a, b, c.strip()] for a, b, c in members(document, its)]
        out.append(markdown.table(["member", "type", "meaning"], rows) if rows else "`data` has no members of its own.\n")
    out.append("## Messages of a stream\n\nA WebSocket sends these objects, one per message; an event stream (SSE) sends the same "
               "with the type as `event:`. `docs/schemas/stream-message.schema.json` has their members.\n")
    rows = []
    for each in (resolved(document, one) for one in document["StreamMessage"]["oneOf"]):
        data = each["properties"]["data"]
        names = [data["$ref"].removeprefix(schemas.POINTER)] if "$ref" in data else data["required"]
        rows.append([markdown.code(each["properties"]["type"]["const"]), markdown.cell(each.get("description", "")),
                     ", ".join(markdown.code(one) for one in names)])
    out.append(markdown.table(["type", "meaning", "data: its schema or members"], rows))
    return "\n".join(out)
