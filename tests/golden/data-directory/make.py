"""Makes the data directory of the present program, with something of everything in it, and records what the API serves from it.

    SHEPHERD_BIN=build/dev/bin/shepherd build/venv/bin/python -B tests/golden/data-directory/make.py NAME

writes NAME/data.tar.xz and NAME/served.json beside this file. tests/e2e/test_data_directory.py opens every directory that is kept here.
Nothing in it goes by the clock: no lease, deadline, token or retention ends, however much later it is opened.
"""

import json
import os
import sys
import tarfile
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parents[1] / "e2e"))

from server import Server  # noqa: E402
from tasks import eventually  # noqa: E402

CONFIG = """\
runners: {lease_seconds: 3600}
retention: {days: 0, stats_days: 0}
inbox: {stalled_seconds: 86400}
hooks: {session_idle_seconds: 0}
"""
FOREVER = "2999-01-01T00:00:00Z"
LEFT_BEHIND = ("-shm", "lock", "server.json", ".tmp")  # of a running process, not data


class Maker:
    def __init__(self, server, receiver):
        self.server, self.receiver, self.api, self.runner = server, receiver, server.api(), server.runner()

    def task(self, name, **members):
        answer = self.api.post("/api/v1/tasks", json={"id": name, "prompt": f"The task {name}", **members}, headers={"Idempotency-Key": f"key-{name}"})
        assert answer.status_code == 201, answer.text
        return name

    def events(self, task, *events, **headers):
        answer = self.runner.post(f"/api/v1/tasks/{task}/events", json=list(events), headers=headers)
        assert answer.status_code == 200, answer.text

    def status(self, task, event, **members):
        assert self.runner.post(f"/api/v1/tasks/{task}/status", json={"event": event, **members}).status_code == 200

    def command(self, task, name, **members):
        answer = self.api.post(f"/api/v1/tasks/{task}/commands", json={"id": name, **members})
        assert answer.status_code == 202, answer.text
        return answer.json()["state"]

    def result(self, task, name, state, **members):
        self.events(task, {"type": "command_result", "summary": state, "data": {"id": name, "state": state, **members}})

    # --- what is in the directory ---

    def tasks_in_all_states(self):
        self.task("queued", agent="unknown")
        self.task("starting", agent="claimed")
        assert self.runner.post("/api/v1/claims", json={"runner": "r", "agents": ["claimed"], "taskID": "starting"}).status_code == 200
        for state in ("running", "waiting_for_input", "paused", "interrupted"):
            self.task(state, labels={"team": "web"}, workflowID="w")
            self.events(state, {"type": "status", "summary": state, "data": {"state": state}})
        self.task("completed", title="A title", repo={"url": "https://example.com/a.git", "ref": "main"}, model="m", maxTurns=3, budget=1.5)
        self.events("completed", {"type": "session_start", "summary": "started", "sessionID": "s0"})
        self.status("completed", "completed", message="Done", details={"prURL": "https://example.com/pull/1"})
        self.task("failed", resumeOf="completed")
        self.status("failed", "failed", message="It broke", details={"error": "broken"})
        for state in ("timed_out", "cancelled"):
            self.task(state)
            self.status(state, "failed", details={"reason": state})
        self.events("cancelled", {"type": "output", "summary": "too late"})

    def a_full_log(self):
        """Of a strict producer, with details, cut texts, usage, findings and a sub-agent."""
        self.task("full")
        events = [{"type": "session_start", "summary": "started", "sessionID": "s1", "data": {"model": "m", "tools": ["Bash"]}},
                  {"type": "tool_call", "tool": "Bash", "callID": "c1", "summary": "Running the needle", "input": {"command": "y" * 3000},
                   "detail": {"raw": {"whole": "z" * 500}}},
                  {"type": "tool_result", "tool": "Bash", "callID": "c1", "summary": "ok", "output": {"success": True, "summary": "w" * 2000}, "durationMS": 1200},
                  {"type": "tool_result", "tool": "Read", "callID": "c2", "summary": "no", "output": {"success": False, "summary": "gone"}, "parentCallID": "c1"},
                  {"type": "finding", "summary": "A hole", "data": {"severity": "high", "category": "c", "confidence": 0.5}},
                  {"type": "error", "summary": "oops", "data": {"code": "e", "fatal": False}},
                  {"type": "usage", "summary": "0.34 USD", "sessionID": "s1", "data": {"costUSD": 0.34, "inputTokens": 10, "outputTokens": 20, "turns": 2}},
                  {"type": "of-tomorrow", "summary": "an unknown type", "data": {"any": [1, None, "é"]}, "extra": True}]
        self.events("full", *({"sequence": i, **event} for i, event in enumerate(events, 1)), **{"Shepherd-Producer": "spool-1"})

    def commands_and_approvals(self):
        self.task("steered", agent="steered")
        lease = self.runner.post("/api/v1/claims", json={"runner": "r", "agents": ["steered"], "taskID": "steered"}).json()["leaseEpoch"]
        self.events("steered", {"type": "status", "summary": "running", "data": {"state": "running", "confined": "secrets", "capabilities": {
            "commands": ["steer", "approve", "deny", "answer"], "acknowledges": ["steer"], "approvals": True}}}, **{"Shepherd-Lease": str(lease)})
        assert self.command("steered", "acknowledged", kind="steer", content="Look here") == "accepted"
        self.result("steered", "acknowledged", "delivered")
        self.result("steered", "acknowledged", "acknowledged")
        self.command("steered", "delivered", kind="steer", content="And there")
        self.result("steered", "delivered", "delivered")
        assert self.command("steered", "unsupported", kind="interrupt") == "refused"
        for name, kind in (("a1", "permission"), ("a2", "permission"), ("a3", "question")):
            self.events("steered", {"type": "approval", "tool": "Bash", "summary": f"May I {name}?", "data": {
                "approvalID": name, "state": "open", "kind": kind, "input": {"command": "git push"}}})
        self.command("steered", "yes", kind="approve", approvalID="a1")
        self.result("steered", "yes", "delivered")
        self.command("steered", "expired", kind="steer", content="No runner takes it", expiresSeconds=1)
        eventually(lambda: any(c["id"] == "expired" and c["state"] == "expired" for c in self.api.get("/api/v1/tasks/steered").json()["commands"]))

    def callbacks(self):
        for name, url in (("told", self.receiver), ("untold", "http://127.0.0.1:9/refused")):
            self.task(name, callbackURL=url)
            self.status(name, "completed")
        eventually(lambda: self.api.get("/api/v1/tasks/told").json()["callback"]["state"] == "sent")
        eventually(lambda: self.api.get("/api/v1/tasks/untold").json()["callback"]["attempts"] >= 1)

    def deleted_and_dismissed(self):
        self.task("deleted")
        self.events("deleted", {"type": "output", "summary": "forget the needle"})
        assert self.api.delete("/api/v1/tasks/deleted").status_code == 204
        assert self.api.post("/api/v1/inbox/dismiss", json={"taskID": "failed"}).status_code == 200

    def tokens(self):
        """{scope: secret}; and one that is revoked."""
        made = {}
        for scope in ("viewer", "operator", "producer", "admin"):
            made[scope] = self.api.post("/api/v1/tokens", json={"name": f"the {scope}", "scope": scope, "expiresAt": FOREVER}).json()["secret"]
        revoked = self.api.post("/api/v1/tokens", json={"name": "revoked", "scope": "viewer", "expiresAt": FOREVER}).json()
        assert self.api.delete(f"/api/v1/tokens/{revoked['id']}").status_code == 204
        return made, revoked["secret"]


def targets(api):
    """What is asked of the API: every read of everything."""
    tasks = sorted(task["id"] for task in api.get("/api/v1/tasks", params={"limit": 200}).json())
    found = ["/api/v1/tasks?limit=200", "/api/v1/tasks?active=true&limit=200", "/api/v1/tasks?label=team%3Dweb", "/api/v1/tasks?state=failed",
             "/api/v1/inbox", "/api/v1/findings", "/api/v1/tokens", "/api/v1/search?q=needle", "/api/v1/observability/agents",
             "/api/v1/observability/sessions/s1", "/api/v1/tasks/deleted"]
    for task in tasks:
        found += [f"/api/v1/tasks/{task}", f"/api/v1/tasks/{task}/events?detail=1&limit=1000", f"/api/v1/tasks/{task}/timeline?buckets=3"]
    return found + ["/api/v1/tasks/full?at=4", "/api/v1/tasks/full/events/2/detail"]


def normal(target, value):
    """The answer without what goes by the clock or by who is connected now."""
    if isinstance(value, list):
        return [normal(target, each) for each in value]
    if not isinstance(value, dict):
        return value
    value = {key: normal(target, each) for key, each in value.items()}
    if target == "/api/v1/inbox" and "items" in value:
        value = {"items": [item for item in value["items"] if item["kind"] not in ("failed", "stalled")]}
    if value.get("state") == "queued" and "phase" in value:
        value["message"] = ""  # why no runner takes it
    if value.get("state") == "pending" and "attempts" in value:
        value = {"state": "pending"}
    return value


def served(api):
    answers = {}
    for target in targets(api):
        answer = api.get(target)
        answers[target] = [answer.status_code, normal(target, answer.json())]
    return answers


def totals(api):
    """Figures over all time, in steps of days, and none of them by the clock."""
    stats = api.get("/api/v1/stats", params={"from": "2026-01-01T00:00:00Z", "to": "2028-01-01T00:00:00Z", "step": 86400, "by": "model"}).json()
    return {"tools": stats["tools"], "totals": stats["totals"], "keys": [each["key"] for each in stats["series"]]}


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        self.rfile.read(int(self.headers["content-length"]))
        self.send_response(200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *_):
        pass


def make(out):
    with tempfile.TemporaryDirectory() as place:
        data, callbacks = Path(place) / "data", HTTPServer(("127.0.0.1", 0), Receiver)
        threading.Thread(target=callbacks.serve_forever, daemon=True).start()
        server = Server(data, config=CONFIG).start()
        maker = Maker(server, f"http://127.0.0.1:{callbacks.server_port}/told")
        for step in (maker.tasks_in_all_states, maker.a_full_log, maker.commands_and_approvals, maker.callbacks, maker.deleted_and_dismissed):
            step()
        secrets, revoked = maker.tokens()
        head = lambda: maker.api.get("/api/v1/stats").json()  # noqa: E731
        eventually(lambda: head()["indexedThrough"] == head()["head"] and maker.api.get("/api/v1/search?q=needle").json()["results"])
        assert server.stop() == 0
        server.start()  # what is recorded has been read from disk
        with server.api() as api:
            record = {"version": api.get("/healthz").json()["version"], "tokens": secrets, "revoked": revoked, "served": served(api), "totals": totals(api)}
        assert server.stop() == 0
        out.mkdir()
        with tarfile.open(out / "data.tar.xz", "w:xz") as archive:
            for path in sorted(data.iterdir()):
                if not path.name.endswith(LEFT_BEHIND):
                    archive.add(path, path.name, filter=lambda entry: entry.replace(uid=0, gid=0, uname="", gname="", mtime=0, deep=False))
        record["served"] = {target: json.dumps(answer, ensure_ascii=False, sort_keys=True) for target, answer in record["served"].items()}
        (out / "served.json").write_text(json.dumps(record, indent=1, ensure_ascii=False, sort_keys=True) + "\n")


if __name__ == "__main__":
    assert len(sys.argv) == 2 and os.environ.get("SHEPHERD_BIN"), __doc__
    make(HERE / sys.argv[1])
