"""Chats with a real llama.cpp server: text, tools, reasoning, code, cancellation, exact counts, a full context."""

import contextlib
import json
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import pytest

import scripted_model
from chat_client import Chat, config, said
from llama import Llama
from recording_proxy import Proxy
from server import Server
from tasks import eventually

TOOLS = ["list_files", "read_file", "write_file", "run_command", "search_sessions"]


@dataclass
class Place:
    backend: Llama
    proxy: Proxy
    server: Server
    names: int = 0

    def new(self):
        self.names += 1
        return Chat(self.server, f"chat-{self.names}")


def open_place(directory, context, slots=2, tools=TOOLS, **chat):
    """A backend with slots of this size, a recording relay, and a server."""
    root = directory / "files"
    root.mkdir(parents=True)
    (root / "notes.txt").write_text("Remember the milk.\n")
    backend = Llama(context, slots).start()
    proxy = Proxy(backend.port)
    settings = {"system": "Be brief.", "tools": tools, "tools_root": str(root), **chat}
    server = Server(directory / "data", config=config(proxy.url + "/v1", chat=settings, options={"parallel_tool_calls": True})).start()
    return Place(backend, proxy, server)


def close_place(place):
    place.server.kill()
    place.proxy.close()
    place.backend.stop()


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    made = open_place(tmp_path_factory.mktemp("llama"), context=16384, allow=["run_command", "write_file"])
    yield made
    close_place(made)


@pytest.fixture
def small(tmp_path):
    """A context that is full after a few prompts, without tools, whose definitions alone would not fit."""
    made = open_place(tmp_path, context=768, slots=1, tools=[])
    yield made
    close_place(made)


@pytest.fixture
def chat(place):
    with place.new() as made:
        yield made


def test_what_the_backend_says_about_itself(place, chat):
    session = eventually(lambda: (value := chat.session())["model"] and value)
    assert session["model"] == "scripted" and session["context_size"] == 16384 and session["tokens_exact"] is True


def test_text(chat):
    with chat.updates() as watched:
        assert chat.ask("Hello") == scripted_model.said("text")
        turn = watched.turn()
        assert [event.data["delta"] for event in turn if event.type == "delta"] == scripted_model.CHAINS["text"]


def test_a_streamed_tool_call(chat):
    with chat.updates() as watched:
        assert chat.ask("READ it") == scripted_model.said("after")
        turn = watched.turn()
        called = next(event.data for event in turn if event.type == "tool_call")
        assert called["tool_call"] == "read_file" and called["parameters"] == {"path": "notes.txt"}
        assert next(event.data for event in turn if event.type == "tool_result")["success"] is True
    roles = [role for role, _ in chat.messages()]
    assert roles == ["user", "assistant", "tool", "assistant"] and "Remember the milk." in chat.messages()[2][1]


def test_two_calls_at_once_of_which_one_fails(chat):
    with chat.updates() as watched:
        assert chat.ask("PAIR please") == scripted_model.said("after")
        turn = watched.turn()
        results = [event.data for event in turn if event.type == "tool_result"]
        assert [each["success"] for each in results] == [True, False] and results[1]["error"]
    tools = [content for role, content in chat.messages() if role == "tool"]
    assert len(tools) == 2 and "absent.txt" in tools[1]


def test_several_steps_of_tools_in_one_turn(chat):
    with chat.updates() as watched:
        assert chat.ask("STEPS") == scripted_model.said("done")
        turn = watched.turn()
        assert [event.data["tool_call"] for event in turn if event.type == "tool_call"] == ["list_files", "read_file"]


def test_a_tool_that_changes_files(place, chat):
    assert chat.ask("WRITE") == scripted_model.said("after")
    assert (place.server.data.parent / "files" / "made.txt").read_text() == "made by the model"
    assert chat.ask("RUN") == scripted_model.said("after")
    assert (place.server.data.parent / "files" / "ran.txt").read_text() == "ran\n"


def test_reasoning_is_apart_from_the_text(place, chat):
    assert chat.ask("THINK") == "Done thinking."
    with place.server.api() as api:
        events = api.get(f"/api/v1/tasks/{chat.base.rsplit('/', 1)[1]}/events", params={"types": "message"}).json()["events"]
    assert "Let me ponder" in events[-1]["data"]["reasoning"]


def test_code_is_its_own_event_and_stays_whole_in_the_message(chat):
    with chat.updates() as watched:
        assert chat.ask("CODE") == scripted_model.said("code")
        turn = watched.turn()
        blocks = "".join(event.data["content"] for event in turn if event.type == "codeblock")
        assert blocks.rstrip("\n") == "print('hi')"
        assert scripted_model.FENCE not in said(turn)
    assert chat.messages()[-1] == ("assistant", scripted_model.said("code"))


def test_a_split_character_arrives_whole(chat):
    with chat.updates() as watched:
        assert chat.ask("UTF8") == "Smile 😀"
        assert "�" not in said(watched.turn())


def test_a_long_answer(chat):
    assert chat.ask("STORY") == "".join(scripted_model.STORY)
    assert chat.ask("LONG", max_tokens=50).startswith("lorem ipsum dolor")


# The model writes thousands of words a second, and its context ends after 16,384. A commit on a busy disk can take longer
# than that. So the relay stops the model at its first sentence, before the server, its disk and the test come into it.

@contextlib.contextmanager
def stopped_in_its_first_sentence(place, answers=1):
    place.proxy.when_said(" amet", answers, place.backend.pause)
    try:
        yield
    finally:
        place.proxy.stop_watching()
        place.backend.resume()


def test_an_endless_answer_is_cancelled_and_its_slot_is_free(place, chat):
    prompt = f"LONG {chat.base}"
    with chat.updates() as watched, stopped_in_its_first_sentence(place):
        chat.request(prompt, max_tokens=-1, **{"async": True})
        watched.until("delta")
        assert chat.cancel()["cancelled"] is True
        watched.until("response_complete")
    eventually(lambda: place.backend.busy_slots() == 0)
    assert not place.proxy.answered(prompt), "the answer came to its own end"
    role, content = chat.messages()[-1]
    # At least what was shown before the cancellation; a slow backend may have said one word until then.
    shown = said(watched.received)
    assert role == "assistant" and content.startswith("lorem") and content.startswith(shown), (content[:100], shown[:100])
    assert chat.ask("Hello") == scripted_model.said("text")


def test_two_sessions_use_two_slots(place):
    """Both have words before one of the answers has come to an end."""
    with place.new() as one, place.new() as two, one.updates() as first, two.updates() as second, ThreadPoolExecutor(2) as pool:
        with stopped_in_its_first_sentence(place, answers=2):
            answers = [pool.submit(each.fails, "LONG", "cancelled", max_tokens=-1) for each in (one, two)]
            for each in (first, second):
                each.until("delta")
            assert [one.cancel()["cancelled"], two.cancel()["cancelled"]] == [True, True]
            for each in (first, second):
                each.until("response_complete")
        for each in answers:
            each.result()
    eventually(lambda: place.backend.busy_slots() == 0)


def test_every_count_is_the_backends_own(place, tmp_path):
    """The usage, the total and the sum of the messages agree with what the backend reported in every turn."""
    proxy = Proxy(place.backend.port)
    server = Server(tmp_path / "data", config=config(proxy.url + "/v1", options={"parallel_tool_calls": True}, chat={
        "system": "Be brief.", "tools": ["list_files", "read_file"], "tools_root": str(place.server.data.parent / "files")})).start()
    try:
        with Chat(server) as chat, chat.updates() as watched:
            eventually(lambda: chat.session()["tokens_exact"])  # the server has asked the backend what it can count
            for prompt in ("Hello", "READ", "PAIR", "THINK", "CODE", "UTF8", "STEPS", "Hello again"):
                before = len(proxy.generations())
                chat.ask(prompt)
                turn = watched.turn()
                used = proxy.generations()[before:]
                session, end = chat.session(), turn[-1].data
                assert session["total_tokens"] == end["total_tokens"] == sum(used[-1]), (prompt, used, session["total_tokens"])
                assert session["tokens_exact"] is True
                assert sum(message["tokens"] for message in session["messages"]) == session["total_tokens"], prompt
                assert sum(event.data["tokens"] for event in watched.received if event.type == "message_added") == session["total_tokens"] - session["system_tokens"]
    finally:
        server.kill()
        proxy.close()


def test_a_full_context_evicts_whole_turns(small):
    with small.new() as chat, chat.updates() as watched:
        shown = []  # the document's client: it drops as many of its first messages as an eviction names
        evicted = 0
        for i in range(12):
            chat.ask(f"Prompt {i} " + "x" * 60, max_tokens=64)
            for event in watched.turn():
                if event.type == "message_added":
                    shown.append((event.data["role"], event.data["content"]))
                elif event.type == "eviction":
                    evicted += event.data["messages_evicted"]
                    shown = shown[event.data["messages_evicted"]:]
                    assert event.data["tokens_freed"] > 0
            session = chat.session()
            assert shown == chat.messages(), f"after {i}"
            assert shown[0][0] == "user" and session["total_tokens"] <= 768
            assert session["messages"][0]["role"] == "system"
        assert evicted >= 4 and evicted % 2 == 0
        task = chat.base.rsplit("/", 1)[1]
        with small.server.api() as api:
            log = api.get(f"/api/v1/tasks/{task}/events", params={"types": "message", "limit": 1000}).json()["events"]
            assert len(log) == 24, "evicted messages stay in the log"


def test_a_prompt_that_cannot_fit_changes_nothing(small):
    with small.new() as chat:
        chat.ask("Hello")
        before = chat.session()
        with chat.updates() as watched:
            body = chat.request("x" * 2000, status=500)
            assert body["code"] == "context_full" and "768" in body["error"], body
            assert [event.type for event in watched.until("response_complete")][-2:] == ["error", "response_complete"]
        after = chat.session()
        assert after["messages"] == before["messages"] and after["total_tokens"] == before["total_tokens"]
        assert chat.ask("Hello") == scripted_model.said("text")


def test_an_answer_that_fills_the_context_ends_there(small):
    with small.new() as chat:
        answer = chat.request("LONG", max_tokens=-1)
        assert answer["success"] is True and answer["response"].startswith("lorem ipsum")
        session = chat.session()
        assert 700 < session["total_tokens"] <= 768
        assert chat.ask("Hello") == scripted_model.said("text"), "the long turn makes room"


def test_tools_that_need_more_room_than_there_is(tmp_path):
    """Results of tools are evicted group by group, and the turn goes on."""
    place = open_place(tmp_path, context=4096, slots=1, tools=["list_files"], max_turn_steps=30)
    try:
        for i in range(12):
            (tmp_path / "files" / f"a-file-with-a-long-name-{i}.txt").write_text("x")
        with place.new() as chat, chat.updates() as watched:
            body = chat.fails("LOOP")
            assert body["code"] == "too_many_steps" or "steps" in body["error"], body
            seen = watched.until("response_complete", 60)
            evictions = [event.data for event in seen if event.type == "eviction"]
            assert evictions and all(each.get("resync") for each in evictions)
            assert chat.ask("Hello") == scripted_model.said("text")
        for path, body, _ in place.proxy.calls():
            if path.endswith("/chat/completions"):
                results = [message["tool_call_id"] for message in body["messages"] if message["role"] == "tool"]
                wanted = [call["id"] for message in body["messages"] for call in message.get("tool_calls") or []]
                assert results == wanted, "an orphaned result, or a call without one"
    finally:
        close_place(place)


def test_a_backend_that_fails_in_the_middle(place, chat):
    """The model calls a tool that it was not offered, which llama.cpp's own parser does not survive."""
    body = chat.fails("UNKNOWN")
    assert body["code"] == "model_failed", body
    assert chat.ask("Hello") == scripted_model.said("text")


def test_a_backend_that_goes_away_and_comes_back(tmp_path):
    place = open_place(tmp_path, context=4096, slots=1, tools=[])
    try:
        with place.new() as chat:
            assert chat.ask("Hello") == scripted_model.said("text")
            assert chat.call("GET", "/health")["backend_connected"] is True
            place.backend.stop()
            body = chat.fails("Hello")
            assert body["code"] in ("model_unreachable", "model_broke_off", "model_failed"), body
            assert chat.call("GET", "/health")["backend_connected"] is False
            place.backend.start()
            place.proxy._backend = place.backend.port
            eventually(lambda: chat.call("GET", "/health")["backend_connected"], 60)
            eventually(lambda: chat.request("Hello")["success"] if chat.status() else None, 60)
    finally:
        close_place(place)


def test_a_key_that_the_backend_wants(tmp_path):
    key_file = tmp_path / "key"
    key_file.write_text("sk-local-secret-1\n")
    with Llama(4096, 1, key="sk-local-secret-1") as backend:
        server = Server(tmp_path / "data", config=config(backend.url + "/v1", key_file=str(key_file), chat={"tools": []})).start()
        try:
            with Chat(server) as chat:
                assert chat.ask("Hello") == scripted_model.said("text")
                assert "sk-local-secret-1" not in json.dumps(chat.session()) + json.dumps(chat.status()) + server.log()
                key_file.write_text("wrong\n")
            server.stop()
            server.start()
            with Chat(server) as chat:
                assert chat.fails("Hello")["code"] == "model_key"
                key_file.write_text("sk-local-secret-1\n")
                eventually(lambda: chat.http.post(chat.base + "/request", json={"prompt": "Hello"}).json()["success"], 60)
        finally:
            server.kill()


def test_many_sessions_share_few_slots(place):
    """More turns at once than slots: all of them end."""
    answers = {}

    def talk(i):
        with place.new() as chat:
            answers[i] = [chat.ask("Hello") for _ in range(3)]
    threads = [threading.Thread(target=talk, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(60)
    assert answers == {i: [scripted_model.said("text")] * 3 for i in range(8)}
