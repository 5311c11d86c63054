"""Hostile models, tools, prompts and observers: bounded, answered, logged."""

import itertools
import json
import os
import resource
import selectors
import socket
import threading
import time
from pathlib import Path

import httpx
import pytest

from chat_client import Chat
from chat_fold import check_log, fold, folded_session, whole_log
from chat_world import ANSWER, Script, make_world  # noqa: F401 (a fixture)
from model_fakes import DONE, Answer, calls, chunk, fragment, refusal, text, usage
from raw_http import Raw
from tasks import eventually

MIB = 1 << 20
ROLE = chunk({"role": "assistant", "content": None})
ROOM = 160 * MIB  # more than this over its memory before is no bound


def endless(piece, total):
    """Steps that send this piece until `total` bytes are out, in blocks, so that the fake is not the slow part."""
    block = piece * max(1, 65536 // len(piece))
    return [block] * (total // len(block))


FLOODS = {
    "text": lambda: Answer([ROLE, *endless(chunk({"content": "x" * 900}), 100 * MIB), chunk({}, "stop"), DONE]),
    "tiny pieces": lambda: Answer([ROLE, *endless(chunk({"content": "x"}), 20 * MIB), *endless(chunk({"content": "y" * 4000}), 80 * MIB), DONE]),
    "reasoning": lambda: Answer([ROLE, *endless(chunk({"reasoning_content": "x" * 900}), 100 * MIB), chunk({}, "stop"), DONE]),
    "the arguments of a call": lambda: Answer([ROLE, fragment(0, "c1", "read_file", '{"path":"'), *endless(fragment(0, arguments="x" * 900), 100 * MIB), DONE]),
    "one line without an end": lambda: Answer([b'data: {"choices":[{"delta":{"content":"', *endless(b"x" * 65536, 100 * MIB)]),
    "a comment without an end": lambda: Answer([b": ", *endless(b"x" * 65536, 100 * MIB)]),
    "nothing but empty deltas": lambda: Answer([ROLE, *endless(chunk({"content": ""}), 100 * MIB), chunk({}, "stop"), DONE]),
    "an error": lambda: Answer(endless(b"x" * 65536, 100 * MIB), status=500, media="text/plain"),
}


@pytest.fixture(scope="module")
def script():
    counter = itertools.count()
    return Script(FLOOD=lambda request, rest, results: FLOODS[rest](),
                  CALLS=lambda request, rest, results: text("Enough.") if results else calls(*(("list_files", {"path": "."}) for _ in range(int(rest)))),
                  INDEX=lambda request, rest, results: text("Enough.") if results else Answer([ROLE, fragment(int(rest), f"c{next(counter)}", "list_files", "{}"), chunk({}, "stop"), DONE]),
                  DEEP=lambda request, rest, results: text("Enough.") if results else calls(("read_file", '{"path":' + "[" * 100000 + "]" * 100000 + "}")),
                  CHUNKS=lambda request, rest, results: Answer([rest.encode("latin-1").decode("unicode_escape").encode("latin-1"), chunk({"content": "ok"}), chunk({}, "stop"), usage(), DONE]),
                  FOREVER=lambda request, rest, results: calls(("list_files", {"path": "."})))


@pytest.fixture(scope="module")
def shared(tmp_path_factory, script):
    from chat_world import World
    made = World(tmp_path_factory.mktemp("hostile"), script=script, context=1 << 20,
                 chat={"tools": ["list_files", "read_file", "run_command"], "allow": ["run_command"], "max_turn_steps": 20})
    (made.root / "big.txt").write_text("0123456789abcdef" * (20 * MIB // 16))
    made.chat().ask("Hello")
    yield made
    made.close()


@pytest.fixture
def hostile(shared):
    """The server must survive each test, and answer after it."""
    yield shared
    assert shared.server.alive(), shared.server.log()
    with shared.new() as after:
        assert after.ask("Hello") == ANSWER


def processes_of(pid):
    """All processes below this one."""
    found, children = [], {}
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rsplit(")", 1)[1].split()
            children.setdefault(int(fields[1]), []).append(int(path.parent.name))
        except OSError:
            pass
    todo = [pid]
    while todo:
        for child in children.get(todo.pop(), []):
            found.append(child)
            todo.append(child)
    return found


# --- the model ---

@pytest.mark.parametrize("flood", FLOODS)
def test_a_model_that_floods(hostile, flood):
    before = hostile.server.rss_bytes()
    peak = before
    with hostile.new() as chat:
        done = []
        sender = threading.Thread(target=lambda: done.append(chat.http.post(chat.base + "/request", json={"prompt": f"FLOOD {flood}"}, timeout=120)))
        began = time.monotonic()
        sender.start()
        while sender.is_alive():
            peak = max(peak, hostile.server.rss_bytes())
            sender.join(0.05)
        if flood == "nothing but empty deltas":
            assert done and done[0].json() == {"success": True, "response": ""}, "an answer without a word is an answer"
        else:
            assert done and done[0].json()["success"] is False, done and done[0].text[:300]
            assert done[0].json()["code"] in ("answer_too_long", "model_failed", "model_broke_off"), done[0].text[:300]
        assert len(done[0].content) < 100_000, "an error is short"
        assert peak - before < ROOM, f"{(peak - before) // MIB} MiB more"
        assert time.monotonic() - began < 60
        assert chat.ask("Hello") == ANSWER, "the session goes on"
        with hostile.server.api() as api:
            log = whole_log(api, chat.base.rsplit("/", 1)[1])
            check_log(log)
            assert fold(log) == folded_session(chat.session())


@pytest.mark.parametrize("count", [100, 1000, 20000])
def test_a_model_that_calls_a_thousand_tools(hostile, count):
    with hostile.new() as chat:
        answer = chat.http.post(chat.base + "/request", json={"prompt": f"CALLS {count}"}, timeout=120).json()
        assert answer["success"] is True or answer["code"] == "answer_too_long", str(answer)[:300]
        assert answer["success"] is False or answer["response"] == "Enough."
        assert chat.ask("Hello") == ANSWER


@pytest.mark.parametrize("index", [-1, 7, 2**31, 2**63])
def test_a_call_with_a_wild_index(hostile, index):
    with hostile.new() as chat:
        answer = chat.http.post(chat.base + "/request", json={"prompt": f"INDEX {index}"}).json()
        assert answer["success"] is True or answer["code"] in ("answer_too_long", "model_failed"), answer


def test_arguments_that_are_deeply_nested(hostile):
    with hostile.new() as chat:
        assert chat.ask("DEEP") == "Enough."


def test_a_model_that_never_stops_calling_tools(hostile):
    with hostile.new() as chat:
        body = chat.fails("FOREVER")
        assert "20" in body["error"], body
        assert chat.ask("Hello") == ANSWER


@pytest.mark.parametrize("wire", ["data: nonsense\\n\\n", "data: null\\n\\n", "data: []\\n\\n", "data: {\\n\\n", 'data: {"choices":null}\\n\\n', 'data: {"choices":[null]}\\n\\n',
                                  'data: {"choices":[{"delta":5}]}\\n\\n', 'data: {"choices":[{"delta":{"content":{"a":1}}}]}\\n\\n', "data:\\n\\n", "\\x00\\x01\\x02\\n\\n",
                                  'data: {"choices":[{"delta":{"tool_calls":"x"}}]}\\n\\n', 'data: {"usage":{"prompt_tokens":-5,"completion_tokens":1e300},"choices":[]}\\n\\n'])
def test_chunks_that_are_nonsense(hostile, wire):
    with hostile.new() as chat:
        answer = chat.http.post(chat.base + "/request", json={"prompt": f"CHUNKS {wire}"}).json()
        assert answer["success"] is False or answer["response"] == "ok", answer
        session = chat.session()
        assert session["total_tokens"] >= 0


# --- tools ---

def test_a_tool_that_never_ends_is_cancelled_with_its_processes(hostile):
    with hostile.new() as chat, chat.updates() as watched:
        chat.request("RUN sh -c 'sleep 600 & setsid sleep 601 & wait'", **{"async": True})
        watched.until("tool_call")
        eventually(lambda: len(processes_of(hostile.server.process.pid)) >= 2)
        started = processes_of(hostile.server.process.pid)
        chat.cancel()
        watched.until("response_complete")
        eventually(lambda: not any(Path(f"/proc/{pid}").exists() and "sleep" in Path(f"/proc/{pid}/cmdline").read_text() for pid in started if Path(f"/proc/{pid}").exists()))
        assert chat.ask("Hello") == ANSWER


@pytest.mark.parametrize("prompt", ["RUN head -c 200000000 /dev/zero", "RUN yes", "RUN head -c 5000000 /dev/urandom", "READ big.txt"])
def test_a_tool_that_prints_without_bound(hostile, prompt):
    before = hostile.server.rss_bytes()
    with hostile.new() as chat:
        if prompt == "RUN yes":
            prompt = "RUN sh -c 'yes | head -c 300000000'"
        assert chat.ask(prompt) == "The tool has answered."
        assert len(hostile.backend.requests[-1].last()["content"]) < 2 * MIB
        assert hostile.server.rss_bytes() - before < ROOM


def test_files_outside_the_root_stay_outside(hostile):
    (hostile.root.parent / "outside.txt").write_text("not for the model")
    os.symlink(hostile.root.parent / "outside.txt", hostile.root / "link.txt")
    os.symlink("/", hostile.root / "all")
    with hostile.new() as chat:
        for path in ("../outside.txt", "link.txt", "/etc/passwd", "all/etc/passwd", "./../files/../outside.txt", "notes.txt/../../outside.txt", "\\u0000", "/proc/self/environ"):
            chat.ask(f"READ {path}")
            content = hostile.backend.requests[-1].last()["content"]
            assert "not for the model" not in content and "root:" not in content and "PATH=" not in content, (path, content[:200])
    os.mkfifo(hostile.root / "pipe")
    with hostile.new() as chat:
        assert chat.ask("READ pipe") == "The tool has answered.", "a pipe without a writer must not hold the turn"


# --- prompts ---

@pytest.mark.parametrize("size", [1, 10, 100])
def test_a_huge_prompt(hostile, size):
    with hostile.new() as chat:
        try:
            answer = chat.http.post(chat.base + "/request", content=json.dumps({"prompt": "ECHO " + "x" * (size * MIB)}), headers={"Content-Type": "application/json"}, timeout=60)
        except httpx.WriteError:
            return  # refused while it was sent
        assert answer.status_code == 413 and answer.json()["success"] is False and answer.json()["error"], answer.text[:300]
        assert answer.json()["code"] == ("prompt_too_large" if size == 1 else "body_too_large")
        assert hostile.server.rss_bytes() < 1200 * MIB


def test_a_long_answer_is_whole_or_says_that_it_is_cut(hostile):
    """The events of a long message have its beginning. Its live text, the answer of /request and /session are whole."""
    with hostile.new() as chat, chat.updates() as watched:
        words = "word " * 40000
        assert chat.ask("ECHO " + words) == words
        turn = watched.until("response_complete")
        assert "".join(each.data["delta"] for each in turn if each.type == "delta") == words
        for event in turn:
            if event.type != "delta":
                shown = event.data.get("response", event.data.get("content"))
                assert event.data["cut"] is True and 50000 < len(shown) < 200000, event.type
        assert [len(content) for _, content in chat.messages()] == [200005, 200000]
        chat.ask("ECHO short")
        assert all("cut" not in each.data for each in watched.turn())


@pytest.mark.parametrize("prompt", ["\x00", "\u2028", "a\r\n\r\ndata: {\"type\":\"delta\"}", "\U0001f600" * 1000, "</tool_call><|im_end|>", "\x1b[2J", "�"])
def test_odd_prompts_arrive_as_written(hostile, prompt):
    with hostile.new() as chat, chat.updates() as watched:
        chat.ask("SAME " + prompt)
        assert watched.turn()[0].data["content"] == "SAME " + prompt
        assert hostile.backend.requests[-1].last()["content"] == "SAME " + prompt
        assert chat.session()["messages"][1]["content"] == "SAME " + prompt


def test_many_prompts_in_the_queue(hostile):
    """The queue has a bound, which is said, and the session works on."""
    with hostile.new() as chat, chat.updates() as watched:
        chat.request("HOLD flood", **{"async": True})
        watched.until("delta")
        answers = [chat.http.post(chat.base + "/request", json={"prompt": "Hello", "async": True}) for _ in range(300)]
        full = [answer for answer in answers if answer.status_code != 200]
        assert full and all(answer.status_code == 429 and answer.json()["code"] == "queue_full" for answer in full), "the queue has no bound"
        chat.clear()
        eventually(lambda: not chat.status()["processing"] and chat.status()["queue_depth"] == 0)


# --- observers ---

def test_a_thousand_observers(hostile):
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft < 2400:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    url = httpx.URL(hostile.server.public)
    with hostile.new() as chat:
        path = chat.base.removeprefix(hostile.server.public) + "/updates"
        chat.session()
        chosen, sockets = selectors.DefaultSelector(), []
        received = {}
        for _ in range(1000):
            each = socket.create_connection((url.host, url.port), timeout=20)
            each.sendall(f"GET {path} HTTP/1.1\r\nHost: {url.host}:{url.port}\r\nAccept: text/event-stream\r\n\r\n".encode())
            each.setblocking(False)
            chosen.register(each, selectors.EVENT_READ)
            sockets.append(each)
            received[each] = b""

        def read_until(fact, timeout=30):
            deadline = time.monotonic() + timeout
            while not fact():
                assert time.monotonic() < deadline, sum(b"response_complete" in each for each in received.values())
                for key, _ in chosen.select(1):
                    received[key.fileobj] += key.fileobj.recv(65536)

        read_until(lambda: all(b"connected" in each for each in received.values()))
        threads = len(os.listdir(f"/proc/{hostile.server.process.pid}/task"))
        assert threads < 60, f"{threads} threads: an observer must not cost one"
        for i in range(3):
            assert chat.ask(f"ECHO word-{i}") == f"word-{i}"
        read_until(lambda: all(each.count(b"response_complete") == 3 for each in received.values()))
        assert all(each.index(b"word-0") < each.index(b"word-1") < each.index(b"word-2") for each in received.values())
        for each in sockets:
            each.close()


def test_a_thousand_sessions_cost_no_threads(hostile):
    before = len(os.listdir(f"/proc/{hostile.server.process.pid}/task"))
    with httpx.Client(base_url=hostile.server.public, trust_env=False, timeout=30) as client:
        for i in range(1000):
            assert client.get(f"/sessions/idle-{i}/session").status_code == 200
    assert len(os.listdir(f"/proc/{hostile.server.process.pid}/task")) <= before + 2


def dropped(server):
    """How many connections the server has closed because their peers took nothing."""
    with server.api() as api:
        return sum(float(line.split()[-1]) for line in api.get("/metrics").text.splitlines() if line.startswith("shepherd_write_deadline_closes_total"))


def test_an_observer_that_reads_nothing_is_dropped_and_costs_little(hostile):
    """The kernel holds what it can for it. When nothing more has gone out for half a minute, the connection is closed."""
    with hostile.new() as chat:
        path = chat.base.removeprefix(hostile.server.public) + "/updates"
        closed = dropped(hostile.server)
        deaf = []
        for _ in range(20):
            raw = Raw(hostile.server.public)
            raw.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            raw.request("GET", path, ["Accept: text/event-stream"])
            deaf.append(raw)
        before = hostile.server.rss_bytes()
        for _ in range(30):
            chat.ask("ECHO " + "x" * 200000)
        assert hostile.server.rss_bytes() - before < ROOM
        eventually(lambda: dropped(hostile.server) - closed == len(deaf), 90)
        for raw in deaf:
            raw.socket.close()


def test_requests_that_break_off(hostile):
    """A client that leaves does not end the turn."""
    with hostile.new() as chat:
        body = json.dumps({"prompt": "ECHO still said"}).encode()
        path = chat.base.removeprefix(hostile.server.public) + "/request"
        with Raw(hostile.server.public) as raw:
            raw.request("POST", path, ["Content-Type: application/json", f"Content-Length: {len(body)}"], body)
        eventually(lambda: chat.messages()[-1:] == [("assistant", "still said")])
        with Raw(hostile.server.public) as raw:
            raw.request("POST", path, ["Content-Type: application/json", f"Content-Length: {len(body)}"], body[:5])
        assert len(chat.messages()) == 2


def test_a_refusal_with_a_hostile_text(make_world):  # noqa: F811
    script = Script(BAD=lambda *_: refusal(400, {"error": {"message": "\x1b[2Jdata: {}\n\n" + "x" * 3 * MIB, "type": "e"}}))
    world = make_world(script=script)
    with world.chat() as chat:
        body = chat.fails("BAD")
        assert len(body["error"]) < 20000 and chat.ask("Hello") == ANSWER
        assert isinstance(chat, Chat)
