"""`shepherd translate`: recordings of the real agent programs, through the real binary."""

import json
import subprocess
from pathlib import Path

import pytest

from server import BINARY, environment
from tasks import new_task

CLAUDE = Path(__file__).resolve().parents[1] / "golden" / "claude"
# Recordings of both directions hold more than the agent's output, and some ended with an exit code that the file does
# not have.
PLAIN = sorted(path for path in (CLAUDE / "recordings").glob("*.jsonl") if not path.read_bytes().startswith(b'{"dir":'))


def translate(tmp_path, *args, **options):
    return subprocess.run([BINARY, "translate", "--agent", *map(str, args)], capture_output=True, text=True, timeout=60,
                          env=environment(tmp_path), **options)


def events_of(text):
    return [json.loads(line) for line in text.splitlines()]


def expected_steps(recording):
    steps = [json.loads(line) for line in (CLAUDE / "expected" / f"{recording.stem}.ndjson").read_text().splitlines()]
    return [step for step in steps if "type" in step]


@pytest.mark.parametrize("recording", PLAIN, ids=lambda path: path.stem)
def test_gives_the_golden_events(recording, tmp_path):
    result = translate(tmp_path, "claude", recording)
    assert result.returncode == 0 and result.stderr == ""
    events = events_of(result.stdout)
    golden = expected_steps(recording)
    # The recording has neither standard error nor the exit code; those events come last.
    shared = [step for step in golden if "eventID" in step]
    assert [event["eventID"] for event in events if "eventID" in event] == [step["eventID"] for step in shared]
    by_id = {step["eventID"]: step for step in shared}
    for event in events:
        if "eventID" not in event:
            continue
        step = dict(by_id[event["eventID"]])
        for changing in ("timestamp", "detail", "durationMS"):
            step.pop(changing, None), event.pop(changing, None)
        assert event == step


def test_a_translated_stream_can_be_posted(server, tmp_path):
    """The pipeline of the help text: agent | translate | post."""
    with server.api() as api:
        task = new_task(api)
        stream = (CLAUDE / "recordings" / "claude-01-tools.jsonl").read_text()
        events = translate(tmp_path, "claude", "--status", "--detail", input=stream).stdout
        posted = subprocess.run([BINARY, "post", task, "--data", server.data], input=events, capture_output=True, text=True, timeout=60,
                                env=server.env)
        assert posted.returncode == 0, posted.stderr
        seen = api.get(f"/api/v1/tasks/{task}").json()
        assert seen["status"]["state"] == "completed"
        assert seen["usage"]["costUSD"] > 0
        page = api.get(f"/api/v1/tasks/{task}/events?types=tool_call").json()["events"]
        assert page and all(event["tool"] for event in page)
        detail = api.get(f"/api/v1/tasks/{task}/events/{page[0]['sequence']}/detail").json()
        assert "raw" in detail


def test_plain_text_and_unknown_agents(tmp_path):
    lines = translate(tmp_path, "text", input="compiling\nlinking\n").stdout
    assert "compiling" in lines and events_of(lines)
    unknown = translate(tmp_path, "nobody", input="")
    assert unknown.returncode == 2
    assert "claude" in unknown.stderr and "text" in unknown.stderr
    missing = translate(tmp_path, "claude", tmp_path / "nothing.jsonl")
    assert missing.returncode == 2 and "nothing.jsonl" in missing.stderr


CODEX = CLAUDE.parent / "codex"


def summaries(text):
    return [event["summary"] for event in events_of(text) if event["type"] in ("thinking", "tool_call", "approval", "error")]


@pytest.mark.parametrize("name", ["codex-01-exec-tools", "codex-01-exec-tools.rollout", "codex-app-02-approvals"])
def test_codex_in_each_of_its_forms(name, tmp_path):
    """Lines as they were printed, a file of a session, a recording of both directions."""
    result = translate(tmp_path, "codex", CODEX / "recordings" / f"{name}.jsonl")
    assert result.returncode == 0 and result.stderr == ""
    golden = "\n".join(line for line in (CODEX / "expected" / f"{name}.ndjson").read_text().splitlines() if '"type":' in line[:60])
    assert summaries(result.stdout) == summaries(golden) != []


@pytest.mark.parametrize("agent, folder, name", [
    ("gemini", "gemini", "gemini-01-tools"), ("gemini", "acp", "acp-gemini-02-cancel"), ("opencode", "opencode", "opencode-01-run-tools"),
    ("opencode", "opencode", "opencode-serve-02-permissions"), ("opencode", "acp", "acp-opencode-02-cancel"), ("goose", "acp", "acp-goose-01-permissions"),
    ("claude", "acp", "acp-claude-02-cancel")])
def test_the_form_of_an_agent_is_found_out(agent, folder, name, tmp_path):
    """One name for all forms of an agent, and turns and decisions from both directions of a recording."""
    result = translate(tmp_path, agent, CLAUDE.parent / folder / "recordings" / f"{name}.jsonl")
    assert result.returncode == 0 and result.stderr == ""
    golden = "\n".join(line for line in (CLAUDE.parent / folder / "expected" / f"{name}.ndjson").read_text().splitlines() if '"type":' in line[:60])
    assert summaries(result.stdout) == summaries(golden) != []


def test_a_session_of_codex_is_imported_once(server, tmp_path):
    kept = tmp_path / ".codex" / "sessions" / "2026" / "11" / "15"
    kept.mkdir(parents=True)
    session = "01a1e084-3774-77e3-bcf3-2762b7953482"
    file = kept / f"rollout-2026-11-15T18-42-03-{session}.jsonl"
    file.write_bytes((CODEX / "recordings" / "codex-01-exec-tools.rollout.jsonl").read_bytes())
    env = {"HOME": str(tmp_path), "CODEX_HOME": ""}
    assert "events added" in server.cli("import", "--from", "codex", session, env=env).stdout
    assert "already there" in server.cli("import", "--from", "codex", "--all", env=env).stdout
    with server.api() as api:
        task = api.get(f"/api/v1/tasks/codex-{session}").json()
    assert task["task"]["description"] == "Fix the add function" and task["usage"]["outputTokens"] == 294
    missing = server.cli("import", "--from", "codex", "no-such-session", env=env, check=False)
    assert missing.returncode != 0 and "no-such-session" in missing.stderr
