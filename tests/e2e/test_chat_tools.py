"""The built-in tools of chat sessions, in the real program: what they may see, what they ask for, what they leave behind."""

import http.server
import json
import os
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from chat_client import Chat, config
from chat_fold import whole_log
from chat_world import Script, make_world  # noqa: F401 (a fixture)
from model_fakes import Fake, calls, text
from server import Server, DidNotStart
from tasks import eventually

ALL = ["list_files", "read_file", "write_file", "edit_file", "run_command", "fetch_url", "search_sessions"]


def any_tool():
    """A script in which the prompt is the call: NAME {arguments}."""
    return Script(**{name: lambda request, rest, results, name=name: text("Done.") if results else calls((name, json.loads(rest))) for name in ALL})


@pytest.fixture
def opened(make_world):  # noqa: F811
    """Opens a world in which every tool may be used."""
    def make(allow=ALL, entry=None, env=None, **chat):
        return make_world(script=any_tool(), context=1 << 20, chat={"allow": allow, **chat}, entry=entry, **({"env": env} if env else {}))
    return make


def use(world, name, session="tools", **arguments):
    """(success, result for the model) of one call."""
    with world.chat(session) as chat, world.server.api() as api:
        chat.ask(f"{name} {json.dumps(arguments)}")
        result = [event for event in whole_log(api, session) if event["type"] == "tool_result"][-1]
        return result["output"]["success"], world.backend.requests[-1].last()["content"]


def approval(world, name):
    """The data of the open approval."""
    def look():
        with world.server.api() as api:
            asked = [event["data"] for event in whole_log(api, name) if event["type"] == "approval"]
            return asked and asked[-1]["state"] == "pending" and asked[-1]
    return eventually(look)


def running_with(word):
    """Processes whose command line has this word."""
    found = []
    for entry in Path("/proc").iterdir():
        try:
            if entry.name.isdigit() and word in (entry / "cmdline").read_bytes().decode(errors="replace"):
                found.append(int(entry.name))
        except OSError:
            pass
    return found


def test_files(opened):
    world = opened()
    assert use(world, "write_file", path="src/a.txt", content="one\ntwo\n") == (True, "Created src/a.txt (8 bytes).")
    assert use(world, "edit_file", path="src/a.txt", old_text="two", new_text="2") == (True, "Replaced 1 text in src/a.txt.")
    assert (world.root / "src" / "a.txt").read_text() == "one\n2\n"
    assert use(world, "read_file", path="src/a.txt", offset=2) == (True, "2\n")
    success, listed = use(world, "list_files", path=".", depth=3)
    assert success and listed.splitlines() == ["notes.txt (19 bytes)", "src/", "src/a.txt (6 bytes)"]


def test_tools_see_neither_the_data_directory_nor_keys(tmp_path):
    """The data directory and the file of the key are below the root."""
    key_file = tmp_path / "key"
    key_file.write_text("the-key-of-the-model")
    (tmp_path / "fine.txt").write_text("fine")
    backend = Fake("llama", any_tool(), context=1 << 20, key="the-key-of-the-model").start()
    settings = {"tools_root": str(tmp_path), "allow": ALL}
    server = Server(tmp_path / "data", config=config(backend.url, key_file=str(key_file), chat=settings),
                    env={"SHEPHERD_TOKEN": "shepherds-own", "OTHER_API_KEY": "not-for-commands", "PLAIN": "for-commands"}).start()
    try:
        world = SimpleNamespace(backend=backend, server=server, chat=lambda name: Chat(server, name))
        token = (tmp_path / "data" / "admin.token").read_text().strip()
        success, seen = use(world, "run_command", command="env; cat data/* key 2>&1; cat /proc/[0-9]*/environ 2>/dev/null | tr '\\0' '\\n'; cat fine.txt")
        assert success and "fine" in seen and "PLAIN=for-commands" in seen
        for secret in ("shepherds-own", "not-for-commands", "the-key-of-the-model", token):
            assert secret not in seen, seen
        for path in ("data/admin.token", "key", "data/shepherd.db", "./data/../data/admin.token"):
            success, seen = use(world, "read_file", path=path)
            assert not success and token not in seen and "the-key" not in seen, (path, seen)
            assert not use(world, "write_file", path=path, content="mine")[0]
        assert not use(world, "list_files", path="data")[0]
        assert (tmp_path / "data" / "admin.token").read_text().strip() == token
    finally:
        server.kill()
        backend.stop()


@pytest.mark.parametrize("name, arguments, rule", [
    ("write_file", {"path": "a", "content": "x"}, "write_file"), ("edit_file", {"path": "notes.txt", "old_text": "milk", "new_text": "tea"}, "edit_file"),
    ("run_command", {"command": "git status"}, "run_command(git)"), ("run_command", {"command": "git status; rm x"}, 'run_command("git status; rm x")'),
    ("fetch_url", {"url": "http://docs.example.org/a"}, "fetch_url(docs.example.org)")])
def test_what_asks_and_how_it_is_remembered(opened, name, arguments, rule):
    world = opened(allow=[])
    before = sorted(path.name for path in world.root.iterdir())
    with world.chat("asks") as chat, chat.updates() as watched:
        chat.request(f"{name} {json.dumps(arguments)}", **{"async": True})
        asked = approval(world, "asks")
        assert asked["tool"] == name and asked["input"] == arguments and asked["remember"] == [rule]
        chat.cancel()
        watched.until("response_complete")
    assert sorted(path.name for path in world.root.iterdir()) == before and "milk" in (world.root / "notes.txt").read_text()


@pytest.mark.parametrize("name, arguments", [("read_file", {"path": "notes.txt"}), ("list_files", {}), ("search_sessions", {"query": "x"})])
def test_what_only_reads_does_not_ask(opened, name, arguments):
    assert use(opened(allow=[]), name, **arguments)[0] is True


def test_a_file_has_what_the_model_wrote_and_the_log_has_marks(make_world):  # noqa: F811
    wrote = "mail ada@example.org\n"
    script = Script(WRITE=lambda request, rest, results: text("Done.") if results else calls(("write_file", {"path": rest, "content": wrote})))
    world = make_world(script=script, chat={"tools": ["write_file"]})
    with world.chat("mails") as chat, world.server.api() as api:
        chat.request("WRITE a.txt", **{"async": True})
        asked = approval(world, "mails")
        assert asked["redacted"] == ["content"] and asked["input"] == {"path": "a.txt", "content": "mail [redacted:email:15]\n"}
        api.post("/api/v1/tasks/mails/commands", json={"kind": "approve", "approvalID": asked["approvalID"]}).raise_for_status()
        eventually(lambda: (world.root / "a.txt").exists() and not chat.status()["processing"])
        assert (world.root / "a.txt").read_text() == wrote
        assert "ada@example.org" not in json.dumps(whole_log(api, "mails")) + json.dumps(chat.session())
        assert "ada@example.org" in json.dumps(world.backend.requests[-1].body), "the model is told its own words"
        # A changed input keeps what was hidden, and a mark that was typed does not run.
        chat.request("WRITE b.txt", **{"async": True})
        asked = approval(world, "mails")
        api.post("/api/v1/tasks/mails/commands", json={"kind": "approve", "approvalID": asked["approvalID"], "input": {**asked["input"], "content": "x@example.org"}})
        refused = eventually(lambda: [event["data"] for event in whole_log(api, "mails") if event["type"] == "command_result" and event["data"]["state"] == "refused"])
        assert "content" in refused[0]["reason"] and not (world.root / "b.txt").exists()
        api.post("/api/v1/tasks/mails/commands", json={"kind": "approve", "approvalID": asked["approvalID"], "input": {**asked["input"], "path": "c.txt"}}).raise_for_status()
        eventually(lambda: (world.root / "c.txt").exists() and not chat.status()["processing"])
        assert (world.root / "c.txt").read_text() == wrote and not (world.root / "b.txt").exists()


def test_a_rule_allows_nothing_else(opened):
    world = opened(allow=["run_command(echo)"])
    assert use(world, "run_command", command="echo hello")[1] == "hello\n[exit code 0]"
    with world.chat("injects") as chat:
        for command in ("echo hello; touch made", "echo $(touch made)", "echo `touch made`", "echo x > made", "echo x | tee made", "echo x && touch made",
                        "echo x\ntouch made", "touch made", "X=1 echo", "env echo", "echo \"$(touch made)\"", "echo <(touch made)", "echo x & touch made"):
            chat.request("run_command " + json.dumps({"command": command}), **{"async": True})
            assert approval(world, "injects")["input"]["command"] == command
            chat.cancel()
            eventually(lambda: not chat.status()["processing"])
    assert not (world.root / "made").exists()


def test_a_kill_ends_the_commands_processes(opened):
    world = opened()
    mark = f"86{os.getpid()}"
    with world.chat("killed") as chat:
        chat.request("run_command " + json.dumps({"command": f"sleep {mark}1 & setsid sleep {mark}2 & wait"}), **{"async": True})
        eventually(lambda: len(running_with(f"sleep\0{mark}")) == 2)
    world.server.kill()
    eventually(lambda: not running_with(f"sleep\0{mark}"))


def test_a_time_limit(opened):
    world = opened(command_seconds=1)
    success, seen = use(world, "run_command", command="echo begun; sleep 600")
    assert not success and seen == "begun\n[ended after 1 s, which was its time limit]"
    with world.server.api() as api:
        result = [event for event in whole_log(api, "tools") if event["type"] == "tool_result"][-1]
    assert "(ended: " in result["output"]["summary"], result


def test_a_server_that_stops_ends_its_commands(opened):
    world = opened()
    mark = f"87{os.getpid()}"
    with world.chat("stopped") as chat:
        chat.request("run_command " + json.dumps({"command": f"sleep {mark}"}), **{"async": True})
        eventually(lambda: running_with(f"sleep\0{mark}"))
    assert world.server.stop() == 0
    assert running_with(f"sleep\0{mark}") == []


class Pages(http.server.BaseHTTPRequestHandler):
    def do_GET(self):  # noqa: N802
        body = b"<html><title>Title</title><body><p>The walrus <b>sings</b>.</p><script>no()</script></body></html>"
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


@pytest.fixture
def pages():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Pages)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield server.server_address[1]
    server.shutdown()


def test_a_page(opened, pages):
    world = opened(fetch_private=True)
    assert use(world, "fetch_url", url=f"http://127.0.0.1:{pages}/") == (True, "Title\n\nThe walrus sings.")


def test_private_addresses_are_refused(opened, pages):
    world = opened()
    for host in ("127.0.0.1", "localhost", "[::1]", "0.0.0.0", "127.1"):
        success, seen = use(world, "fetch_url", url=f"http://{host}:{pages}/")
        assert not success and "walrus" not in seen and "chat.fetch_private" in seen, (host, seen)


def test_past_sessions_are_searched(opened):
    world = opened()
    with world.chat("earlier") as chat:
        chat.ask("ECHO the walrus sings at noon")
    with world.server.api() as api:  # a task that is no chat
        api.post("/api/v1/tasks", json={"id": "no-chat", "prompt": "the walrus is not in a chat"})
    success, seen = eventually(lambda: "walrus" in (found := use(world, "search_sessions", query="walrus noon"))[1] and found)
    assert success and "session earlier, user: ECHO the walrus sings at noon" in seen and "no-chat" not in seen


def test_tools_are_switched_off(make_world):  # noqa: F811
    world = make_world(chat={"tools": ["read_file", "fetch_url"], "tools_root": ""})  # noqa: F811
    with world.chat() as chat:
        assert [tool["name"] for tool in chat.session()["tools"]] == ["fetch_url"]


@pytest.mark.parametrize("chat, words", [({"tools": ["read_files"]}, "read_files"), ({"tools_root": "/nowhere/at/all"}, "chat.tools_root"),
                                         ({"command_seconds": 0}, "chat.command_seconds"), ({"fetch_private": "maybe"}, "chat.fetch_private")])
def test_a_configuration_that_cannot_work(tmp_path, chat, words):
    with pytest.raises(DidNotStart) as failed:
        Server(tmp_path / "data", config=config("http://127.0.0.1:9", chat=chat)).start()
    assert words in failed.value.text
