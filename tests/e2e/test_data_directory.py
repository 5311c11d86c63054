"""The present program opens data directories of earlier versions (tests/golden/data-directory) and serves their
content."""

import importlib.util
import json
import sqlite3
import tarfile
from contextlib import closing
from pathlib import Path

import httpx
import pytest

from server import Server
from tasks import eventually

GOLDEN = Path(__file__).resolve().parents[1] / "golden" / "data-directory"
_spec = importlib.util.spec_from_file_location("make_data_directory", GOLDEN / "make.py")
make = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(make)

# Members that answers have gained since a directory was recorded: {directory: {name, …}}.
GAINED = {}


@pytest.fixture(scope="module", params=sorted(path.parent.name for path in GOLDEN.glob("*/served.json")))
def recorded(request):
    record = json.loads((GOLDEN / request.param / "served.json").read_text())
    return {**record, "name": request.param, "served": {target: json.loads(answer) for target, answer in record["served"].items()}}


@pytest.fixture(scope="module")
def shared_server(recorded, tmp_path_factory):
    data = tmp_path_factory.mktemp("opened") / "data"
    with tarfile.open(GOLDEN / recorded["name"] / "data.tar.xz") as archive:
        archive.extractall(data, filter="data")
    server = Server(data, config=make.CONFIG)
    server.audit_before = (data / "audit.ndjson").read_text()
    yield server.start()
    server.kill()


def as_now(target, answer):
    """An answer as it was, without what rows of a list no longer carry."""
    if not target.startswith("/api/v1/tasks?"):
        return answer
    status, rows = answer
    rows = [{key: value for key, value in row.items() if key not in ("command", "allowedTools")} for row in rows]
    for row in rows:
        row["task"] = {key: value for key, value in row["task"].items() if key != "description"}
    return [status, rows]


def without(names, value):
    if isinstance(value, dict):
        return {key: without(names, each) for key, each in value.items() if key not in names}
    return [without(names, each) for each in value] if isinstance(value, list) else value


def test_everything_is_served_as_it_was(api, recorded):
    eventually(lambda: api.get("/api/v1/search?q=needle").json()["results"])
    now = without(GAINED.get(recorded["name"], ()), make.served(api))
    assert list(now) == list(recorded["served"]) or sorted(now) == sorted(recorded["served"])
    for target, answer in recorded["served"].items():
        assert now[target] == as_now(target, answer), target


def store_format(data):
    with closing(sqlite3.connect(data / "shepherd.db")) as database:
        return database.execute("PRAGMA user_version").fetchone()[0]


def test_a_directory_of_the_present_format_is_kept(server, tmp_path):
    """Else make.py must make one more: users have such directories from now on."""
    kept = set()
    for archive in GOLDEN.glob("*/data.tar.xz"):
        with tarfile.open(archive) as packed:
            packed.extract("shepherd.db", tmp_path / archive.parent.name, filter="data")
        kept.add(store_format(tmp_path / archive.parent.name))
    assert store_format(server.data) in kept


def test_figures_stay(api, recorded):
    assert make.totals(api) == recorded["totals"]


def test_tokens_stay_valid(server, recorded):
    for scope, secret in recorded["tokens"].items():
        with server.api(secret) as client:
            who = client.get("/api/v1/whoami").json()
            assert (who["scope"], who["person"]) == (scope, f"the {scope}")
    assert httpx.get(server.public + "/api/v1/whoami", headers=server.headers(recorded["revoked"]), trust_env=False).status_code == 401


def test_the_audit_file_is_continued(server, api):
    api.get("/api/v1/whoami")
    eventually(lambda: len((server.data / "audit.ndjson").read_text()) > len(server.audit_before))
    text = (server.data / "audit.ndjson").read_text()
    assert text.startswith(server.audit_before)
    assert all("at" in json.loads(line) or "time" in json.loads(line) for line in text.splitlines())


def test_doctor_finds_it_sound(server):
    assert "sound" in server.cli("doctor").stdout


def test_producers_and_creators_are_recognised(api, runner):
    """Runs last, because it adds to a log: the directory has the producer's numbers and the keys of creation
    requests."""
    post = lambda number, **members: runner.post("/api/v1/tasks/full/events", headers={"Shepherd-Producer": "spool-1"},  # noqa: E731
                                                 json={"sequence": number, "type": "output", "summary": "and on", **members})
    assert post(10).json()["expectedSequence"] == 9
    assert post(9).json() == {"status": "accepted", "sequence": 9, "producerSequence": 9}
    assert post(9).json() == {"status": "accepted", "sequence": 9, "producerSequence": 9}, "a repeat"
    assert post(1).json()["code"] == "sequence_reused"
    again = api.post("/api/v1/tasks", json={"id": "running", "prompt": "The task running", "labels": {"team": "web"}, "workflowID": "w"},
                     headers={"Idempotency-Key": "key-running"})
    assert (again.status_code, again.json()["id"]) == (200, "running")
    approved = api.post("/api/v1/tasks/steered/commands", json={"kind": "approve", "approvalID": "a1"}).json()
    assert (approved["state"], approved["reason"]) == ("refused", "already_answered")
