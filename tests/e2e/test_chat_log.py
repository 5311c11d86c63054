"""A chat session is a task: its log, feeds, search, inbox, commands, redaction, cost and terminal views."""

import json
import subprocess
import threading
import time

import httpx
import pytest

import scripted_model
from chat_client import said
from chat_fold import check_log, fold, folded_session, whole_log
from chat_world import ANSWER, Script, make_world, shared_world, world  # noqa: F401 (fixtures)
from model_fakes import calls, text
from tasks import eventually, new_id, new_task, note, post_events
from terminal import Terminal


@pytest.fixture
def named(world):  # noqa: F811
    """(session, its name)"""
    name = new_id("log")
    with world.chat(name) as made:
        yield made, name


@pytest.fixture
def api(world):  # noqa: F811
    with world.server.api() as client:
        yield client


def task_of(api, name):
    return api.get(f"/api/v1/tasks/{name}").raise_for_status().json()


def events_of(api, name, *types):
    return [event for event in whole_log(api, name) if not types or event["type"] in types]


def command(api, name, kind, status=202, **members):
    answer = api.post(f"/api/v1/tasks/{name}/commands", json={"kind": kind, **members})
    assert answer.status_code == status, answer.text
    return answer.json()


def settled(api, name, given):
    """The last state of a command."""
    def look():
        states = [event["data"]["state"] for event in events_of(api, name, "command_result") if event["data"]["id"] == given["id"]]
        return states and states[-1] in ("acknowledged", "delivered", "refused", "expired") and states[-1]
    return eventually(look)


# --- the log ---

def test_the_log_of_a_turn_with_a_tool(world, named, api):  # noqa: F811
    chat, name = named
    chat.ask("READ notes.txt")
    log = whole_log(api, name)
    check_log(log)
    kinds = [(event["type"], event.get("data", {}).get("role")) for event in log if event["type"] in ("session_start", "message", "tool_call", "tool_result")]
    assert kinds == [("session_start", None), ("message", "user"), ("message", "assistant"), ("tool_call", None), ("tool_result", None), ("message", "tool"),
                     ("message", "assistant")]
    start = log[0]["data"] if log[0]["type"] == "session_start" else next(e["data"] for e in log if e["type"] == "session_start")
    assert start["model"] == "fake-1" and start["backend"] == "local" and start["contextTokens"] == 8192 and "read_file" in start["tools"]
    call = next(event for event in log if event["type"] == "tool_call")
    result = next(event for event in log if event["type"] == "tool_result")
    assert call["tool"] == result["tool"] == "read_file" and call["callID"] == result["callID"] and call["input"] == {"path": "notes.txt"}
    assert result["output"]["success"] is True and result["durationMS"] >= 0
    last = next(event for event in reversed(log) if event["type"] == "message")
    assert last["data"]["final"] is True and last["data"]["finishReason"] == "stop" and last["summary"].startswith("assistant: ")
    assert fold(log) == folded_session(chat.session())


def test_the_task_of_a_session(world, named, api):  # noqa: F811
    chat, name = named
    chat.ask("Hello")
    task = task_of(api, name)
    assert task["agent"] == "chat" and task["model"] == "fake-1"
    assert task["status"]["state"] == "running" or task["status"]["state"] == "paused", task["status"]
    assert name in [each["id"] for each in api.get("/api/v1/tasks", params={"agent": "chat", "limit": 500}).json()]


def test_feeds_of_the_task_carry_the_live_text_first(world, named, api):  # noqa: F811
    chat, name = named
    chat.session()
    with world.server.sse(f"/api/v1/tasks/{name}/events?deltas=1") as feed:
        feed.until(lambda message: message.type == "caught_up")
        chat.ask("Hello")
        seen = feed.until(lambda message: message.type == "task_event" and message.data["type"] == "message" and message.data["data"].get("final"))
        live = "".join(message.data["text"] for message in seen if message.type == "delta")
        assert live == ANSWER
        # A prompt of another surface appears in the same log.
        command(api, name, "steer", content="ECHO from the page")
        feed.until(lambda message: message.type == "task_event" and message.data["type"] == "message" and message.data["data"]["content"] == "from the page")


def test_the_server_comes_back_with_the_session(make_world):  # noqa: F811
    world = make_world()  # noqa: F811
    with world.chat() as chat:
        chat.ask("READ notes.txt")
        chat.ask("ECHO two")
        before = chat.session()
    world.server.kill()
    world.server.start()
    with world.chat() as chat:
        assert chat.session() == before
        assert chat.ask("ECHO three") == "three"
    assert [each["content"] for each in world.backend.requests[-1].body["messages"] if each["role"] == "user"] == ["READ notes.txt", "ECHO two", "ECHO three"]


def test_evicted_messages_are_found(make_world):  # noqa: F811
    world = make_world(context=1024, chat={"tools": []})  # noqa: F811
    with world.chat("evicting") as chat, world.server.api() as api:
        chat.ask("ECHO the walrus sings")
        for i in range(8):
            chat.ask("ECHO " + "x" * 400, max_tokens=64)
        assert not any("walrus" in content for _, content in chat.messages())
        found = eventually(lambda: api.get("/api/v1/search", params={"q": "walrus"}).json()["results"])
        assert found[0]["taskID"] == "evicting" and found[0]["type"] == "message"
        log = whole_log(api, "evicting")
        assert fold(log) == folded_session(chat.session())
        gone = [event["data"] for event in log if event["type"] == "eviction"]
        assert gone and all(each["reason"] == "context" and each["messagesEvicted"] == len(each["messages"]) for each in gone)
        chat.clear()
        log = whole_log(api, "evicting")
        assert fold(log) == [] == folded_session(chat.session()) and log_reason(log) == "cleared"


def log_reason(log):
    return [event["data"]["reason"] for event in log if event["type"] == "eviction"][-1]


def test_replay_and_export(world, named, api):  # noqa: F811
    chat, name = named
    chat.ask("ECHO one")
    last = whole_log(api, name)[-1]["sequence"]
    assert api.get(f"/api/v1/tasks/{name}", params={"at": last}).json()["at"] == last
    assert "ECHO one" in world.server.cli("export", name).stdout
    chat.ask("READ notes.txt")
    shown = world.server.cli("replay", name, "--speed", "max").stdout
    for words in ("ECHO one", "READ notes.txt", "notes.txt", "The tool has answered."):
        assert words in shown, shown
    assert shown.index("ECHO one") < shown.index("READ notes.txt") < shown.index("The tool has answered.")
    events = [json.loads(line) for line in world.server.cli("replay", name, "--speed", "max", "--json").stdout.splitlines()]
    assert [(event["sequence"], event["type"]) for event in events] == [(event["sequence"], event["type"]) for event in whole_log(api, name)]


def test_top_shows_a_chat_live(world, named):  # noqa: F811
    chat, name = named
    chat.ask("ECHO before")
    screen = Terminal(["top", "--filter", name], {**world.server.env, "SHEPHERD_URL": world.server.public, "SHEPHERD_TOKEN": world.server.token}, columns=160)
    screen.wait_for(lambda text: name in text and "paused" in text)
    chat.request("HOLD top", **{"async": True})
    screen.wait_for(lambda text: name in text and "running" in text)
    world.script.gates["top"].set()
    screen.wait_for(lambda text: name in text and "paused" in text)
    screen.press("q")
    assert screen.end() == 0


def test_watch_shows_it(world, named, api):  # noqa: F811
    chat, name = named
    chat.session()
    watching = subprocess.Popen([world.server.binary, "watch", name], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                                env={**world.server.env, "SHEPHERD_URL": world.server.public, "SHEPHERD_TOKEN": world.server.token})
    try:
        lines = []
        reader = threading.Thread(target=lambda: lines.extend(iter(watching.stdout.readline, "")), daemon=True)
        reader.start()
        chat.ask("READ notes.txt")
        eventually(lambda: any("The tool has answered." in line for line in lines) or watching.poll() is not None)
        assert any("READ notes.txt" in line for line in lines) and any("notes.txt" in line and "ead" in line for line in lines), lines
    finally:
        watching.kill()
        watching.wait()
    assert name in world.server.cli("tasks").stdout


# --- approvals ---

def waiting(api, name):
    return eventually(lambda: [item for item in api.get("/api/v1/inbox").json()["items"] if item["taskID"] == name])[0]


@pytest.fixture
def asking(make_world):  # noqa: F811
    """A world in which commands need an approval."""
    return make_world(chat={"tools": ["list_files", "read_file", "run_command"]})


@pytest.mark.parametrize("answer", ["approve", "deny"])
def test_a_command_waits_for_a_person(asking, answer):
    with asking.chat("asks") as chat, asking.server.api() as api, chat.updates() as watched:
        chat.request("RUN touch made-it", **{"async": True})
        item = waiting(api, "asks")
        assert item["approval"]["tool"] == "run_command" and item["approval"]["input"]["command"] == "touch made-it"
        assert not (asking.root / "made-it").exists(), "it ran without an approval"
        assert task_of(api, "asks")["status"]["state"] in ("waiting_for_input", "running")
        command(api, "asks", answer, approvalID=item["approval"]["approvalID"], **({"message": "not today"} if answer == "deny" else {}))
        turn = watched.turn()
        result = next(event.data for event in turn if event.type == "tool_result")
        assert result["success"] is (answer == "approve") and (asking.root / "made-it").exists() is (answer == "approve")
        if answer == "deny":
            assert "not today" in asking.backend.requests[-1].last()["content"]
            assert next(event for event in events_of(api, "asks", "tool_result"))["output"].get("denied") is True
        states = [event["data"]["state"] for event in events_of(api, "asks", "approval")]
        assert states == ["pending", "approved" if answer == "approve" else "denied"]
        assert turn[-1].data["response"] == "The tool has answered."


def test_an_approval_is_remembered_for_the_session(asking):
    with asking.chat("remembers") as chat, asking.server.api() as api, chat.updates() as watched:
        chat.request("RUN touch first", **{"async": True})
        item = waiting(api, "remembers")
        command(api, "remembers", "approve", approvalID=item["approval"]["approvalID"], remember=events_of(api, "remembers", "approval")[-1]["data"]["remember"][0])
        watched.turn()
        chat.ask("RUN touch second")
        assert (asking.root / "second").exists()
        # Another program is not what was approved.
        chat.request("RUN rm -f second", **{"async": True})
        command(api, "remembers", "deny", approvalID=waiting(api, "remembers")["approval"]["approvalID"])
        eventually(lambda: "response_complete" in watched.kinds()[-1:])
        assert (asking.root / "second").exists()


def test_allowed_commands_do_not_ask(make_world):  # noqa: F811
    world = make_world(chat={"tools": ["run_command"], "allow": ["run_command(touch)"]})  # noqa: F811
    with world.chat("allowed") as chat, world.server.api() as api:
        chat.ask("RUN touch fine")
        assert (world.root / "fine").exists() and events_of(api, "allowed", "approval") == []
        # What follows the allowed word must not run with it.
        chat.request("RUN touch a; touch b", **{"async": True})
        command(api, "allowed", "deny", approvalID=waiting(api, "allowed")["approval"]["approvalID"])
        eventually(lambda: not chat.status()["processing"])
        assert not (world.root / "b").exists()


def test_cancel_while_a_person_is_asked(asking):
    with asking.chat("cancelled") as chat, asking.server.api() as api, chat.updates() as watched:
        chat.request("RUN touch never", **{"async": True})
        waiting(api, "cancelled")
        assert chat.cancel()["cancelled"] is True
        watched.until("response_complete")
        assert not api.get("/api/v1/inbox").json()["items"] or all(item["taskID"] != "cancelled" for item in api.get("/api/v1/inbox").json()["items"])
        assert chat.ask("ECHO after") == "after"
        assert not (asking.root / "never").exists()


def test_a_kill_while_a_person_is_asked(asking):
    with asking.chat("killed") as chat, asking.server.api() as api:
        chat.request("RUN touch never", **{"async": True})
        waiting(api, "killed")
    asking.server.kill()
    asking.server.start()
    with asking.chat("killed") as chat, asking.server.api() as api:
        chat.session()
        check_log(whole_log(api, "killed"))
        eventually(lambda: all(item["taskID"] != "killed" or item["kind"] != "approval" for item in api.get("/api/v1/inbox").json()["items"]))
        assert chat.ask("ECHO after") == "after" and not (asking.root / "never").exists()
        assert fold(whole_log(api, "killed")) == folded_session(chat.session())


# --- commands ---

def test_steering_a_running_turn(make_world):  # noqa: F811
    """A word that comes while the model works reaches it in the same turn."""
    script = Script(WORK=lambda request, rest, results: calls(("list_files", {"path": "."})) if results < 2 else text("Finished."))
    world = make_world(script=script)  # noqa: F811
    hold = threading.Event()
    inner = script.__call__

    def choose(request):
        if request.number == 2:
            hold.wait(20)
        return inner(request)
    world.backend.choose = choose
    with world.chat("steered") as chat, world.server.api() as api, chat.updates() as watched:
        chat.request("WORK", **{"async": True})
        world.backend.wait_for_request(2)
        given = command(api, "steered", "steer", content="WORK but look closely")
        hold.set()
        watched.until("response_complete")
        assert any("look closely" in request.words() for request in world.backend.requests)
        assert settled(api, "steered", given) in ("acknowledged", "delivered")
        assert fold(whole_log(api, "steered")) == folded_session(chat.session())


def test_steer_and_queue_start_a_turn_when_none_runs(world, named, api):  # noqa: F811
    chat, name = named
    chat.session()
    with chat.updates() as watched:
        given = command(api, name, "steer", content="ECHO steered")
        assert watched.turn()[-1].data["response"] == "steered"
        assert settled(api, name, given) in ("acknowledged", "delivered")
        command(api, name, "queue", content="ECHO queued")
        assert watched.turn()[-1].data["response"] == "queued"


def test_queue_waits_for_the_turn(world, named, api):  # noqa: F811
    chat, name = named
    gate = world.script.gates[name]
    with chat.updates() as watched:
        chat.request(f"HOLD {name}", **{"async": True})
        watched.until("delta")
        command(api, name, "queue", content="ECHO queued")
        gate.set()
        assert watched.until("response_complete")[-1].data["response"] == "Beginning and end."
        assert watched.turn()[-1].data["response"] == "queued"


def test_interrupt_is_cancel(world, named, api):  # noqa: F811
    chat, name = named
    with chat.updates() as watched:
        chat.request(f"HOLD {name}-i", **{"async": True})
        watched.until("delta")
        given = command(api, name, "interrupt")
        watched.until("response_complete")
        assert settled(api, name, given) in ("acknowledged", "delivered")
    assert chat.messages()[-1] == ("assistant", "Beginning") and chat.ask("ECHO after") == "after"


def test_stop_ends_the_task_and_the_next_prompt_goes_on(world, named, api):  # noqa: F811
    chat, name = named
    chat.ask("ECHO one")
    command(api, name, "stop")
    eventually(lambda: task_of(api, name)["status"]["state"] not in ("running", "paused", "waiting_for_input"))
    assert chat.session()["messages"][1]["content"] == "ECHO one"


def test_only_the_server_writes_the_log(world, named, api):  # noqa: F811
    chat, name = named
    chat.ask("ECHO one")
    before = whole_log(api, name)
    with world.server.runner() as runner:
        for path, body in (("events", [{"type": "message", "summary": "x", "data": {"role": "assistant", "content": "forged", "final": True}}]),
                           ("status", {"event": "completed"})):
            answer = runner.post(f"/api/v1/tasks/{name}/{path}", json=body)
            assert answer.status_code == 409 and answer.json()["code"] == "server_writes", answer.text
            assert name in answer.json()["detail"], "it says what to do"
        other = new_task(api)
        assert post_events(runner, other, note("one"))["sequence"] == 1, "other tasks take events on the same connection"
        assert runner.post(f"/api/v1/tasks/{name}/events", json=[note("x")]).status_code == 409
    assert whole_log(api, name) == before and chat.ask("ECHO two") == "two"


def test_the_list_of_sessions_has_pages(world, api):  # noqa: F811
    for _ in range(3):
        with world.new() as made:
            made.session()
    everyone = [each["id"] for each in api.get("/sessions").json()["sessions"]]
    seen, before = [], None
    while True:
        page = api.get("/sessions", params={"limit": 2, **({"before": before} if before else {})}).raise_for_status().json()
        assert 1 <= len(page["sessions"]) <= 2
        seen += [each["id"] for each in page["sessions"]]
        before = page.get("next")
        if not before:
            break
    assert seen == everyone and len(seen) >= 3
    refused = httpx.get(world.server.public + "/sessions", params={"limit": 0}, headers=world.server.headers(), trust_env=False)
    assert refused.status_code == 400 and refused.json()["code"] == "bad_parameter"


# --- retention ---

def test_a_session_outlives_the_beginning_of_its_log(make_world):  # noqa: F811
    """Retention drops nearly all of the log: the session comes back with what is left, and an observer is told."""
    world = make_world(more="retention:\n  bytes: 1\n")  # noqa: F811
    with world.chat("old") as chat, world.server.api() as api:
        chat.ask("READ notes.txt")
        chat.ask("ECHO two")
        newest = whole_log(api, "old")[-1]["sequence"]
        # Retention runs once a minute and keeps the newest batch.
        eventually(lambda: task_of(api, "old")["firstSequence"] > 12, timeout=200)
        first = task_of(api, "old")["firstSequence"]
        with chat.updates(Last_Event_ID="2") as late:
            gap = late.until("eviction")[-1]
            assert gap.data["resync"] is True and gap.data["missed"] == {"from": 3, "to": first - 1} and gap.id == str(first - 1)
    world.server.kill()
    world.server.start()
    with world.chat("old") as chat:
        session = chat.session()
        assert session["system_message"] == "You are terse."
        # What was counted with messages that are gone is not exact any more.
        left = [message for message in session["messages"] if message["role"] != "system"]
        assert session["tokens_exact"] is not bool(left)
        assert first <= newest and all(message["role"] in ("system", "user", "assistant") for message in session["messages"])
        assert chat.ask("ECHO three") == "three"
        sent = world.backend.requests[-1].body["messages"]
        assert sent[0] == {"role": "system", "content": "You are terse."} and sent[1]["role"] == "user", sent
        assert chat.ask("READ notes.txt") == "The tool has answered."


# --- secrets ---

def test_a_secret_in_a_prompt_and_in_an_answer(make_world):  # noqa: F811
    """The log, the search, the files and the session have a mark in its place."""
    secret = scripted_model.SECRET
    script = Script(TELL=lambda request, rest, results: text("The key is ", secret[:9], secret[9:20], secret[20:], ", keep it."))
    world = make_world(script=script)  # noqa: F811
    with world.chat("secrets") as chat, world.server.api() as api, chat.updates() as watched:
        chat.ask(f"ECHO my key is {secret} ok")
        turn = watched.turn()
        chat.ask("TELL")
        turn += watched.turn()
        seen = json.dumps([event.data for event in turn if event.type != "delta"]) + json.dumps(chat.session()) + json.dumps(whole_log(api, "secrets"))
        assert secret not in seen and "[redacted:" in seen
        assert secret not in said(turn), "also live text"
        assert secret not in api.get("/api/v1/search", params={"q": '"my key"'}).text
    world.server.stop()
    assert secret not in world.server.log()
    assert [path for path in world.server.data.rglob("*") if path.is_file() and secret.encode() in path.read_bytes()] == []


# --- usage and cost ---

def test_unpriced_tokens(world, named, api):  # noqa: F811
    chat, name = named
    chat.ask("Hello")
    used = eventually(lambda: events_of(api, name, "usage"))[-1]["data"]
    request = world.backend.requests[-1]
    assert used["inputTokens"] == request.counted and used["outputTokens"] == 3 and used["unpriced"] is True and "costUSD" not in used
    chat.ask("Hello")
    again = events_of(api, name, "usage")[-1]["data"]
    assert again["inputTokens"] == request.counted + world.backend.requests[-1].counted and again["turns"] == 2, "totals of the session"


def test_priced_tokens(make_world):  # noqa: F811
    price = {"as_of": "2026-11-01", "input": 2.0, "output": 10.0}
    world = make_world(entry={"price": price})  # noqa: F811
    with world.chat("priced") as chat, world.server.api() as api:
        chat.ask("Hello")
        chat.ask("LIST")
        used = events_of(api, "priced", "usage")[-1]["data"]
        asked = sum(request.counted for request in world.backend.requests)
        assert abs(used["costUSD"] - (asked * 2.0 + used["outputTokens"] * 10.0) / 1e6) < 1e-9 and used["apiCalls"] == 3 and used["toolUses"] == 1
        assert abs(eventually(lambda: task_of(api, "priced")["usage"]["costUSD"]) - used["costUSD"]) < 1e-9


def test_who_asked(make_world):  # noqa: F811
    world = make_world(auth="token")  # noqa: F811
    with world.server.api() as api:
        token = api.post("/api/v1/tokens", json={"name": "alice", "scope": "operator"}).json()["secret"]
        with world.chat("asked", headers={"Authorization": f"Bearer {token}"}) as chat:
            chat.ask("Hello")
        prompts = [event for event in events_of(api, "asked", "message") if event["data"]["role"] == "user"]
        assert prompts[0]["data"]["by"] == "alice"


def test_a_silent_turn_is_not_reported_as_stalled_too_soon(world, named, api):  # noqa: F811
    chat, name = named
    chat.request("SILENT 1", **{"async": True})
    eventually(lambda: chat.status()["processing"])
    eventually(lambda: task_of(api, name)["status"]["state"] == "running")
    eventually(lambda: not chat.status()["processing"])
    assert not [item for item in api.get("/api/v1/inbox").json()["items"] if item["taskID"] == name and item["kind"] == "stalled"]


# --- live text ---

def test_a_late_consumer_reads_what_the_model_has_said(world, named, api):  # noqa: F811
    chat, name = named
    chat.session()
    status = lambda: api.get(f"/sessions/{name}/status").raise_for_status().json()  # noqa: E731
    with world.server.sse(f"/api/v1/tasks/{name}/events?deltas=1") as feed:
        feed.until(lambda message: message.type == "caught_up")
        assert "answer" not in status()
        command(api, name, "queue", content=f"HOLD {name}")
        seen = feed.until(lambda message: message.type == "delta")
        first = seen[-1].data
        newest = max(message.data["sequence"] for message in seen if message.type == "task_event")
        assert status()["answer"] == {"after": newest, "block": first["block"], "pieces": first["piece"], "text": "Beginning"}
        world.script.gates[name].set()
        rest = feed.until(lambda message: message.type == "task_event" and message.data["type"] == "message" and message.data["data"].get("final"))
        pieces = [first, *(message.data for message in rest if message.type == "delta")]
        assert [piece["piece"] for piece in pieces] == [1, 2] and {piece["block"] for piece in pieces} == {first["block"]}
        assert "".join(piece["text"] for piece in pieces) == "Beginning and end."
        assert eventually(lambda: not status()["processing"]) and "answer" not in status()
