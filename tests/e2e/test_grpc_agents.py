"""`shepherd run --agent grpc` and runners against a real gRPC peer: live, steered, interrupted, broken, replayed."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import grpc
import pytest
import yaml

import grpc_agent
import typed_agent
from agent_run import AgentRun
from server import BINARY

WAITING = {"wait": "end"}


@pytest.fixture(scope="module")
def peer():
    """An agent on loopback."""
    agent = grpc_agent.Agent()
    server, agent.address = grpc_agent.serve(agent)
    yield agent
    server.stop(None)


@pytest.fixture
def run(server, peer, tmp_path):
    started = []

    def start(*steps, args=None, env=None):
        goal = steps[0] if steps and isinstance(steps[0], str) else json.dumps(list(steps))
        where = ["--agent", "grpc", "--address", peer.address] if args is None or "--agent" not in args else []
        work = tmp_path / f"work{len(started)}"
        work.mkdir()
        started.append(AgentRun(server, [*where, *(args or ()), goal], work, {**server.env, **(env or {})}))
        return started[-1]

    yield start
    for each in started:
        each.__exit__()


def summaries(agent, kind):
    return [event["summary"] for event in agent.of_type(kind)]


def last_request(peer, kind):
    return [getattr(r, kind) for r in peer.received if r.WhichOneof("payload") == kind][-1]


# --- messages of an agent ---

def test_every_message_becomes_an_event(run, peer):
    finding = {"id": "f-1", "title": "Prompt injection", "severity": "high", "confidence": 0.95, "category": "prompt_injection",
               "mitre_techniques": ["AML.T0051"], "evidence": [{"type": "http_request", "title": "Prompt", "content": "Ignore"}]}
    agent = run({"say": "I think", "reasoning": True}, {"say": "and do"}, {"tool": "http-client", "input": {"url": "https://a.example"}, "result": {"code": 200}},
                {"tool": "nmap", "result": "closed", "success": False}, {"finding": finding}, {"error": "LLM_TIMEOUT", "message": "after 30 s"},
                {"status": "WAITING_FOR_INPUT", "message": "which one?"}, {"wait": "steering"}, {"status": "COMPLETED", "message": "two endpoints checked"})
    agent.until_state("waiting_for_input")
    assert agent.api.get(f"/api/v1/tasks/{agent.task}").json()["status"]["state"] == "waiting_for_input"
    answer = agent.command("steer", content="the first", metadata={"priority": "high", "weight": 3})
    assert answer["state"] == "acknowledged" and answer["reason"] == "heard the first"
    task, code = agent.to_end()
    assert code == 0 and task["status"]["state"] == "completed", agent.story()
    assert agent.events[-1]["data"]["message"] == "two endpoints checked"
    assert agent.events[-1]["data"]["stream"] == {"address": peer.address, "status": "OK"}

    thought, said = agent.of_type("thinking")[0], agent.of_type("output")[0]
    assert thought["data"] == {"kind": "reasoning", "text": "I think"} and said["data"] == {"text": "and do"}
    call, result = agent.of_type("tool_call")[0], agent.of_type("tool_result")[0]
    assert call["tool"] == "http-client" and call["input"] == {"url": "https://a.example"} and call["callID"] == result["callID"]
    assert result["tool"] == "http-client" and result["output"]["success"] and result["durationMS"] >= 0
    assert not agent.of_type("tool_result")[1]["output"]["success"]
    found = agent.of_type("finding")[0]
    assert "high" in found["summary"] and "Prompt injection" in found["summary"]
    assert found["data"]["mitreTechniques"] == ["AML.T0051"] and found["data"]["confidence"] == 0.95
    assert found["data"]["evidence"][0]["content"] == "Ignore"
    error = agent.of_type("error")[0]
    assert error["data"] == {"code": "LLM_TIMEOUT", "message": "after 30 s", "fatal": False, "recoverable": True}
    # Its COMPLETED is a status without an end; the runner reports the end once the stream is closed.
    said_so = [e for e in agent.of_type("status") if e["data"].get("agentState") == "completed"]
    assert len(said_so) == 1 and "state" not in said_so[0]["data"]

    steering = last_request(peer, "steering")
    assert steering.content == "the first" and dict(steering.metadata)["priority"] == "high" and dict(steering.metadata)["weight"] == "3"
    assert peer.started[-1]["id"] == agent.task and peer.started[-1]["goal"].startswith("[")
    # The trace of the run, and the agent's own record of each event.
    trace = peer.metadata[-1]["traceparent"].split("-")
    assert re.fullmatch("[0-9a-f]{32}", trace[1]) and re.fullmatch("[0-9a-f]{16}", trace[2])
    assert call["traceID"] == trace[1] and call["spanID"] == "1" * 16
    detail = agent.api.get(f"/api/v1/tasks/{agent.task}/events/{call['sequence']}/detail").json()
    assert json.loads(detail["raw"]["tool_call"]["input_json"]) == {"url": "https://a.example"}
    ack = [e for e in agent.of_type("command_result") if e["data"]["state"] == "acknowledged"][0]
    detail = agent.api.get(f"/api/v1/tasks/{agent.task}/events/{ack['sequence']}/detail").json()
    assert detail["raw"]["steering_ack"]["response"] == "heard the first"


def test_the_mode_and_context_of_the_task_go_with_the_start(run, peer, server, tmp_path):
    agent = run("look", args=["--mode", "autonomous"])
    assert agent.to_end()[1] == 0
    assert last_request(peer, "start").initial_mode == grpc_agent.pb.AGENT_MODE_AUTONOMOUS
    agent = run("look", args=["--mode", "interactive"])
    assert agent.to_end()[1] == 0
    assert last_request(peer, "start").initial_mode == grpc_agent.pb.AGENT_MODE_INTERACTIVE


def test_a_chatty_agent_does_not_flood_the_log(run, server):
    agent = run({"say": "ready"}, {"status": "RUNNING"}, {"wait": "steering"}, {"burst": 1000}, {"say": "end"})
    agent.until(lambda event: event["summary"] == "ready")
    with server.websocket(f"/api/v1/tasks/{agent.task}/events?after=0&deltas=1") as live:
        agent.send("steer", content="go")
        deltas = []
        while True:
            message = live.next()
            if message.type == "delta":
                deltas.append(message.data["text"])
            if message.type == "task_complete":
                break
    task, code = agent.to_end()
    texts = [event["data"]["text"] for event in agent.of_type("output")]
    assert "".join(texts).endswith("".join(f"{i} " for i in range(1000)) + "end")
    assert len(texts) < 20, len(texts)
    assert deltas, "nothing was seen of it before it was whole"


def test_gaps_repeats_and_unknown_messages_are_named(run):
    agent = run({"say": "a"}, {"number": 7}, {"tool": "x", "result": 1}, {"again": True}, {"unknown": True}, {"number": 3}, {"say": "late"})
    task, code = agent.to_end()
    assert code == 0, agent.story()
    logs = [event["data"] for event in agent.of_type("log")]
    assert {"stream": "sequence", "missing": {"from": 3, "to": 6}} in logs
    assert {"stream": "sequence", "repeated": 8} in logs
    assert {"stream": "sequence", "late": 3} in logs
    assert any("not known here" in text for text in summaries(agent, "log"))
    assert len(agent.of_type("tool_result")) == 1 and "late" in agent.story()


# --- commands of operators ---

def test_interrupted_and_resumed_with_guidance(run, peer):
    agent = run({"say": "begin"}, {"wait": "steering"})
    agent.until(lambda event: event["summary"] == "begin")
    assert agent.command("interrupt", reason="wrong path")["state"] == "acknowledged"
    assert agent.of_type("status")[-1]["data"] == {"state": "interrupted", "agentState": "interrupted", "message": "wrong path"}
    assert agent.command("interrupt")["state"] == "refused"
    assert agent.command("resume", guidance='[{"say":"going on"}]')["state"] == "acknowledged"
    agent.until(lambda event: event["summary"] == "going on")
    assert agent.command("resume")["state"] == "refused", "it is not interrupted any more"
    assert agent.command("steer", content="finish")["state"] == "acknowledged"
    assert agent.to_end()[1] == 0
    assert last_request(peer, "interrupt").reason == "wrong path"


def test_an_agent_whose_last_word_is_interrupted_ends(run):
    """The vendor's library pauses for an interrupt, reports INTERRUPTED when its work is over, and waits for our
    half-close."""
    agent = run({"pauses": True}, {"say": "begin"}, {"wait": "steering"})
    agent.until(lambda event: event["summary"] == "begin")
    assert agent.command("interrupt", reason="wrong path")["state"] == "acknowledged"
    task, _ = agent.to_end()
    assert task["status"]["state"] == "cancelled" and "interrupted" in task["status"]["message"]


def test_its_mode_is_changed(run, peer):
    agent = run({"say": "begin"}, {"wait": "set_mode"}, {"say": "changed"})
    agent.until(lambda event: event["summary"] == "begin")
    name = agent.send("set_mode", mode="autonomous")
    assert agent.settled(name, states=("delivered", "refused"))["state"] == "delivered"
    assert agent.to_end()[1] == 0
    assert last_request(peer, "set_mode").mode == grpc_agent.pb.AGENT_MODE_AUTONOMOUS


def test_what_it_never_acknowledges_expires(run):
    agent = run({"acks": False}, {"say": "begin"}, {"wait": "interrupt"})
    agent.until(lambda event: event["summary"] == "begin")
    result = agent.settled(agent.send("steer", content="hello?", expiresSeconds=1))
    assert result["state"] == "expired" and "did not acknowledge" in result["reason"]
    assert agent.command("queue", content="later")["state"] == "refused"
    agent.send("stop")
    assert agent.to_end()[1] == 9


def test_a_stop_ends_the_stream_and_says_so(run, peer):
    agent = run({"say": "begin"}, {"wait": "steering"})
    agent.until(lambda event: event["summary"] == "begin")
    agent.send("stop", reason="enough")
    task, code = agent.to_end()
    assert code == 9 and task["status"]["state"] == "cancelled"
    end = agent.events[-1]["data"]
    assert end["stoppedBy"] == "interrupt" and end["ended"] == [] and end["message"] == "enough"
    assert end["stream"] == {"address": peer.address, "status": "OK"}


def test_a_deaf_agent_is_cancelled(run, peer):
    agent = run({"say": "begin"}, {"hang": True}, env={"SHEPHERD_RUNNERS_STOP_INTERRUPT_MS": "100", "SHEPHERD_RUNNERS_STOP_SIGINT_MS": "100"})
    agent.until(lambda event: event["summary"] == "begin")
    agent.send("stop")
    task, code = agent.to_end()
    assert code == 9
    end = agent.events[-1]["data"]
    assert end["stoppedBy"] == "cancel" and end["stream"]["status"] == "CANCELLED"
    assert not agent.of_type("error"), "we ended it ourselves"


# --- failures ---

def failed(agent, code=7, state="failed"):
    task, exit_code = agent.to_end()
    assert exit_code == code and task["status"]["state"] == state, agent.story() + str(agent.errors)
    return task, (agent.of_type("error") or [None])[-1]


def test_a_fatal_error_and_a_failure(run):
    task, error = failed(run({"error": "LLM_ERROR", "message": "no quota", "fatal": True}, {"status": "FAILED", "message": "gave up"}))
    assert error["data"]["fatal"] and "no quota" in task["status"]["error"]
    task, error = failed(run({"status": "FAILED", "message": "gave up"}))
    assert task["status"]["error"] == "gave up"


def test_an_end_without_a_word_is_a_failure(run):
    task, _ = failed(run({"status": "RUNNING"}))
    assert "without saying" in task["status"]["error"]


def test_a_stream_that_breaks(server, tmp_path):
    process = subprocess.Popen([sys.executable, grpc_agent.__file__], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        with AgentRun(server, ["--agent", "grpc", "--address", address, json.dumps([{"say": "begin"}, WAITING])], tmp_path, server.env) as agent:
            agent.until(lambda event: event["summary"] == "begin")
            name = agent.send("steer", content="never read")
            process.kill()
            task, error = failed(agent)
            assert error["data"]["code"] == "stream_broken" and error["data"]["grpcStatus"] == "UNAVAILABLE"
            assert "broke off" in task["status"]["error"]
            assert agent.settled(name)["state"] in ("refused", "acknowledged")
    finally:
        process.kill()
        process.wait()


def test_an_agent_that_aborts(run):
    task, error = failed(run({"say": "begin"}, {"abort": "RESOURCE_EXHAUSTED", "message": "too many"}))
    assert "RESOURCE_EXHAUSTED: too many" in error["summary"] and error["data"]["fatal"]


def test_nobody_there(server, tmp_path, peer):
    config = tmp_path / "config.yaml"
    config.write_text("agents: {nobody: {type: grpc, address: 'localhost:1', connect_ms: 300}}\n")
    with AgentRun(server, ["--config", config, "--agent", "nobody", "hello"], tmp_path, server.env) as agent:
        task, error = failed(agent)
        assert error["data"]["code"] == "agent_unreachable" and "is it running" in error["summary"]
        assert "localhost:1" in agent.events[-1]["data"]["stream"]["address"]


def test_somebody_else_there(server, tmp_path):
    other = grpc.server(grpc_agent.futures.ThreadPoolExecutor(2))
    port = other.add_insecure_port("127.0.0.1:0")
    other.start()
    with AgentRun(server, ["--agent", "grpc", "--address", f"127.0.0.1:{port}", "hello"], tmp_path, server.env) as agent:
        _, error = failed(agent)
        assert error["data"]["code"] == "not_a_streaming_agent"
    other.stop(None)


def test_its_time_is_over(run):
    agent = run({"say": "begin"}, {"wait": "steering"}, args=["--timeout", "1s"])
    task, error = failed(agent, 8, "timed_out")
    assert error["data"]["code"] == "timed_out"
    assert agent.events[-1]["data"]["stream"]["status"] == "OK"


# --- credentials ---

@pytest.fixture(scope="module")
def certificate(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tls")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", "key.pem", "-out", "cert.pem"],
                   cwd=folder, check=True, capture_output=True)
    return folder


def test_tls_and_a_token(server, tmp_path, certificate):
    agent = grpc_agent.Agent(token="the-right-one-of-them")
    credentials = grpc.ssl_server_credentials([((certificate / "key.pem").read_bytes(), (certificate / "cert.pem").read_bytes())])
    running, address = grpc_agent.serve(agent, credentials)
    token = tmp_path / "token"
    config = tmp_path / "config.yaml"
    entry = {"type": "grpc", "address": address, "tls": {"ca": str(certificate / "cert.pem")}, "token_file": str(token),
             "metadata": {"x-team": "red", "x-api-key": "metadata-secret"}}
    config.write_text(yaml.safe_dump({"agents": {"auditor": entry}}))

    def audit(goal="[]"):
        return AgentRun(server, ["--config", config, "--agent", "auditor", goal], tmp_path, server.env)

    token.write_text("the-right-one-of-them\n")
    with audit(json.dumps([{"say": "I know the-right-one-of-them and metadata-secret"}])) as good:
        task, code = good.to_end()
        assert code == 0 and task["agent"] == "auditor", good.story()
        assert agent.metadata[-1]["x-team"] == "red"
        assert "the-right-one-of-them" not in json.dumps(good.events) and "metadata-secret" not in json.dumps(good.events)
    token.write_text("another\n")
    with audit() as wrong:
        _, error = failed(wrong)
        assert error["data"]["code"] == "credentials_refused" and "token_file" in error["summary"] and "another" not in error["summary"]
    token.unlink()
    with audit() as missing:
        _, error = failed(missing)
        assert error["data"]["code"] == "cannot_start" and str(token) in error["summary"]
    entry["tls"] = True  # signed by an authority that the system does not trust
    entry["connect_ms"] = 500
    token.write_text("the-right-one-of-them\n")
    config.write_text(yaml.safe_dump({"agents": {"auditor": entry}}))
    with audit() as untrusted:
        _, error = failed(untrusted)
        assert error["data"]["code"] == "agent_unreachable"
    running.stop(None)


def cli(server, *args, check=True):
    return server.cli(*args, check=check)


def test_wrong_words_say_what_to_do(server, tmp_path, peer):
    def said(*args):
        result = server.cli("run", *args, check=False)
        assert result.returncode == 2, result.stdout
        return result.stderr
    assert "--address HOST:PORT" in said("--agent", "grpc", "hello")
    assert "looks like 127.0.0.1:50051" in said("--agent", "grpc", "--address", "nowhere", "hello")
    assert "is for the agent grpc" in said("--address", peer.address, "hello")
    assert "is a service" in said("--agent", "grpc", "--address", peer.address, "--worktree", "hello")
    config = tmp_path / "config.yaml"
    config.write_text(f"agents: {{auditor: {{type: grpc, address: '{peer.address}'}}}}\n")
    assert 'did you mean "auditor"' in said("--config", str(config), "--agent", "auditr", "hello")
    for entry, message in [("{type: http}", "must be one of acp, claude"), ("{type: grpc}", "needs an \"address\""), ("{type: grpc, adress: x}", "did you mean \"address\""),
                           ("{type: grpc, address: 'far.example:1', token_file: x}", "in clear text"),
                           ("{type: grpc, address: 'a:1', metadata: {Big: x}}", "no name for metadata")]:
        config.write_text(f"agents:\n  auditor: {entry}\n")
        assert message in said("--config", str(config), "--agent", "auditor", "hello"), entry


def test_config_shows_agents_but_no_secret(server, tmp_path, peer):
    config = tmp_path / "config.yaml"
    config.write_text(f"agents:\n  auditor:\n    type: grpc\n    address: '{peer.address}'\n    token_file: some/token\n    metadata: {{x-api-key: very-secret}}\n")
    text = cli(server, "config", "--config", config).stdout
    assert peer.address in text and "some/token" in text and "very-secret" not in text
    shown = json.loads(cli(server, "config", "--config", config, "--json").stdout)["agents"]["value"]
    assert shown["auditor"]["metadata"] == {"x-api-key": "(not shown)"}
    config.write_text(text)
    result = server.cli("config", "--config", config, check=False)
    assert result.returncode == 2 and "was hidden" in result.stderr
    config.write_text(text.replace("(not shown)", "very-secret"))
    assert cli(server, "config", "--config", config).stdout.count(peer.address) == 1


# --- many tasks, and replay ---

def ended(server, task):
    with server.websocket(f"/api/v1/tasks/{task}/events?after=0") as feed:
        while True:
            message = feed.next(60)
            if message.type == "task_complete":
                return message.data


def test_runners_claim_tasks_for_agents_they_know(make_server, peer):
    pool = make_server(args=["--runners", "10"], config=f"agents: {{auditor: {{type: grpc, address: '{peer.address}'}}}}\n").start()
    with pool.api() as api:
        goal = json.dumps([{"say": "hello"}, {"tool": "x", "result": 1}, {"wait": "steering"}])
        repo = {"url": "https://git.example/a.git", "ref": "main"}
        made = [api.post("/api/v1/tasks", json={"task": {"description": goal, "context": f"number {i}"}, "agent": "auditor", "repo": repo}).json()["id"] for i in range(10)]
        feeds = {task: pool.websocket(f"/api/v1/tasks/{task}/events?after=0") for task in made}
        for task, feed in feeds.items():  # all at once
            feed.until(lambda message: (message.data or {}).get("type") == "tool_result", 60)
        for task in made:
            assert api.post(f"/api/v1/tasks/{task}/commands", json={"kind": "steer", "content": task}).status_code == 202
        for task, feed in feeds.items():
            seen = feed.until(lambda message: message.type == "task_complete", 60)
            assert seen[-1].data["status"] in ("completed", "Succeeded")
            assert any(f"heard {task}" in json.dumps(message.data) for message in seen), "the ack of another task"
            feed.close()
        contexts = {task["id"]: task.get("context") for task in peer.started}
        assert [contexts[task] for task in made] == [{"text": f"number {i}"} for i in range(10)], "an object, as vendors' agents read it"
        assert all(task["repo"] == repo for task in peer.started if task["id"] in made)
        unknown = api.post("/api/v1/tasks", json={"prompt": "x", "agent": "nobody-knows"}).json()
        assert unknown["status"]["state"] == "queued"


def test_a_task_file(server, peer, tmp_path):
    tasks = tmp_path / "tasks.yaml"
    tasks.write_text(yaml.safe_dump({"parallel": 3, "defaults": {"agent": "grpc", "address": peer.address},
                                     "tasks": [{"name": f"t{i}", "prompt": f"look at {i}"} for i in range(3)] + [{"name": "make", "command": ["true"]}]}))
    result = server.cli("run", "--tasks", tasks, cwd=tmp_path)
    assert result.stdout.count("completed") >= 4, result.stdout


def test_it_can_be_replayed(run, server):
    agent = run({"say": "one"}, {"tool": "x", "result": 1}, {"say": "two"})
    agent.to_end()
    shown = server.cli("replay", agent.task, "--speed", "max").stdout
    assert "one" in shown and "two" in shown and "Using x" in shown
    # The kept raw records translate to the same events again.
    page = agent.api.get(f"/api/v1/tasks/{agent.task}/events?detail=1").json()["events"]
    records = []
    for event in page:
        raw = event.get("detail", {}).get("raw", [])
        records += raw if isinstance(raw, list) else [raw]
    again = subprocess.run([BINARY, "translate", "--agent", "grpc"], input="\n".join(map(json.dumps, records)), capture_output=True, text=True, env=server.env)
    kinds = [json.loads(line)["type"] for line in again.stdout.splitlines()]
    assert kinds == [event["type"] for event in page if event.get("detail", {}).get("raw")]


# --- the typed dialect ---

@pytest.fixture(scope="module")
def typed_peer():
    """An agent that reads and sends typed messages only."""
    agent = typed_agent.Agent()
    server, agent.address = typed_agent.serve(agent)
    yield agent
    server.stop(None)


@pytest.fixture
def typed_run(run, typed_peer):
    return lambda *steps, args=(): run(*steps, args=["--agent", "grpc", "--address", typed_peer.address, *args])


def test_a_typed_agent_is_found_out_and_its_messages_become_events(typed_run, typed_peer):
    finding = {"id": "f-1", "title": "Prompt injection", "severity": "FINDING_SEVERITY_HIGH", "confidence": 0.95, "category": "prompt_injection",
               "mitre_atlas": {"technique_id": "AML.T0051"}, "evidence": [{"type": "EVIDENCE_TYPE_REQUEST", "title": "Prompt", "content": "Ignore"}]}
    agent = typed_run({"say": "I think", "reasoning": True}, {"say": "and do"},
                      {"tool": "http-client", "input": {"url": "https://a.example", "tries": 3, "raw": None}, "result": {"code": 200, "tags": ["a", 0.5]}},
                      {"tool": "nmap", "result": "closed", "success": False}, {"finding": finding},
                      {"error": "ERROR_CODE_LLM_RATE_LIMITED", "message": "after 30 s"},
                      {"status": "WAITING_FOR_INPUT", "message": "which one?"}, {"wait": "steering"}, {"status": "COMPLETED", "message": "two endpoints checked"})
    agent.until_state("waiting_for_input")
    answer = agent.command("steer", content="the first", metadata={"priority": "high"})
    assert answer["state"] == "acknowledged" and answer["reason"] == "heard the first"
    task, code = agent.to_end()
    assert code == 0 and task["status"]["state"] == "completed", agent.story()
    assert any("trying the dialect typed" in text for text in summaries(agent, "log")), agent.story()
    assert agent.of_type("thinking")[0]["data"]["text"] == "I think" and agent.of_type("output")[0]["data"]["text"] == "and do"
    call, result = agent.of_type("tool_call")[0], agent.of_type("tool_result")[0]
    assert call["tool"] == "http-client" and call["input"] == {"raw": None, "tries": 3, "url": "https://a.example"}
    assert call["callID"] == result["callID"] and result["output"]["success"]
    assert json.loads(result["output"]["summary"]) == {"code": 200, "tags": ["a", 0.5]}
    assert not agent.of_type("tool_result")[1]["output"]["success"]
    found = agent.of_type("finding")[0]
    assert found["summary"] == "Finding (high): Prompt injection"
    assert found["data"]["mitreTechniques"] == ["AML.T0051"] and found["data"]["confidence"] == 0.95
    assert found["data"]["evidence"] == [{"type": "request", "title": "Prompt", "content": "Ignore"}]
    assert [event["data"] for event in agent.of_type("error")] == [
        {"code": "LLM_RATE_LIMITED", "message": "after 30 s", "fatal": False, "recoverable": True}]
    assert dict(last_request(typed_peer, "steering").metadata)["priority"] == "high"
    assert typed_peer.started[-1]["id"] == agent.task
    detail = agent.api.get(f"/api/v1/tasks/{agent.task}/events/{call['sequence']}/detail").json()
    assert detail["raw"]["tool_call"]["input"]["tries"] == {"int_value": "3"}, "the agent's own message"


def test_a_typed_agent_is_interrupted_and_resumed(typed_run):
    agent = typed_run({"say": "begin"}, {"wait": "steering"})
    agent.until(lambda event: event["summary"] == "begin")
    assert agent.command("interrupt", reason="wrong path")["state"] == "acknowledged"
    answer = agent.command("resume", guidance=json.dumps([{"say": "the other path"}]))
    assert answer["state"] == "acknowledged"
    assert agent.command("steer", content="enough")["state"] == "acknowledged"
    task, code = agent.to_end()
    assert code == 0 and "the other path" in agent.story(), agent.story()


def test_a_typed_agent_fails_and_breaks(typed_run):
    task, error = failed(typed_run({"error": "ERROR_CODE_LLM_API_ERROR", "message": "no quota", "fatal": True}, {"status": "FAILED"}))
    assert error["data"]["fatal"] and error["data"]["code"] == "LLM_API_ERROR" and "no quota" in task["status"]["error"]
    task, error = failed(typed_run({"say": "begin"}, {"abort": "INTERNAL", "message": "a bug"}))
    assert error["data"]["code"] == "stream_broken" and "a bug" in error["summary"]


def test_the_configuration_can_name_the_dialect(server, tmp_path, peer, typed_peer):
    def entry(address, dialect):
        config = tmp_path / f"{dialect}.yaml"
        config.write_text(yaml.safe_dump({"agents": {"auditor": {"address": address, "dialect": dialect}}}))
        return AgentRun(server, ["--config", config, "--agent", "auditor", "look"], tmp_path, server.env)

    starts = len(typed_peer.metadata)
    with entry(typed_peer.address, "typed") as agent:
        assert agent.to_end()[1] == 0, agent.story()
        assert not any("dialect" in text for text in summaries(agent, "log")), "nothing had to be tried"
    assert len(typed_peer.metadata) == starts + 1
    with entry(typed_peer.address, "json") as agent:
        _, error = failed(agent)
        assert error["data"]["code"] == "start_refused" and "json: " in error["summary"] and "typed: " not in error["summary"]
    config = tmp_path / "wrong.yaml"
    config.write_text("agents: {auditor: {address: '127.0.0.1:1', dialect: xml}}\n")
    answer = cli(server, "config", "--config", str(config), check=False)
    assert answer.returncode != 0 and "json or typed" in answer.stderr


def test_an_agent_of_neither_dialect(server, tmp_path):
    """Its messages are of another protocol behind the same method."""
    def other(requests, context):
        next(requests)
        yield b""

    def refuse(_bytes):
        raise ValueError("no such message")

    method = grpc.stream_stream_rpc_method_handler(other, request_deserializer=refuse, response_serializer=bytes)
    running = grpc.server(grpc_agent.futures.ThreadPoolExecutor(4))
    running.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("gibson.agent.AgentService", {"StreamExecute": method})])
    port = running.add_insecure_port("127.0.0.1:0")
    running.start()
    with AgentRun(server, ["--agent", "grpc", "--address", f"127.0.0.1:{port}", "hello"], tmp_path, server.env) as agent:
        task, error = failed(agent)
        assert error["data"]["code"] == "start_refused"
        assert "json: INTERNAL" in error["summary"] and "typed: INTERNAL" in error["summary"], error
        assert len(agent.of_type("error")) == 1, "one error says why"
    running.stop(None)


def test_a_runner_remembers_the_dialect_of_an_address(make_server, typed_peer):
    pool = make_server(args=["--runners", "1"], config=f"agents: {{auditor: {{address: '{typed_peer.address}'}}}}\n").start()
    trials = []
    with pool.api() as api:
        for number in range(2):
            task = api.post("/api/v1/tasks", json={"prompt": f"look at {number}", "agent": "auditor"}).json()["id"]
            with pool.websocket(f"/api/v1/tasks/{task}/events?after=0") as feed:
                seen = feed.until(lambda message: message.type == "task_complete", 60)
            assert seen[-1].data["status"] in ("completed", "Succeeded"), seen[-1].data
            trials.append(sum("trying the dialect" in json.dumps(message.data) for message in seen))
    assert trials == [1, 0]
