"""Tools of MCP servers in chat sessions: public servers over stdio and HTTP, in the legacy and the modern version, and hostile ones.

Each test goes through the whole product: a scripted model calls the tool, and what comes back is what the model is told.
"""

import base64
import signal
import subprocess
import threading
import time
from pathlib import Path

import pytest
import yaml

import server as program
from chat_client import Chat
from chat_fold import whole_log
from mcp_world import NODE, PACKAGES, PYTHON, EverythingServer, NotesServer, hostile, mcp_world, needs_servers, running  # noqa: F401 (fixtures)
from recorded_mcp import RecordedService
from tasks import eventually, new_id

EVERYTHING = {"command": [str(NODE), str(PACKAGES / "server-everything" / "dist" / "index.js")], "trusted": True}
TIME = {"command": [str(PYTHON / "mcp-server-time"), "--local-timezone", "UTC"], "trusted": True}
FETCH = {"command": [str(PYTHON / "mcp-server-fetch")], "trusted": True}


def family_of(word):
    """The processes that have this word among their arguments."""
    found = []
    for place in Path("/proc").iterdir():
        try:
            if place.name.isdigit() and word.encode() in place.joinpath("cmdline").read_bytes().split(b"\0"):
                found.append(int(place.name))
        except OSError:
            pass  # it has ended meanwhile
    return found


def files(directory, **more):
    return {"command": [str(NODE), str(PACKAGES / "server-filesystem" / "dist" / "index.js"), str(directory)], **more}


# --- public servers over stdio ---

@needs_servers
def test_a_legacy_program(mcp_world):
    world = mcp_world({"all": EVERYTHING})
    world.has("all__echo")
    assert "2025-11-25" in world.log()
    assert world.call("all__echo", message="héllo\nworld") == "Echo: héllo\nworld"
    assert world.call("all__get-sum", a=2, b=40) == "The sum of 2 and 40 is 42."
    image = world.call("all__get-tiny-image")
    assert "[image, image/png, 4035 bytes]" in image and "[1 image not shown: fake-1 takes no images]" in image
    assert "[resource Blob Resource 1: demo://resource/dynamic/blob/1, text/plain]" in world.call("all__get-resource-links", count=2)
    assert "[resource demo://resource/dynamic/text/1]\nResource 1: This is a plaintext resource" in \
        world.call("all__get-resource-reference", resourceType="Text", resourceId=1)
    assert world.call("all__get-structured-content", location="Chicago").startswith('{"temperature":')
    assert world.call("all__get-sum", a="two").startswith("Error: MCP error -32602: Input validation error")
    # Tools that run only as tasks are left out; $schema, which some backends refuse, is not passed on.
    tools = world.tools("all__")
    assert "all__simulate-research-query" not in tools
    assert all("$schema" not in tool["parameters"] and tool["parameters"]["type"] == "object" for tool in tools.values())


@needs_servers
def test_images_reach_a_model_that_takes_them(mcp_world):
    """Also with later prompts, until the server starts again: the log has only their number."""
    world = mcp_world({"all": EVERYTHING}, model={"images": True})
    world.has("all__get-tiny-image")
    parts = world.call("all__get-tiny-image")
    assert [part["type"] for part in parts] == ["text", "image_url"] and "all__get-tiny-image" in parts[0]["text"]
    head, _, data = parts[1]["image_url"]["url"].partition(",")
    assert head == "data:image/png;base64" and base64.b64decode(data).startswith(b"\x89PNG")

    def sent(prompt):
        world.chat.ask(prompt)
        listed = world.backend.requests[-1].body["messages"]
        return sum(isinstance(message["content"], list) for message in listed), next(message["content"] for message in listed if message["role"] == "tool")
    images, result = sent("And now?")
    assert images == 1 and "not shown" not in result
    world.server.kill()
    world.server.start()
    world.chat.base = world.server.public
    images, result = sent("And after the start?")
    assert images == 0 and "[1 image not shown" in result and data[:40] not in result


@needs_servers
def test_modern_programs(mcp_world):
    world = mcp_world({"time": TIME, "fetch": FETCH})
    world.has("time__get_current_time", "fetch__fetch")
    assert world.log().count("2026-07-28") == 2
    assert '"timezone": "UTC"' in world.call("time__get_current_time", timezone="UTC")
    assert "Invalid timezone" in world.call("time__get_current_time", timezone="Moon/Crater")
    # It refuses addresses that are not public, and says so.
    assert world.call("fetch__fetch", url=world.server.public).startswith("Error: ")


@needs_servers
def test_files_and_the_list_of_allowed_tools(mcp_world, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    (place / "notes.txt").write_text("Remember the milk.\n")
    world = mcp_world({"files": files(place, trusted=True, tools=["read_text_file", "write_file", "no_such_tool"])})
    world.has("files__read_text_file")
    assert set(world.tools()) >= {"files__read_text_file", "files__write_file"}
    assert set(world.tools("files__")) == {"files__read_text_file", "files__write_file"}
    assert "no_such_tool" in world.log()
    assert world.call("files__read_text_file", path=str(place / "notes.txt")) == "Remember the milk.\n"
    assert "Successfully" in world.call("files__write_file", path=str(place / "new.txt"), content="fresh")
    assert (place / "new.txt").read_text() == "fresh"
    assert world.call("files__read_text_file", path="/etc/hostname").startswith("Error: Access denied")


@needs_servers
def test_programs_do_not_see_our_secrets(mcp_world):
    """Neither the environment of this server nor its data directory."""
    world = mcp_world({"all": {**EVERYTHING, "env": {"GIVEN": "on purpose"}}}, env={"ANTHROPIC_API_KEY": "sk-very-secret"})
    world.has("all__get-env")
    seen = world.call("all__get-env")
    assert '"GIVEN": "on purpose"' in seen and "sk-very-secret" not in seen and "SHEPHERD" not in seen


# --- over HTTP ---

@needs_servers
def test_a_legacy_service(mcp_world, running):
    service = running(EverythingServer)
    world = mcp_world({"all": {"url": service.url, "trusted": True}})
    world.has("all__echo")
    assert world.call("all__echo", message="over HTTP") == "Echo: over HTTP"
    assert world.call("all__trigger-long-running-operation", duration=1, steps=3) == "Long running operation completed. Duration: 1 seconds, Steps: 3."
    # A service that comes back has forgotten the session (this one answers 400).
    service.stop()
    running(EverythingServer, service.port)
    assert eventually(lambda: "Echo: again" in world.call("all__echo", message="again"), timeout=30)


@needs_servers
def test_a_modern_service(mcp_world, running):
    service = running(NotesServer, "streamable-http")
    world = mcp_world({"notes": {"url": service.url, "trusted": True}})
    world.has("notes__add")
    assert "version 2026-07-28" in world.log()
    assert world.call("notes__add", a=19, b=23) == "19 + 23 = 42"
    assert world.call("notes__count", steps=3) == "counted to 3"
    # The list changes, and the subscription says so.
    assert "notes__newcomer" not in world.tools()
    assert world.call("notes__grow") == "grown"
    world.has("notes__newcomer")
    assert world.call("notes__newcomer") == "I am new here."
    # It goes away: its tools vanish, and come back with it.
    service.stop()
    assert world.call("notes__add", a=1, b=1).startswith('Error: MCP server "notes"')
    eventually(lambda: not world.tools("notes__"))


@needs_servers
def test_the_oldest_service(mcp_world, running):
    service = running(NotesServer, "sse")
    world = mcp_world({"notes": {"url": service.url, "trusted": True}})
    world.has("notes__add")
    assert world.call("notes__add", a=19, b=23) == "19 + 23 = 42"


@needs_servers
def test_progress_is_shown_while_a_tool_works(mcp_world, running):
    service = running(NotesServer, "streamable-http")
    world = mcp_world({"notes": {"url": service.url, "trusted": True}})
    world.has("notes__count")
    assert world.call("notes__count", steps=8) == "counted to 8"
    with world.server.api() as api:
        task = api.get("/api/v1/tasks", params={"agent": "chat"}).json()[0]["id"]
        summaries = [event.get("summary", "") for event in api.get(f"/api/v1/tasks/{task}/events", params={"limit": 200}).json()["events"]]
    assert any("counted to 1 (1 of 8)" in summary for summary in summaries), summaries


@needs_servers
def test_a_cancelled_turn_cancels_the_tool(mcp_world, tmp_path):
    world = mcp_world({"all": EVERYTHING})
    world.has("all__trigger-long-running-operation")
    began = time.monotonic()
    asked = threading.Thread(target=lambda: world.chat.http.post(world.chat.base + "/request", json={
        "prompt": 'CALL all__trigger-long-running-operation {"duration": 60, "steps": 60}'}))
    asked.start()
    eventually(lambda: world.chat.status()["processing"] and len(world.backend.requests) == 1)
    with Chat(world.server) as other:
        eventually(lambda: other.cancel()["cancelled"])
    asked.join(20)
    assert not asked.is_alive() and time.monotonic() - began < 30
    assert world.call("all__echo", message="still here") == "Echo: still here"


# --- approvals ---

@needs_servers
def test_tools_ask_unless_they_are_allowed(mcp_world, tmp_path):
    place = tmp_path / "place"
    place.mkdir()
    world = mcp_world({"files": files(place), "free": files(place)}, chat={"allow": ["free", "files(list_directory)", "files__create_directory"]})
    world.has("files__write_file", "free__write_file")
    # By the server's name, by the rule, by the tool's name.
    assert "Successfully" in world.call("free__write_file", path=str(place / "a.txt"), content="a")
    assert "a.txt" in world.call("files__list_directory", path=str(place))
    assert "Successfully" in world.call("files__create_directory", path=str(place / "sub"))
    asked = threading.Thread(target=world.call, args=("files__write_file",), kwargs={"path": str(place / "b.txt"), "content": "b"})
    asked.start()
    with world.server.api() as api:
        item = eventually(lambda: api.get("/api/v1/inbox").json()["items"])[0]
        approval = item["approval"]
        assert approval["tool"] == "files__write_file", item
        asked_for = next(event for event in whole_log(api, item["taskID"]) if event["type"] == "approval")
        assert asked_for["data"]["remember"] == ["files(write_file)"], asked_for
        assert "Calls write_file of MCP server files with {" in asked_for["summary"].replace("calls", "Calls"), asked_for
        assert not (place / "b.txt").exists()
        answer = api.post(f"/api/v1/tasks/{item['taskID']}/commands",
                          json={"kind": "approve", "approvalID": approval["approvalID"], "remember": "files(write_file)"})
        assert answer.status_code == 202, answer.text
    asked.join(20)
    assert (place / "b.txt").read_text() == "b"
    assert "Successfully" in world.call("files__write_file", path=str(place / "c.txt"), content="c")  # remembered


# --- keys ---

@needs_servers
def test_a_service_gets_its_key_and_headers(mcp_world, tmp_path):
    key = tmp_path / "key"
    key.write_text("secret-key-1\n")
    with RecordedService(key="secret-key-1") as service:
        world = mcp_world({"guarded": {"url": service.url, "key_file": str(key), "headers": {"X-Team": "blue-team-9"}, "trusted": True}})
        world.has("guarded__look")
        assert world.call("guarded__look") == "seen"
        assert all(headers["x-team"] == "blue-team-9" for headers in service.seen)
        # A key that has changed is read again.
        service.key = "secret-key-2"
        key.write_text("secret-key-2\n")
        assert world.call("guarded__look") == "seen"
        service.key = "secret-key-3"
        said = world.call("guarded__look")
        assert said.startswith("Error: ") and "the key is not accepted" in said and "secret-key" not in said
        assert "secret-key" not in world.log() and "blue-team-9" not in world.log()


# --- hostile servers ---

def test_a_server_that_dies_is_started_again(mcp_world):
    world = mcp_world({"bad": hostile("dies"), "fine": hostile("good")})
    world.has("bad__work", "fine__good")
    said = world.call("bad__work")
    assert said.startswith('Error: MCP server "bad" went away before the result: it ended: exit 3') and "I cannot go on" in said
    eventually(lambda: not world.tools("bad__") or "bad: ready" in world.log().partition("exit 3")[2])
    world.has("bad__good")
    assert world.call("bad__good") == "good"
    assert world.call("fine__good") == "good"


def test_a_program_that_cannot_run_is_given_up(mcp_world):
    world = mcp_world({"gone": {"command": ["/no/such/program"]}, "dead": hostile("start-dies"), "fine": hostile("good")})
    world.has("fine__good")
    assert world.call("fine__good") == "good"
    eventually(lambda: world.log().count("is given up") == 2, timeout=90)
    assert "/no/such/program" in world.log() and "there is no such thing" in world.log()
    assert set(world.tools()) >= {"fine__good"} and not world.tools("gone__") and not world.tools("dead__")


def test_a_server_that_never_answers_is_waited_for_in_vain(mcp_world):
    world = mcp_world({"mute": hostile("silent", timeout_seconds=1), "never": hostile("start-silent")})
    world.has("mute__work")
    began = time.monotonic()
    assert world.call("mute__work") == 'Error: MCP server "mute": it did not answer tools/call within 1 s'
    assert time.monotonic() - began < 10
    assert world.call("mute__good") == "good"
    assert not world.tools("never__")


@pytest.mark.parametrize("mode, reason", [("floods", "that nothing had asked for"), ("long", "a line of more than")])
def test_a_server_that_says_too_much_is_started_again(mcp_world, mode, reason):
    world = mcp_world({"loud": hostile(mode)})
    world.has("loud__work")
    said = world.call("loud__work")
    assert said.startswith('Error: MCP server "loud" went away') and reason in said
    world.has("loud__good")
    assert world.call("loud__good") == "good"
    assert world.server.rss_bytes() < 400 * 1024 * 1024


@pytest.mark.parametrize("mode", ["nonsense", "stderr"])
def test_noise_is_skipped(mcp_world, mode):
    world = mcp_world({"odd": hostile(mode)})
    world.has("odd__work")
    assert world.call("odd__work").startswith("worked with ")
    assert len(world.log()) < 200_000  # the noise is logged in part


def test_an_answer_that_is_none_is_an_error(mcp_world):
    world = mcp_world({"odd": hostile("wrong", timeout_seconds=5)})
    world.has("odd__work")
    assert world.call("odd__work").startswith('Error: MCP server "odd": it did not answer')
    assert world.call("odd__good") == "good"


@pytest.mark.parametrize("way", [signal.SIGTERM, signal.SIGKILL])
def test_no_process_is_left(mcp_world, way):
    """However this server ends, the programs and what they have started end with it."""
    mark = new_id("stubborn")
    world = mcp_world({"stubborn": hostile("stubborn", mark)})
    world.has("stubborn__work")
    assert world.call("stubborn__work").startswith("worked with ")
    assert len(family_of(mark)) == 2
    world.server.process.send_signal(way)
    world.server.process.wait(20)
    eventually(lambda: not family_of(mark))


# --- configuration ---

WRONG = [
    ({"a": {}}, "it needs a \"command\" or a \"url\""),
    ({"a": {"command": "ls"}}, "\"command\" must be a list"),
    ({"a": {"command": []}}, "\"command\" is a program and its arguments"),
    ({"a": {"command": ["ls"], "url": "http://x/"}}, "a server is a program or a service"),
    ({"a": {"url": "ftp://x/"}}, "\"url\" must be an http or https address"),
    ({"a": {"url": "http://x/", "comand": ["ls"]}}, "did you mean \"command\"?"),
    ({"a": {"url": "http://x/", "key_env": "A", "key_file": "b"}}, "more than one of"),
    ({"a__b": {"url": "http://x/"}}, "its name must be"),
    ({"a": {"url": "http://x/", "timeout_seconds": 0}}, "\"timeout_seconds\" is a whole number from 1 to"),
]


@pytest.mark.parametrize("servers, complaint", WRONG)
def test_a_wrong_entry_says_what_to_do(make_server, servers, complaint):
    with pytest.raises(program.DidNotStart) as refused:
        make_server(config=yaml.safe_dump({"mcp_servers": servers})).start()
    assert complaint in refused.value.text, refused.value.text


def test_values_are_hidden_in_the_shown_configuration(tmp_path):
    file = tmp_path / "c.yaml"
    file.write_text("mcp_servers:\n  a: {command: [ls, -l], env: {TOKEN: hush-hush}, tools: [b], timeout_seconds: 5}\n  c: {url: 'http://x/', headers: {K: hush-hush}}\n")
    shown = subprocess.run([program.BINARY, "config", "--config", file], capture_output=True, text=True, env=program.environment(tmp_path), check=True).stdout
    assert "hush-hush" not in shown and "(not shown)" in shown and '"command":["ls","-l"]' in shown, shown
