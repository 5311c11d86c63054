"""One task, one agent: whatever runners, servers and assigning operators do, two runners never work on the same
task."""

import json
import os
import signal
import socket
import subprocess
import time
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import httpx
import pytest

from agents import SCRIPTED
from git_server import GitServer
from server import BINARY
from tasks import eventually, new_id, new_task, note, post_events
from test_claims import AGENT, claim, renew, state_of

pytestmark = pytest.mark.skipif(not os.access(SCRIPTED, os.X_OK), reason="SCRIPTED_AGENT_BIN is not set")


@contextmanager
def runner_of(server, *args, data=None, env=None):
    process = subprocess.Popen(
        [BINARY, "runner", "--json", *args], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        env={**server.env, "SHEPHERD_DATA": str(data or server.data), "SHEPHERD_CLAUDE_PROGRAM": SCRIPTED,
             "SHEPHERD_URL": server.public, "SHEPHERD_INTERNAL_URL": server.internal, "SHEPHERD_TOKEN": server.token, **(env or {})})
    process.ready = json.loads(process.stdout.readline())
    try:
        yield process
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def create(api, *steps, **members):
    answer = api.post("/api/v1/tasks", json={"prompt": json.dumps(list(steps)), "agent": "claude", "mode": "autonomous", **members})
    assert answer.status_code == 201, answer.text
    return answer.json()["id"]


def run(command):
    return {"tool": "Bash", "input": {"command": command}, "run": True}


def log_of(api, task):
    return api.get(f"/api/v1/tasks/{task}/events", params={"limit": 5000}).json()["events"]


def ended(server, task, timeout=90):
    with server.websocket(f"/api/v1/tasks/{task}/events?after=0") as feed:
        while True:
            message = feed.next(timeout)
            if message.type == "task_complete":
                return message.data


def claims_in(api, task):
    return [e["data"]["runner"] for e in log_of(api, task) if e["type"] == "status" and "leaseEpoch" in e["data"]]


def waiting_claims(api):
    lines = api.get("/metrics").text.splitlines()
    return int(next(line for line in lines if line.startswith("shepherd_claims_waiting ")).split()[1])


def assigner(process):
    token = Path(process.ready["tokenFile"]).read_text().strip()
    return httpx.Client(base_url=process.ready["listen"], trust_env=False, timeout=30, headers={"Authorization": f"Bearer {token}"})


# --- assigned tasks ---

def test_a_task_that_the_runner_has_is_not_run_again(make_server, tmp_path):
    server, began = make_server().start(), tmp_path / "began"
    with runner_of(server, "--parallel", "2", "--listen", "127.0.0.1:0") as process, assigner(process) as port, server.api() as api:
        first = create(api, run(f"echo one >> {began}"), {"wait": "message"})
        eventually(began.exists, 60)
        assert port.post("/task", json={"taskID": first}).status_code < 300, "it has it: what was asked for is so"
        # The other slot is still free and takes another task at once.
        second = create(api, run(f"echo two >> {tmp_path / 'other'}"), labels={"only": "assigned"})
        assert ended(server, second)["status"] in ("completed", "Succeeded")
        api.post(f"/api/v1/tasks/{first}/commands", json={"kind": "steer", "content": "go"})
        assert ended(server, first)["status"] in ("completed", "Succeeded")
        assert began.read_text() == "one\n", "one agent"
        assert claims_in(api, first) == [process.ready["runner"]]


def test_an_assigned_task_waits_behind_nobody(make_server, tmp_path):
    server = make_server(config="runners: {lease_seconds: 2}\n").start()
    with runner_of(server, "--parallel", "1", "--listen", "127.0.0.1:0") as process, assigner(process) as port, server.api() as api:
        eventually(lambda: waiting_claims(api) == 1, 30)
        # The slot waits for work; an assignment makes it cancel that wait.
        task = create(api, run(f"echo one >> {tmp_path / 'began'}"), {"wait": "message"}, runner=process.ready["runner"])
        eventually((tmp_path / "began").exists, 60)
        other = create(api, {"say": "never here"}, runner="another")
        answer = port.post("/task", json={"taskID": other})
        assert (answer.status_code, answer.json()["code"]) == (409, "busy")
        assert state_of(api, other) == "queued", "it is nobody's"
        api.post(f"/api/v1/tasks/{task}/commands", json={"kind": "steer", "content": "go"})
        assert ended(server, task)["status"] in ("completed", "Succeeded")


def test_an_assignment_does_not_wait_for_the_question_for_work(make_server, tmp_path):
    server = make_server().start()
    with runner_of(server, "--parallel", "1", "--label", "for=nobody", "--listen", "127.0.0.1:0") as process, \
            assigner(process) as port, server.api() as api:
        eventually(lambda: waiting_claims(api) == 1, 30)
        task = create(api, {"say": "hello"}, labels={"for": "nobody"}, id=new_id())
        assert ended(server, task)["status"] in ("completed", "Succeeded")
        eventually(lambda: waiting_claims(api) == 1, 30)
        # The claim waits for 20 s.
        assert port.post("/task", json={"taskID": task}, timeout=10).status_code == 410, "the server's own answer"
        eventually(lambda: waiting_claims(api) == 1, 30)


# --- leases ---

def test_a_slow_start_keeps_its_lease(make_server, tmp_path):
    """Fetching a token takes longer than three leases, and the runner renews its lease meanwhile."""
    forge = GitServer(tmp_path / "forge", "of-no-known-shape-81f2")
    server = make_server(config=("runners:\n  lease_seconds: 2\n"
                                 "  token_command: [sh, -c, 'sleep 7; echo of-no-known-shape-81f2']\n")).start()
    env = {"GIT_SSL_CAINFO": str(forge.certificate)}
    try:
        with runner_of(server, "--id", "r1", data=tmp_path / "r1", env=env), runner_of(server, "--id", "r2", data=tmp_path / "r2", env=env), \
                server.api() as api:
            began = tmp_path / "began"
            task = create(api, run(f"echo one >> {began}"), repo={"url": forge.url, "ref": "trunk"})
            assert ended(server, task)["status"] in ("completed", "Succeeded"), log_of(api, task)
            assert len(claims_in(api, task)) == 1 and began.read_text() == "one\n"
    finally:
        forge.stop()


def test_a_runner_that_stood_still_leaves_its_successor_alone(make_server, tmp_path):
    """The runner slept while it fetched the token; when it wakes, another runner's agent works on the task."""
    token, asked, go, began = "of-no-known-shape-81f2", tmp_path / "asked", tmp_path / "go", tmp_path / "began"
    forge = GitServer(tmp_path / "forge", token)
    command = f"echo x >> {asked}; until test -e {go}; do sleep 0.05; done; echo {token}"
    server = make_server(config=f"runners:\n  lease_seconds: 2\n  token_command: [sh, -c, '{command}']\n").start()
    env = {"GIT_SSL_CAINFO": str(forge.certificate)}
    try:
        with runner_of(server, "--id", "r1", "--parallel", "1", data=tmp_path / "r1", env=env) as first, server.api() as api:
            task = create(api, run(f"echo one >> {began}"), {"wait": "message"}, repo={"url": forge.url, "ref": "trunk"})
            eventually(asked.exists, 60)
            first.send_signal(signal.SIGSTOP)
            eventually(lambda: state_of(api, task) == "queued", 30)
            with runner_of(server, "--id", "r2", "--parallel", "1", data=tmp_path / "r2", env=env):
                eventually(lambda: claims_in(api, task) == ["r1", "r2"], 30)
                go.touch()
                eventually(began.exists, 60)
                first.send_signal(signal.SIGCONT)
                eventually(lambda: waiting_claims(api) == 1, 60)  # it has given the task up and waits for another
                assert state_of(api, task) not in ("failed", "cancelled"), log_of(api, task)
                api.post(f"/api/v1/tasks/{task}/commands", json={"kind": "steer", "content": "go"})
                assert ended(server, task)["status"] in ("completed", "Succeeded"), log_of(api, task)
                assert began.read_text() == "one\n" and claims_in(api, task) == ["r1", "r2"]
    finally:
        forge.stop()


def test_a_runner_that_lost_its_task_writes_nothing_into_its_successors_log(make_server):
    server = make_server(config="runners: {lease_seconds: 2}\n").start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api, agent=AGENT)
        first = claim(runner, "r1")
        second = claim(runner, "r2", wait=20)
        stale = {"Shepherd-Lease": str(first["leaseEpoch"])}
        renew(runner, task, "r2", second["leaseEpoch"])
        before = len(log_of(api, task))
        for path, body in (("events", note("of the loser")), ("events", {"type": "status", "data": {"state": "failed"}}),
                           ("status", {"event": "failed"}), ("deltas", {"block": "b", "text": "x"})):
            answer = runner.post(f"/api/v1/tasks/{task}/{path}", json=body, headers=stale)
            assert (answer.status_code, answer.json()["code"]) == (409, "lease_lost"), answer.text
        assert len(log_of(api, task)) == before and state_of(api, task) == "starting"
        # Posts by the loser do not renew the winner's lease either.
        post_events(runner, task, note("of the winner"), headers={"Shepherd-Lease": str(second["leaseEpoch"])})
        deadline = time.monotonic() + 30
        while state_of(api, task) != "failed":
            runner.post(f"/api/v1/tasks/{task}/events", json=note("of the loser"), headers=stale)
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert api.get(f"/api/v1/tasks/{task}").json()["status"]["error"] == "runner lost"
        # The log of the failed task still accepts late events under the last lease.
        post_events(runner, task, note("late"), headers={"Shepherd-Lease": str(second["leaseEpoch"])})
        assert log_of(api, task)[-1]["late"] is True


def test_between_two_runners_a_task_is_queued(make_server):
    server = make_server(config="runners: {lease_seconds: 2}\n").start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api, agent=AGENT)
        epoch = claim(runner, "r1")["leaseEpoch"]
        eventually(lambda: state_of(api, task) == "queued", 30)
        assert "r1 took it and did not report again" in api.get(f"/api/v1/tasks/{task}").json()["status"]["message"]
        answer = runner.post(f"/api/v1/tasks/{task}/events", json=note("x"), headers={"Shepherd-Lease": str(epoch)})
        assert (answer.status_code, answer.json()["code"]) == (409, "lease_lost")
    server.kill()
    server.start()
    with server.api() as api, server.runner() as runner:
        assert claim(runner, "r2")["taskID"] == task


def test_what_only_a_vanished_run_may_run_does_not_start_for_ever(make_server):
    server = make_server(config="runners: {lease_seconds: 2}\n").start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api, agent=AGENT, runner="run-of-a-terminal")
        claim(runner, "run-of-a-terminal", taskID=task)
    server.kill()
    server.start()
    with server.api() as api:
        eventually(lambda: state_of(api, task) == "failed", 30)


def test_a_server_that_stood_still_loses_no_run(make_server):
    server = make_server(config="runners: {lease_seconds: 10}\n").start()
    with runner_of(server) as process, server.api() as api, server.runner() as runner:
        task = create(api, {"say": "ready"}, {"wait": "message"})
        eventually(lambda: "ready" in json.dumps(log_of(api, task)), 60)
        # The runner stops too, so that it does not renew before the server has checked its leases.
        process.send_signal(signal.SIGSTOP)
        server.process.send_signal(signal.SIGSTOP)
        time.sleep(12)  # longer than a lease, on the server's clock
        server.process.send_signal(signal.SIGCONT)
        assert runner.post("/api/v1/claims", json={"runner": "x", "agents": [AGENT], "wait": 1}).status_code == 204  # leases are checked
        process.send_signal(signal.SIGCONT)
        api.post(f"/api/v1/tasks/{task}/commands", json={"kind": "steer", "content": "go"})
        assert ended(server, task)["status"] in ("completed", "Succeeded"), log_of(api, task)


# --- claims ---

def test_the_claims_of_runners_that_are_gone_take_no_task(make_server):
    server = make_server().start()
    address = urlsplit(server.internal)
    with server.api() as api, server.runner() as runner:
        for i in range(4):
            body = json.dumps({"runner": f"dead{i}", "agents": [AGENT], "wait": 20})
            with socket.create_connection((address.hostname, address.port)) as dead:
                dead.sendall((f"POST /api/v1/claims HTTP/1.1\r\nHost: {address.netloc}\r\nContent-Type: application/json\r\n"
                              f"Authorization: Bearer {server.token}\r\nContent-Length: {len(body)}\r\n\r\n{body}").encode())
                eventually(lambda: waiting_claims(api) == 1)
        task = new_task(api, agent=AGENT)
        assert claim(runner, "live", wait=20)["taskID"] == task
        assert claims_in(api, task) == ["live"]


def test_a_runner_that_stops_leaves_no_claims(make_server):
    server = make_server().start()
    with server.api() as api:
        with runner_of(server, "--parallel", "2") as process:
            eventually(lambda: waiting_claims(api) == 2, 30)
            process.send_signal(signal.SIGTERM)
            eventually(lambda: waiting_claims(api) == 0, 10)  # a claim waits for 20 s
            assert process.wait(30) == 0
        task = new_task(api, agent="claude")
        assert state_of(api, task) == "queued" and log_of(api, task) == []


# --- tasks that no runner takes ---

def test_a_task_that_nobody_takes_says_so(make_server):
    server = make_server().start()
    with server.api() as api:
        made = api.post("/api/v1/tasks", json={"prompt": "x", "agent": "gpt"}).json()
        assert "no runner is connected" in made["status"]["message"]
        with runner_of(server, "--agent", "claude"):
            eventually(lambda: waiting_claims(api) > 0, 30)
            row = api.get(f"/api/v1/tasks/{made['id']}").json()
            assert row["status"]["message"] == "no connected runner takes agent gpt; known: claude"
            assert "known: claude" in server.cli("tasks", "show", made["id"]).stdout
            made = server.cli("tasks", "create", "--agent", "gpt", "x")
            assert "no connected runner takes agent gpt" in made.stderr
            task = create(api, {"say": "hello"})
            assert ended(server, task)["status"] in ("completed", "Succeeded")
            assert [e for e in log_of(api, task) if "empty directory" in e["summary"]], "it has no repository, and says so"


def test_a_listening_runner_stays_on_this_machine_unless_told(server):
    refused = server.cli("runner", "--listen", "0.0.0.0:0", check=False)
    assert refused.returncode == 2 and "--insecure-bind" in refused.stderr


def test_a_conversation_that_is_not_there_makes_no_task(server, api, tmp_path):
    earlier = new_task(api)
    before = len(api.get("/api/v1/tasks", params={"limit": 1000}).json())
    refused = server.cli("run", "--program", SCRIPTED, "--resume", earlier, "go on", check=False, cwd=tmp_path)
    assert refused.returncode == 2 and "no conversation to go on with" in refused.stderr, refused.stderr
    assert len(api.get("/api/v1/tasks", params={"limit": 1000}).json()) == before
    answer = api.post("/api/v1/tasks", json={"prompt": "x", "agent": "claude", "resumeOf": earlier})
    assert (answer.status_code, answer.json()["code"]) == (400, "no_session")


def test_a_runner_is_there_from_its_start_to_its_end(make_server):
    """The real runner reports itself and says goodbye; one that is killed stays for a while, also for the next server process."""
    server = make_server().start()

    def runners():
        with server.api() as api:
            return {row["id"]: row["slots"] for row in api.get("/api/v1/runners").json()}

    with runner_of(server, "--parallel", "3", "--id", "build-7") as process:
        eventually(lambda: runners() == {"build-7": 3}, 30)
        process.terminate()
        process.wait(30)
    eventually(lambda: runners() == {}, 30)
    with runner_of(server, "--parallel", "3", "--id", "build-7"):
        eventually(lambda: runners() == {"build-7": 3}, 30)
    server.kill()
    server.start()
    assert runners() == {"build-7": 3}, "killed without a word, and the store has its last one"
