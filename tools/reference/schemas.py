"""docs/schemas: the schemas of src/api/openapi.json, each as a self-contained JSON Schema file."""

import json

from reference import markdown
from reference.tree import Unreadable

FOLDER = "schemas"
COMMENT = "Made by tools/generate-docs from src/api/openapi.json. Do not edit: change that file and run it again."
POINTER = "#/components/schemas/"

# file name: (name in openapi.json, the subject of the schema)
FILES = {
    "event": ("Event", "an event as consumers get it, with `data` by type"),
    "posted-event": ("EventDraft", "an event as a producer posts it"),
    "task": ("Task", "a task"),
    "stream-message": ("StreamMessage", "a message that the server sends on a WebSocket"),
    "client-message": ("ClientMessage", "a message that a client sends on a WebSocket"),
    "stream-sse-data": ("SseMessage", "an event stream's message, as `{event, data, id}`"),
    "command-answer": ("CommandAnswer", "the answer to a command"),
    "claim": ("Claim", "the answer to a runner's claim, and to its renewals"),
    "task-data": ("TaskData", "what a runner gets to start an agent"),
    "callback": ("Callback", "what is posted to a `callbackURL`"),
    "inbox": ("Inbox", "what needs a person now"),
    "timeline": ("Timeline", "a log as a time bar shows it"),
    "findings": ("Findings", "findings of all tasks"),
    "stats": ("Stats", "figures over a range of time"),
    "session": ("Session", "a session of an agent"),
    "problem": ("Problem", "an error"),
}

README = f"""<!-- Made by tools/generate-docs. Do not edit. -->
JSON Schemas (2020-12) of what Shepherd sends and accepts. They are the schemas of `/openapi.json` (`src/api/openapi.json`), one file each.
Changes are additive: new members and types may appear, and readers ignore what they do not know.

{{table}}
The files refer to each other by name: load them all into one registry, or validate from this folder. Nothing is fetched.
"""


def schemas(source):
    """{name: schema} of openapi.json."""
    known = json.loads(source.one("openapi.json").read_text())["components"]["schemas"]
    missing = sorted({name for name, _ in FILES.values()} - set(known))
    if missing:
        raise Unreadable(f"openapi.json has no schema {', '.join(missing)}")
    return known


def walk(node, change):
    """A copy of a schema with each reference replaced by change(name)."""
    if isinstance(node, list):
        return [walk(each, change) for each in node]
    if not isinstance(node, dict):
        return node
    return {key: change(each.removeprefix(POINTER)) if key == "$ref" else walk(each, change) for key, each in node.items()}


def standalone(file, known):
    """The text of one file. Schemas with their own file are referred to by its name; others are copied into $defs."""
    own = {name: f"{each}.schema.json" for each, (name, _) in FILES.items()}
    name = FILES[file][0]
    used = []

    def refer(target):
        if target not in known:
            raise Unreadable(f"openapi.json has no schema {target}")
        if target in own:
            return own[target]
        if target not in used:
            used.append(target)
        return f"#/$defs/{target}"

    refer(name)
    body = walk(known[name], refer)
    defs = {}
    for each in used:  # grows during the loop
        defs[each] = walk(known[each], refer)
    out = {"$schema": "https://json-schema.org/draft/2020-12/schema", "$id": own[name], "$comment": COMMENT, "title": name, **body}
    if defs:
        out["$defs"] = dict(sorted(defs.items()))
    return json.dumps(out, indent=2, ensure_ascii=False) + "\n"


def files(source):
    """{name below docs/: its text}."""
    known = schemas(source)
    made = {f"{FOLDER}/{file}.schema.json": standalone(file, known) for file in FILES}
    rows = [[markdown.code(f"{file}.schema.json"), what] for file, (_, what) in FILES.items()]
    made[f"{FOLDER}/README.md"] = README.format(table=markdown.table(["file", "of"], rows))
    return made
