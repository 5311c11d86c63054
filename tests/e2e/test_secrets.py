"""Secrets that agents print appear nowhere: not in the log, its details, the search, the spool, files or messages."""

import json
import re
import subprocess
import time
from pathlib import Path

import pytest

from tasks import eventually

CORPUS = Path(__file__).parent.parent / "golden" / "redaction"
MARK = re.compile(r"\[redacted:[a-z_]+:[0-9]+\]")


def joined(text):
    """The corpus splits its examples so that no scanner mistakes them for live keys."""
    return text.replace("<+>", "")


def secrets_of(row):
    """The parts of the text that the expectation replaces by a mark."""
    kept = [re.escape(part) for part in MARK.split(joined(row["expect"]))]
    found = re.fullmatch("(.+?)".join(kept), joined(row["text"]), re.DOTALL)
    return [group for group in found.groups() if "\n" not in group] if found else []


ROWS = json.loads((CORPUS / "secrets.json").read_text())
LOOKALIKES = [joined(text) for text in json.loads((CORPUS / "lookalikes.json").read_text())]
# Short secrets may occur in a file by chance, and some are part of a look-alike.
SECRETS = sorted({secret for row in ROWS for secret in secrets_of(row)
                  if len(secret) >= 8 and not any(secret in text for text in LOOKALIKES)})


def one_lines(texts):
    return [text for text in texts if "\n" not in text and "\x1b" not in text and "\0" not in text]


def leaks(text):
    return [secret for secret in SECRETS if secret in text]


def files_with_secrets(*directories):
    found = []
    for directory in directories:
        for path in Path(directory).rglob("*"):
            if path.is_file():
                content = path.read_bytes()
                found += [(path.name, secret) for secret in SECRETS if secret.encode() in content]
    return found


def whole_log(api, task):
    """Every event with its full content and raw record."""
    answer = api.get(f"/api/v1/tasks/{task}/events", params={"detail": 1, "limit": 1000})
    return answer.raise_for_status().text


@pytest.fixture
def noisy_script(tmp_path):
    """A program that prints the corpus. It is outside the data directory, where its text would be found."""
    script = tmp_path / "agent" / "print-all"
    script.parent.mkdir()
    texts = one_lines(joined(row["text"]) for row in ROWS) + one_lines(LOOKALIKES)
    script.write_text("cat <<'END_OF_CORPUS'\n" + "\n".join(texts) + "\nEND_OF_CORPUS\n")
    return script


def test_the_corpus_is_read_as_meant():
    assert len(SECRETS) > 30
    assert not [row for row in ROWS if not secrets_of(row) and "\n" not in row["text"]]


def test_posted_secrets_reach_neither_consumers_nor_files(make_server):
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        api.post("/api/v1/tasks", json={"id": "posted", "prompt": "post everything"}).raise_for_status()
        for row in ROWS:
            text = joined(row["text"])
            runner.post("/api/v1/tasks/posted/events", json={
                "type": "tool_result", "summary": text, "tool": "Bash", "input": {"command": text, "nested": [text]},
                "output": {"success": True, "summary": text}, "metadata": {"note": text},
                "detail": {"output": text, "raw": {"line": text}}}).raise_for_status()
        for text in LOOKALIKES:
            runner.post("/api/v1/tasks/posted/events", json={"type": "log", "summary": text}).raise_for_status()
        log = whole_log(api, "posted")
        summaries = [event["summary"] for event in json.loads(log)["events"]]
        for secret in SECRETS[:5]:
            assert secret not in api.get("/api/v1/search", params={"q": f'"{secret[:20]}"'}).text
        refused = runner.post("/api/v1/tasks/posted/events", content=f'[{{"type":"log","summary":"{SECRETS[0]}"}},{{]',
                              headers={"Content-Type": "application/json"})
    assert refused.status_code == 400
    assert not leaks(refused.text)
    assert not leaks(log)
    for text in one_lines(LOOKALIKES):
        assert text[:200] in " ".join(summaries), f"a look-alike was changed: {text}"
    server.stop()
    assert not leaks(server.log())
    assert not files_with_secrets(server.data)


@pytest.mark.parametrize("secret", ["ghp_" + "a1B2c3D4e5F6" * 3, "deploy --password hunter22hunter22"])
def test_names_with_secrets_tell_things_apart_and_are_kept_nowhere(make_server, secret):
    """Ids of events, producers, calls, sessions, types, keys: anything that a client chooses."""
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        made = [api.post("/api/v1/tasks", json={"prompt": "x"}, headers={"Idempotency-Key": key})
                for key in (secret, secret, secret + "2")]
        tasks = [answer.raise_for_status().json()["id"] for answer in made]
        assert tasks[0] == tasks[1] != tasks[2], "the same key is the same request"
        task = tasks[0]

        def post(*events, **headers):
            answer = runner.post(f"/api/v1/tasks/{task}/events", json=list(events), headers=headers)
            return answer.raise_for_status().json()["sequence"]

        def event(**members):
            return {"type": "log", "summary": "x", **members}

        first = post(event(eventID=secret))
        assert post(event(eventID=secret)) == first, "the same id is the same event"
        assert post(event(eventID=secret + "2")) == first + 1, "another id is another event"
        second = post(event(sequence=1), event(sequence=2), **{"Shepherd-Producer": secret})
        assert post(event(sequence=1), event(sequence=2), **{"Shepherd-Producer": secret}) == second
        assert post(event(sequence=1), **{"Shepherd-Producer": secret + "2"}) == second + 1, "another producer counts for itself"
        post({"type": secret[:64], "summary": "x"}, event(callID=secret), event(parentCallID=secret), event(sessionID=secret),
             event(traceID=secret), event(spanID=secret), event(tool=secret))
        log = whole_log(api, task)
        assert secret not in log and secret not in api.get(f"/api/v1/tasks/{task}").text
    server.stop()
    assert [path.name for path in server.data.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()] == []
    assert secret not in server.log()
    server.start()
    with server.runner() as runner:
        last = post(event(eventID=secret + "3"))
        assert post(event(eventID=secret)) == last, "nothing new, also after a restart"


def test_an_agents_secrets_are_gone_before_the_spool(make_server, noisy_script, tmp_path):
    """The run continues while the server is down: its spool has all output and no secret."""
    server = make_server().start()
    gate = tmp_path / "agent" / "go"
    script = f"until [ -e {gate} ]; do sleep 0.02; done; sh {noisy_script}"
    run = subprocess.Popen([server.binary, "run", "--", "sh", "-c", script], stdout=subprocess.PIPE,
                           stderr=subprocess.STDOUT, text=True,
                           env={**server.env, "SHEPHERD_URL": server.public, "SHEPHERD_TOKEN": server.token,
                                "SHEPHERD_DATA": str(server.data)})
    try:
        with server.api() as api:
            task = wait_for_task(api)
        server.kill()
        gate.touch()
        output, _ = run.communicate(timeout=120)
    finally:
        run.kill()
    assert "spool" in output, output
    assert not leaks(output)
    assert not files_with_secrets(server.data)

    server.start()
    delivered = server.cli("doctor", check=False)
    assert not leaks(delivered.stdout + delivered.stderr)
    with server.api() as api:
        log = whole_log(api, task)
    assert "[redacted:" in log, "the agent's output was not delivered"
    assert not leaks(log)


# Commands in which more text follows the secret; that text runs.
HIDDEN_COMMANDS = [
    "git fetch https://u:x;touch${IFS}PWNR;:@github.com/o/r",
    "curl https://u:x&touch${IFS}PWNR&@example.com",
    "curl -u admin:x1;touch${IFS}PWNR;: https://h",
    "cat > k <<EOF\n-----BEGIN RSA PRIVATE " "KEY-----\nEOF\ntouch PWNR\ncat <<EOF\n-----END RSA PRIVATE " "KEY-----\nEOF",
    "curl -u 'admin:x1'$(touch${IFS}PWNR) https://h",
    "curl -u admin:x1|touch${IFS}PWNR",
    "export PASSWORD=hunter22`touch${IFS}PWNR`",
    "export API_TOKEN=a1b2c3d4e5f6$(touch${IFS}PWNR)",
    "psql postgres://app:s3cr3t$(touch${IFS}PWNR)@db/app",
    "curl -H 'Authorization: Bearer aB3dE5fG7hJ9kL1mN2pQ';touch${IFS}PWNR",
    "mysql --password hunter22;touch${IFS}PWNR",
    "curl https://u:x>PWNR;@example.com",
    "PASSWORD=hunter22\ntouch PWNR",
]


@pytest.mark.parametrize("command", HIDDEN_COMMANDS)
def test_what_an_approval_runs_is_shown(server, command):
    """A mark replaces only the secret in every view that an operator has before approving."""
    with server.api() as api, server.runner() as runner:
        task = api.post("/api/v1/tasks", json={"prompt": "x"}).json()["id"]
        runner.post(f"/api/v1/tasks/{task}/events", json=[
            {"type": "tool_call", "summary": f"Running {command}", "tool": "Bash", "callID": "c1", "input": {"command": command}},
            {"type": "approval", "summary": f"Needs approval: Running {command}", "tool": "Bash", "callID": "c1",
             "input": {"command": command}, "data": {"approvalID": "a1", "state": "pending", "kind": "permission", "tool": "Bash",
                                                     "input": {"command": command}}}]).raise_for_status()
        # The inbox lags behind the log.
        waiting = lambda: [item for item in api.get("/api/v1/inbox").json()["items"] if item["taskID"] == task]  # noqa: E731
        views = {"log": api.get(f"/api/v1/tasks/{task}/events", params={"detail": 1}).text,
                 "inbox": json.dumps(eventually(waiting))}
    views["shepherd inbox"] = server.cli("inbox").stdout
    views["shepherd export"] = server.cli("export", task).stdout
    assert views["log"].count("PWNR") == command.count("PWNR") * 5, views["log"]
    assert views["shepherd export"].count("PWNR") >= command.count("PWNR") * 5  # also in the task's open approvals
    for name in ("inbox", "shepherd inbox"):
        assert "PWNR" in views[name], (name, views[name])
    with server.api() as api:
        api.delete(f"/api/v1/tasks/{task}").raise_for_status()  # the next case looks for its own


def wait_for_task(api):
    """The id of the only task once its agent runs."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        tasks = api.get("/api/v1/tasks").json()
        if tasks and tasks[0]["status"]["state"] == "running":
            return tasks[0]["id"]
        time.sleep(0.02)
    raise AssertionError("no task runs")
