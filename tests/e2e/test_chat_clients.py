"""The protocol document's two Python clients, word for word, with httpx's own time-outs, and a strict client over libcurl.

SHEPHERD_CHAT_SILENCE is how long the model says nothing in the tests of silence, in seconds; 12 by default, because httpx gives
up after 5. The server's own deadline for idle connections is 75 seconds; 90 is beyond it. A unit test of src/net has it with a shorter one.
"""

import hashlib
import os
import re
import threading
import time
from pathlib import Path

import pytest

from chat_world import ANSWER, Script, make_world, shared_world, world  # noqa: F401 (fixtures)
from document_clients import CurlClient, Minimal, Session
from model_fakes import Answer, calls, chunk, text
from tasks import eventually

SILENCE = float(os.environ.get("SHEPHERD_CHAT_SILENCE", "12"))


def url_of(world, name):  # noqa: F811
    return f"{world.server.public}/sessions/{name}"


# --- the clients themselves ---

DOCUMENTED = Path(__file__).parent / "documented"
# Of their lines without indentation, taken when they were compared with the document.
DIGESTS = {"minimal_client.py": "e13bbdafd63d43e92894cf9e94fe744a0c4fff29770b4c2b0a8d48cf007cbae6", "session_client.py": "4f9016f104e7e7e1380c41ca203864efce4c81953844f72e784e335ca24c748c"}


def lines_of(source):
    return [line.strip() for line in source.splitlines() if line.strip()]


def test_the_clients_are_the_documents_own():
    """They were not mended. With SHEPHERD_PROTOCOL_DOCUMENT, the path of the document, they are compared with its text again."""
    sources = {name: lines_of((DOCUMENTED / name).read_text()) for name in DIGESTS}
    assert {name: hashlib.sha256("\n".join(lines).encode()).hexdigest() for name, lines in sources.items()} == DIGESTS
    if path := os.environ.get("SHEPHERD_PROTOCOL_DOCUMENT"):
        blocks = [lines_of(block) for block in re.findall(r"```python\n(.*?)```", Path(path).read_text(), re.S)]
        assert len(blocks) > 3
        for block in blocks:
            places = [lines[at:at + len(block)] for lines in sources.values() for at in range(len(lines))]
            assert block in places, f"the document has this, and no client: {block[:3]}"


# --- the minimal client ---

def test_minimal_client_shows_each_answer_before_its_next_prompt(world, tmp_path):  # noqa: F811
    """It opens /updates only while its first POST is in flight, and reads only then."""
    with Minimal(url_of(world, "minimal-fast"), tmp_path) as client:
        for i in range(1, 6):
            client.wait_for_prompt(i)
            client.say(f"ECHO answer-{i}-end")
            shown = client.wait_for_prompt(i + 1)
            assert f"answer-{i}-end\n> " in shown, shown
        assert client.end() == 0
        assert client.text.count("-end\n") == 5, f"an answer is shown once: {client.text!r}"


def test_minimal_client_and_a_silent_model(world, tmp_path):  # noqa: F811
    with Minimal(url_of(world, "minimal-silent"), tmp_path) as client:
        client.wait_for_prompt(1)
        client.say(f"SILENT {SILENCE}")
        shown = client.wait_for_prompt(2, SILENCE + 30)
        assert "At last.\n> " in shown, shown
        client.say("ECHO next")
        assert "next\n> " in client.wait_for_prompt(3)


def test_minimal_client_with_tools_errors_and_evictions(make_world, tmp_path):  # noqa: F811
    world = make_world(context=2048, chat={"tools": ["list_files"]})  # noqa: F811
    with Minimal(world.server.public, tmp_path) as client:
        client.wait_for_prompt(1)
        client.say("LIST")
        assert "[Tool: list_files]" in client.wait_for_prompt(2)
        assert "The tool has answered." in client.text
        client.say("FAIL")
        assert "Error: " in client.wait_for_prompt(3) and "The model has no idea" in client.text
        number = 3
        while "messages evicted]" not in client.text:
            client.say("ECHO " + "x" * 900)
            number += 1
            client.wait_for_prompt(number)
            assert number < 30, client.text
        assert client.end() == 0


def test_minimal_client_waits_at_its_prompt_while_others_talk(world, tmp_path):  # noqa: F811
    """It reads nothing there. Its next answer comes all the same."""
    with Minimal(url_of(world, "minimal-idle"), tmp_path) as client, world.chat("minimal-idle") as other:
        client.wait_for_prompt(1)
        client.say("ECHO one")
        client.wait_for_prompt(2)
        for _ in range(5):
            other.ask("ECHO " + "y" * 2000)
        client.say("ECHO two-end")
        assert "two-end\n> " in client.wait_for_prompt(3)


def test_minimal_client_survives_the_servers_restart(make_world, tmp_path):  # noqa: F811
    world = make_world()  # noqa: F811
    with Minimal(world.server.public, tmp_path) as client:
        client.wait_for_prompt(1)
        client.say("ECHO one-end")
        client.wait_for_prompt(2)
        world.server.listen = world.server.public.removeprefix("http://")
        world.server.kill()
        world.server.start()
        client.say("ECHO two-end")
        client.wait_for_prompt(3)
        eventually(lambda: world.chat().messages()[-1][1] == "two-end")
        # The listener waits 2 s before it connects again, and does so while a POST is in flight.
        client.say("SILENT 4")
        assert "At last." in client.wait_for_prompt(4)


# --- the larger client ---

@pytest.mark.parametrize("second", [False, True])
def test_session_client_mirrors_the_session(world, second):  # noqa: F811
    name = f"mirror-{second}"
    with world.chat(name) as chat:
        chat.ask("ECHO before")
        with Session(url_of(world, name), second=second) as client:
            assert client.client.context_size == 8192 and client.client.model_name == "fake-1" and client.client.total_tokens > 0
            assert ("message", "assistant", "before") in client.shown
            client.wait_for(lambda c: True)
            answer = client.send("Hello")
            assert answer == {"success": True, "response": ANSWER}
            client.wait_for(lambda c: ("saved",) in c.shown)
            assert client.text() == ANSWER
            client.send("LIST", max_tokens=500)
            client.wait_for(lambda c: c.shown.count(("saved",)) == 2)
            assert ("call", "list_files", {"path": "."}) in client.shown and ("result", "list_files", True, "") in client.shown
            session = chat.session()
            mirrored = [(each["role"], each["content"]) for each in client.client.messages]
            assert mirrored == [(each["role"], each["content"]) for each in session["messages"]]
            assert client.client.total_tokens == session["total_tokens"]


def test_session_client_and_a_silent_model(world):  # noqa: F811
    """The first listener does not survive a read time-out, so a byte must come every few seconds."""
    with Session(url_of(world, "session-silent")) as client:
        assert client.send(f"SILENT {SILENCE}")["response"] == "At last."
        client.wait_for(lambda c: ("saved",) in c.shown)
        assert client.listens() and client.text() == "At last."


def test_session_client_that_only_listens(world):  # noqa: F811
    with Session(url_of(world, "session-idle")) as client:
        eventually(lambda: client.listens())
        deadline = time.monotonic() + 7  # longer than httpx waits for a byte
        client.wait_for(lambda c: time.monotonic() > deadline)
        with world.chat("session-idle") as other:
            other.ask("ECHO from another")
        client.wait_for(lambda c: ("saved",) in c.shown)
        assert client.text() == "from another"


def test_session_client_follows_evictions(make_world):  # noqa: F811
    world = make_world(context=1024, chat={"tools": []})  # noqa: F811
    with Session(world.server.public) as client, world.chat() as chat:
        system = len(client.client.messages)
        client.client.messages.clear()  # the document's client drops its first messages; the system prompt is none of them
        for i in range(12):
            assert client.send(f"ECHO {i} " + "x" * 300, max_tokens=100)["success"] is True
            client.wait_for(lambda c: c.shown.count(("saved",)) == i + 1)
            assert [(each["role"], each["content"]) for each in client.client.messages] == chat.messages(), f"after {i}"
        assert system == 1 and any(each[0] == "notification" for each in client.shown)


def test_session_client_shows_errors_and_code(world):  # noqa: F811
    with Session(url_of(world, "session-errors")) as client:
        answer = client.send("FAIL")
        assert answer["success"] is False and "The model has no idea" in answer["error"]
        client.wait_for(lambda c: any(each[0] == "error" for each in c.shown))
        client.send("ECHO Here:\n```python\nprint('hi')\n```\nEnd.")
        client.wait_for(lambda c: c.shown.count(("saved",)) == 2)
        assert "print('hi')" in "".join(each[1] for each in client.shown if each[0] == "code")
        assert client.client.messages[-1]["content"] == "Here:\n```python\nprint('hi')\n```\nEnd."


def test_session_client_with_a_key(make_world):  # noqa: F811
    world = make_world(auth="token")  # noqa: F811
    with Session(world.server.public, api_key=world.server.token) as client:
        assert client.send("Hello")["response"] == ANSWER
        client.wait_for(lambda c: ("saved",) in c.shown)
        assert client.text() == ANSWER


# --- the stand-in for the client in C++ ---

def test_curl_client_shows_a_whole_conversation(world):  # noqa: F811
    with CurlClient(url_of(world, "curl")) as client:
        assert client.context == 8192 and client.model == "fake-1" and not client.mute
        client.send("Hello")
        client.wait_for("end")
        client.send("LIST")
        client.wait_for("end", count=2)
        client.send("FAIL")
        client.wait_for("end", count=3)
        assert client.text() == ANSWER + "The tool has answered."
        assert ("call", "list_files", {"path": "."}) in client.shown and ("result", "Success") in client.shown
        assert any(each[0] == "error" and "no idea" in each[1] for each in client.shown)
        assert client.thrown == [] and client.connects == 1
    with CurlClient(url_of(world, "curl")) as later:
        assert ("user", "Hello") in later.shown and ("text", ANSWER) in later.shown
        assert ("call", "list_files", {"path": "."}) in later.shown and ("result", "Success") in later.shown
        assert later.thrown == []


def test_curl_client_sees_what_others_say(world):  # noqa: F811
    with CurlClient(url_of(world, "curl-two")) as client, world.chat("curl-two") as other:
        other.ask("ECHO from another")
        client.wait_for("end")
        assert ("user", "ECHO from another") in client.shown and client.text() == "from another"


def test_curl_client_ends_within_a_second(world):  # noqa: F811
    client = CurlClient(url_of(world, "curl-end"))
    eventually(lambda: client.connects == 1)
    assert client.end() < 1.5, "it can end only when a byte arrives"


def test_curl_client_with_its_own_max_tokens(world):  # noqa: F811
    """Its numbers come from stale totals: clamped, never refused."""
    with CurlClient(url_of(world, "curl-max")) as client:
        for number, tokens in enumerate((client.max_tokens(), 10**9, -1, 2**31 - 1), 1):
            client.send("Hello", max_tokens=tokens, memory=False)
            client.wait_for("end", count=number)
        assert client.text() == ANSWER * 4 and client.thrown == []


def test_curl_client_across_a_restart(make_world):  # noqa: F811
    world = make_world()  # noqa: F811
    with CurlClient(world.server.public) as client:
        client.send("Hello")
        client.wait_for("end")
        world.server.listen = world.server.public.removeprefix("http://")
        world.server.kill()
        world.server.start()
        eventually(lambda: client.connects >= 2, 30)
        with world.chat() as chat:
            eventually(lambda: chat.ask("ECHO again") and ("text", "again") in client.shown, 30)
        assert client.connects < 20, "it connects at once after a 200, so the server must not end streams without need"
        assert client.thrown == []


def test_curl_client_with_a_wrong_key_fails_clearly(make_world):  # noqa: F811
    world = make_world(auth="token")  # noqa: F811
    with pytest.raises(RuntimeError, match="401"):
        CurlClient(world.server.public, "wrong")
    with CurlClient(world.server.public, world.server.token) as client:
        client.send("Hello")
        client.wait_for("end")
        assert client.text() == ANSWER


def test_all_clients_at_once(make_world, tmp_path):  # noqa: F811
    """Three kinds of clients on one session see the same conversation."""
    script = Script(MIXED=lambda request, rest, results: text("Both ", "done.") if results else calls(("list_files", {"path": "."}), ("read_file", {"path": "absent"}), words="First."))
    world = make_world(script=script)  # noqa: F811
    url = world.server.public
    with Minimal(url, tmp_path) as minimal, Session(url) as session, CurlClient(url) as curl:
        minimal.wait_for_prompt(1)
        minimal.say("MIXED")
        curl.wait_for("end")
        session.wait_for(lambda c: ("saved",) in c.shown)
        assert session.text() == curl.text() == "First.Both done."
        assert [each[2] for each in session.shown if each[0] == "result"] == [True, False]
        shown = minimal.wait_for_prompt(2)
        assert "First." in shown and "[Tool: read_file]" in shown and "Both done." in shown
        assert curl.thrown == []


def test_a_model_that_only_reasons_or_says_nothing(make_world):  # noqa: F811
    """No text is an empty string for all clients, never null."""
    script = Script(NOTHING=lambda *_: Answer([chunk({"role": "assistant"}), chunk({"reasoning_content": "Hm."}), chunk({}, "stop")]))
    world = make_world(script=script)  # noqa: F811
    done = threading.Event()
    with Session(world.server.public) as session, CurlClient(world.server.public) as curl:
        assert session.send("NOTHING") == {"success": True, "response": ""}
        curl.wait_for("end")
        done.set()
        assert curl.thrown == [] and curl.text() == ""
    with CurlClient(world.server.public) as later:
        assert later.thrown == [] and ("user", "NOTHING") in later.shown
