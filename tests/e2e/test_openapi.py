"""/openapi.json is a valid description, and every operation answers as described, to good and bad requests."""

import json
import re
from pathlib import Path

import httpx
import jsonschema
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator
from referencing import Registry, Resource

from openapi import DESCRIPTION, Description
from server import Server
from tasks import end_task, new_id, new_task, note, post_events

# Chats need a model; test_chat_*.py send their requests and hold the answers against the description.
OPERATIONS = [one for one in DESCRIPTION.operations() if "Chat" not in DESCRIPTION.document["paths"][one[1]][one[0].lower()].get("tags", [])]
JSON = "application/json"
HOOK = {"session_id": "3edac694-928b-4d67-9312-ef911a530de8", "hook_event_name": "PreToolUse", "cwd": "/workspace",
        "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_1"}


class Good:
    """One good request for an operation: its input, and the status it must get."""

    def __init__(self, status=200, body=None, query="", headers=None, form=None):
        self.status, self.body, self.query, self.headers, self.form = status, body, query, headers or {}, form


# A request that must succeed for every described operation; the task has the events of `world`.
GOOD = {
    "createTask": Good(201, {"task": {"description": "x", "sourceURL": "https://example.com/1"}, "labels": {"a": "b"}, "bogus": 1,
                             "callbackURL": "https://example.com/hook", "callbackEvents": ["started"], "maxTurns": 3, "timeout": "30m", "budget": 1.5,
                             "mode": "interactive", "allowedTools": ["Bash"], "workflowID": "w", "command": ["a"], "runner": "r"}),
    "listTasks": Good(), "getTask": Good(), "updateTask": Good(body={"title": "other"}), "deleteTask": Good(204),
    "postEvents": Good(body=[note("more")]), "followTask": Good(query="?detail=1"), "getEvent": Good(), "getEventDetail": Good(),
    "postStatus": Good(body={"event": "progress", "message": "half"}), "postCommand": Good(202, {"kind": "stop", "reason": "enough"}),
    "claimTask": Good(body={"runner": "r", "agents": ["waited-for"]}), "renewLease": Good(body={"runner": "r", "leaseEpoch": 1}),
    "listRunners": Good(), "reportRunner": Good(body={"agents": ["waited-for"], "slots": 2}), "removeRunner": Good(204),
    "getTaskData": Good(), "getRepoToken": Good(), "postDeltas": Good(202, {"block": "b", "text": "Loo"}),
    "postClaudeHooks": Good(body=HOOK), "exportLogs": Good(body={"resourceLogs": []}), "exportMetrics": Good(body={"resourceMetrics": []}),
    "exportTraces": Good(body={"resourceSpans": []}), "followAll": Good(headers={"Accept": "text/event-stream"}), "getTimeline": Good(),
    "getInbox": Good(), "dismissNeed": Good(body={}), "listFindings": Good(), "getStats": Good(query="?by=agent"), "listAgents": Good(),
    "getAgentEvents": Good(), "getSession": Good(), "getObservabilityMetrics": Good(), "followDashboard": Good(headers={"Accept": "text/event-stream"}),
    "search": Good(query="?q=needle"), "createToken": Good(201, {"name": "x", "scope": "viewer"}), "listTokens": Good(), "revokeToken": Good(204),
    "createTicket": Good(201), "createLoginLink": Good(201), "logout": Good(204), "whoami": Good(), "login": Good(), "loginWithToken": Good(303, form="token={token}"),
    "healthz": Good(), "readyz": Good(), "metrics": Good(), "openapi": Good(), "page": Good(), "pageAsset": Good(),
}


@pytest.fixture(scope="module")
def shared_server(tmp_path_factory):
    """A server that can issue repository tokens."""
    place = tmp_path_factory.mktemp("server")
    (place / "token").write_text("of-the-file\n")
    server = Server(place / "data", config=f"runners:\n  token_file: {place / 'token'}\n").start()
    yield server
    server.kill()


def operation(method, path):
    return DESCRIPTION.document["paths"][path][method.lower()]


@pytest.fixture
def world(server, api, runner):
    """The data of the operations: a task with something of everything, which a runner works on."""
    task, waiting, failed = new_task(api, agent="someone", title="All of it", repo={"url": "https://example.com/a.git"}), new_task(api, agent="waited-for"), new_task(api)
    end_task(runner, failed, "failed")
    lease = runner.post("/api/v1/claims", json={"runner": "r", "agents": ["someone"], "taskID": task}).json()
    post_events(runner, task, {"type": "tool_call", "tool": "Bash", "summary": "a needle", "input": {"command": "y" * 2000}, "detail": {"raw": "z"}},
                {"type": "session_start", "summary": "x", "sessionID": task}, {"type": "finding", "summary": "f", "data": {"severity": "high", "category": "c", "confidence": 0.5}},
                {"type": "usage", "summary": "u", "sessionID": task, "data": {"costUSD": 1, "inputTokens": 2}},
                {"type": "approval", "tool": "Bash", "summary": "May I?", "data": {"approvalID": "a1", "state": "pending", "kind": "permission", "input": {"command": "ls"}}},
                headers={"Shepherd-Lease": str(lease["leaseEpoch"])})
    asset = re.search(r"assets/([\w.-]+)", httpx.get(server.public + "/", trust_env=False).text)[1]
    token = api.post("/api/v1/tokens", json={"name": "x", "scope": "viewer"}).json()
    (call,) = [e["sequence"] for e in api.get(f"/api/v1/tasks/{task}/events").json()["events"] if e["type"] == "tool_call"]
    yield {"task": task, "call": call, "failed": api.get(f"/api/v1/tasks/{failed}").json(), "token": token, "asset": asset, "epoch": lease["leaseEpoch"]}
    for each in (task, waiting, failed):
        api.delete(f"/api/v1/tasks/{each}")


class Asker:
    """Sends requests to an operation and checks each answer against the description."""

    def __init__(self, server, method, path, world):
        self.server, self.method, self.path, self.world = server, method, path, world
        self.described = operation(method, path)
        self.listener = "public" if "public" in DESCRIPTION.listeners(self.described) else "internal"
        self.base = getattr(server, self.listener)
        self.good = GOOD[self.described["operationId"]]

    def target(self, owner=None):
        owner = owner or (self.world["token"]["id"] if "/tokens/" in self.path else self.world["task"])
        found = self.path.replace("{id}", owner).replace("{sequence}", str(self.world["call"])).replace("{name}", self.world["asset"])
        assert "{" not in found, f"{self.path} has a parameter that this test does not know"
        return found

    def body(self):
        if self.good.form:
            return self.good.form.format(token=self.server.token).encode(), "application/x-www-form-urlencoded"
        if self.good.body is None:
            return None, None
        special = {"renewLease": {"runner": "r", "leaseEpoch": self.world["epoch"]},
                   "dismissNeed": {"taskID": self.world["failed"]["id"], "sequence": self.world["failed"]["lastSequence"]}}
        return json.dumps(special.get(self.described["operationId"], self.good.body)).encode(), JSON

    def ask(self, headers=(), owner=None, query=None, **options):
        content, media = self.body()
        content, media = options.get("content", content), options.get("media", media)
        sent = {**self.good.headers, **self.server.headers(), "Shepherd-Lease": str(self.world["epoch"]), **({"Content-Type": media} if media else {}), **dict(headers)}
        if self.good.form:
            sent.setdefault("Origin", self.base)
        sent = {name: value for name, value in sent.items() if value is not None}
        url = self.base + self.target(owner) + (self.good.query if query is None else query)
        with httpx.stream(self.method, url, headers=sent, content=content, trust_env=False, timeout=20) as answer:
            media = answer.headers.get("content-type", "").split(";")[0]
            body = next(answer.iter_raw(), b"") if media == "text/event-stream" else answer.read()
        complaint = DESCRIPTION.complaint(self.listener, self.method, self.target(owner), answer.status_code, media, body)
        assert complaint is None, complaint
        return answer.status_code


@pytest.fixture
def asker(server, world, request):
    return Asker(server, *request.param, world)


def each(wanted=lambda described: True):
    chosen = [(method, path) for method, path in OPERATIONS if wanted(operation(method, path))]
    return pytest.mark.parametrize("asker", chosen, ids=[" ".join(one) for one in chosen], indirect=True)


# --- the description itself ---

@pytest.fixture(scope="module")
def served(shared_server):
    answer = httpx.get(shared_server.public + "/openapi.json", trust_env=False)
    assert answer.status_code == 200 and answer.headers["content-type"] == JSON
    return answer.json()


def test_it_is_valid(served):
    assert served["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(served).validate()


def test_what_is_served_is_what_answers_are_held_against(served):
    differs = [part for part in DESCRIPTION.document if served.get(part) != DESCRIPTION.document[part]]
    assert differs == [] and set(served) == set(DESCRIPTION.document)


def test_operations_describe_their_answers():
    for method, path in OPERATIONS:
        described = operation(method, path)
        assert described.get("summary"), f"{method} {path}"
        assert any(status < "400" for status in described["responses"]), f"{method} {path} never succeeds"


def test_every_operation_has_a_good_request():
    assert sorted(GOOD) == sorted(operation(*one)["operationId"] for one in OPERATIONS)


# --- its schemas: in the document, and as the files of docs/schemas ---

FILES = sorted((Path(__file__).resolve().parents[2] / "docs" / "schemas").glob("*.schema.json"))
SCHEMAS = DESCRIPTION.document["components"]["schemas"]


@pytest.fixture(scope="module")
def published():
    """Loads the files of docs/schemas as a reader would: one registry, nothing fetched."""
    texts = {path.name: json.loads(path.read_text()) for path in FILES}
    registry = Registry().with_resources((name, Resource.from_contents(text)) for name, text in texts.items())
    return {name: jsonschema.Draft202012Validator(text, registry=registry) for name, text in texts.items()}


@pytest.mark.parametrize("path", FILES, ids=[path.name for path in FILES])
def test_a_published_schema_judges_like_the_description(published, path):
    """Checks its own examples, those of every other schema, and each example without one of its required members."""
    validator = published[path.name]
    name = validator.schema["title"]
    for other in SCHEMAS.values():
        for example in other.get("examples", []):
            for missing in (None, *example):
                value = {key: each for key, each in example.items() if key != missing}
                expected = DESCRIPTION.complaint_of(name, value, strict=False) is None
                assert validator.is_valid(value) == expected, (name, value)
                assert expected or missing or other is not SCHEMAS[name], f"an example of {name} is wrong: {value}"


def test_every_schema_is_used():
    text = json.dumps(DESCRIPTION.document)
    assert [name for name in SCHEMAS if f'"#/components/schemas/{name}"' not in text] == []


# --- the checker: what it must reject ---

(EVENT, _) = SCHEMAS["Event"]["examples"]


@pytest.mark.parametrize("status,media,body,word", [
    (500, "application/problem+json", {}, "is not described"),
    (200, "text/html", {}, "described as application/json"),
    (200, JSON, {"person": "p"}, "'scope' is a required property"),
    (200, JSON, {"person": "p", "scope": "viewer", "secret": "s"}, "'secret' was unexpected"),
    (200, JSON, {"person": "p", "scope": "emperor"}, "is not one of"),
    (401, "application/problem+json", {"status": 401}, "required property"),
])
def test_a_wrong_answer_is_noticed(status, media, body, word):
    assert word in DESCRIPTION.complaint("public", "GET", "/api/v1/whoami", status, media, json.dumps(body).encode())


def test_an_answer_that_must_not_exist_is_noticed():
    assert "not described" in DESCRIPTION.complaint("internal", "GET", "/api/v1/whoami", 200, JSON, b"{}")
    assert "not described" in DESCRIPTION.complaint("public", "GET", "/nowhere", 200, JSON, b"{}")
    assert "without a body" in DESCRIPTION.complaint("public", "POST", "/api/v1/logout", 204, "", b"x")


@pytest.mark.parametrize("name,value,word", [
    ("StreamMessage", {"type": "caught_up", "data": {"number": 3}}, "not valid under any"),
    ("StreamMessage", {"type": "told", "data": {}}, "'told' is not one of"),
    ("StreamMessage", {"type": "inbox_update", "data": {"total": 1}, "colour": "red"}, "'colour'"),
    ("StreamMessage", {"type": "inbox_update", "data": {"total": 1, "colour": "red"}}, "'colour' was unexpected"),
    ("SseMessage", {"event": "task_complete", "data": {"taskID": "t"}, "id": "3.end"}, "is a required property"),
    ("SseMessage", {"event": "caught_up", "data": {"sequence": 3}}, "'id' is a required property"),
    ("Event", {**EVENT, "type": "approval", "data": {"state": "open"}}, "'approvalID' is a required property"),
    ("Event", {**EVENT, "timestamp": "2026-02-18T14:00:00Z"}, "does not match"),
])
def test_a_wrong_message_is_noticed(name, value, word):
    assert word in DESCRIPTION.complaint_of(name, value)


CALLBACK = {"taskID": "t", "event": "progress", "message": "half", "details": {"percent": 50, "lastSequence": 2}}
SIGNED = {"webhook-id": "t.1", "webhook-timestamp": "1771423260", "webhook-signature": "v1,YQ==", "x-shepherd-signature": "sha256=" + "0" * 64,
          "content-type": JSON}


@pytest.mark.parametrize("headers,body,word", [
    ({"webhook-id": None}, {}, "lacks the header webhook-id"),
    ({"x-shepherd-signature": "sha256=x"}, {}, "does not match"),
    ({"content-type": "text/plain"}, {}, "described as application/json"),
    ({}, {"event": "told"}, "is not one of"),
    ({}, {"event": "completed"}, "'state' is a required property"),
    ({}, {"colour": "red"}, "'colour' was unexpected"),
])
def test_a_wrong_callback_is_noticed(headers, body, word):
    sent = {name: value for name, value in {**SIGNED, **headers}.items() if value is not None}
    assert DESCRIPTION.complaint_of_callback(SIGNED, json.dumps(CALLBACK).encode()) is None
    assert word in DESCRIPTION.complaint_of_callback(sent, json.dumps({**CALLBACK, **body}).encode())


def test_members_of_parts_are_counted_together():
    """`allOf` lists some members in each part; each of them is allowed, and no other is."""
    document = {"servers": [{"description": "public"}], "paths": {"/x": {"get": {"responses": {"200": {"content": {JSON: {"schema": {
        "allOf": [{"type": "object", "properties": {"a": {}}}, {"type": "object", "properties": {"b": {}}}]}}}}}}}}}
    judge = lambda value: Description(document).complaint("public", "GET", "/x", 200, JSON, json.dumps(value).encode())  # noqa: E731
    assert judge({"a": 1, "b": 2}) is None
    assert "'c' was unexpected" in judge({"a": 1, "c": 2})


# --- each operation ---

def needs_credentials(described):
    return "security" not in described


def takes_json(described):
    return JSON in described.get("requestBody", {}).get("content", {})


@each()
def test_a_good_request(asker):
    assert asker.ask() == asker.good.status


@each(lambda described: any(described is operation(*one) for one in OPERATIONS if one[0] == "GET"))
def test_head_answers_as_get_does(asker):
    """The checker rejects a body."""
    asker.method = "HEAD"
    assert asker.ask() == asker.good.status


@each()
def test_another_method_is_told_which_ones_there_are(asker):
    here = {method for method, path in OPERATIONS if path == asker.path and asker.listener in DESCRIPTION.listeners(operation(method, path))}
    answer = httpx.request("PROPFIND", asker.base + asker.target(), headers=asker.server.headers(), trust_env=False, timeout=20)
    assert answer.status_code == 405
    assert set(answer.headers["allow"].split(", ")) == here | ({"HEAD"} if "GET" in here else set())


@each(needs_credentials)
def test_without_credentials(asker):
    assert asker.ask({"Authorization": None}) == 401
    assert asker.ask({"Authorization": "Bearer shp_wrong"}) == 401


@each()
def test_under_a_name_that_is_not_ours(asker):
    assert asker.ask({"Host": "evil.example"}) == 403


@each(takes_json)
def test_bodies_that_are_wrong(asker):
    assert asker.ask(content=b"{") == 400
    assert asker.ask(content=b"7") == 400
    assert asker.ask(media="text/plain") == 415
    inflated = asker.path in ("/v1/logs", "/v1/metrics", "/v1/traces")  # exporters compress; this body is not compressed
    assert asker.ask({"Content-Encoding": "gzip"}) == (400 if inflated else 415)
    assert asker.ask(content=b" " * (33 << 20)) == 413


@each(lambda described: "requestBody" not in described and any(described is operation(*one) for one in OPERATIONS if one[0] != "GET"))
def test_a_body_that_nobody_asked_for(asker):
    assert asker.ask(content=b"hello", media="text/plain") == 415


# Without a lease the request gets the answer of a lost one.
# A runner may say that it is there, or leaves, at any time.
OF_NOBODY = {"postDeltas": 409, "renewLease": 409, "reportRunner": 200, "removeRunner": 204}


@each(lambda described: any("{id}" in path for method, path in OPERATIONS if operation(method, path) is described))
def test_of_something_that_is_not_there(asker):
    assert asker.ask(owner=new_id("nobody")) == OF_NOBODY.get(asker.described["operationId"], 404)
