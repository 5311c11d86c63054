"""A person's own Claude Code sessions: hooks are installed and report, and past sessions are imported from disk."""

import json
import os
import shutil
import stat
import subprocess
import time
import uuid
from pathlib import Path

import pytest

from agents import CLAUDE, claude_environment, needs_claude
from model_api import ModelAPI, Reply, text, tool
from server import BINARY
from tasks import end_task, new_id, post_events

GOLDEN = Path(__file__).parent.parent / "golden" / "claude"
CALLS = [json.loads(line) for line in (GOLDEN / "hooks" / "claude-29-hooks.jsonl").read_text().splitlines()]
SESSION = CALLS[0]["session_id"]


def send(server, call, *flags, env=None):
    """Runs what a hook runs, in the foreground."""
    base = {**server.env, "SHEPHERD_DATA": str(server.data), **(env or {})}
    return subprocess.run([BINARY, "hook", "send", *flags], input=json.dumps(call), text=True, capture_output=True,
                          timeout=30, env=base)


def wait_for(check, what, seconds=20):
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        value = check()
        if value:
            return value
        time.sleep(0.02)
    raise AssertionError(f"{what} did not happen within {seconds} s")


def renamed(calls, session):
    return [{**call, "session_id": session} for call in calls]


def events_of(api, task, **query):
    return api.get(f"/api/v1/tasks/{task}/events", params={"limit": 500, **query}).json()["events"]


# --- hook install ---

@pytest.fixture
def settings(tmp_path):
    path = tmp_path / "claude" / "settings.json"
    path.parent.mkdir()
    return path


def hook(server, verb, settings, *flags, **options):
    return server.cli("hook", verb, "--settings", settings, *flags, **options)


def test_install_twice_and_uninstall(server, settings):
    before = '{\n  "model": "opus",\n  "hooks": {\n    "Stop": [{"hooks": [{"type": "command", "command": "say done"}]}]\n  }\n}\n'
    settings.write_text(before)
    settings.chmod(0o640)
    hook(server, "install", settings)
    once = settings.read_text()
    found = json.loads(once)
    assert found["model"] == "opus"
    assert found["hooks"]["Stop"][0]["hooks"][0]["command"] == "say done"
    command = found["hooks"]["PreToolUse"][0]["hooks"][0]["command"]
    assert BINARY.split("/")[-1] in command and " hook send" in command
    assert server.token not in once, "the token must not be in the settings"
    assert stat.S_IMODE(settings.stat().st_mode) == 0o640
    hook(server, "install", settings)
    assert settings.read_text() == once
    assert (settings.parent / "settings.json.before-shepherd").read_text() == before
    hook(server, "uninstall", settings)
    assert json.loads(settings.read_text()) == json.loads(before)


def test_install_where_there_was_nothing(server, tmp_path):
    path = tmp_path / "new" / "settings.json"
    shown = hook(server, "install", path, "--print").stdout
    assert not path.exists() and "PreToolUse" in json.loads(shown)["hooks"]
    hook(server, "install", path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    hook(server, "uninstall", path)
    assert json.loads(path.read_text()) == {}


def test_settings_that_are_not_understood_are_left_alone(server, settings):
    settings.write_text("{ // a comment\n}")
    result = hook(server, "install", settings, check=False)
    assert result.returncode == 2 and str(settings) in result.stderr
    assert settings.read_text() == "{ // a comment\n}"


def test_the_installed_command_works_in_a_shell(server, settings, api):
    """As the agent runs it: in a shell, with the call on standard input and its own environment."""
    hook(server, "install", settings)
    command = json.loads(settings.read_text())["hooks"]["SessionStart"][0]["hooks"][0]["command"]
    session = new_id("shell")
    result = subprocess.run(["/bin/sh", "-c", command], input=json.dumps({**CALLS[0], "session_id": session}), text=True,
                            capture_output=True, timeout=30, env={"PATH": os.environ["PATH"], "HOME": str(server.home)})
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    wait_for(lambda: api.get(f"/api/v1/tasks/claude-{session}").status_code == 200, "the task")


# --- hook send ---

def test_a_recorded_session(server, api):
    for call in CALLS:
        result = send(server, call, "--wait")
        assert result.returncode == 0, result.stderr
    task = api.get(f"/api/v1/tasks/claude-{SESSION}").json()
    assert task["title"] == "ORIGINAL-TASK: list, fail, delegate"
    assert task["status"]["state"] == "completed" and task["sessionID"] == SESSION
    events = events_of(api, task["id"])
    failed = [e for e in events if e["type"] == "tool_result" and not e["output"]["success"]]
    assert [e["callID"] for e in failed] == ["toolu_01y8VqFKHUEC6m1oSZbMut6C"]
    token = server.data / "hook.token"
    assert stat.S_IMODE(token.stat().st_mode) == 0o600
    assert token.read_text().strip() != server.token, "hooks have a token of their own, good for posting only"


def test_the_agent_never_waits(server, api):
    """The call returns at once and works in the background, but in order."""
    session = new_id("behind")
    for call in renamed(CALLS, session):
        assert send(server, call).returncode == 0
    done = wait_for(lambda: (t := api.get(f"/api/v1/tasks/claude-{session}")).status_code == 200
                    and t.json()["status"]["state"] == "completed" and t.json(), "the end")
    ours = [e.get("callID") for e in events_of(api, done["id"]) if e["type"] == "tool_call"]
    assert ours == [c["tool_use_id"] for c in CALLS if c["hook_event_name"] == "PreToolUse"]


def test_while_the_server_is_away(make_server):
    """The agent sees no message, no event is lost, and the order holds."""
    server = make_server("away").start()
    session = new_id("away")
    calls = renamed(CALLS, session)
    assert send(server, calls[0], "--wait").returncode == 0
    server.stop()
    for call in calls[1:-1]:
        result = send(server, call)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    server.start()
    assert send(server, calls[-1], "--wait").returncode == 0
    with server.api() as api:
        def ended():
            answer = api.get(f"/api/v1/tasks/claude-{session}").json()
            return answer["status"]["state"] == "completed" and answer
        task = wait_for(ended, "the end")
        events = events_of(api, task["id"])
        assert [e["timestamp"] for e in events] == sorted(e["timestamp"] for e in events)
        assert len([e for e in events if e["type"] == "tool_call"]) == 5


def sessions_while_away(server, name):
    """Hook calls of a session that happened while the server was down."""
    session = new_id(name)
    for call in renamed(CALLS, session):
        assert send(server, call).returncode == 0
    assert size_of(server.data / "hooks.spool") + size_of(server.data / "hooks.sending") > 0
    return session


def size_of(path):
    return path.stat().st_size if path.exists() else 0


def arrived(server, session):
    with server.api() as api:
        wait_for(lambda: (t := api.get(f"/api/v1/tasks/claude-{session}")).status_code == 200
                 and t.json()["status"]["state"] == "completed", "the session")
        calls = [e["callID"] for e in events_of(api, f"claude-{session}") if e["type"] == "tool_call"]
        assert calls == [c["tool_use_id"] for c in CALLS if c["hook_event_name"] == "PreToolUse"]


def test_a_server_that_starts_takes_up_what_waits(make_server):
    server = make_server("takes-up").start()
    server.stop()
    session = sessions_while_away(server, "takes-up")
    server.start()
    arrived(server, session)


def test_doctor_delivers_what_waits(make_server):
    server = make_server("doctor").start()
    server.stop()

    def left_behind(session):
        (server.data / "hooks.spool").write_text("".join(json.dumps(call) + "\n" for call in renamed(CALLS, session)))
        return session

    def doctor():
        told = server.cli("doctor", "--json", check=False).stdout
        (finding,) = [found for found in map(json.loads, told.splitlines()) if found["subject"] == "hooks"]
        return finding

    first = left_behind(new_id("doctor"))
    server.start()
    arrived(server, first)  # so the server has run the check that it runs once at its start
    session = left_behind(new_id("doctor"))
    finding = doctor()
    assert finding["level"] == "ok" and f"{len(CALLS)} hook calls" in finding["text"]
    arrived(server, session)
    server.stop()
    left_behind(new_id("doctor"))
    finding = doctor()
    assert finding["level"] == "warn" and "wait for a server" in finding["text"]


def test_a_run_delivers_what_waits(make_server):
    server = make_server("run").start()
    session = new_id("run")
    (server.data / "hooks.spool").write_text("".join(json.dumps(call) + "\n" for call in renamed(CALLS, session)))
    server.cli("run", "--", "true")
    arrived(server, session)


def test_a_full_spool_says_what_was_lost(make_server):
    """The spool refuses silently for the agent, and the log has the number of lost calls once the server is back."""
    server = make_server("full").start()
    server.stop()
    session = new_id("full")
    calls = renamed(CALLS, session)
    with (server.data / "hooks.spool").open("w") as spool:
        for minute in range(64):  # a mebibyte each, so that there is no room for one more
            call = json.dumps({**calls[0], "timestamp": f"2026-02-18T13:{minute % 60:02}:00.000Z"})
            spool.write(call.ljust(1024 * 1024 - 1) + "\n")
    for call in calls[1:4]:
        result = send(server, call)
        assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    result = send(server, calls[4], "--verbose")
    assert result.returncode == 0 and "this one is lost" in result.stderr
    server.start()
    with server.api() as api:
        found = wait_for(lambda: (t := api.get(f"/api/v1/tasks/claude-{session}")).status_code == 200
                         and [e for e in events_of(api, f"claude-{session}") if e["type"] == "log"], "the loss")
        assert found[0]["summary"].startswith("4 hook calls were lost here")
        assert send(server, calls[5], "--wait").returncode == 0, "there is room again"


def test_a_revoked_token_is_replaced(make_server):
    server = make_server("revoked").start()
    session = new_id("revoked")
    assert send(server, {**CALLS[0], "session_id": session}, "--wait").returncode == 0
    with server.api() as api:
        for token in api.get("/api/v1/tokens").json():
            if token["name"] == "claude hooks":
                assert token["scope"] == "producer"
                assert api.delete(f"/api/v1/tokens/{token['id']}").status_code == 204
        assert send(server, {**CALLS[1], "session_id": session}, "--wait").returncode == 0
        assert api.get(f"/api/v1/tasks/claude-{session}").json()["lastSequence"] == 2


def test_agents_of_a_runner_are_left_out(server, api):
    session = new_id("run")
    assert send(server, {**CALLS[0], "session_id": session}, "--wait", env={"SHEPHERD_TASK_ID": "task-1"}).returncode == 0
    assert api.get(f"/api/v1/tasks/claude-{session}").status_code == 404


@pytest.mark.parametrize("text", ["", "not json", "[]", '{"session_id":"../../x","hook_event_name":"Stop"}'])
def test_bad_calls_do_not_hold_up_the_others(server, api, text):
    env = {**server.env, "SHEPHERD_DATA": str(server.data)}
    result = subprocess.run([BINARY, "hook", "send"], input=text, text=True, capture_output=True, timeout=30, env=env)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")
    session = new_id("after")
    assert send(server, {**CALLS[0], "session_id": session}, "--wait").returncode == 0
    wait_for(lambda: api.get(f"/api/v1/tasks/claude-{session}").status_code == 200, "the next call")


def test_sub_agents_are_found_by_the_files_of_the_agent(server, api, tmp_path):
    session = new_id("sub")
    meta = tmp_path / session / "subagents" / "agent-a1.meta.json"
    meta.parent.mkdir(parents=True)
    meta.write_text('{"toolUseId": "toolu_parent"}')
    call = {"session_id": session, "transcript_path": str(tmp_path / f"{session}.jsonl"), "agent_id": "a1",
            "hook_event_name": "PreToolUse", "tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_use_id": "toolu_1"}
    assert send(server, call, "--wait").returncode == 0
    assert events_of(api, f"claude-{session}")[-1]["parentCallID"] == "toolu_parent"


@needs_claude
def test_the_real_agent_reports_itself(server, api, tmp_path):
    """The installed hooks in the settings of the real Claude Code; then its transcript, which has the totals."""
    home, work = tmp_path / "home", tmp_path / "work"
    home.mkdir()
    work.mkdir()
    (work / "notes.txt").write_text("x")
    server.cli("hook", "install", env={"HOME": str(home)})
    model = ModelAPI([Reply(text("Looking."), tool("Bash", command="ls")), Reply(tool("Bash", command="cat missing.txt")),
                      Reply(text("All done."))]).start()
    session = str(uuid.uuid4())
    try:
        result = subprocess.run([CLAUDE, "-p", "List the files", "--session-id", session, "--allowedTools", "Bash"], cwd=work,
                                env=claude_environment(home, model.url), capture_output=True, text=True, timeout=120,
                                stdin=subprocess.DEVNULL)
    finally:
        model.stop()
    assert result.returncode == 0 and "All done." in result.stdout, result.stdout + result.stderr
    task = wait_for(lambda: (t := api.get(f"/api/v1/tasks/claude-{session}")).status_code == 200
                    and t.json()["status"]["state"] == "completed" and t.json(), "the end of the session", 60)
    assert task["title"] == "List the files" and task["sessionID"] == session
    events = events_of(api, task["id"])
    results = [e for e in events if e["type"] == "tool_result"]
    assert [e["output"]["success"] for e in results] == [True, False]
    assert "notes.txt" in results[0]["output"]["summary"]
    assert [e["summary"] for e in events if e["type"] == "thinking"] == ["All done."]
    shown = server.cli("import", "--from", "claude", session,
                       env={"HOME": str(home), "SHEPHERD_INTERNAL_URL": server.internal}).stdout
    assert "totals added" in shown
    assert api.get(f"/api/v1/tasks/{task['id']}").json()["usage"]["costUSD"] > 0


# --- import ---

def transcripts(home):
    """A home directory with the recorded sessions."""
    project = home / ".claude" / "projects" / "-workspace"
    project.mkdir(parents=True)
    for source, ident in (("claude-01-tools", "c9e4f4c2-5c35-43b3-a57e-7121afd12f13"),
                          ("claude-18-subagent", "e77a45fe-6f50-4c1d-ba30-7fabb97118bf")):
        target = project / f"{ident}.jsonl"
        shutil.copyfile(GOLDEN / "recordings" / f"{source}.transcript.jsonl", target)
        os.utime(target, (1_700_000_000, 1_700_000_000))
    sub = project / "e77a45fe-6f50-4c1d-ba30-7fabb97118bf" / "subagents"
    sub.mkdir(parents=True)
    shutil.copyfile(GOLDEN / "recordings" / "claude-18-subagent.transcript.subagents.agent-aa992c9e47a3b0ad9.jsonl",
                    sub / "agent-aa992c9e47a3b0ad9.jsonl")
    shutil.copyfile(GOLDEN / "subagents" / "agent-aa992c9e47a3b0ad9.meta.json", sub / "agent-aa992c9e47a3b0ad9.meta.json")
    return project


def test_import_all_and_again(make_server, tmp_path):
    server = make_server("import").start()
    transcripts(tmp_path / "home")
    env = {"HOME": str(tmp_path / "home"), "SHEPHERD_INTERNAL_URL": server.internal}
    first = [json.loads(line) for line in
             server.cli("import", "--from", "claude", "--all", "--json", env=env).stdout.splitlines()]
    assert sorted(d["outcome"] for d in first) == ["imported", "imported"]
    with server.api() as api:
        task = api.get("/api/v1/tasks/claude-c9e4f4c2-5c35-43b3-a57e-7121afd12f13").json()
        assert task["status"]["state"] == "completed"
        assert task["title"] == "Fix the add function and check it works"
        assert task["usage"]["costUSD"] == pytest.approx(0.0384142)
        events = events_of(api, task["id"])
        assert events[0]["type"] == "session_start" and events[-1]["type"] == "status"
        assert events[1]["timestamp"] == "2026-11-15T18:20:30.143Z"
        assert {e["sequence"] for e in events} == set(range(1, len(events) + 1))
        nested = [e for e in events_of(api, "claude-e77a45fe-6f50-4c1d-ba30-7fabb97118bf")
                  if e.get("parentCallID") == "toolu_01CHoLphcere1CfCSZPbZnFo"]
        assert len(nested) == 7
    again = [json.loads(line) for line in
             server.cli("import", "--from", "claude", "--all", "--json", env=env).stdout.splitlines()]
    assert [(d["outcome"], d["added"]) for d in again] == [("unchanged", 0)] * 2
    played = server.cli("replay", "claude-c9e4f4c2-5c35-43b3-a57e-7121afd12f13", "--speed", "max").stdout
    assert "Fix the add function" in played


def test_import_by_session_and_by_path(make_server, tmp_path):
    server = make_server("import2").start()
    project = transcripts(tmp_path / "home")
    env = {"HOME": str(tmp_path / "home"), "SHEPHERD_INTERNAL_URL": server.internal}
    session = "c9e4f4c2-5c35-43b3-a57e-7121afd12f13"
    assert "events added" in server.cli("import", "--from", "claude", session, env=env).stdout
    assert "already there" in server.cli("import", "--from", "claude", project / f"{session}.jsonl", env=env).stdout
    missing = server.cli("import", "--from", "claude", "no-such-session", env=env, check=False)
    assert missing.returncode == 5 and "no-such-session" in missing.stderr
    assert server.cli("import", "--from", "claude", env=env, check=False).returncode == 2


def test_a_session_that_grew_after_its_import(make_server, tmp_path):
    server = make_server("grown").start()
    project = transcripts(tmp_path / "home")
    env = {"HOME": str(tmp_path / "home"), "SHEPHERD_INTERNAL_URL": server.internal}
    session = "c9e4f4c2-5c35-43b3-a57e-7121afd12f13"
    path = project / f"{session}.jsonl"
    server.cli("import", "--from", "claude", path, env=env)
    record = {"type": "user", "message": {"role": "user", "content": "One more thing"}, "uuid": "11111111-1111-4111-8111-111111111111",
              "timestamp": "2026-11-15T19:00:00.000Z", "sessionId": session, "cwd": "/workspace"}
    with path.open("a") as file:
        file.write(json.dumps(record, separators=(",", ":")) + "\n")
    os.utime(path, (1_700_000_000, 1_700_000_000))
    server.cli("import", "--from", "claude", path, env=env)
    with server.api() as api:
        second = api.get(f"/api/v1/tasks/claude-{session}-2").json()
        assert second["sessionID"] == session and second["resumeOf"] == f"claude-{session}"
        assert [e["summary"] for e in events_of(api, second["id"]) if e["type"] == "message"] == ["One more thing"]


def test_of_a_session_that_was_watched_only_totals_are_added(make_server, tmp_path):
    server = make_server("watched").start()
    project = transcripts(tmp_path / "home")
    env = {"HOME": str(tmp_path / "home"), "SHEPHERD_INTERNAL_URL": server.internal}
    session = "c9e4f4c2-5c35-43b3-a57e-7121afd12f13"
    for name in ("SessionStart", "UserPromptSubmit", "SessionEnd"):
        call = {"session_id": session, "hook_event_name": name, "cwd": "/workspace", "prompt": "Fix the add function"}
        assert send(server, call, "--wait").returncode == 0
    with server.api() as api, server.runner() as runner:
        before = api.get(f"/api/v1/tasks/claude-{session}").json()
        assert "totals added" in server.cli("import", "--from", "claude", session, env=env).stdout
        after = api.get(f"/api/v1/tasks/claude-{session}").json()
        assert after["lastSequence"] == before["lastSequence"] + 1
        assert after["usage"]["costUSD"] == pytest.approx(0.0384142)
        assert after["status"]["state"] == "completed"
        assert "nothing to add" in server.cli("import", "--from", "claude", session, env=env).stdout
        # A runner's own task, found by its session.
        streamed = "e77a45fe-6f50-4c1d-ba30-7fabb97118bf"
        task = new_id("run")
        assert api.post("/api/v1/tasks", json={"id": task, "prompt": "count"}).status_code == 201
        post_events(runner, task, {"type": "session_start", "summary": "s", "sessionID": streamed, "data": {"model": "m"}})
        end_task(runner, task)
        assert "nothing to add" in server.cli("import", "--from", "claude", streamed, env=env).stdout
        assert api.get(f"/api/v1/tasks/claude-{streamed}").status_code == 404
