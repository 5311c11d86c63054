"""`serve` and runs over its data directory: runs wait for it, it takes over from a hosting run, and no event is
lost."""

import json
import re
import subprocess
import threading
import time
from urllib.parse import urlsplit

import httpx
import pytest

from server import BINARY, environment
from streams import StreamEnded, WebSocketFeed
from tasks import eventually, new_task

LONG = 120


def record(data):
    try:
        return json.loads((data / "server.json").read_text())
    except FileNotFoundError:
        return {"pid": None}


class Program:
    """A subcommand over a data directory, with its output in files."""

    def __init__(self, directory, name, env, *args):
        self.out, self.err = directory / f"{name}.out", directory / f"{name}.err"
        with open(self.out, "wb") as out, open(self.err, "wb") as err:
            self.process = subprocess.Popen([BINARY, *map(str, args)], stdout=out, stderr=err, stdin=subprocess.DEVNULL, env=env)

    def says(self, words, timeout=LONG):
        eventually(lambda: words in self.err.read_text() or self.process.poll() is not None, timeout)
        assert words in self.err.read_text(), self.err.read_text()

    def lines(self):
        return [json.loads(line) for line in self.out.read_text().splitlines() if line.endswith("}")]

    def ends(self, code=0, timeout=LONG):
        assert self.process.wait(timeout) == code, self.err.read_text()


@pytest.fixture
def start(tmp_path):
    """Starts programs that end with the test."""
    started = []

    def make(name, env, *args):
        started.append(Program(tmp_path, name, env, *args))
        return started[-1]

    yield make
    for each in started:
        if each.process.poll() is None:
            each.process.kill()
            each.process.wait()


class Page(threading.Thread):
    """Acts as the page does: a session, and one stream over all tasks from a cursor, reconnecting to the same
    address."""

    def __init__(self, server):
        super().__init__(daemon=True)
        self.base, self.seen, self.ended, self.connections, self.cursor = server.public, [], False, 0, ""
        with server.api() as api:
            path = api.post("/api/v1/login-links").json()["path"]
        answer = httpx.get(self.base + path, headers={"Host": f"shepherd.localhost:{urlsplit(self.base).port}"}, trust_env=False)
        assert answer.status_code == 303, answer.text
        self.headers = {"Cookie": answer.headers["set-cookie"].split(";")[0], "Origin": self.base}

    def run(self):
        while not self.ended:
            try:
                with WebSocketFeed(self.base + "/api/v1/events" + (f"?after={self.cursor}" if self.cursor else ""), self.headers) as feed:
                    self.connections += 1
                    while not self.ended:
                        try:
                            message = feed.next(0.2)
                        except TimeoutError:
                            continue
                        if message.type == "task_event":
                            self.seen.append((message.task, message.data["sequence"]))
                        self.cursor = message.id or message.data.get("cursor") or self.cursor
            except (StreamEnded, OSError, ValueError):
                pass
            except Exception as error:  # the handshake of a server that is being killed
                self.trouble = error
            time.sleep(0.05)


class Poster(threading.Thread):
    """A strict producer that repeats a post until it is acknowledged."""

    def __init__(self, server, task):
        super().__init__(daemon=True)
        self.url, self.headers, self.acknowledged, self.ended = f"{server.internal}/api/v1/tasks/{task}/events", server.headers(), 0, False
        self.headers["Shepherd-Producer"] = "poster"

    def run(self):
        number = 1
        while not self.ended:
            try:
                answer = httpx.post(self.url, json=[{"sequence": number, "type": "log", "summary": f"n{number}"}],
                                    headers=self.headers, trust_env=False, timeout=10)
                if answer.status_code == 200:
                    self.acknowledged, number = number, number + 1
            except httpx.HTTPError:
                pass
            time.sleep(0.01)


def over(server, tmp_path):
    """The environment of a person who works over the server's data directory and sets no address."""
    home = tmp_path / "person"
    home.mkdir(exist_ok=True)
    config = home / "config.yaml"
    config.write_text("public: {listen: '127.0.0.1:0'}\ninternal: {listen: '127.0.0.1:0'}\ngrpc: {listen: 'off'}\n")
    return {**environment(home), "SHEPHERD_DATA": str(server.data), "SHEPHERD_CONFIG": str(config)}


def gate(path):
    return ["--", "sh", "-c", f"echo ready; n=0; while ! test -e {path}; do n=$((n+1)); echo tick $n; sleep 0.1; done; echo through"]


def ticks(events):
    """The numbers that the agent printed; lines that arrive together are one event."""
    return [int(n) for e in events if e.get("type") == "output" for n in re.findall(r"tick (\d+)", e["summary"])]


def whole(events):
    """No gap, no repeat, all output of the agent."""
    assert [e["sequence"] for e in events] == list(range(1, len(events) + 1))
    words = ticks(events)
    assert words == list(range(1, len(words) + 1))
    assert any("through" in e.get("summary", "") for e in events)


def same_place(server):
    server.listen, server.internal_listen = urlsplit(server.public).netloc, urlsplit(server.internal).netloc


def test_a_run_waits_for_its_serve_and_never_takes_its_place(make_server, start, tmp_path):
    server = make_server().start()
    env = over(server, tmp_path)
    run = start("run", env, "run", "--json", *gate(tmp_path / "go"))
    task = eventually(lambda: run.lines() and run.lines()[0]["taskID"], LONG)
    with server.api() as api:
        posted = new_task(api)
    page, poster = Page(server), Poster(server, posted)
    watch = start("watch", env, "watch", "--json", task)
    page.start()
    poster.start()
    eventually(lambda: poster.acknowledged > 5 and page.seen and len(watch.lines()) > 3, LONG)
    before = record(server.data)
    server.kill()
    run.says("is away")
    assert before["public"] in run.err.read_text()
    # Long enough for a run that wants to host, which checks twice a second.
    count = poster.acknowledged
    other = start("other", env, "run", "--json", "--", "true")
    other.says("waiting for \"shepherd serve\"")
    assert record(server.data) == before, "somebody else hosts in the place of the serve"
    connected = page.connections
    same_place(server)
    server.start()
    assert record(server.data)["public"] == before["public"]
    run.says("is back")
    other.ends()
    eventually(lambda: poster.acknowledged > count + 5 and page.connections > connected, LONG)
    (tmp_path / "go").touch()
    run.ends()
    watch.ends()
    poster.ended = True
    poster.join(LONG)
    with server.api() as api:
        log = api.get(f"/api/v1/tasks/{task}/events?limit=1000").json()["events"]
        numbers = [e["summary"] for e in api.get(f"/api/v1/tasks/{posted}/events?limit=10000").json()["events"]]
    whole(log)
    assert numbers[:poster.acknowledged] == [f"n{n}" for n in range(1, poster.acknowledged + 1)]
    assert [e["sequence"] for e in watch.lines() if "sequence" in e] == [e["sequence"] for e in log]
    eventually(lambda: (task, log[-1]["sequence"]) in page.seen, LONG)
    page.ended = True
    page.join(LONG)
    seen = [number for which, number in page.seen if which == task]
    assert seen == list(range(seen[0], log[-1]["sequence"] + 1)), "the page saw each event once, in order"


def test_a_serve_takes_over_from_a_run_that_hosts(make_server, start, tmp_path):
    server = make_server()
    env = over(server, tmp_path)
    run = start("run", env, "run", "--json", *gate(tmp_path / "go"))
    task = eventually(lambda: run.lines() and run.lines()[0]["taskID"], LONG)
    assert record(server.data)["pid"] == run.process.pid
    second = start("second", env, "run", "--json", *gate(tmp_path / "go"))
    eventually(lambda: ticks(second.lines()), LONG)
    watch = start("watch", env, "watch", "--json", task)
    eventually(lambda: len(watch.lines()) > 3, LONG)
    server.start(timeout=LONG)
    assert record(server.data)["public"] == server.public and record(server.data)["pid"] == server.process.pid
    run.says("takes the server over")
    with server.api() as api:
        shown = len(ticks(api.get(f"/api/v1/tasks/{task}/events?limit=1000").json()["events"]))
        assert shown > 0
        # The run continues with the new server: its agent's output arrives there, and an operator's message reaches the
        # agent.
        eventually(lambda: len(ticks(api.get(f"/api/v1/tasks/{task}/events?limit=1000").json()["events"])) > shown + 3, LONG)
        answer = api.post(f"/api/v1/tasks/{second.lines()[0]['taskID']}/commands", json={"id": "c1", "kind": "stop"})
        assert answer.status_code == 202, answer.text
        second.ends(9)
        # After a kill and a restart the runs wait for the server.
        server.kill()
        run.says("is away")
        same_place(server)
        server.start()
        (tmp_path / "go").touch()
        run.ends()
        watch.ends()
        log = api.get(f"/api/v1/tasks/{task}/events?limit=1000").json()["events"]
    whole(log)
    assert [e["sequence"] for e in watch.lines() if "sequence" in e] == [e["sequence"] for e in log]


def test_a_serve_that_ended_in_good_order_leaves_its_directory_to_new_runs(make_server, start, tmp_path):
    server = make_server().start()
    env = over(server, tmp_path)
    old = start("old", env, "run", "--json", *gate(tmp_path / "go"))
    eventually(lambda: ticks(old.lines()), LONG)
    assert server.stop() == 0
    old.says("is away")
    assert not (server.data / "server.json").exists(), "the run that worked with it does not host"
    new = start("new", env, "run", "--json", *gate(tmp_path / "go"))
    eventually(lambda: record(server.data)["pid"] == new.process.pid, LONG)
    old.says("is back")
    (tmp_path / "go").touch()
    old.ends()
    new.ends()


def test_a_serve_that_cannot_start_gives_the_directory_back(make_server, start, tmp_path):
    taken = make_server("other").start()
    server = make_server(listen=urlsplit(taken.public).netloc)
    env = over(server, tmp_path)
    run = start("run", env, "run", "--json", *gate(tmp_path / "go"))
    eventually(lambda: ticks(run.lines()), LONG)
    with pytest.raises(Exception, match="cannot listen on .*: taken"):
        server.start(timeout=LONG)
    eventually(lambda: record(server.data)["pid"] == run.process.pid, LONG)
    (tmp_path / "go").touch()
    run.ends()
    whole([e for e in run.lines() if "sequence" in e])
