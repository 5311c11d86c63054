"""shepherd chat: at a terminal as a person uses it, and from scripts."""

import http.server
import json
import os
import re
import signal
import subprocess
import threading
import time

import pytest

from chat_world import ANSWER, World, make_world, shared_world, world  # noqa: F401
from model_fakes import calls, text
from server import BINARY
from terminal import Terminal

UP, CTRL_C, CTRL_D, CTRL_J, CTRL_O, CTRL_R = "\x1b[A", "\x03", "\x04", "\n", "\x0f", "\x12"
FAILED, USAGE, UNREACHABLE, REFUSED, CANCELLED = 1, 2, 3, 4, 9

MARKDOWN = """# Title
Some **bold** and `code` and [a link](https://example.org/x).
- one
- two

| name | size |
|------|-----:|
| a | 1 |
| bcd | 22 |

```python
print('hi')
```
"""
HOSTILE = "safe \x1b]0;owned\x07\x1b[31mred\x1b[2Jtext\u202e end"


@pytest.fixture(scope="module")
def shared_world(tmp_path_factory):  # noqa: F811
    made = World(tmp_path_factory.mktemp("chat"), script=script())
    yield made
    made.close()


def script():
    from chat_world import Script
    return Script(MARKDOWN=lambda *_: text(*[MARKDOWN[i:i + 7] for i in range(0, len(MARKDOWN), 7)]),
                  HOSTILE=lambda *_: text(HOSTILE), TABS=lambda *_: text("all:\n\tmake"),
                  ABSENT=lambda request, rest, results: text("It is gone.") if results else calls(("read_file", {"path": "absent.txt"})))


def environment_of(server, home, token=None):
    colored = {name: value for name, value in server.env.items() if name != "NO_COLOR"}
    return {**colored, "HOME": str(home), "SHEPHERD_DATA": str(server.data),
            **({"SHEPHERD_TOKEN": token} if token else {})}


@pytest.fixture
def talk(world, tmp_path):  # noqa: F811
    """Opens a conversation in a session of its own."""
    opened = []

    def start(*args, server=None, session=None, **options):
        server = server or world.server
        if session is None:
            world.names += 1
            session = f"talk-{world.names}"
        screen = Terminal(["chat", *(["-s", session] if session else []), *args], environment_of(server, tmp_path), **options)
        screen.session = session
        opened.append(screen)
        return screen

    yield start
    for each in opened:
        each.kill()


def ask(screen, prompt):
    screen.press(prompt + "\r")


def ask_script(server, home, *args, stdin=None, env=None, timeout=60):
    return subprocess.run([BINARY, "chat", *args], capture_output=True, text=True, timeout=timeout, input=stdin if stdin is not None else "",
                          env=env or environment_of(server, home))


# --- at a terminal ---

def test_a_conversation(talk, world):  # noqa: F811
    screen = talk()
    screen.wait_for("/help lists the commands")
    ask(screen, "What is the capital of France?")
    screen.wait_for("> What is the capital of France?")
    screen.wait_for(ANSWER)
    screen.wait_for("tokens")  # idle again
    screen.press(CTRL_D)
    assert screen.end() == 0
    assert world.chat(screen.session).messages() == [("user", "What is the capital of France?"), ("assistant", ANSWER)]
    assert f"> What is the capital of France?\n\n{ANSWER}" in screen.text(), "each is shown once"
    assert screen.text().count(ANSWER) == 1


def test_an_answer_is_formatted(talk):
    screen = talk(lines=40)
    screen.wait_for("/help")
    ask(screen, "MARKDOWN")
    screen.wait_for("print('hi')")
    shown = screen.wait_for(lambda all: "tokens" in all.splitlines()[-2:][0] or "tokens" in all)
    for line in ("Title", "Some bold and code and a link (https://example.org/x).", "• one", "name │ size", "bcd  │ 22", "print('hi')"):
        assert any(each.rstrip() == line for each in shown.splitlines()), f"{line!r} in\n{shown}"
    row = next(i for i, line in enumerate(shown.splitlines()) if line.startswith("Some bold"))
    assert screen.screen.buffer[row][5].bold and not screen.screen.buffer[row][0].bold


def test_text_streams(talk, world):  # noqa: F811
    screen = talk()
    screen.wait_for("/help")
    ask(screen, "HOLD stream")
    shown = screen.wait_for("Beginning")
    assert "and end." not in shown
    screen.wait_for("answering")
    world.script.gates["stream"].set()
    screen.wait_for("Beginning and end.")


def test_ctrl_c_cancels_the_turn_and_not_the_client(talk):
    screen = talk()
    screen.wait_for("/help")
    ask(screen, "HOLD forever")
    screen.wait_for("Beginning")
    screen.press(CTRL_C)
    screen.wait_for("error: The turn was cancelled.")
    ask(screen, "And now?")
    screen.wait_for(ANSWER)
    screen.press(CTRL_C)
    screen.wait_for("Ctrl-D or /quit leaves")
    ask(screen, "/quit")
    assert screen.end() == 0


def test_several_lines_and_history(talk, world, tmp_path):  # noqa: F811
    screen = talk()
    screen.wait_for("/help")
    screen.press("ECHO one" + CTRL_J + "two\\\rthree\r")
    screen.wait_for("  three")
    screen.wait_for("tokens")
    screen.press("\x1b[200~ECHO pasted\rand more\x1b[201~")
    screen.wait_for("and more")
    assert "> ECHO pasted" in screen.text()
    screen.press("\r")
    screen.wait_for("tokens")
    screen.press(CTRL_D)
    assert screen.end() == 0
    prompts = [content for role, content in world.chat(screen.session).messages() if role == "user"]
    assert prompts == ["ECHO one\ntwo\nthree", "ECHO pasted\nand more"]
    file = tmp_path / ".local/state/shepherd/chat-history"
    assert file.stat().st_mode & 0o777 == 0o600
    again = talk()
    again.wait_for("/help")
    again.press(UP)
    again.wait_for("> ECHO pasted")
    again.press(UP)
    again.press(UP)
    again.wait_for("> ECHO one")
    again.press(CTRL_C)
    again.press(CTRL_R + "pas")
    again.wait_for('search "pas": ECHO pasted')
    again.press("\r\r")
    again.wait_for(lambda all: all.count("ECHO pasted") >= 1 and "pasted" in all and "tokens" in all)


def test_tools_are_folded_and_opened(talk):
    screen = talk(lines=30)
    screen.wait_for("/help")
    ask(screen, "READ notes.txt")
    screen.wait_for("✓ read_file(path: notes.txt)  [1]")
    shown = screen.wait_for("The tool has answered.")
    assert "Remember the milk." not in shown, "a call is one line"
    screen.press(CTRL_O)
    screen.wait_for("Remember the milk.")
    ask(screen, "ABSENT")
    screen.wait_for("✗ read_file(path: absent.txt): ")
    screen.wait_for("[2]")
    ask(screen, "/tool 1")
    screen.wait_for(lambda all: all.count("Remember the milk.") == 2)


@pytest.mark.parametrize("key, mark, made", [("y", "✓ run_command", True), ("n", "✗ run_command", False)])
def test_a_tool_asks(talk, world, key, mark, made):  # noqa: F811
    screen = talk(lines=30)
    screen.wait_for("/help")
    file = world.root / f"made-{screen.session}"
    ask(screen, f"RUN touch {file.name}")
    screen.wait_for("? run_command asks for your approval")
    screen.wait_for(f"command: touch {file.name}")
    screen.wait_for("y yes · n no")
    press_when_read(screen, key, mark)
    screen.wait_for("The tool has answered.")
    assert file.exists() == made


def press_when_read(screen, key, mark):
    """A key within half a second was typed before the question; the screen says so, and it can be pressed again."""
    while True:
        time.sleep(0.6)
        screen.press(key)
        if mark in screen.wait_for(lambda all: mark in all or "read it and answer again" in all):
            return


def test_a_decision_is_remembered(talk):
    screen = talk(lines=30)
    screen.wait_for("/help")
    ask(screen, "RUN echo first")
    screen.wait_for("a always")
    press_when_read(screen, "a", "✓ run_command")
    screen.wait_for("The tool has answered.")
    ask(screen, "RUN echo second")
    screen.wait_for("run_command(command: echo second)  [2]")
    screen.press(CTRL_D)
    assert screen.end() == 0


def test_sessions_and_commands(talk, world):  # noqa: F811
    world.chat("other").ask("ECHO an old story")
    screen = talk(lines=40)
    screen.wait_for("/help")
    ask(screen, "/session")
    screen.wait_for("0 messages")
    ask(screen, "/session other")
    screen.wait_for("an old story")
    ask(screen, "ECHO goes on")
    screen.wait_for(lambda all: all.count("goes on") == 2)
    ask(screen, "/clear")
    screen.wait_for("the conversation is empty")
    assert world.chat("other").messages() == []
    ask(screen, "/fork copied")
    screen.wait_for("-- copied · ")
    ask(screen, "/nonsense")
    screen.wait_for("there is no command /nonsense")
    ask(screen, "/session a/b")
    screen.wait_for("A session's name has")  # before that, what is typed is refused: the session is being opened
    ask(screen, "ECHO still here")
    screen.wait_for(lambda all: all.count("still here") == 2)
    assert world.chat("copied").messages()[-1] == ("assistant", "still here")
    screen.press("/he\t")
    screen.wait_for("> /help")


def test_what_others_say_is_shown(talk, world):  # noqa: F811
    screen = talk()
    screen.wait_for("/help")
    ask(screen, "ECHO mine")
    screen.wait_for(lambda all: all.count("mine") == 2)
    world.chat(screen.session).ask("ECHO theirs")
    screen.wait_for(lambda all: all.count("theirs") == 2)


def test_control_sequences_of_a_model_are_left_out(talk, world, tmp_path):  # noqa: F811
    screen = talk()
    screen.wait_for("/help")
    ask(screen, "HOSTILE")
    screen.wait_for("safe redtext end")
    assert b"\x1b]0;" not in screen.seen and b"\x1b[2J" not in screen.seen and "\u202e".encode() not in screen.seen
    assert ask_script(world.server, tmp_path, "-s", "hostile", "HOSTILE").stdout == "safe redtext end\n"


def test_a_narrow_terminal_and_a_resize(talk):
    screen = talk(columns=40, lines=16)
    screen.wait_for("/help")
    words = " ".join(f"word{i}" for i in range(40))
    ask(screen, "ECHO " + words)
    screen.wait_for(lambda all: "tokens" in all and "word39" in all)
    screen.resize(70, 20)
    ask(screen, "ECHO after")
    screen.wait_for(lambda all: all.count("after") == 2)
    assert screen.text().count("> ECHO after") == 1


def test_a_restart_of_the_server(make_world, talk):  # noqa: F811
    made = make_world()
    screen = talk(server=made.server, session="kept")
    screen.wait_for("/help")
    ask(screen, "ECHO before")
    screen.wait_for(lambda all: all.count("before") == 2)
    ask(screen, "HOLD gone")
    screen.wait_for("Beginning")
    made.server.kill()
    screen.wait_for("connection lost")
    made.server.start()
    screen.wait_for("error: ", seconds=40)  # the turn that ran was not finished
    ask(screen, "ECHO afterwards")
    screen.wait_for(lambda all: all.count("afterwards") == 2, seconds=40)
    screen.press(CTRL_D)
    assert screen.end() == 0


def test_the_terminal_is_given_back(talk):
    import termios
    screen = talk()
    screen.wait_for("/help")
    assert not screen.mode()[3] & termios.ICANON
    os.kill(screen.pid, signal.SIGTERM)
    assert screen.end() == 0
    assert screen.mode()[3] & termios.ICANON and screen.mode()[3] & termios.ECHO


def test_one_prompt_at_a_terminal(talk):
    screen = talk("MARKDOWN")
    assert screen.end() == 0
    assert "• one" in screen.text() and "> MARKDOWN" in screen.text()
    asked = talk("RUN echo once", lines=30)
    asked.wait_for("y yes")
    press_when_read(asked, "y", "✓ run_command")
    assert asked.end() == 0 and "The tool has answered." in asked.text()
    held = talk("HOLD never")
    held.wait_for("Beginning")
    held.press(CTRL_C)
    assert held.end() == CANCELLED


# --- from scripts ---

def test_a_script_gets_the_answer_alone(world, tmp_path):  # noqa: F811
    result = ask_script(world.server, tmp_path, "-s", "script", "READ", "notes.txt")
    assert (result.returncode, result.stdout, result.stderr) == (0, "The tool has answered.\n", "")
    result = ask_script(world.server, tmp_path, "-s", "script", stdin="ECHO from\na pipe\n")
    assert (result.returncode, result.stdout) == (0, "from\na pipe\n")
    result = ask_script(world.server, tmp_path, "-s", "script", "ECHO Review:", "-", stdin="a diff\n")
    assert (result.returncode, result.stdout) == (0, "Review:\n\na diff\n")
    assert ask_script(world.server, tmp_path, "-s", "script", "MARKDOWN").stdout == MARKDOWN.rstrip("\n") + "\n", "as the model wrote it"
    assert ask_script(world.server, tmp_path, "-s", "script", "TABS").stdout == "all:\n\tmake\n"


def test_json(world, tmp_path):  # noqa: F811
    result = ask_script(world.server, tmp_path, "-s", "json", "--json", "READ notes.txt")
    events = [json.loads(line) for line in result.stdout.splitlines()]
    kinds = [event["type"] for event in events]
    assert result.returncode == 0 and kinds[0] == "message_added" and kinds[-1] == "response_complete"
    assert "tool_call" in kinds and "tool_result" in kinds and events[-1]["data"]["response"] == "The tool has answered."


def test_exit_codes(world, tmp_path):  # noqa: F811
    def code(*args, **options):
        result = ask_script(world.server, tmp_path, *args, **options)
        assert result.stdout == "" and result.stderr.count("\n") == 1, result
        return result.returncode, result.stderr

    assert code("-s", "codes", "FAIL") == (FAILED, "shepherd: The model has no idea\n") or code("-s", "codes", "FAIL")[0] == FAILED
    assert code()[0] == USAGE
    assert code("--url", "http://127.0.0.1:1", "x")[0] == UNREACHABLE
    assert code("--key-file", str(tmp_path / "absent"), "x")[0] == USAGE
    assert code("-s", "no/name", "x")[0] == USAGE


def test_a_signal_cancels_the_turn(world, tmp_path):  # noqa: F811
    process = subprocess.Popen([BINARY, "chat", "-s", "signal", "--json", "HOLD signal"], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                               text=True, env=environment_of(world.server, tmp_path))
    for line in process.stdout:
        if '"delta"' in line:
            break
    process.send_signal(signal.SIGINT)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == CANCELLED
    assert json.loads(out.splitlines()[-1])["type"] == "response_complete"


def test_a_key_from_a_file(make_world, tmp_path):  # noqa: F811
    made = make_world(auth="token")
    key = tmp_path / "key"
    key.write_text(made.server.token + "\n")
    away = {**environment_of(made.server, tmp_path), "SHEPHERD_DATA": str(tmp_path / "nowhere")}
    refused = ask_script(made.server, tmp_path, "--url", made.server.public, "hello", env=away)
    assert refused.returncode == REFUSED and "--key-file" in refused.stderr
    assert ask_script(made.server, tmp_path, "--url", made.server.public, "--key-file", str(key), "hello", env=away).stdout == ANSWER + "\n"


def test_completion(world, tmp_path):  # noqa: F811
    script_text = subprocess.run([BINARY, "completion", "bash"], capture_output=True, text=True, check=True, env=environment_of(world.server, tmp_path)).stdout
    assert re.search(r"\bchat\b", script_text) and "--max-tokens" in script_text


# --- another server with this protocol ---

class Other(http.server.BaseHTTPRequestHandler):
    """As little as a server of the protocol has: no ids, no sequences, no session id, blocking prompts."""

    protocol_version = "HTTP/1.1"
    observers, lock = [], threading.Lock()

    def log_message(self, *_):
        pass

    def answer(self, status, body):
        data = json.dumps(body).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_GET(self):
        if self.path == "/session":
            return self.answer(200, {"success": True, "model": "other-model", "context_size": 4096, "total_tokens": 0,
                                     "messages": [{"role": "user", "content": "an earlier question", "tokens": 3}]})
        if self.path != "/updates":
            return self.answer(404, {})
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        self.end_headers()
        gone = threading.Event()
        with self.lock:
            self.observers.append((self.wfile, gone))
        self.say("connected", client_id="someone")
        gone.wait(60)
        self.close_connection = True

    def say(self, kind, **data):
        with self.lock:
            for file, gone in self.observers:
                try:
                    file.write(f"data: {json.dumps({'type': kind, 'data': data})}\n\n".encode())
                    file.flush()
                except OSError:
                    gone.set()

    def do_POST(self):
        body = json.loads(self.rfile.read(int(self.headers.get("Content-Length", 0))) or b"{}")
        if self.path == "/clear":
            return self.answer(200, {"success": True, "message": "Conversation cleared"})
        if self.path != "/request":
            return self.answer(404, {})
        self.say("message_added", role="user", content=body["prompt"])
        for piece in ("Other ", "answer."):
            self.say("delta", delta=piece)
        self.say("response_complete", response="Other answer.")
        self.answer(200, {"success": True, "response": "Other answer."})


@pytest.fixture
def other():
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (Other,), {"observers": []}))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, daemon=True).start()
    yield f"http://127.0.0.1:{server.server_address[1]}"
    server.shutdown()


def test_another_server(talk, other):
    screen = talk("--url", other, session="")
    screen.wait_for("other-model")
    screen.wait_for("> an earlier question")
    ask(screen, "Who are you?")
    screen.wait_for("> Who are you?")
    screen.wait_for("Other answer.")
    ask(screen, "/clear")
    screen.wait_for("the conversation is empty")
    ask(screen, "/sessions")
    screen.wait_for("no list of sessions")
    screen.press(CTRL_D)
    assert screen.end() == 0
    assert screen.text().count("Other answer.") == 1
