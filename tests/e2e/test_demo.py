"""`shepherd demo`: scripted agents inside the program, under the real runner. They ask, wait, fail, and accept
commands."""

import json
import os
import signal
import subprocess
from pathlib import Path

import httpx
import pytest

import server as server_module
from server import environment
from terminal import Terminal
from test_fleet import eventually

CONFIG = "public: {listen: '127.0.0.1:0'}\ninternal: {listen: '127.0.0.1:0'}\ngrpc: {listen: '127.0.0.1:0'}\n"


@pytest.fixture
def demo(tmp_path):
    """The demo without a server; it hosts one itself. Yields (process, HTTP client)."""
    env = {**environment(tmp_path), "SHEPHERD_DATA": str(tmp_path / "data")}
    config = tmp_path / "shepherd.yaml"
    config.write_text(CONFIG)
    process = subprocess.Popen([server_module.BINARY, "demo", "--json", "--config", config], env=env, cwd=tmp_path,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    first = json.loads(process.stdout.readline())
    assert first["event"] == "demo"
    base = httpx.URL(first["link"]).copy_with(host="127.0.0.1", path="/", query=None)  # some resolvers refuse *.localhost
    token = eventually(lambda: (tmp_path / "data" / "admin.token").read_text().strip())
    with httpx.Client(base_url=base, headers={"Authorization": f"Bearer {token}"}, trust_env=False) as client:
        yield process, client
    if process.poll() is None:
        process.kill()
        process.wait()
    process.stdout.close()
    process.stderr.close()


def needs(api):
    return {item["title"]: item for item in api.get("/api/v1/inbox").json()["items"]}


def command(api, task, kind, **members):
    return api.post(f"/api/v1/tasks/{task}/commands", json={"kind": kind, **members})


def test_one_link_is_printed(tmp_path):
    config = tmp_path / "shepherd.yaml"
    config.write_text(CONFIG)
    terminal = Terminal(["demo", "--config", config], {**environment(tmp_path), "SHEPHERD_DATA": str(tmp_path / "data")}, columns=160, lines=40)
    terminal.wait_for("Ctrl-C ends the demo")
    terminal.wait_for("running")
    terminal.press("\x03")
    assert terminal.end(60) == 0
    assert terminal.seen.count(b"/login?code=") == 1


def test_a_newcomer_sees_it_all_move(demo, tmp_path):
    process, api = demo
    tasks = eventually(lambda: (found := {t["title"]: t for t in api.get("/api/v1/tasks").json()}) and len(found) == 5 and found)
    assert all(t["labels"]["demo"] == "true" for t in tasks.values())
    eventually(lambda: len(api.get("/api/v1/findings").json()["items"]) == 3)

    # One question is answered and one approval given; both agents continue and succeed.
    question = eventually(lambda: needs(api).get("Split the orders table"), 60)
    assert question["kind"] == "question"
    asked = question["approval"]["input"]["questions"][0]
    answer = command(api, question["taskID"], "answer", approvalID=question["approval"]["approvalID"],
                     answers={asked["question"]: "By month"})
    assert answer.status_code == 202, answer.text
    approval = eventually(lambda: needs(api).get("Fix the flaky login test"), 60)
    assert approval["kind"] == "approval" and approval["approval"]["input"]["command"] == "git push origin fix/flaky-login"
    answer = command(api, approval["taskID"], "approve", approvalID=approval["approval"]["approvalID"])
    assert answer.status_code == 202, answer.text
    for need in (question, approval):
        eventually(lambda n=need: api.get(f"/api/v1/tasks/{n['taskID']}").json()["status"]["state"] == "completed", 60)
    log = api.get(f"/api/v1/tasks/{approval['taskID']}/events?tail=20").json()["events"]
    assert any("new branch" in json.dumps(e) for e in log if e["type"] == "tool_result")

    # One agent fails by itself and is in the inbox; one is stopped, with proof.
    failed = eventually(lambda: needs(api).get("Upgrade the framework"), 60)
    assert failed["kind"] == "failed"
    running = tasks["Move to the new HTTP client"]["id"]
    assert command(api, running, "stop", reason="seen enough").status_code == 202
    eventually(lambda: api.get(f"/api/v1/tasks/{running}").json()["status"]["state"] == "cancelled", 60)
    process.wait(60)
    assert process.returncode == 0, process.stderr.read()


def cwd_of(process):
    try:
        return os.readlink(process / "cwd")
    except OSError:
        return ""


def no_agent_is_left(tmp_path):
    workplace = str(tmp_path / "data" / "demo")
    eventually(lambda: not [p for p in Path("/proc").glob("[0-9]*") if cwd_of(p) == workplace])


def test_one_ctrl_c_ends_it_and_its_agents(demo, tmp_path):
    process, api = demo
    eventually(lambda: len(api.get("/api/v1/tasks", params={"state": "running"}).json()) >= 3, 60)
    process.send_signal(signal.SIGINT)
    assert process.wait(60) == 0
    assert "stopping all; Ctrl-C again kills them at once" in process.stderr.read()
    no_agent_is_left(tmp_path)


def test_one_ctrl_c_on_a_terminal_ends_it_and_the_screen_stays_in_order(tmp_path):
    env = {**environment(tmp_path), "SHEPHERD_DATA": str(tmp_path / "data")}
    config = tmp_path / "shepherd.yaml"
    config.write_text(CONFIG)
    screen = Terminal(["demo", "--config", config], env, columns=100, lines=40)
    try:
        screen.wait_for(lambda text: text.count("running") >= 3, 60)
        screen.press("\x03")
        screen.wait_for("stopping all; Ctrl-C again kills them at once", 60)
        assert screen.end(60) == 0
        lines = screen.text().splitlines()
        # Once as the line that was redrawn, once in the table at the end.
        assert len([line for line in lines if line.startswith("Fix the flaky login test")]) == 2, screen.text()
        assert len([line for line in lines if line.startswith("The demo runs")]) == 1, screen.text()
        assert "^C" not in screen.text()
    finally:
        screen.kill()
    no_agent_is_left(tmp_path)
