"""`shepherd run`: local agents and commands, visible to every client of the server."""

import json
import signal
import subprocess
import time
from pathlib import Path

import pytest

from agent_run import MARK, survivors, wait_until_gone
from server import BINARY
from tasks import new_id


class Run:
    """A `shepherd run` beside a server, read line by line."""

    def __init__(self, server, *args, cwd=None, env=None, **options):
        self.process = subprocess.Popen(
            [BINARY, "run", "--json", *map(str, args)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            stdin=subprocess.DEVNULL, cwd=cwd,
            env={**server.env, "SHEPHERD_DATA": str(server.data), **(env or {})}, **options)
        self.task = json.loads(self.process.stdout.readline() or "{}").get("taskID")
        assert self.task, self.process.stderr.read()
        self.events = []

    def until(self, wanted):
        """Reads events up to the first that `wanted` accepts."""
        for line in self.process.stdout:
            self.events.append(json.loads(line))
            if wanted(self.events[-1]):
                return self.events[-1]
        raise AssertionError(f"did not come; exit code {self.process.wait()}\n{self.process.stderr.read()}\n"
                             + "\n".join(map(json.dumps, self.events)))

    def until_state(self, state):
        return self.until(lambda event: event["type"] == "status" and event.get("data", {}).get("state") == state)

    def until_output(self, text):
        return self.until(lambda event: event["type"] == "output" and text in event["data"]["text"])

    def end(self, timeout=60):
        out, self.errors = self.process.communicate(timeout=timeout)
        self.events += [json.loads(line) for line in out.splitlines()]
        return self.process.returncode


@pytest.fixture
def start(server):
    started = []

    def run(*args, **options):
        started.append(Run(server, *args, **options))
        return started[-1]

    yield run
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


def summaries(events, kind):
    return [event["summary"] for event in events if event["type"] == kind]


def git(directory, *words):
    return subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *words], cwd=directory, check=True,
                          capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    directory = tmp_path / "repository"
    directory.mkdir()
    git(directory, "init", "-q", "-b", "trunk")
    (directory / "file").write_text("one\n")
    git(directory, "add", ".")
    git(directory, "commit", "-q", "-m", "first")
    return directory


def test_a_command_is_a_task_and_its_exit_code_counts(start, api):
    run = start("--", "sh", "-c", "echo hello; echo bad >&2; exit 0")
    assert run.end() == 0
    assert "hello" in "".join(event["data"]["text"] for event in run.events if event["type"] == "output")
    task = api.get(f"/api/v1/tasks/{run.task}").json()
    assert task["status"]["state"] == "completed" and task["agent"] == "text"
    assert task["task"]["description"] == "sh -c 'echo hello; echo bad >&2; exit 0'"
    log = api.get(f"/api/v1/tasks/{run.task}/events").json()["events"]
    assert [event["sequence"] for event in log] == list(range(1, len(log) + 1))
    assert log == run.events, "the terminal shows the log as the server has it"
    assert log[-1]["type"] == "status" and log[-1]["data"]["exitCode"] == 0
    assert any("bad" in text for text in summaries(log, "log"))


def test_a_failing_command(start):
    run = start("--", "sh", "-c", "echo broken >&2; exit 3")
    assert run.end() == 7
    assert run.events[-1]["data"]["state"] == "failed"
    assert run.events[-1]["data"]["exitCode"] == 3
    assert "broken" in run.events[-1]["data"]["message"]


def test_what_cannot_be_started(start):
    run = start("--", "no-such-program-at-all")
    assert run.end() == 7
    assert "no-such-program-at-all" in run.events[-1]["data"]["message"]


def test_says_what_the_agent_can_do(start):
    run = start("--", "true")
    assert run.end() == 0
    running = next(event for event in run.events if event.get("data", {}).get("state") == "running")
    assert set(running["data"]["capabilities"]["commands"]) == {"interrupt", "resume", "stop"}


def test_the_agent_sees_its_task_and_no_token(start, server):
    run = start("--", "env", env={"SHEPHERD_TOKEN": server.token})
    assert run.end() == 0
    seen = "".join(event["data"]["text"] for event in run.events if event["type"] == "output")
    assert f"SHEPHERD_TASK_ID={run.task}" in seen
    assert "SHEPHERD_TOKEN" not in seen


def test_secrets_of_the_environment_never_leave(start, server):
    secret = "zebra-crossing-7291"
    run = start("--", "sh", "-c", 'echo "the key is $MY_SERVICE_TOKEN indeed"', env={"MY_SERVICE_TOKEN": secret})
    assert run.end() == 0
    shown = json.dumps(run.events)
    assert "the key is [redacted:" in shown and secret not in shown
    for path in server.data.rglob("*"):
        if path.is_file():
            assert secret.encode() not in path.read_bytes(), path


def test_a_timeout_ends_it(start):
    started = time.monotonic()
    run = start("--timeout", "1s", "--", "sleep", "600")
    assert run.end() == 8
    assert time.monotonic() - started < 30
    end = run.events[-1]["data"]
    assert end["state"] == "timed_out"
    assert [process["name"] for process in end["ended"]] == ["sleep 600"]


def test_sigterm_stops_it_and_names_who_is_gone(start):
    run = start("--", "sh", "-c", "(setsid sleep 601 &) ; echo ready; sleep 600")
    run.until_output("ready")
    run.process.send_signal(signal.SIGTERM)
    assert run.end() == 9
    end = run.events[-1]["data"]
    assert end["state"] == "cancelled"
    names = [process["name"] for process in end["ended"]]
    assert "sleep 601" in names and "sleep 600" in names
    assert not any("sleep 601" in Path(f"/proc/{pid}/cmdline").read_text().replace("\0", " ")
                   for pid in [process["pid"] for process in end["ended"]] if Path(f"/proc/{pid}/cmdline").exists())


def test_a_deleted_task_ends_its_run_at_once_and_delays_no_later_one(start, api, server):
    run = start("--", "sh", "-c", "echo ready; exec sleep 600")
    run.until_output("ready")
    deleted = time.monotonic()
    assert api.delete(f"/api/v1/tasks/{run.task}").status_code == 204
    assert run.end() == 9
    assert time.monotonic() - deleted < 15, "nobody can take the rest of the log, so nobody waits for it"
    assert "the task was deleted on the server" in run.errors and "delivers it" not in run.errors
    spools = [path.suffix for path in (server.data / "spool").iterdir()]
    assert spools == [".undeliverable"]
    later = start("--", "true")
    assert later.end() == 0
    assert [path.suffix for path in (server.data / "spool").iterdir()] == spools


def test_ctrl_c_pauses_then_stops(start):
    run = start("--", "sh", "-c", "echo ready; exec sleep 600")
    run.until_output("ready")
    run.process.send_signal(signal.SIGINT)
    run.until_state("paused")
    run.process.send_signal(signal.SIGINT)
    assert run.end() == 9
    assert run.events[-1]["data"]["state"] == "cancelled"


def test_a_killed_runner_leaves_nobody(start):
    mark = new_id()
    run = start("--", "sh", "-c", "(setsid sleep 602 &) ; echo ready; sleep 600", env={MARK: mark})
    run.until_output("ready")
    assert len(survivors(mark)) > 1, "the run and its agent"
    run.process.kill()
    assert wait_until_gone(mark) == [], "the agent outlived its runner"


def test_a_work_tree_of_its_own(start, repository):
    script = "echo two >> file; git add .; git -c user.name=a -c user.email=a@b.c commit -q -m second; echo three > new"
    run = start("--worktree", "--", "sh", "-c", script, cwd=repository)
    assert run.end() == 0
    result = [event for event in run.events if event["type"] == "result"][-1]["data"]
    assert result["branch"] == f"shepherd/{run.task}"
    assert result["commitCount"] == 1 and result["commits"][0].endswith(" second")
    assert sorted(result["files"]) == ["file", "new"] and result["filesChanged"] == 2
    assert (result["insertions"], result["deletions"]) == (2, 0)
    assert (repository / "file").read_text() == "one\n", "the operator's own tree is untouched"
    assert git(repository, "log", "--format=%s", f"shepherd/{run.task}") == "second\nfirst"


def test_changes_in_the_current_directory(start, repository):
    (repository / "mine").write_text("untracked before\n")
    run = start("--", "sh", "-c", "echo two >> file", cwd=repository)
    assert run.end() == 0
    result = [event for event in run.events if event["type"] == "result"][-1]["data"]
    assert result["files"] == ["file"] and result["insertions"] == 1 and result["branch"] == "trunk"


def test_a_link_to_a_pull_request_is_the_result(start, api, repository):
    run = start("--", "sh", "-c", "echo https://github.com/acme/shop/pull/17", cwd=repository)
    assert run.end() == 0
    assert api.get(f"/api/v1/tasks/{run.task}").json()["status"]["prURL"] == "https://github.com/acme/shop/pull/17"


def test_input_that_makes_no_sense(server, tmp_path):
    for words, message in [([], "say what to do"), (["--agent", "nobody", "x"], "there is no agent"),
                           (["x", "--", "true"], "not both"), (["--timeout", "soon", "x"], "soon")]:
        result = server.cli("run", *words, check=False)
        assert result.returncode == 2, result.stderr
        assert message in result.stderr
