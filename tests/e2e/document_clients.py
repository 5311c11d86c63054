"""Runs the clients of the protocol's document (documented/), and a stand-in for the third known client, which uses libcurl."""

import asyncio
import json
import os
import queue
import subprocess
import sys
import threading
import time
from pathlib import Path

import httpx
import pycurl

import sse
from documented.session_client import ReconnectingClient, ShepherdClient

MINIMAL = Path(__file__).parent / "documented" / "minimal_client.py"
ADDRESS = "http://localhost:8080"  # in the document


class Minimal:
    """The document's minimal client as a process: lines in, its terminal's text out."""

    def __init__(self, url, directory):
        source = MINIMAL.read_text()
        assert source.count(ADDRESS) == 1
        program = Path(directory) / "minimal_client.py"
        program.write_text(source.replace(ADDRESS, url))
        env = {"PATH": os.environ["PATH"], "HOME": str(directory), "PYTHONUNBUFFERED": "1"}
        self.process = subprocess.Popen([sys.executable, "-B", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env=env)
        self.text = ""
        self._changed = threading.Condition()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        while piece := os.read(self.process.stdout.fileno(), 65536):
            with self._changed:
                self.text += piece.decode(errors="replace")
                self._changed.notify_all()

    def wait_for_prompt(self, number, timeout=60):
        """Waits for the prompt with this number, counted from 1; returns all of the output before it."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.text.count("> ") >= number or self.process.poll() is not None, timeout), self.text
            assert self.text.count("> ") >= number, f"it ended with {self.process.wait()}: {self.text}"
            return self.text

    def say(self, words):
        self.process.stdin.write(words.encode() + b"\n")
        self.process.stdin.flush()

    def end(self, timeout=20):
        self.say("quit")
        return self.process.wait(timeout)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait()
        self.process.stdin.close()


class _Completed:
    """What the document leaves to the reader: displays that record, the client, where the tasks run."""

    def __init__(self, base_url, api_key=None):
        self.shown, self.messages, self.current_response, self.generating, self.running = [], [], "", False, True
        self.http_client = httpx.AsyncClient(headers={"Authorization": f"Bearer {api_key}"} if api_key else None)
        super().__init__(base_url, api_key)

    def get_session(self):
        return httpx.get(f"{self.base_url}/session", headers=self.get_headers()).json()

    def start_sse_listener(self):
        self.listener = asyncio.get_running_loop().create_task(self.sse_listener())

    def display_message(self, message):
        self.messages.append(message)
        self.shown.append(("message", message["role"], message["content"]))

    def update_display(self, text):
        self.shown.append(("text", text))

    def update_display_code(self, text):
        self.shown.append(("code", text))

    def display_tool_call(self, name, parameters):
        self.shown.append(("call", name, parameters))

    def display_tool_result(self, name, success, error):
        self.shown.append(("result", name, success, error))

    def display_error(self, error):
        self.shown.append(("error", error))

    def display_notification(self, words):
        self.shown.append(("notification", words))

    def save_chat(self):
        self.shown.append(("saved",))


class _First(_Completed, ShepherdClient):
    pass


class _Second(_Completed, ReconnectingClient):
    def connect_sse(self):
        client = self

        class Connected:
            async def __aenter__(self):
                self.stream = client.http_client.stream("GET", f"{client.base_url}/updates")
                response = await self.stream.__aenter__()

                async def events():
                    async for line in response.aiter_lines():
                        if line.startswith("data: "):
                            yield json.loads(line[6:])
                return events()

            async def __aexit__(self, *error):
                await self.stream.__aexit__(*error)

        return Connected()


class Session:
    """The document's larger client, in a thread of its own with an event loop."""

    def __init__(self, url, api_key=None, second=False):
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, daemon=True)
        self._thread.start()

        async def make():
            return (_Second if second else _First)(url, api_key)
        self.client = self._run(make())

    def _run(self, coroutine, timeout=120):
        return asyncio.run_coroutine_threadsafe(coroutine, self._loop).result(timeout)

    def send(self, prompt, max_tokens=0):
        return self._run(self.client.send_message(prompt, max_tokens))

    @property
    def shown(self):
        return list(self.client.shown)

    def text(self):
        return "".join(each[1] for each in self.shown if each[0] in ("text", "code"))

    def wait_for(self, fact, timeout=20):
        deadline = time.monotonic() + timeout
        while not fact(self.client):
            assert not self.client.listener.done(), f"the listener ended: {self.client.listener}"
            assert time.monotonic() < deadline, self.shown
            time.sleep(0.01)

    def listens(self):
        return not self.client.listener.done()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        async def end():
            self.client.running = False
            self.client.listener.cancel()
            await asyncio.gather(self.client.listener, return_exceptions=True)
            await self.client.http_client.aclose()
        self._run(end())
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(10)
        self._loop.close()


# --- a stand-in for the client in C++ ---

class TypeMismatch(Exception):
    """What its JSON library throws when a member is there and has another type."""


def value(node, name, default):
    """A member, or the default when it is absent. A member of another type, null included, throws."""
    if not isinstance(node, dict):
        raise TypeMismatch(f"cannot look up {name} in {node!r}")
    if name not in node:
        return default
    found = node[name]
    if isinstance(default, bool):
        fits = isinstance(found, bool)
    elif isinstance(default, int):
        fits = isinstance(found, (int, float)) and not isinstance(found, bool)
    else:
        fits = isinstance(found, type(default))
    if not fits:
        raise TypeMismatch(f"{name} is {found!r}, not like {default!r}")
    return found


class CurlClient:
    """Thread A follows /updates and shows what arrives there; thread B posts and discards the answers.

    It has no time-outs, reconnects at once after a 2xx, after 2 s otherwise, and never reads /session again. An event
    that throws is lost alone; `thrown` has the reasons, and must stay empty. Its screen is `shown`."""

    def __init__(self, url, key=None):
        self.url, self.key = url, key
        self.shown, self.thrown, self.connects, self.total = [], [], 0, 0
        self.in_flight = False
        self._running = True
        self._changed = threading.Condition()
        self._prompts = queue.Queue()
        status, body = self._call("/session")
        if not 200 <= status < 300:
            raise RuntimeError(f"/session answered {status}")
        session = json.loads(body)
        self.mute = not value(session, "success", False)
        if self.mute:
            return
        self.context = value(session, "context_size", 0)
        self.model = value(session, "model", "")
        self.total = value(session, "total_tokens", 0)
        for message in value(session, "messages", []):
            self._show_message(message)
        self._listener = threading.Thread(target=self._listen, daemon=True)
        self._listener.start()
        self._sender = threading.Thread(target=self._send, daemon=True)
        self._sender.start()

    def _headers(self, *more):
        return [*([f"Authorization: Bearer {self.key}"] if self.key else []), *more]

    def _handle(self, path):
        handle = pycurl.Curl()
        handle.setopt(pycurl.URL, self.url + path)
        handle.setopt(pycurl.FOLLOWLOCATION, True)
        handle.setopt(pycurl.MAXREDIRS, 5)
        handle.setopt(pycurl.NOPROXY, "*")
        handle.setopt(pycurl.NOSIGNAL, True)
        return handle

    def _call(self, path, body=None):
        handle, answer = self._handle(path), []
        handle.setopt(pycurl.HTTPHEADER, self._headers("Content-Type: application/json"))
        if body is not None:
            handle.setopt(pycurl.POSTFIELDS, body)
        handle.setopt(pycurl.WRITEFUNCTION, answer.append)
        try:
            handle.perform()
            return handle.getinfo(pycurl.RESPONSE_CODE), b"".join(answer).decode()
        finally:
            handle.close()

    def _show(self, *what):
        with self._changed:
            self.shown.append(what)
            self._changed.notify_all()

    def _show_message(self, message):
        role, content = value(message, "role", ""), value(message, "content", "")
        if role == "user":
            self._show("user", content)
        elif role == "assistant":
            if content:
                self._show("text", content)
            for call in value(message, "tool_calls", []):
                function = value(call, "function", {})
                arguments = function.get("arguments", {})
                self._show("call", value(function, "name", ""), json.loads(arguments) if isinstance(arguments, str) else arguments)
        elif role in ("tool", "function"):
            self._show("result", "Success" if not content.startswith("Error: ") else content)

    # Thread A.
    def _listen(self):
        while self._running:
            self.connects += 1
            parser, handle = sse.Parser(), self._handle("/updates")
            handle.setopt(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
            handle.setopt(pycurl.HTTPHEADER, self._headers("Accept: text/event-stream"))

            def take(piece):
                for each in parser.feed(piece):
                    if each.data is not None:
                        self._dispatch(each.data)
                return None if self._running else 0  # it can end only when a byte arrives

            handle.setopt(pycurl.WRITEFUNCTION, take)
            status = 0
            try:
                handle.perform()
                status = handle.getinfo(pycurl.RESPONSE_CODE)
            except pycurl.error:
                status = handle.getinfo(pycurl.RESPONSE_CODE) if self._running else 200
            handle.close()
            if not 200 <= status < 300:
                for _ in range(200):
                    if self._running:
                        time.sleep(0.01)  # its own pause of 2 s

    def _dispatch(self, data):
        try:
            event = json.loads(data)
            kind, inside = value(event, "type", ""), value(event, "data", {})
            if kind == "message_added":
                if value(inside, "role", "") == "user" and not self.in_flight:
                    self._show("user", value(inside, "content", ""))
            elif kind == "delta":
                self._show("text", value(inside, "delta", ""))
            elif kind == "codeblock":
                self._show("code", value(inside, "content", ""))
            elif kind == "tool_call":
                parameters = value(inside, "parameters", {})
                self._show("call", value(inside, "tool_call", ""), {k: str(v)[:50] for k, v in parameters.items()})
            elif kind == "tool_result":
                good = value(inside, "success", False)
                self._show("result", "Success" if good else "Error: " + value(inside, "error", "Unknown"))
            elif kind == "error":
                self._show("error", value(inside, "error", ""))
            elif kind == "response_complete":
                value(inside, "response", "")
                self._show("end")
        except (TypeMismatch, ValueError) as error:
            self.thrown.append(f"{error}: {data[:300]}")

    # Thread B.
    def _send(self):
        while (body := self._prompts.get()) is not None:
            self.in_flight = True
            self._call("/request", body)  # the answer is not looked at
            self.in_flight = False

    def max_tokens(self):
        """What it computes for a request: from the size of the context and its own stale total."""
        half = self.context / 2
        wanted = half * min(max(0.33 + half / 80000 * 0.27, 0.33), 0.6)
        return int(min(self.context - self.total, wanted))

    def send(self, prompt, **members):
        tokens = members.pop("max_tokens", self.max_tokens())
        self._prompts.put(json.dumps({"prompt": prompt, **({"max_tokens": tokens} if tokens else {}), **members}))

    def wait_for(self, *what, count=1, timeout=60):
        """Waits until this has been shown this often; returns everything shown."""
        with self._changed:
            assert self._changed.wait_for(lambda: self.shown.count(what) >= count, timeout), (what, self.shown, self.thrown)
            return list(self.shown)

    def text(self):
        return "".join(each[1] for each in self.shown if each[0] in ("text", "code"))

    def clear(self):
        return self._call("/clear", "{}")[0]

    def end(self):
        """Ends as it does: joins thread A, which notices at the next byte. Returns how long that took."""
        began = time.monotonic()
        self._running = False
        self._prompts.put(None)
        if not self.mute:
            self._listener.join(60)
            assert not self._listener.is_alive(), "the listener never noticed"
        return time.monotonic() - began

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.end()
