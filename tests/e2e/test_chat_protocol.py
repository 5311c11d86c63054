"""Every path of the chat protocol: fields, order, headers, keep-alives, errors, keys, names."""

import json
import socket
import threading
import time
from concurrent.futures import ThreadPoolExecutor

import httpx
import pytest

from chat_client import Chat, Updates, check_turn, config, said
from chat_world import ANSWER, chat, make_world, shared_world, world  # noqa: F401 (fixtures)
from raw_http import Raw
from server import Server
from streams import StreamEnded
from tasks import eventually, new_id


def reserve(context):
    """The part of the context that is kept for an answer when the request does not say."""
    half = context / 2
    return int(half * min(max(0.33 + half / 80000 * 0.27, 0.33), 0.6))


# --- /health, /status, /session ---

def test_health(world):
    answer = eventually(lambda: (value := world.chat().call("GET", "/health"))["backend_connected"] and value)
    assert answer["model_configured"] is True
    assert answer["status"] == "ok" and answer["server_type"] == "cli" and answer["backend_connected"] is True


def test_status_of_an_idle_and_of_a_busy_session(world, chat):
    idle = chat.status()
    assert idle["status"] == "ok" and idle["model"] == "fake-1" and idle["context_size"] == 8192
    assert idle["processing"] is False and idle["queue_depth"] == 0 and idle["messages"] == 0 and "current_request" not in idle
    assert all(isinstance(idle[name], int) for name in ("uptime_seconds", "requests_processed", "pid", "total_tokens"))
    assert idle["pid"] == world.server.process.pid
    prompt = "HOLD status " + "x" * 200
    world.script.gates["status " + "x" * 200].clear()
    chat.request(prompt, **{"async": True})
    chat.request("Second", **{"async": True})
    busy = eventually(lambda: (value := chat.status())["processing"] and value)
    assert busy["current_request"] == prompt[:100] + "..."
    eventually(lambda: chat.status()["queue_depth"] == 1)
    world.script.gates["status " + "x" * 200].set()
    done = eventually(lambda: not (value := chat.status())["processing"] and value)
    assert done["messages"] == 4 and "current_request" not in done


def test_session_has_every_documented_field(chat):
    empty = chat.session()
    assert empty["model"] == "fake-1" and empty["context_size"] == 8192 and empty["desired_completion_tokens"] == reserve(8192)
    assert empty["system_message"] == "You are terse." and [each["role"] for each in empty["messages"]] == ["system"]
    assert {"list_files", "read_file"} <= {tool["name"] for tool in empty["tools"]}
    assert chat.ask("Hello") == ANSWER
    full = chat.session()
    assert [each["role"] for each in full["messages"]] == ["system", "user", "assistant"]
    assert full["messages"][1]["content"] == "Hello" and full["messages"][2]["content"] == ANSWER
    assert full["total_tokens"] == sum(each["tokens"] for each in full["messages"])
    assert full["total_tokens"] > empty["total_tokens"]


# --- /request ---

def test_a_blocking_request_and_its_events(chat):
    with chat.updates() as watched:
        before = time.monotonic()
        answer = chat.http.post(chat.base + "/request", json={"prompt": "Hello", "stream": False})
        after = time.monotonic()
        assert answer.json() == {"success": True, "response": ANSWER}
        turn = watched.turn()
        kinds = [event.type for event in turn]
        assert [kind for kind in kinds if kind != "delta"] == ["message_added", "message_added", "response_complete"], kinds
        assert kinds[1] == "delta", "the text comes before the finished message"
        assert turn[0].data["content"] == "Hello" and turn[0].data["tokens"] > 0
        assert said(turn) == turn[-1].data["response"] == ANSWER
        assert turn[-1].data["finish_reason"] == "stop" and turn[-1].data["total_tokens"] == chat.session()["total_tokens"]
        assert turn[-1].data["usage"]
        # The minimal client reads /updates only while its POST is in flight.
        assert before < turn[-1].at <= after - 0.04, "the answer must come at least 50 ms after response_complete was written"


def test_a_streamed_request(chat):
    with chat.updates() as watched:
        streamed = chat.stream("Hello", **{"async": True})  # stream wins
        assert [(each.type, each.data) for each in check_turn(streamed)] == [(each.type, each.data) for each in watched.turn()]
    raw = chat.http.post(chat.base + "/request", json={"prompt": "Hello", "stream": True})
    assert raw.headers["cache-control"] == "no-cache" and raw.headers["x-accel-buffering"] == "no"
    assert raw.text.endswith('data: {"done":true}\n\n') or raw.text.endswith('data: {"done": true}\n\n'), raw.text[-80:]
    assert "connected" not in raw.text


def test_a_streamed_request_and_a_silent_model(chat):
    """Comments come meanwhile, for clients with short time-outs."""
    with httpx.Client(trust_env=False, timeout=3.0) as impatient:
        answer = impatient.post(chat.base + "/request", json={"prompt": "SILENT 5", "stream": True})
    assert answer.text.count(": keepalive\n\n") >= 3 and "At last." in answer.text
    assert answer.text.endswith('data: {"done":true}\n\n')


def test_asynchronous_requests_wait_in_a_queue(world, chat):
    gate = world.script.gates["queue"]
    gate.clear()
    with chat.updates() as watched:
        first = chat.request("HOLD queue", **{"async": True})
        assert first == {"success": True, "queued": True, "queue_position": 1}
        watched.until("delta")
        assert chat.request("ECHO two", **{"async": True})["queue_position"] == 2
        eventually(lambda: chat.status()["queue_depth"] == 1)
        assert chat.request("ECHO three", **{"async": True})["queue_position"] == 3
        gate.set()
        assert watched.until("response_complete")[-1].data["response"] == "Beginning and end."
        assert [said(watched.turn()) for _ in range(2)] == ["two", "three"]
    assert [content for role, content in chat.messages() if role == "user"] == ["HOLD queue", "ECHO two", "ECHO three"]


def test_what_is_sent_after_an_asynchronous_answer_comes_behind_it(world):
    """One client's requests keep their order, whatever their kind, and the answer says how many wait."""
    for _ in range(20):
        with world.new() as chat:
            chat.session()
            world.script.gates["first"].clear()
            chat.request("HOLD first", **{"async": True})
            places = [chat.request(f"ECHO {i}", **{"async": True})["queue_position"] for i in range(3)]
            assert places == [2, 3, 4], places
            threading.Timer(0.01, world.script.gates["first"].set).start()
            assert chat.ask("ECHO last") == "last"
            assert [content for role, content in chat.messages() if role == "user"] == ["HOLD first", "ECHO 0", "ECHO 1", "ECHO 2", "ECHO last"]


def test_an_asynchronous_request_keeps_its_max_tokens(world, chat):
    before = len(world.backend.requests)
    with chat.updates() as watched:
        chat.request("Hello", max_tokens=77, **{"async": True})
        watched.turn()
    assert world.backend.requests[before].body["max_tokens"] == 77


def test_an_asynchronous_prompt_that_is_too_long_for_the_log(chat):
    body = chat.refused("POST", "/request", 413, "prompt_too_large", json={"prompt": "x" * 600000, "async": True})
    assert "async" in body["error"] and "detail" not in body["error"], body


def test_one_order_for_all_kinds_of_requests(world, chat):
    """A blocking, a streamed and an asynchronous request run one after another, in the order of their arrival."""
    gate = world.script.gates["order"]
    gate.clear()
    threads = []
    with chat.updates() as watched:
        chat.request("HOLD order", **{"async": True})
        watched.until("delta")
        for number, send in enumerate((lambda: chat.ask("ECHO one"), lambda: Chat.stream(chat, "ECHO two"), lambda: chat.request("ECHO three", **{"async": True})), 1):
            threads.append(threading.Thread(target=send))
            threads[-1].start()
            eventually(lambda: chat.status()["queue_depth"] == number)
        gate.set()
        watched.until("response_complete")
        assert [watched.turn()[0].data["content"] for _ in range(3)] == ["ECHO one", "ECHO two", "ECHO three"]
    for thread in threads:
        thread.join(20)
        assert not thread.is_alive()


@pytest.mark.parametrize("wanted, sent", [(0, "reserve"), (-1, "free"), (100, 100), (1 << 30, "free")])
def test_max_tokens_has_three_kinds_of_values(world, chat, wanted, sent):
    before = len(world.backend.requests)
    chat.ask("Hello", max_tokens=wanted)
    request = world.backend.requests[before]
    free = 8192 - request.counted
    found = request.body.get("max_tokens", request.body.get("max_completion_tokens"))
    assert found == {"reserve": min(reserve(8192), free), "free": free}.get(sent, sent)


@pytest.mark.parametrize("body, media", [
    (b"{}", "application/json"), (b'{"prompt":""}', "application/json"), (b'{"prompt":"x"', "application/json"),
    (b'{"prompt":5}', "application/json"), (b'["x"]', "application/json"), (b'{"prompt":"x","max_tokens":"many"}', "application/json"),
    (b'{"prompt":"x","stream":"yes"}', "application/json"), (b'{"prompt":"\xff"}', "application/json"), (b"", "text/plain"), (b"\xff\xfe", "text/plain")])
def test_a_request_that_is_wrong(chat, body, media):
    answer = chat.call("POST", "/request", 400, content=body, headers={"Content-Type": media})
    assert answer["success"] is False and answer["error"] and answer["code"], answer
    assert chat.session()["messages"][1:] == []


def test_a_prompt_as_plain_text(chat):
    assert chat.call("POST", "/request", content="ECHO grüße {", headers={"Content-Type": "text/plain; charset=utf-8"}) == {"success": True, "response": "grüße {"}


def test_a_request_without_a_media_type(chat):
    """What looks like a request is one; everything else is the prompt."""
    assert chat.call("POST", "/request", content=b'{"prompt":"ECHO json"}') == {"success": True, "response": "json"}
    assert chat.call("POST", "/request", content=b"ECHO text") == {"success": True, "response": "text"}
    chat.refused("POST", "/request", 400, "bad_json", content=b'{"prompt":')


def test_unknown_fields_are_ignored(chat):
    assert chat.ask("ECHO yes", memory=False, temperature=3, model="other") == "yes"


def test_a_failure_of_the_model(chat):
    with chat.updates() as watched:
        answer = chat.request("FAIL", status=500)
        assert answer["success"] is False and "The model has no idea" in answer["error"] and answer["code"] == "model_refused", answer
        seen = watched.until("response_complete")
        assert [event.type for event in seen] == ["message_added", "error", "response_complete"]
        assert "The model has no idea" in seen[1].data["error"] and seen[2].data["response"] == ""
        kinds = [event.type for event in chat.stream("FAIL")]
        assert kinds == ["message_added", "error", "response_complete"], "a streamed failure stays 200"
    assert chat.ask("ECHO again") == "again"


def test_a_prompt_that_is_refused_is_seen_by_observers(chat):
    """Some clients show nothing but what comes on /updates, and wait there for the end of their turn."""
    with chat.updates() as watched:
        body = chat.refused("POST", "/request", 413, "prompt_too_large", json={"prompt": "x" * 1100000})
        seen = watched.until("response_complete")
        assert [event.type for event in seen] == ["error", "response_complete"] and seen[0].data["error"] == body["error"]
    assert chat.messages() == [] and chat.ask("ECHO after") == "after"


def test_a_silent_model_keeps_the_answer_alive(chat):
    """httpx gives up after 5 s without a byte, so the server sends blanks before the JSON."""
    with chat.updates() as watched:
        with httpx.Client(trust_env=False, timeout=3.0) as impatient:
            answer = impatient.post(chat.base + "/request", json={"prompt": "SILENT 6"})
        assert answer.status_code == 200 and answer.headers.get("transfer-encoding") == "chunked"
        assert answer.content.startswith(b" ") and answer.json() == {"success": True, "response": "At last."}
        watched.turn()
        assert watched.longest_silence() < 1.5 and watched.comments >= 4, watched.arrivals


# --- the connection ---

def test_doubled_slashes_are_one(world):
    answer = httpx.get(world.server.public + "//session", trust_env=False)
    assert answer.status_code == 200 and answer.json()["success"] is True
    assert httpx.get(world.server.public + "//sessions//slashes//session", trust_env=False).json()["success"] is True


def test_a_body_after_100_continue(world):
    body = json.dumps({"prompt": "ECHO continued"}).encode()
    with Raw(world.server.public) as raw:
        raw.request("POST", "/sessions/expect/request", ["Content-Type: application/json", f"Content-Length: {len(body)}", "Expect: 100-continue"])
        assert raw.read_until(b"\r\n\r\n").startswith(b"HTTP/1.1 100")
        raw.send(body)
        status, _, answer = raw.response()
        assert status == 200 and json.loads(answer)["response"] == "continued"


def test_clear_without_a_body(world):
    with Raw(world.server.public) as raw:
        raw.request("POST", "/sessions/bodyless/clear")
        status, _, answer = raw.response()
        assert status == 200 and json.loads(answer) == {"success": True, "message": "Conversation cleared"}


def test_unknown_paths_and_methods(world):
    assert httpx.get(world.server.public + "/sessions/x/nothing", trust_env=False).status_code == 404
    assert httpx.get(world.server.public + "/request", trust_env=False).status_code == 405
    assert httpx.post(world.server.public + "/session", trust_env=False).status_code == 405


# --- /updates ---

def test_the_first_event_names_the_client(world, chat):
    opened = Updates(chat.base + "/updates", {"X-Client-ID": "my-editor"})
    assert opened.next().data["client_id"] == "my-editor"
    opened.close()
    opened = Updates(chat.base + "/updates")
    assert opened.next().data["client_id"].startswith("127.0.0.1")
    opened.close()


def test_all_observers_see_one_order(chat):
    watchers = [chat.updates() for _ in range(5)]
    for i in range(4):
        chat.ask(f"ECHO {i}")
    seen = [[[(event.type, event.data) for event in watched.turn()] for _ in range(4)] for watched in watchers]
    assert all(each == seen[0] for each in seen)
    for watched in watchers:
        watched.close()


def test_an_observer_that_comes_in_a_turns_first_second_gets_all_of_it(world, chat):
    gate = world.script.gates["late"]
    gate.clear()
    with chat.updates() as first:
        chat.request("HOLD late", **{"async": True})
        first.until("delta")
        with chat.updates() as late:
            gate.set()
            assert [(e.type, e.data) for e in late.turn()][-1] == (turn := [(e.type, e.data) for e in first.until("response_complete")])[-1]
            assert said([e for e in late.received]) == "Beginning and end."
            assert turn


def test_a_reconnect_with_the_last_id_misses_nothing(world, chat):
    with chat.updates() as first:
        chat.ask("ECHO one")
        first.turn()
        last = first.last_id()
    assert last is not None
    chat.ask("ECHO two")
    chat.ask("ECHO three")
    with chat.updates(Last_Event_ID=last) as again:
        assert [again.turn()[-1].data["response"] for _ in range(2)] == ["two", "three"]
        chat.ask("ECHO four")
        assert again.turn()[-1].data["response"] == "four"
        assert again.kinds().count("response_complete") == 3


def test_a_reconnect_in_the_middle_of_an_answer(world, chat):
    """Live text has no number: what was said of the unfinished message comes with the first event."""
    world.script.gates["torn"].clear()
    with chat.updates() as first:
        chat.request("HOLD torn", **{"async": True})
        first.until("delta")
        last = first.last_id()
    opened = Updates(chat.base + "/updates", {"Last-Event-ID": last})
    try:
        answer = opened.next().data["answer"]
        assert answer["text"] == "Beginning" and answer["after"] >= int(last), answer
        world.script.gates["torn"].set()
        seen = opened.until("response_complete")
        assert answer["text"] + said(seen) == seen[-1].data["response"] == "Beginning and end."
    finally:
        opened.close()


def test_a_reconnect_with_a_useless_id(chat):
    chat.ask("ECHO one")
    for useless in ("999999", "-1", "x", ""):
        with chat.updates(Last_Event_ID=useless) as watched:
            chat.ask("ECHO more")
            assert watched.until("response_complete")[-1].data["response"] in ("one", "more")


def test_an_observer_that_reads_nothing_holds_nobody_up(world, chat):
    with Raw(world.server.public) as idle:
        idle.request("GET", chat.base.removeprefix(world.server.public) + "/updates", ["Accept: text/event-stream"])
        began = time.monotonic()
        for i in range(20):
            assert chat.ask("ECHO " + "x" * 20000)
        assert time.monotonic() - began < 20


# --- /cancel and /clear ---

def test_cancel_frees_the_backend_and_keeps_what_was_said(world, chat):
    assert chat.cancel() == {"success": True, "cancelled": False}
    world.script.gates["cancelled"].clear()
    answers = []
    with chat.updates() as watched:
        sender = threading.Thread(target=lambda: answers.append(chat.http.post(chat.base + "/request", json={"prompt": "HOLD cancelled"})))
        sender.start()
        watched.until("delta")
        assert chat.cancel() == {"success": True, "cancelled": True}
        ended = watched.until("response_complete")
        assert "error" in [event.type for event in ended]
        assert world.backend.requests[-1].closed.wait(5), "the connection to the backend stays open"
        sender.join(10)
    assert answers[0].json()["success"] is False and answers[0].json()["code"] == "cancelled", answers[0].text
    assert chat.messages() == [("user", "HOLD cancelled"), ("assistant", "Beginning")]
    assert chat.ask("ECHO after") == "after"


def test_clear_forgets_and_says_so(chat):
    chat.ask("ECHO one")
    with chat.updates() as watched:
        assert chat.clear() == {"success": True, "message": "Conversation cleared"}
        assert watched.until("cleared")[-1].data == {}
    emptied = chat.session()
    assert emptied["messages"][1:] == [] and emptied["system_message"] and emptied["tools"]
    assert emptied["total_tokens"] == emptied["system_tokens"]
    assert chat.ask("ECHO two") == "two"


def test_clear_ends_the_running_turn_first(world, chat):
    world.script.gates["cleared"].clear()
    with chat.updates() as watched:
        chat.request("HOLD cleared", **{"async": True})
        watched.until("delta")
        chat.clear()
        kinds = [event.type for event in watched.until("cleared")]
        assert kinds.index("response_complete") < kinds.index("cleared"), kinds
    assert chat.messages() == []
    assert world.backend.requests[-1].closed.wait(5)


# --- sessions by name ---

def test_sessions_are_apart_and_listed(world):
    names = [new_id("apart") for _ in range(3)]
    with world.chat(names[0]) as one, world.chat(names[1]) as two, world.chat(names[2]) as three:
        one.ask("ECHO one")
        two.session()
        three.updates().close()
        assert one.messages() == [("user", "ECHO one"), ("assistant", "one")] and two.messages() == three.messages() == []
        listed = {each["id"]: each for each in world.chat().call("GET", "/sessions")["sessions"]}
        assert set(names) <= set(listed), "a session is made by its first use"
        with world.server.api() as api:
            assert api.get(f"/api/v1/tasks/{names[0]}").json()["agent"] == "chat"


def test_a_fork_goes_its_own_way(world):
    name, other = new_id("trunk"), new_id("branch")
    with world.chat(name) as trunk, world.chat(other) as branch:
        trunk.ask("ECHO one")
        middle = trunk.session()["messages"][-1]["sequence"]
        trunk.ask("ECHO two")
        made = trunk.call("POST", "/fork", 201, json={"id": other})
        assert made == {"success": True, "id": other}
        assert branch.messages() == trunk.messages() and len(branch.messages()) == 4
        branch.ask("ECHO three")
        assert len(trunk.messages()) == 4 and len(branch.messages()) == 6
        assert "ECHO two" in world.backend.requests[-1].words(), "the model is told what was said before the fork"
        with world.chat(trunk.call("POST", "/fork", 201, json={"message": middle})["id"]) as third:
            assert third.messages() == trunk.messages()[:2]
        trunk.refused("POST", "/fork", 409, "task_exists", json={"id": other})
        trunk.refused("POST", "/fork", 400, "bad_session_name", json={"id": "a b"})


def test_a_deleted_session_is_gone(world):
    name = new_id("gone")
    with world.chat(name) as doomed:
        doomed.ask("ECHO one")
        watched = doomed.updates()
        answer = httpx.delete(world.server.public + f"/sessions/{name}", trust_env=False)
        assert answer.status_code in (200, 204), answer.text
        with world.server.api() as api:
            assert api.get(f"/api/v1/tasks/{name}").status_code == 404
        with pytest.raises(StreamEnded):
            while True:
                watched.next(5)


@pytest.mark.parametrize("name", ["%2e%2e", "a%2fb", "x" * 300, "%00", "a%20b"])
def test_a_name_that_is_none(world, name):
    answer = httpx.get(f"{world.server.public}/sessions/{name}/session", trust_env=False)
    assert answer.status_code in (400, 404), answer.text
    assert world.chat().call("GET", "/health")["status"] == "ok"


def test_a_task_that_is_no_chat(world):
    with world.server.api() as api:
        task = api.post("/api/v1/tasks", json={"prompt": "x"}).json()["id"]
    answer = httpx.get(f"{world.server.public}/sessions/{task}/session", trust_env=False)
    assert answer.status_code in (404, 409) and answer.json()["success"] is False, answer.text


# --- without a model; keys ---

def test_without_a_model_every_path_says_what_to_configure(make_server):
    server = make_server(config="public: {auth: none}\n").start()
    with Chat(server) as chat:  # noqa: F811
        for method, path in (("GET", "/session"), ("POST", "/request"), ("GET", "/updates"), ("POST", "/clear"), ("POST", "/cancel"), ("GET", "/status")):
            body = chat.refused(method, path, 503, "no_model")
            assert "No model is configured" in body["error"] and "models" in body["error"], body
        health = chat.call("GET", "/health")
        assert health["backend_connected"] is False and health["model_configured"] is False


def test_keys(make_world):
    world = make_world(auth="token")  # noqa: F811
    server = world.server
    with server.api() as api:
        tokens = {scope: api.post("/api/v1/tokens", json={"name": scope, "scope": scope}).json()["secret"] for scope in ("viewer", "operator")}
    with world.chat() as none, world.chat(headers={"Authorization": "Bearer shp_wrong"}) as wrong:
        assert none.call("GET", "/health")["status"] == "ok"
        for each in (none, wrong):
            for method, path in (("GET", "/session"), ("POST", "/request"), ("GET", "/updates"), ("POST", "/clear"), ("GET", "/status"), ("GET", "/sessions")):
                answer = each.http.request(method, each.base + path)
                assert answer.status_code == 401 and answer.json()["success"] is False, f"{method} {path}: {answer.text}"
                error = answer.json()["error"]
                assert error["type"] == "authentication_error" and error["code"] == "401" and error["message"], f"{method} {path}: {answer.text}"
    for headers in ({"Authorization": f"Bearer {tokens['operator']}"}, {"x-api-key": tokens["operator"]}):
        with world.chat(headers=headers) as known:
            assert known.ask("Hello") == ANSWER
            known.updates().close()
    with world.chat(headers={"x-api-key": tokens["viewer"]}) as viewer:
        assert viewer.session()["success"] is True
        viewer.updates().close()
        assert viewer.http.post(viewer.base + "/request", json={"prompt": "x"}).status_code == 403
        assert viewer.http.post(viewer.base + "/clear").status_code == 403
    text = world.server.log() + httpx.get(server.public + "/session", headers={"x-api-key": tokens["viewer"]}, trust_env=False).text
    assert not any(token in text for token in tokens.values())


# --- a model that is down ---

def test_the_log_says_once_that_a_model_does_not_answer(tmp_path):
    """The server asks every ten seconds. The backend hangs up each time and notes when it was asked."""
    asked = []
    with socket.create_server(("127.0.0.1", 0)) as listener:
        def hang_up():
            while True:
                try:
                    client, _ = listener.accept()
                except OSError:
                    return
                client.close()
                if not asked or time.monotonic() - asked[-1] > 5:  # the questions of one look come together
                    asked.append(time.monotonic())
        threading.Thread(target=hang_up, daemon=True).start()
        down = Server(tmp_path / "data", config=config(f"http://127.0.0.1:{listener.getsockname()[1]}/v1")).start()
        try:
            eventually(lambda: len(asked) == 3, 60)
            assert down.log().count("does not answer") == 1, down.log()
        finally:
            down.kill()
            listener.shutdown(socket.SHUT_RDWR)


# --- the end of the server ---

def test_prompts_that_the_server_cannot_answer_before_it_stops(make_world):
    """The one that runs and the one that waits: 503 for both, because the same prompts succeed after the start."""
    world = make_world()  # noqa: F811
    with world.chat() as chat, world.chat("streamed") as streamed, chat.updates() as watched, streamed.updates() as other:  # noqa: F811
        with ThreadPoolExecutor(3) as pool:
            running = pool.submit(chat.http.post, chat.base + "/request", json={"prompt": "HOLD stop"})
            watched.until("delta")
            waiting = pool.submit(chat.http.post, chat.base + "/request", json={"prompt": "ECHO later"})
            eventually(lambda: chat.status()["queue_depth"] == 1)
            stream = pool.submit(streamed.stream, "HOLD stop")
            other.until("delta")
            assert world.server.stop() == 0
            answers = [running.result(), waiting.result()]
        # The head of an answer that takes two seconds is sent before its end is known.
        assert [answer.status_code for answer in answers] in ([503, 503], [200, 503], [200, 200]), answers
        for answer in answers:
            body = answer.json()
            assert (body["success"], body["code"], body["error"]) == (False, "shutting_down", "Server is shutting down"), body
        errors = [each.data for each in stream.result() if each.type == "error"]
        assert [error["code"] for error in errors] == ["shutting_down"], errors
        world.script.gates["stop"].set()
        world.server.start()
        with world.chat() as later:  # noqa: F811
            assert later.ask("ECHO later") == "later"


def test_a_stop_in_a_turn_and_a_start_after_it(make_world):
    world = make_world()  # noqa: F811
    with world.chat() as chat:  # noqa: F811
        chat.ask("ECHO one")
        with chat.updates() as watched:
            chat.request("HOLD stop", **{"async": True})
            watched.until("delta")
            assert world.server.stop() == 0
        world.script.gates["stop"].set()
        world.server.start()
        chat.base = world.server.public
        roles = [role for role, _ in chat.messages()]
        assert roles[:3] == ["user", "assistant", "user"]
        assert chat.ask("ECHO two") == "two"
