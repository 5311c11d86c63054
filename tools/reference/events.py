"""docs/events.md: the event types of model/event_type and their schemas."""

import json
import re

from reference import markdown
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


def kind(schema):
    if "const" in schema:
        return markdown.code(json.dumps(schema["const"]))
    if "enum" in schema:
        return ", ".join(markdown.code(str(v)) for v in schema["enum"])
    of = schema.get("type", "any")
    if "$ref" in schema:
        return schema["$ref"].rsplit("/", 1)[-1]
    text = " or ".join(of) if isinstance(of, list) else of
    if of == "array" and "items" in schema:
        text += f" of {kind(schema['items'])}s" if isinstance(schema["items"].get("type"), str) else ""
    return text


def members(schema, prefix=""):
    required = schema.get("required", [])
    for name, each in schema.get("properties", {}).items():
        yield [markdown.code(prefix + name), kind(each), markdown.cell(each.get("description", "")) +
               (" (always there)" if name in required and not prefix else "")]
        if each.get("type") == "object":
            yield from members(each, prefix + name + ".")


def page(source):
    schema = json.loads((source.root / "docs/schemas/event.schema.json").read_text())
    known = types(source)
    defined = [c["if"]["properties"]["type"]["const"] for c in schema["allOf"]]
    if sorted(known) != sorted(defined):
        odd = sorted(set(known) ^ set(defined))
        raise Unreadable(f"the types of event_type.h and of event.schema.json differ: {', '.join(odd)}")
    out = [PROSE, "## Members of every event\n",
           markdown.table(["member", "type", "meaning"], [[a, b, c.strip()] for a, b, c in members(schema)]),
           "## Types\n\nThe tables list the members of `data`.\n"]
    for name in known:
        its = schema["$defs"][name]
        out.append(f"### {name}\n")
        if its.get("description"):
            out.append(its["description"].rstrip(".") + ".\n")
        rows = [[a, b, c.strip()] for a, b, c in members(its)]
        out.append(markdown.table(["member", "type", "meaning"], rows) if rows else "`data` has no members of its own.\n")
    out.append("## Messages of a stream\n\nA WebSocket sends these objects, one per message; an event stream (SSE) sends the same "
               "with the type as `event:`. `docs/schemas/stream-message.schema.json` has their members.\n")
    stream = json.loads((source.root / "docs/schemas/stream-message.schema.json").read_text())
    rows = []
    for each in stream["oneOf"]:
        data = each["properties"].get("data", {})
        target = stream["$defs"].get(data.get("$ref", "").removeprefix("#/$defs/"), data)
        what = target.get("description", "") or (f"see `{data['$ref']}`" if "schema.json" in data.get("$ref", "") else "")
        rows.append([markdown.code(each["properties"]["type"]["const"]), markdown.cell(what),
                     ", ".join(markdown.code(r) for r in target.get("required", []))])
    out.append(markdown.table(["type", "data", "required in data"], rows))
    return "\n".join(out)
