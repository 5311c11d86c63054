"""Telemetry: the exporters of Python's OpenTelemetry, and the real Claude Code with its telemetry on."""

import json
import subprocess
import uuid

import httpx
import pytest
from opentelemetry._logs import LogRecord, SeverityNumber
from opentelemetry.exporter.otlp.proto.http import Compression
from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import SimpleLogRecordProcessor
from opentelemetry.sdk.resources import Resource

from agent_run import AgentRun
from agents import CLAUDE, claude_environment, needs_claude
from model_api import ModelAPI, Reply, text, tool
from tasks import new_id
from test_hooks import events_of, wait_for


def headers(server):
    return {"Authorization": f"Bearer {server.token}"}


@pytest.mark.parametrize("compression", [Compression.NoCompression, Compression.Gzip])
def test_the_official_exporter(server, api, compression):
    """Protobuf as the official library writes it, plain and gzip."""
    exporter = OTLPLogExporter(endpoint=f"{server.internal}/v1/logs", headers=headers(server), compression=compression)
    provider = LoggerProvider(resource=Resource.create({"service.name": "my-agent"}))
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    session = new_id("otel")
    logger = provider.get_logger("test")
    for name in ("begun", "step_done"):
        logger.emit(LogRecord(timestamp=1_771_423_200_000_000_000, severity_number=SeverityNumber.INFO, severity_text="INFO",
                              body=f"a {name}", attributes={"session.id": session, "event.name": name, "list": [1, 2]}))
    provider.shutdown()
    task = f"my-agent-{session}"
    events = wait_for(lambda: api.get(f"/api/v1/tasks/{task}").status_code == 200 and events_of(api, task), "the task")
    assert [e["type"] for e in events] == ["session_start", "log", "log"]
    assert events[2]["summary"] == "step done: a step_done"
    detail = api.get(f"/api/v1/tasks/{task}/events/3/detail").json()
    assert detail["raw"]["list"] == [1, 2]


def test_a_body_that_grows_without_end(server):
    import gzip
    bomb = gzip.compress(b" " * (16 << 20))
    answer = httpx.post(f"{server.internal}/v1/logs", content=bomb,
                        headers={**headers(server), "Content-Type": "application/json", "Content-Encoding": "gzip"})
    assert answer.status_code == 413 and answer.json()["reason"] == "inflates_too_much"


def telemetry(server, protocol, **more):
    return {"CLAUDE_CODE_ENABLE_TELEMETRY": "1", "OTEL_LOGS_EXPORTER": "otlp", "OTEL_METRICS_EXPORTER": "otlp",
            "OTEL_EXPORTER_OTLP_PROTOCOL": protocol, "OTEL_EXPORTER_OTLP_ENDPOINT": server.internal,
            "OTEL_EXPORTER_OTLP_HEADERS": f"Authorization=Bearer {server.token}", "OTEL_LOGS_EXPORT_INTERVAL": "500",
            "OTEL_METRIC_EXPORT_INTERVAL": "500", "OTEL_LOG_USER_PROMPTS": "1", "OTEL_LOG_TOOL_DETAILS": "1", **more}


def exported(api):
    """How many exports the server has answered with 200."""
    text_of_all = api.get("/metrics").text
    return sum(float(line.split()[-1]) for line in text_of_all.splitlines()
               if line.startswith("shepherd_http_requests_total") and '"/v1/logs"' in line and 'code="200"' in line)


def run_claude(server, tmp_path, session, environment, hooks):
    """Two calls, one of which fails, and a last word; returns what the agent itself says that it used."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (work / "notes.txt").write_text("x")
    if hooks:
        server.cli("hook", "install", env={"HOME": str(home)})
    model = ModelAPI([Reply(text("Looking."), tool("Bash", command="ls")), Reply(tool("Bash", command="cat missing.txt")),
                      Reply(text("All done."))]).start()
    try:
        result = subprocess.run([CLAUDE, "-p", "List the files", "--session-id", session, "--allowedTools", "Bash",
                                 "--output-format", "json"], cwd=work, env={**claude_environment(home, model.url), **environment},
                                capture_output=True, text=True, timeout=180, stdin=subprocess.DEVNULL)
    finally:
        model.stop()
    assert result.returncode == 0, result.stdout + result.stderr
    return json.loads(result.stdout)


@needs_claude
@pytest.mark.parametrize("hooks", [False, True], ids=["telemetry alone", "beside hooks"])
@pytest.mark.parametrize("protocol", ["http/json", "http/protobuf"])
def test_the_real_claude_code(server, api, tmp_path, protocol, hooks):
    session = str(uuid.uuid4())
    said = run_claude(server, tmp_path, session, telemetry(server, protocol), hooks)
    task = f"claude-{session}"
    cost = said["total_cost_usd"]

    def counted():
        answer = api.get(f"/api/v1/tasks/{task}")
        return (answer.status_code == 200 and abs(answer.json()["usage"]["costUSD"] - cost) < 1e-9 and answer.json())
    shown = wait_for(counted, "the cost, once", 60)
    assert cost > 0 and shown["title"] == "List the files" and shown["sessionID"] == session
    assert shown["usage"]["inputTokens"] == said["usage"]["input_tokens"]
    assert shown["usage"]["outputTokens"] == said["usage"]["output_tokens"]
    if hooks:
        wait_for(lambda: api.get(f"/api/v1/tasks/{task}").json()["status"]["state"] == "completed", "the end", 60)
    events = events_of(api, task)
    kinds = [e["type"] for e in events]
    assert kinds.count("session_start") == 1
    assert [e["data"]["content"] for e in events if e["type"] == "message"] == ["List the files"]
    calls = [e for e in events if e["type"] == "tool_call"]
    assert [c["summary"] for c in calls] == ["Running ls", "Running cat missing.txt"]
    results = [e for e in events if e["type"] == "tool_result"]
    assert [r["output"]["success"] for r in results] == [True, False]
    assert [r["callID"] for r in results] == [c["callID"] for c in calls]
    assert [e["data"]["text"] for e in events if e["type"] == "thinking"][-1] == "All done."
    assert kinds.count("thinking") == (1 if hooks else 2)
    tasks = [t["id"] for t in api.get("/api/v1/tasks", params={"text": session}).json()]
    assert tasks == [task]


@needs_claude
def test_a_runners_task_with_telemetry_on(server, api, tmp_path):
    """The stream tells the steps and the figures; telemetry adds neither a task nor a step."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    model = ModelAPI([Reply(tool("Bash", command="ls")), Reply(text("All done."))]).start()
    before = exported(api)
    try:
        with AgentRun(server, ["List the files", "--agent", "claude", "--program", CLAUDE, "--mode", "autonomous"], work,
                      {**claude_environment(home, model.url), **telemetry(server, "http/json")}) as run:
            task, code = run.to_end()
    finally:
        model.stop()
    assert code == 0, run.story()
    assert exported(api) > before, "the agent exported nothing"
    events = events_of(api, run.task)
    for kind in ("session_start", "tool_call", "tool_result"):
        assert [e["type"] for e in events].count(kind) == 1, run.story()
    assert [e for e in events if e.get("data", {}).get("stream") == "telemetry"] == []
    stream = [e for e in events if e["type"] == "usage" and e["data"].get("source") != "telemetry"][-1]
    assert task["usage"]["costUSD"] == stream["data"]["costUSD"] > 0
    # A task of its own would be named after the session.
    assert task["sessionID"]
    assert api.get("/api/v1/tasks", params={"text": task["sessionID"]}).json() == []
