"""A relay between the server and a real backend that keeps what both say, so that a test can compare counts."""

import json
import socket
import threading


class Proxy:
    """Owns a listening thread. `calls` has (path, request body, [chunks or one body]) of every exchange that has ended."""

    def __init__(self, port):
        self._backend = port
        self._exchanges = []
        self._lock = threading.Lock()
        self._watch = None
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.url = f"http://127.0.0.1:{self.port}"
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            try:
                backend = socket.create_connection(("127.0.0.1", self._backend))
            except OSError:
                client.close()  # as if nothing listened
                continue
            sides = {"asked": bytearray(), "answered": bytearray()}
            with self._lock:
                self._exchanges.append(sides)
            for source, target, kept in ((client, backend, sides["asked"]), (backend, client, sides["answered"])):
                threading.Thread(target=self._pump, args=(source, target, kept), daemon=True).start()

    def when_said(self, word, answers, act):
        """Calls act() once, as soon as this many answers from now on contain the word, and before they are passed on.
        So it happens while the model writes them, whatever the server and the test wait for."""
        with self._lock:
            known = {id(each["answered"]): len(each["answered"]) for each in self._exchanges}
            self._watch = (word.encode(), answers, act, known)

    def stop_watching(self):
        with self._lock:
            self._watch = None

    def _look(self):
        with self._lock:
            if self._watch is None:
                return
            word, answers, act, known = self._watch
            said = sum(word in each["answered"][known.get(id(each["answered"]), 0):] for each in self._exchanges)
            if said < answers:
                return
            self._watch = None
        act()

    def _pump(self, source, target, kept):
        try:
            while piece := source.recv(65536):
                kept += piece
                self._look()
                target.sendall(piece)
        except OSError:
            pass
        for each in (source, target):
            try:
                each.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def calls(self):
        """Each exchange of each connection: (path, body, [JSON values of the answer])."""
        found = []
        with self._lock:
            exchanges = [(bytes(each["asked"]), bytes(each["answered"])) for each in self._exchanges]
        for asked, answered in exchanges:
            bodies = list(messages(answered))
            for (head, content), (_, body) in zip(messages(asked), bodies):
                found.append((head.split(" ")[1], json.loads(content) if content else None, values(body)))
        return found

    def generations(self):
        """The usage of each answer of the model, in order: (prompt tokens, completion tokens)."""
        found = []
        for path, _, answer in self.calls():
            if path.endswith("/chat/completions"):
                found += [(each["usage"]["prompt_tokens"], each["usage"]["completion_tokens"]) for each in answer if each.get("usage")]
        return found

    def unfinished(self):
        """How many requests of the model have no whole answer: it goes on, or one side has hung up."""
        with self._lock:
            exchanges = [(bytes(each["asked"]), bytes(each["answered"])) for each in self._exchanges]
        waiting = [head for asked, answered in exchanges for head, _ in list(messages(asked))[len(list(messages(answered))):]]
        return sum(head.split(" ")[1].endswith("/chat/completions") for head in waiting)

    def answered(self, prompt):
        """Whether the newest answer to this prompt is whole."""
        found = None
        with self._lock:
            exchanges = [(bytes(each["asked"]), bytes(each["answered"])) for each in self._exchanges]
        for asked, answered in exchanges:
            ended = len(list(messages(answered)))
            for at, (head, body) in enumerate(messages(asked)):
                if head.split(" ")[1].endswith("/chat/completions") and json.loads(body)["messages"][-1]["content"] == prompt:
                    found = at < ended
        assert found is not None, f"{prompt!r} did not reach the model"
        return found

    def close(self):
        self._listener.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def messages(data):
    """(head, body) of the HTTP/1.1 messages in a stream of bytes; an unfinished one is left out."""
    while b"\r\n\r\n" in data:
        head, data = data.split(b"\r\n\r\n", 1)
        text = head.decode("latin-1")
        fields = {name.lower(): value.strip() for name, _, value in (each.partition(":") for each in text.split("\r\n")[1:])}
        if fields.get("transfer-encoding") == "chunked":
            body = b""
            while True:
                size, mark, rest = data.partition(b"\r\n")
                if not mark or len(rest) < int(size, 16) + 2:
                    return
                length = int(size, 16)
                body, data = body + rest[:length], rest[length + 2:]
                if length == 0:
                    break
        else:
            length = int(fields.get("content-length", 0))
            if len(data) < length:
                return
            body, data = data[:length], data[length:]
        yield text, body


def values(body):
    """The JSON values of an answer, streamed or not."""
    text = body.decode(errors="replace")
    if text.lstrip().startswith("{"):
        return [json.loads(text)]
    return [json.loads(each[6:]) for each in text.split("\n") if each.startswith("data: {")]
