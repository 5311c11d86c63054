"""`shepherd run` without a server hosts one itself, shares it with other runs, and hands it over."""

import json
import os
import signal
import subprocess
import time
from pathlib import Path

import httpx
import pytest

from server import BINARY, Server, environment


class Runs:
    """Several `shepherd run` over one data directory that no server owns."""

    def __init__(self, directory):
        self.data = directory / "data"
        home = directory / "home"
        home.mkdir()
        # Free ports, because other programs on this machine may use the defaults.
        self.config = home / "config.yaml"
        self.config.write_text("public: {listen: '127.0.0.1:0'}\ninternal: {listen: '127.0.0.1:0'}\n")
        self.env = {**environment(home), "SHEPHERD_DATA": str(self.data), "SHEPHERD_CONFIG": str(self.config)}
        self.started = []

    def start(self, *args, **options):
        process = subprocess.Popen([BINARY, "run", "--json", *args], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   stdin=subprocess.DEVNULL, text=True, env=self.env, **options)
        self.started.append(process)
        first = process.stdout.readline()
        assert first, process.stderr.read()
        process.task = json.loads(first)["taskID"]
        return process

    def record(self):
        return json.loads((self.data / "server.json").read_text())

    def api(self, path):
        token = (self.data / "admin.token").read_text().strip()
        return httpx.get(self.record()["public"] + path, headers={"Authorization": f"Bearer {token}"}, trust_env=False)

    def state(self, task):
        return self.api(f"/api/v1/tasks/{task}").json()["status"]["state"]


@pytest.fixture
def runs(tmp_path):
    made = Runs(tmp_path)
    yield made
    for process in made.started:
        if process.poll() is None:
            process.kill()
            process.wait()


def eventually(fact, timeout=30):
    deadline = time.monotonic() + timeout
    while True:
        try:
            value = fact()
            if value:
                return value
        except (OSError, httpx.HTTPError, KeyError, ValueError):
            pass
        assert time.monotonic() < deadline, "did not come true"
        time.sleep(0.02)


def gate(path):
    """A command that ends once the file exists."""
    return ["--", "sh", "-c", f"echo ready; while ! test -e {path}; do sleep 0.05; done; echo through"]


def test_hosts_a_server_and_takes_it_away_again(runs):
    run = runs.start("--", "echo", "hello")
    out, errors = run.communicate(timeout=60)
    assert run.returncode == 0, errors
    assert json.loads(out.splitlines()[-1])["data"]["state"] == "completed"
    assert not (runs.data / "server.json").exists()
    # The history is there for later viewers.
    server = Server(runs.data).start()
    try:
        with server.api() as api:
            assert api.get(f"/api/v1/tasks/{run.task}").json()["status"]["state"] == "completed"
    finally:
        server.kill()


def test_a_second_run_finds_the_first_which_stays_for_it(runs, tmp_path):
    first = runs.start(*gate(tmp_path / "one"))
    second = runs.start(*gate(tmp_path / "two"))
    assert runs.record()["pid"] == first.pid
    (tmp_path / "one").touch()
    eventually(lambda: runs.state(first.task) == "completed")
    assert runs.state(second.task) == "running"
    assert first.poll() is None, "the host is the last one to go"
    (tmp_path / "two").touch()
    second.communicate(timeout=60)
    assert second.returncode == 0
    first.communicate(timeout=60)
    assert first.returncode == 0


def test_when_the_host_is_killed_another_run_hosts(runs, tmp_path):
    first = runs.start(*gate(tmp_path / "one"))
    second = runs.start(*gate(tmp_path / "two"))
    first.kill()
    first.wait()
    eventually(lambda: runs.record()["pid"] == second.pid)
    eventually(lambda: runs.state(second.task) == "running")
    (tmp_path / "two").touch()
    out, errors = second.communicate(timeout=60)
    assert second.returncode == 0, errors
    events = [json.loads(line) for line in out.splitlines()]
    assert [event["sequence"] for event in events] == list(range(1, len(events) + 1))
    assert "through" in json.dumps(events) and events[-1]["data"]["state"] == "completed"


def test_ten_at_once_share_one_host(runs):
    started = [runs.start("--", "sh", "-c", "echo a; sleep 0.2; echo b") for _ in range(10)]
    for run in started:
        out, errors = run.communicate(timeout=120)
        assert run.returncode == 0, errors
        assert json.loads(out.splitlines()[-1])["data"]["state"] == "completed"
    server = Server(runs.data).start()
    try:
        with server.api() as api:
            tasks = api.get("/api/v1/tasks").json()
            assert {task["id"] for task in tasks} == {run.task for run in started}
            assert {task["status"]["state"] for task in tasks} == {"completed"}
    finally:
        server.kill()


def test_the_agent_goes_on_while_the_server_is_away(make_server, tmp_path):
    server = make_server().start()
    env = {**server.env, "SHEPHERD_URL": server.public, "SHEPHERD_INTERNAL_URL": server.internal,
           "SHEPHERD_TOKEN": server.token, "SHEPHERD_DATA": str(tmp_path / "elsewhere")}
    run = subprocess.Popen([BINARY, "run", "--json", *gate(tmp_path / "go")], stdout=subprocess.PIPE,
                           stderr=subprocess.PIPE, stdin=subprocess.DEVNULL, text=True, env=env)
    task = json.loads(run.stdout.readline())["taskID"]
    with server.api() as api:
        eventually(lambda: "ready" in api.get(f"/api/v1/tasks/{task}/events").text)
    server.kill()
    (tmp_path / "go").touch()
    _, errors = run.communicate(timeout=120)
    assert run.returncode == 0
    spools = list((tmp_path / "elsewhere" / "spool").iterdir())
    assert len(spools) == 1 and str(spools[0]) in errors, errors
    # The server comes back; the next run delivers what this one could not.
    server.listen, server.internal_listen = server.public.split("//")[1], server.internal.split("//")[1]
    server.start()
    later = subprocess.run([BINARY, "run", "--", "true"], env=env, capture_output=True, text=True, timeout=60)
    assert later.returncode == 0, later.stderr
    assert "an earlier run left behind" in later.stderr
    with server.api() as api:
        seen = api.get(f"/api/v1/tasks/{task}").json()
        log = api.get(f"/api/v1/tasks/{task}/events").json()["events"]
    assert seen["status"]["state"] == "completed"
    assert [event["sequence"] for event in log] == list(range(1, len(log) + 1))
    assert "through" in json.dumps(log)
    assert not list((tmp_path / "elsewhere" / "spool").iterdir())


def test_detached(runs, tmp_path):
    result = subprocess.run([BINARY, "run", "--detach", *gate(tmp_path / "go")], env=runs.env, capture_output=True,
                            text=True, timeout=60)
    assert result.returncode == 0, result.stderr
    task = result.stdout.strip()
    pid = runs.record()["pid"]
    try:
        eventually(lambda: runs.state(task) == "running")
        (tmp_path / "go").touch()
        eventually(lambda: not Path(f"/proc/{pid}").exists())
    finally:
        if Path(f"/proc/{pid}").exists():
            os.kill(pid, signal.SIGKILL)
    failed = subprocess.run([BINARY, "run", "--detach", "--url", "http://127.0.0.1:1", "--", "true"], env=runs.env,
                            capture_output=True, text=True, timeout=60)
    assert failed.returncode == 3 and "no server answers" in failed.stderr
