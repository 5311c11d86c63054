"""Faults around the server: disks, files, ports, other processes. Each message says what happened and what to do, and
nothing is acknowledged that is not stored."""

import contextlib
import errno
import json
import os
import shutil
import socket
import sqlite3
import subprocess
import threading
import time
from urllib.parse import urlsplit

import httpx
import pytest

from server import DidNotStart
from tasks import end_task, eventually, new_task, note, post_events
from test_callbacks import check_signatures, receiver  # noqa: F401
from test_ledger import totals


def database(server):
    (path,) = [p for p in server.data.glob("*.db") if p.name not in ("search.db", "ledger.db")]
    return path


def log_of(server, task):
    found = []
    with server.api() as api:
        while True:
            answer = api.get(f"/api/v1/tasks/{task}/events", params={"after": len(found), "limit": 5000})
            events = answer.json()["events"]
            if not events:
                return [e["summary"] for e in found]
            found += events


def refuses_to_start(server, *words, code=1):
    with pytest.raises(DidNotStart) as refused:
        server.start()
    assert refused.value.code == code, refused.value
    text = refused.value.text.lower()
    for word in words:
        assert word in text, refused.value.text
    assert "terminate called" not in text and "broken invariant" not in text


# --- starting ---

def test_port_taken(make_server):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        refuses_to_start(make_server(listen=address), address, "taken")
        refuses_to_start(make_server(name="other", internal=address), address, "taken")


def test_data_directory_in_use(make_server):
    first = make_server().start()
    second = make_server()
    refuses_to_start(second, str(second.data).lower(), "use", code=6)
    assert first.alive()
    with first.api() as api:
        assert api.get("/api/v1/tasks").status_code == 200


def test_data_directory_not_writable(make_server, tmp_path):
    (tmp_path / "file").write_text("not a directory")
    server = make_server()
    server.data = tmp_path / "file" / "data"
    refuses_to_start(server, "file", code=4)


def test_newer_schema(make_server):
    server = make_server().start()
    assert server.stop() == 0
    with sqlite3.connect(database(server)) as db:
        db.execute("PRAGMA user_version = 9999")
    db.close()
    refuses_to_start(server, "newer")


def test_garbage_database(make_server):
    server = make_server().start()
    assert server.stop() == 0
    path = database(server)
    for extra in path.parent.glob(path.name + "-*"):
        extra.unlink()
    path.write_bytes(b"this is not a database at all" * 1000)
    refuses_to_start(server, path.name)
    assert path.read_bytes().startswith(b"this is not"), "it is left as it was"


def test_damaged_database_is_found_by_doctor(make_server):
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        for _ in range(20):
            post_events(runner, task, *[note("x" * 400) for _ in range(50)])
    assert server.stop() == 0
    assert server.cli("doctor", "--data", server.data, check=False).returncode == 0
    path = database(server)
    damaged = bytearray(path.read_bytes())
    middle = len(damaged) // 2 // 4096 * 4096
    damaged[middle:middle + 8192] = os.urandom(8192)
    path.write_bytes(damaged)
    result = server.cli("doctor", "--data", server.data, check=False)
    assert result.returncode == 1 and path.name in result.stdout, result.stdout + result.stderr


def test_a_schema_version_that_never_was(make_server):
    server = make_server().start()
    assert server.stop() == 0
    with sqlite3.connect(database(server)) as db:
        db.execute("PRAGMA user_version = -1")
    db.close()
    refuses_to_start(server, "-1", "restore a backup")
    result = server.cli("doctor", "--data", server.data, check=False)
    assert result.returncode == 1 and "restore a backup" in result.stdout + result.stderr


def test_flipped_bytes_are_an_error_and_never_another_text(make_server):
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        post_events(runner, task, note("before"))
        post_events(runner, task, note("the balance is 1000 and it is enough"), note("so I pay"))
        post_events(runner, task, note("after"))
    assert server.stop() == 0
    path = database(server)
    content = path.read_bytes()
    assert content.count(b"the balance is 1000") == 1
    path.write_bytes(content.replace(b"the balance is 1000", b"the balance is 9000"))

    server.start()
    with server.api() as api:
        answer = api.get(f"/api/v1/tasks/{task}/events")
        assert answer.status_code == 500 and "9000" not in answer.text
        problem = answer.json()
        assert problem["code"] == "corrupt" and task in problem["detail"], problem
        assert (problem["firstSequence"], problem["lastSequence"]) == (2, 3)
        rest = api.get(f"/api/v1/tasks/{task}/events", params={"after": problem["lastSequence"]}).json()["events"]
        assert [event["summary"] for event in rest] == ["after"]
    told = ""
    with httpx.stream("GET", f"{server.public}/api/v1/tasks/{task}/events", timeout=30,
                      headers={"Accept": "text/event-stream", "Authorization": f"Bearer {server.token}"}) as stream:
        for text in stream.iter_text():  # the stream ends, or waits without having sent any of it
            told += text
            if "keepalive" in told:
                break
    assert "9000" not in told and "so I pay" not in told
    exported = server.cli("export", task, check=False)
    assert exported.returncode == 1 and "9000" not in exported.stdout and "damaged" in exported.stderr
    assert server.stop() == 0
    result = server.cli("doctor", "--data", server.data, check=False)
    assert result.returncode == 1 and f"Events 2 to 3 of {task} are damaged" in result.stdout + result.stderr


def test_bad_configuration_names_the_key(make_server):
    refuses_to_start(make_server(config="public:\n  lisen: 127.0.0.1:0\n"), "lisen", "listen", code=2)
    refuses_to_start(make_server(name="b", config="retention:\n  days: many\n"), "retention.days", code=2)
    refuses_to_start(make_server(name="c", config="public: [\n"), "shepherd.yaml", code=2)


# --- running ---

def test_database_locked_by_another_process(make_server):
    """Another process holds an open transaction: writes wait and are then refused; none is half done."""
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        post_events(runner, task, note("before"))
        other = subprocess.Popen(["sqlite3", database(server)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                 stderr=subprocess.STDOUT, text=True)
        try:
            other.stdin.write("BEGIN IMMEDIATE;\nSELECT 'locked';\n")
            other.stdin.flush()
            assert other.stdout.readline().strip() == "locked", "the server keeps its database open, but not locked"
            answer = runner.post(f"/api/v1/tasks/{task}/events", json=note("meanwhile"))
            assert answer.status_code == 503, answer.text
            assert answer.headers["retry-after"]
            assert api.get(f"/api/v1/tasks/{task}/events").status_code == 200, "reading goes on"
        finally:
            other.communicate("ROLLBACK;\n.quit\n", timeout=10)
        post_events(runner, task, note("after"))
    assert log_of(server, task) == ["before", "after"]


@pytest.fixture
def small_disk(tmp_path):
    place = tmp_path / "disk"
    place.mkdir()
    if os.geteuid() != 0 or subprocess.run(["mount", "-t", "tmpfs", "-o", "size=12m", "tmpfs", place],
                                           capture_output=True).returncode != 0:
        pytest.skip("needs the right to mount a small disk")
    yield place
    subprocess.run(["umount", "-l", place], check=True)


def test_disk_full(make_server, small_disk):
    server = make_server()
    server.data = small_disk / "data"
    server.start()
    spare = small_disk / "spare"
    spare.write_bytes(b"\0" * (4 << 20))
    acknowledged, refused = [], None
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        for i in range(2000):
            names = [f"{i}.{k}" for k in range(10)]
            answer = runner.post(f"/api/v1/tasks/{task}/events",
                                 json=[note(n, metadata={"pad": os.urandom(1000).hex()}) for n in names])
            if answer.status_code != 200:
                refused = answer
                break
            acknowledged += names
        assert refused is not None, "the disk never filled up"
        assert refused.status_code == 507 and refused.json()["code"] == "storage_full", refused.text
        assert server.alive() and api.get("/healthz").status_code == 200
        assert log_of(server, task) == acknowledged, "what was refused is not there, what was acknowledged is"
        spare.unlink()
        deadline = time.monotonic() + 15
        while (answer := runner.post(f"/api/v1/tasks/{task}/events", json=note("again"))).status_code != 200:
            assert time.monotonic() < deadline, f"space is free again, but: {answer.text}"
            time.sleep(0.1)  # between two tries
        acknowledged.append("again")
        assert log_of(server, task) == acknowledged
    server.kill()
    server.start()
    assert log_of(server, task) == acknowledged
    server.kill()


def test_a_restart_on_a_full_disk_serves_what_is_there(make_server, small_disk):
    server = make_server()
    server.data = small_disk / "data"
    server.start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        post_events(runner, task, note("before"))
    same = {"listen": urlsplit(server.public).netloc, "internal_listen": urlsplit(server.internal).netloc}
    server.kill()
    spare = small_disk / "spare"
    with open(spare, "wb", buffering=0) as filler:
        try:
            while True:
                filler.write(b"\0" * 4096)
        except OSError as full:
            assert full.errno == errno.ENOSPC
    vars(server).update(same)
    server.start()
    with server.api() as api, server.runner() as runner:
        assert log_of(server, task) == ["before"]
        assert runner.post(f"/api/v1/tasks/{task}/events", json=note("x")).status_code == 507
        deleted = api.delete(f"/api/v1/tasks/{task}")
        assert deleted.status_code in (204, 507)
        if deleted.status_code == 507:
            assert "deleting needs" in deleted.json()["detail"], deleted.text
        spare.unlink()
        eventually(lambda: json.loads((server.data / "server.json").read_text())["pid"] == server.process.pid)
        eventually(lambda: api.delete(f"/api/v1/tasks/{task}").status_code in (204, 404))
    server.kill()


def test_a_search_index_that_is_deleted_is_built_again(make_server):
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        post_events(runner, task, note("a needle in the log"))
        found = lambda: api.get("/api/v1/search", params={"q": "needle"})  # noqa: E731
        eventually(lambda: found().status_code == 200 and found().json()["results"])
        for path in server.data.glob("search.db*"):
            path.unlink()
        gone = found()
        assert gone.status_code == 503 and "built again" in gone.json()["detail"], gone.text
        post_events(runner, task, note("another event"))
        eventually(lambda: found().status_code == 200 and found().json()["results"])


def test_out_of_descriptors_is_logged_once_for_a_while(make_server):
    server = make_server(command_prefix=["prlimit", "--nofile=96:96"]).start()
    host, port = urlsplit(server.public).hostname, urlsplit(server.public).port
    said = lambda: server.log_path.read_text().count("cannot accept connections")  # noqa: E731
    held = [socket.create_connection((host, port)) for _ in range(120)]
    eventually(said)
    for _ in range(30):  # it retries ten times a second
        held.append(socket.create_connection((host, port)))
        time.sleep(0.05)
    assert said() == 1, server.log()
    for each in held:
        each.close()
    eventually(lambda: httpx.get(server.public + "/healthz", trust_env=False).status_code == 200)


# --- backups ---

def restored(make_server, backup, name="restored"):
    """A server restored from a backup as `shepherd backup --help` says."""
    copy = make_server(name=name)
    for suffix, target in ((".db", "shepherd.db"), (".ledger.db", "ledger.db"), (".callback.secret", "callback.secret")):
        shutil.copy(backup.parent / (backup.stem + suffix), copy.data / target)
    return copy.start()


class Producer(threading.Thread):
    """Posts numbered events until it is stopped; `acknowledged` of `sent` are certainly in the log."""

    def __init__(self, server, task):
        super().__init__()
        self.server, self.task, self.sent, self.acknowledged, self.stop = server, task, 0, 0, threading.Event()

    def run(self):
        with self.server.runner() as runner:
            while not self.stop.is_set():
                batch = [note(f"e{n}", detail={"raw": f"detail of {n} " + "x" * 500}) for n in range(self.sent + 1, self.sent + 21)]
                self.sent += len(batch)
                post_events(runner, self.task, *batch)
                self.acknowledged = self.sent


def content_of(server, task, count):
    """The first events of a log with their details, as a restored server must have them."""
    found = []
    with server.api() as api:
        while len(found) < count:
            page = api.get(f"/api/v1/tasks/{task}/events", params={"after": len(found), "limit": 500, "detail": 1}).json()["events"]
            assert page, f"{task} has {len(found)} of {count} events"
            found += page
    return found[:count]


def test_a_backup_under_load_has_what_was_acknowledged_before_it_began(make_server, tmp_path):
    server = make_server().start()
    with server.api() as api:
        producers = [Producer(server, new_task(api)) for _ in range(4)]
    for each in producers:
        each.start()
    eventually(lambda: all(each.acknowledged > 100 for each in producers))
    backups = []
    try:
        for number in range(3):
            target = tmp_path / f"tower{number}.db"
            before = [each.acknowledged for each in producers]
            server.cli("backup", target)
            backups.append((target, before, [each.sent for each in producers]))
    finally:
        for each in producers:
            each.stop.set()
        for each in producers:
            each.join()
    for number, (target, before, after) in enumerate(backups):
        assert all(most > least for least, most in zip(before, after)), "nobody posted meanwhile, so nothing was tested"
        with contextlib.closing(sqlite3.connect(target)) as db:
            assert db.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        copy = restored(make_server, target, f"restored{number}")
        for each, least, most in zip(producers, before, after):
            kept = log_of(copy, each.task)
            assert kept == [f"e{n}" for n in range(1, len(kept) + 1)], "a log without its middle"
            assert least <= len(kept) <= most, f"{least} were acknowledged before, {most} were sent until it was done"
            assert len(kept) % 20 == 0, "half a batch"
            assert content_of(copy, each.task, len(kept)) == content_of(server, each.task, len(kept))
        copy.kill()


def test_a_restore_is_the_same_tower(make_server, tmp_path, receiver):
    """After the loss of the machine, the restored server has the logs, the figures and the tokens, and signs as
    before."""
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        gone, kept = new_task(api, model="opus"), new_task(api, title="Kept", labels={"a": "b"}, callbackURL=receiver.url)
        post_events(runner, gone, {"type": "usage", "summary": "", "sessionID": "s", "data": {"costUSD": 0.25, "inputTokens": 10}})
        end_task(runner, gone)
        post_events(runner, kept, note("one", detail={"raw": "all of it"}), note("two"))
        assert totals(api)["costUSD"] == 0.25
        assert api.delete(f"/api/v1/tasks/{gone}").status_code == 204, "its cost is in the ledger alone"
        viewer = api.post("/api/v1/tokens", json={"name": "ann", "scope": "viewer"}).json()["secret"]
        task, log = api.get(f"/api/v1/tasks/{kept}").json(), content_of(server, kept, 2)
    said = json.loads(server.cli("backup", tmp_path / "tower.db", "--json").stdout)
    files = sorted(p.name for p in tmp_path.glob("tower*"))
    assert files == ["tower.callback.secret", "tower.db", "tower.ledger.db"], said
    assert all((tmp_path / name).stat().st_mode & 0o777 == 0o600 for name in files)
    secret = (server.data / "callback.secret").read_text()
    server.kill()
    shutil.rmtree(server.data)

    copy = restored(make_server, tmp_path / "tower.db")
    with copy.api() as api, copy.runner() as runner:
        assert api.get(f"/api/v1/tasks/{kept}").json() == task
        assert content_of(copy, kept, 2) == log
        assert totals(api)["costUSD"] == 0.25
        with copy.api(viewer) as looker:
            assert looker.get("/api/v1/whoami").json()["person"] == "ann"
        post_events(runner, kept, note("three"))
        end_task(runner, kept, message="Done")
        assert log_of(copy, kept) == ["one", "two", "three", "Done"], "the numbers go on"
        [(_, headers, _)] = eventually(lambda: receiver.of(kept))
    (copy.data / "callback.secret").write_text(secret)  # the secret that the receiver uses
    check_signatures(copy, headers, receiver.received[-1][2])


# --- stopping ---

def test_sigterm_is_graceful(make_server):
    server = make_server().start()
    acknowledged, stop = [], threading.Event()
    with server.api() as api:
        task = new_task(api)

    def pour():
        with httpx.Client(base_url=server.internal, headers=server.headers(), trust_env=False) as client:
            for i in range(100_000):
                try:
                    answer = client.post(f"/api/v1/tasks/{task}/events", json=note(str(i)))
                except httpx.TransportError:
                    return
                if answer.status_code == 200:
                    acknowledged.append(str(i))
                if stop.is_set():
                    return

    thread = threading.Thread(target=pour)
    with server.websocket(f"/api/v1/tasks/{task}/events") as feed, server.sse(f"/api/v1/tasks/{task}/events") as sse:
        thread.start()
        feed.events(50)
        sse.events(50)
        began = time.monotonic()
        assert server.stop() == 0
        assert time.monotonic() - began < 8
        assert feed.to_end()[1].code == 1001
        assert sse.to_end()[1].reason == "end of response"
    stop.set()
    thread.join()
    server.start()
    assert log_of(server, task)[:len(acknowledged)] == acknowledged
    assert len(log_of(server, task)) <= len(acknowledged) + 1, "at most the one in flight was stored unanswered"


def test_sigterm_with_a_silent_client(make_server):
    """A connection that never sends anything does not delay the shutdown."""
    server = make_server().start()
    host, port = server.public.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port))) as silent:
        silent.sendall(b"GET /heal")
        assert server.stop(timeout=12) == 0


def test_two_starts_in_a_row_keep_the_data(make_server):
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        post_events(runner, task, note("kept"))
    token = server.token
    assert server.stop() == 0
    server.start()
    assert server.token == token
    assert log_of(server, task) == ["kept"]
