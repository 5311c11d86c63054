"""`shepherd run PROMPT` and runners, with the scripted agent: watched, steered, approved, interrupted, stopped."""

import fcntl
import json
import os
import pty
import re
import select
import signal
import subprocess
import termios
import time
from pathlib import Path

import pytest

from agent_run import EXIT_CODE, MARK, AgentRun, survivors, wait_until_gone
from agents import SCRIPTED
from server import BINARY
from tasks import new_id

pytestmark = pytest.mark.skipif(not os.access(SCRIPTED, os.X_OK), reason="SCRIPTED_AGENT_BIN is not set")


@pytest.fixture
def run(server, tmp_path):
    started = []

    def start(*steps, args=(), env=None):
        work = tmp_path / f"work{len(started)}"
        work.mkdir()
        started.append(AgentRun(server, ["--program", SCRIPTED, *args, json.dumps(list(steps))], work,
                                {**server.env, **(env or {})}))
        return started[-1]

    yield start
    for each in started:
        each.__exit__()
        assert wait_until_gone(each.mark) == [], "somebody of an agent is left"


def asks(event):
    return event["type"] == "approval" and event["data"]["state"] == "pending"


def test_a_turn_with_tools(run):
    agent = run({"say": "I look"}, {"tool": "Bash", "input": {"command": "echo out"}, "result": "out"}, {"say": "done"})
    task, code = agent.to_end()
    assert code == 0 and task["status"]["state"] == "completed"
    assert task["usage"]["costUSD"] > 0
    assert [event["type"] for event in agent.events if event["type"] in ("tool_call", "tool_result")] == ["tool_call", "tool_result"]
    assert agent.of_type("session_start") and not agent.of_type("log"), agent.story()
    assert set(task["capabilities"]["commands"]) >= {"steer", "queue", "approve", "stop"}
    assert agent.events[-1]["type"] == "status" and agent.events[-1]["data"]["message"] == "done"


def test_a_word_while_it_works_is_heard(run):
    agent = run({"say": "first"}, {"wait": "message"}, {"say": "last"})
    agent.until(lambda event: event["summary"] == "first")
    assert agent.command("steer", content="look at the tests")["state"] == "acknowledged"
    task, code = agent.to_end()
    assert code == 0
    assert "look at the tests" in agent.story()


def test_approved_with_another_input_and_denied(run):
    tool = {"tool": "Bash", "input": {"command": "echo one"}, "permission": True, "result": "ran {input}"}
    agent = run(tool, {**tool, "input": {"command": "rm -rf /"}}, {"say": "done"})
    first = agent.until(asks)
    agent.until_state("waiting_for_input")
    assert agent.api.get(f"/api/v1/tasks/{agent.task}").json()["status"]["state"] == "waiting_for_input"
    answer = agent.command("approve", approvalID=first["data"]["approvalID"], input={"command": "echo two"})
    assert answer["state"] == "acknowledged", answer
    second = agent.until(asks)
    assert agent.command("deny", approvalID=second["data"]["approvalID"], message="not that")["state"] == "acknowledged"
    task, code = agent.to_end()
    assert code == 0, agent.story()
    results = [event["output"] for event in agent.of_type("tool_result")]
    assert "echo two" in results[0]["summary"] and not results[1]["success"]


def test_a_question_answered(run):
    agent = run({"ask": "Which way?"}, {"say": "done"})
    asked = agent.until(asks)
    question = asked["data"]["input"]["questions"][0]["question"]
    assert agent.command("answer", approvalID=asked["data"]["approvalID"], answers={question: "left"})["state"] == "acknowledged"
    assert agent.to_end()[1] == 0
    assert "left" in json.dumps(agent.of_type("tool_result"))


def test_interrupted_and_resumed(run):
    agent = run({"say": "begin"}, {"sleep": 600000})
    agent.until(lambda event: event["summary"] == "begin")
    assert agent.command("interrupt")["state"] == "acknowledged"
    agent.until_state("interrupted")
    assert agent.command("resume", guidance='[{"say":"going on"}]')["state"] == "acknowledged"
    task, code = agent.to_end()
    assert code == 0 and "going on" in agent.story()


def test_stopped_in_the_middle_of_a_tool(run):
    agent = run({"fork": 3, "setsid": True, "twice": True, "stubborn": True}, {"say": "ready"},
                {"ignore": ["INT", "TERM", "interrupt", "eof"]}, {"sleep": 600000},
                env={"SHEPHERD_RUNNERS_STOP_INTERRUPT_MS": "100", "SHEPHERD_RUNNERS_STOP_SIGINT_MS": "100",
                     "SHEPHERD_RUNNERS_STOP_SIGTERM_MS": "100"})
    agent.until(lambda event: event["summary"] == "ready")
    agent.send("stop", reason="enough")
    task, code = agent.to_end()
    assert code == 9 and task["status"]["state"] == "cancelled"
    end = agent.events[-1]["data"]
    assert end["stoppedBy"] == "SIGKILL" and len(end["ended"]) >= 4 and end["message"] == "enough"
    assert survivors(agent.mark) == []


def test_autonomous_asks_nobody(run):
    agent = run({"tool": "Bash", "input": {"command": "echo one"}, "permission": True, "result": "ran"}, {"say": "done"},
                args=["--mode", "autonomous"])
    assert agent.to_end()[1] == 0
    assert "waiting_for_input" not in json.dumps(agent.events)


def test_a_budget_ends_it(run):
    agent = run({"repeat": 20, "steps": [{"tool": "Bash", "input": {"command": "x"}, "result": "y"}]}, args=["--budget", "0.01"])
    task, code = agent.to_end()
    assert code == 7 and task["status"]["state"] == "failed"
    assert task["usage"]["costUSD"] < 0.05


def test_rules_are_a_file_beside_the_tree(run, tmp_path):
    (tmp_path / "rules").mkdir()
    (tmp_path / "rules" / "a.md").write_text("- Be brief.\n")
    agent = run({"tool": "Bash", "input": {"command": "cat $SHEPHERD_RULES; ls -A"}, "run": True},
                args=["--mode", "autonomous", "--rules", tmp_path / "rules"])
    task, code = agent.to_end()
    assert code == 0, agent.story()
    assert agent.of_type("tool_result")[0]["output"]["summary"].strip() == "- Be brief."
    missing = run({"say": "never"}, args=["--rules", tmp_path / "nothing.md"])
    task, code = missing.to_end()
    assert code == EXIT_CODE["failed"] and "rules" in task["status"]["message"] and not missing.of_type("session_start")


@pytest.mark.parametrize("version,expected", [("0.2.40 (Claude Code)", "json"), ("1.0.60 (Claude Code)", "stream-json-one-way")])
def test_an_old_version_is_started_as_it_can_be(run, tmp_path, version, expected):
    old = tmp_path / "old.json"
    old.write_text(json.dumps({"version": version, "steps": [{"say": "as before"}], "refuses": [
        "--input-format", "--replay-user-messages", "--forward-subagent-text", "--include-partial-messages"]}))
    agent = run(env={"SCRIPTED_AGENT": str(old)})
    task, code = agent.to_end()
    assert code == 0, agent.story()
    [told] = [event["summary"] for event in agent.of_type("log")]
    assert told == f"Version {version} of the agent has no output format stream-json; it was started with {expected}"
    started = next(event for event in agent.of_type("status") if "capabilities" in event["data"])
    assert started["data"]["agentVersion"] == version and "steer" not in started["data"]["capabilities"]["commands"]


def test_bad_output_is_kept_and_harms_nobody(run):
    agent = run({"garbage": "nul"}, {"garbage": "utf8"}, {"garbage": "json"}, {"garbage": "unknown"}, {"garbage": "escape"},
                {"burst": 500}, {"say": "still here"})
    task, code = agent.to_end()
    assert code == 0, agent.story()
    assert "still here" in agent.story()
    assert [event["sequence"] for event in agent.events] == list(range(1, len(agent.events) + 1))


def test_goes_on_with_an_earlier_conversation(run, server):
    first = run({"say": "one"})
    first.to_end()
    session = first.of_type("session_start")[0]["sessionID"]
    second = run({"say": "two"}, args=["--resume", first.task])
    assert second.to_end()[1] == 0
    assert second.of_type("session_start")[0]["sessionID"] == session


class Terminal:
    """`shepherd run` on its own terminal."""

    def __init__(self, server, cwd, *steps):
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(
            [BINARY, "run", "--program", SCRIPTED, json.dumps(list(steps))], stdin=slave, stdout=slave, stderr=slave, cwd=cwd,
            start_new_session=True, preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),
            env={**server.env, "SHEPHERD_DATA": str(server.data), "TERM": "xterm"})
        os.close(slave)
        self.seen = ""

    def until(self, text, timeout=60):
        deadline = time.monotonic() + timeout
        while text not in self.seen:
            assert time.monotonic() < deadline, f"{text!r} did not come\n{self.seen}"
            if select.select([self.master], [], [], 0.2)[0]:
                self.seen += os.read(self.master, 65536).decode()

    def type(self, text):
        os.write(self.master, text.encode())

    def end(self, timeout=60):
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if not select.select([self.master], [], [], 0.2)[0]:
                continue
            try:
                self.seen += os.read(self.master, 65536).decode()
            except OSError:
                break
        return self.process.wait(10)

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        os.close(self.master)


@pytest.fixture
def terminal(server, tmp_path):
    started = []

    def start(*steps):
        started.append(Terminal(server, tmp_path, *steps))
        return started[-1]

    yield start
    for each in started:
        each.close()


def test_typed_at_the_terminal(terminal):
    tool = {"tool": "Bash", "input": {"command": "echo one"}, "permission": True, "result": "it ran"}
    run = terminal(tool, {"say": "now tell me"}, {"wait": "message"}, {"say": "the end"})
    run.until("Needs approval")
    run.type("y\n")
    run.until("now tell me")
    run.type("use the other door\n")
    assert run.end() == 0
    assert "it ran" in run.seen and "use the other door" in run.seen and "the end" in run.seen


def test_ctrl_c_at_the_terminal(terminal):
    run = terminal({"say": "working"}, {"sleep": 600000})
    run.until("working")
    run.type("\x03")
    run.until("interrupted")
    run.type('[{"say":"going on"},{"sleep":600000}]\n')
    run.until("going on")
    run.type("\x03")
    assert run.end() == 9
    assert "cancelled" in run.seen


# --- runners that claim ---

@pytest.fixture
def pool(make_server):
    return make_server(args=["--runners", "2"], config=f"claude: {{program: '{SCRIPTED}'}}\n").start()


def ended(server, task, timeout=60):
    with server.websocket(f"/api/v1/tasks/{task}/events?after=0") as feed:
        while True:
            message = feed.next(timeout)
            if message.type == "task_complete":
                return message.data


def test_a_task_with_an_agent_is_run_by_the_server(pool):
    with pool.api() as api:
        made = [api.post("/api/v1/tasks", json={"prompt": json.dumps([{"say": f"hello {i}"}]), "agent": "claude"}).json()["id"]
                for i in range(6)]
        for task in made:
            assert ended(pool, task)["status"] in ("completed", "Succeeded")
        log = api.get(f"/api/v1/tasks/{made[0]}/events").json()["events"]
        assert log[0]["data"]["state"] == "starting" and "hello 0" in json.dumps(log)


def test_a_server_that_stops_ends_its_agents_and_says_so(pool):
    with pool.api() as api:
        task = api.post("/api/v1/tasks", json={"prompt": '[{"say":"ready"},{"sleep":600000}]', "agent": "claude"}).json()["id"]
        with pool.websocket(f"/api/v1/tasks/{task}/events?after=0") as feed:
            while "ready" not in json.dumps(feed.next().data or {}):
                pass
    assert pool.stop() == 0
    pool.start()
    with pool.api() as api:
        status = api.get(f"/api/v1/tasks/{task}").json()["status"]
    assert status["state"] == "cancelled" and "runner" in status["message"]


def runner(server, *args, mark="", **options):
    process = subprocess.Popen([BINARY, "runner", "--json", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env={**server.env, "SHEPHERD_DATA": str(server.data), MARK: mark,
                                               "SHEPHERD_CLAUDE_PROGRAM": SCRIPTED}, **options)
    process.ready = json.loads(process.stdout.readline())
    return process


def test_a_runner_claims_by_label_and_clones(server, api, tmp_path):
    repository = tmp_path / "repository"
    repository.mkdir()
    for words in (["init", "-q", "-b", "trunk"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], cwd=repository, check=True)
    label = new_id()
    process = runner(server, "--label", f"for={label}")
    try:
        tool = {"tool": "Bash", "input": {"command": "git status -b --short; echo x > made"}, "run": True}
        task = api.post("/api/v1/tasks", json={"prompt": json.dumps([tool]), "agent": "claude", "mode": "autonomous",
                                               "labels": {"for": label}, "repo": {"url": str(repository), "ref": "trunk"}}).json()["id"]
        assert ended(server, task)["status"] in ("completed", "Succeeded")
        log = api.get(f"/api/v1/tasks/{task}/events").json()["events"]
        assert f"shepherd/{task}" in json.dumps([event for event in log if event["type"] == "tool_result"])
        result = [event for event in log if event["type"] == "result"][-1]["data"]
        assert result["files"] == ["made"] and result["branch"] == f"shepherd/{task}"
        process.send_signal(signal.SIGTERM)
        assert process.wait(20) == 0
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()


def test_a_runner_takes_assignments_until_it_is_busy(server, api, tmp_path):
    import httpx
    secret = tmp_path / "token"
    secret.write_text("assignment-secret\n")
    process = runner(server, "--no-claims", "--parallel", "1", "--listen", "127.0.0.1:0", "--listen-token-file", str(secret))
    try:
        with httpx.Client(base_url=process.ready["listen"], trust_env=False) as port:
            def assign(task, url=server.public, token="assignment-secret"):
                return port.post("/task", json={"taskID": task, "apiURL": url}, headers={"Authorization": f"Bearer {token}"})
            made = [api.post("/api/v1/tasks", json={"prompt": '[{"wait":"message"}]', "agent": "claude"}).json()["id"] for _ in range(2)]
            assert assign(made[0], token="wrong").status_code == 401
            assert assign(made[0], url="http://evil.example").status_code == 403
            assert assign("no-such-task").status_code == 404
            taken = assign(made[0])
            assert taken.status_code == 200 and taken.json() == {"status": "accepted"}, "202 is a failure for others' operators"
            assert assign(made[1]).status_code == 409 and assign(made[1]).json()["code"] == "busy"
        with server.websocket(f"/api/v1/tasks/{made[0]}/events?after=0") as feed:
            while (feed.next().data or {}).get("type") != "session_start":
                pass
        assert api.post(f"/api/v1/tasks/{made[0]}/commands", json={"kind": "steer", "content": "go"}).status_code == 202
        assert ended(server, made[0])["status"] in ("completed", "Succeeded")
    finally:
        process.kill()
        process.wait()


def test_a_runner_without_credentials_takes_tasks_only_for_its_server(server, api):
    """An operator without a token may assign tasks once the configuration allows it, but only tasks of the listed
    servers."""
    import httpx
    process = runner(server, "--no-claims", "--parallel", "1", "--listen", "127.0.0.1:0", "--listen-auth", "none")
    try:
        assert "tokenFile" not in process.ready
        task = api.post("/api/v1/tasks", json={"prompt": "[]", "agent": "claude"}).json()["id"]
        with httpx.Client(base_url=process.ready["listen"], trust_env=False) as port:
            assert port.get("/healthz").status_code == 200
            assert port.post("/task", json={"taskID": task, "apiURL": "http://evil.example"}).status_code == 403
            assert port.post("/task", json={"taskID": task, "apiURL": server.public},
                             headers={"Origin": "https://evil.example"}).status_code == 403
            assert port.post("/task", json={"taskID": task, "apiURL": server.public}).status_code == 200
        assert ended(server, task)["status"] in ("completed", "Succeeded")
    finally:
        process.kill()
        process.wait()


def test_nobody_without_its_token_assigns_a_task_to_a_runner(server, api):
    """Without a token file the port once accepted any POST, also a web page's, and failed tasks that no runner runs."""
    import httpx
    others = api.post("/api/v1/tasks", json={"prompt": "somebody else runs it", "agent": "another"}).json()["id"]
    process = runner(server, "--no-claims", "--parallel", "1", "--listen", "127.0.0.1:0")
    try:
        file = Path(process.ready["tokenFile"])
        assert file.stat().st_mode & 0o777 == 0o600
        mine = {"Authorization": f"Bearer {file.read_text().strip()}", "Content-Type": "application/json"}
        body = json.dumps({"taskID": others, "apiURL": server.public})
        with httpx.Client(base_url=process.ready["listen"], trust_env=False) as port:
            def answer(**changed):
                got = port.post("/task", content=body, headers={**mine, **changed})
                return got.status_code, got.json()["code"]
            assert answer(Authorization="") == (401, "unauthenticated")
            assert port.get("/healthz").text == "ok", "probes have no token"
            assert answer(Origin="https://evil.example") == (403, "bad_origin")
            assert answer(Origin="null") == (403, "bad_origin")
            assert answer(Host="evil.example") == (403, "bad_host")
            assert answer(**{"Content-Type": "text/plain"}) == (415, "unsupported_media_type")
            assert answer() == (400, "unknown_agent")
        task = api.get(f"/api/v1/tasks/{others}").json()
        assert task["status"]["state"] == "queued" and task["lastSequence"] == 0, "nobody claimed it"
    finally:
        process.kill()
        process.wait()


def task_under_way(server, api):
    """A task whose agent has sent a message and works for ten more minutes."""
    task = api.post("/api/v1/tasks", json={"prompt": '[{"say":"ready"},{"sleep":600000}]', "agent": "claude"}).json()["id"]
    with server.websocket(f"/api/v1/tasks/{task}/events?after=0") as feed:
        while "ready" not in json.dumps(feed.next().data or {}):
            pass
    return task


def test_a_runner_that_comes_back_too_late_ends_its_agent(make_server):
    """Asleep for longer than its lease: the task has failed meanwhile, and no agent may work on it unseen."""
    server = make_server(config="runners: {lease_seconds: 2}\n").start()
    mark = new_id()
    process = runner(server, mark=mark)
    try:
        with server.api() as api:
            task = task_under_way(server, api)
        process.send_signal(signal.SIGSTOP)
        assert "runner lost" in ended(server, task)["error"]
        assert len(survivors(mark)) > 1, "the agent works on while its runner sleeps"
        process.send_signal(signal.SIGCONT)
        assert wait_until_gone(mark, but=[process.pid]) == []
        assert process.poll() is None, "the runner goes on: it has lost one task"
        with server.api() as api:
            later = api.post("/api/v1/tasks", json={"prompt": '[{"say":"next"}]', "agent": "claude"}).json()["id"]
            assert ended(server, later)["status"] in ("completed", "Succeeded")
    finally:
        process.kill()
        process.wait()


def test_a_runner_that_is_killed_is_noticed(make_server, tmp_path):
    server = make_server(config="runners: {lease_seconds: 2}\n").start()
    process = runner(server)
    try:
        with server.api() as api:
            task = task_under_way(server, api)
            process.kill()
            process.wait()
            end = ended(server, task)
            assert end["status"] in ("failed", "Failed") and re.search("runner lost", end["error"])
    finally:
        if process.poll() is None:
            process.kill()
            process.wait()
