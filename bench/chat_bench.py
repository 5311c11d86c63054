#!/usr/bin/env python3
"""What the chat costs beside asking the backend directly. Measured on this machine, both in the same run.

    make bench-chat                     200 sessions, 1,000 first tokens
    make bench-chat ARGS="--quick"      half a minute

Three measurements. The first token: from before a request is sent until the first token is read, from the backend itself and
through a session, alternately; the difference is what the server adds. Many sessions: each streams 50 tokens a second from a fast
backend (bench/chat_peer.cpp) to an observer of its own; a token carries the time at which the backend wrote it. The limit is for the
observer that fares worst, by the p99 of its own tokens. Idle sessions: the memory of the server before and after 1,000 sessions
were used once.

The last line is one JSON object. Exit code 1 when a limit is exceeded or a token is lost.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(ROOT / "bench"), str(ROOT / "tests" / "e2e")]

import httpx  # noqa: E402

from chat_client import config  # noqa: E402
from llama import Llama  # noqa: E402
from runner_bench_parts import percentile  # noqa: E402
from server import Server  # noqa: E402

RATE = 50  # tokens a second of each session
LIMITS = {"added_p50_ms": 2.0, "added_p99_ms": 10.0, "observer_worst_p99_ms": 50.0, "cores": 1.0, "idle_bytes": 8192}
TURNS_OF_A_SESSION = 20  # then a new one, so that the prompts stay short


def build_peer():
    """Compiles the peer, unless that was done."""
    source, program = ROOT / "bench" / "chat_peer.cpp", ROOT / "build" / "bench" / "chat_peer"
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        program.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["c++", "-O2", "-std=c++20", source, "-o", program], check=True)
    return program


class Peer:
    """The fast backend."""

    def __init__(self, program):
        self.process = subprocess.Popen([program, "backend"], stdout=subprocess.PIPE, text=True)
        self.port = int(self.process.stdout.readline())
        self.url = f"http://127.0.0.1:{self.port}"

    def stop(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


class Caller:
    """The time until the first token is all that it looks at. A chat's stream ends with its connection, so each request
    has its own, on both sides, opened before the clock starts."""

    def __init__(self, port):
        self.port = port

    def first_token(self, path, body, mark, end):
        """Milliseconds until `mark` was read. Reads on until `end`."""
        with socket.create_connection(("127.0.0.1", self.port)) as connection:
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            return self._ask(connection, path, body, mark, end)

    @staticmethod
    def _ask(connection, path, body, mark, end):
        content = json.dumps(body).encode()
        request = (f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n").encode() + content
        data, found = b"", None
        began = time.perf_counter()
        connection.sendall(request)
        while end not in data:
            piece = connection.recv(65536)
            assert piece, f"closed: {data[-300:]!r}"
            data += piece
            if found is None and mark in data:
                found = (time.perf_counter() - began) * 1000
        assert found is not None, data[:500]
        return found


def first_tokens(server, backend_port, prompt, model, rounds, name):
    """{"direct": [ms], "through": [ms]}, asked alternately."""
    direct, through = Caller(backend_port), Caller(int(server.public.rsplit(":", 1)[1]))
    times = {"direct": [], "through": []}
    messages = []
    for i in range(rounds):
        session = f"{name}-{i // TURNS_OF_A_SESSION}"
        if i % TURNS_OF_A_SESSION == 0:
            messages = []
        messages.append({"role": "user", "content": prompt})
        bare = {"model": model, "messages": messages, "stream": True, "stream_options": {"include_usage": True}, "max_tokens": 100}
        times["direct"].append(direct.first_token("/v1/chat/completions", bare, b'"content":"', b"\r\n0\r\n\r\n"))
        times["through"].append(through.first_token(f"/sessions/{session}/request", {"prompt": prompt, "stream": True, "max_tokens": 100}, b'"type":"delta"', b'"done":true'))
        messages.append({"role": "assistant", "content": "x"})
    added = [b - a for a, b in zip(times["direct"], times["through"])]
    return {"direct_p50_ms": percentile(times["direct"], 0.5), "direct_p99_ms": percentile(times["direct"], 0.99),
            "through_p50_ms": percentile(times["through"], 0.5), "through_p99_ms": percentile(times["through"], 0.99),
            "added_p50_ms": percentile(times["through"], 0.5) - percentile(times["direct"], 0.5),
            "added_p99_ms": percentile(times["through"], 0.99) - percentile(times["direct"], 0.99), "added_median_of_pairs_ms": percentile(added, 0.5)}


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def watch(program, directory, port, requests, tokens, begin=lambda: None):
    """Watches one stream for each request; `begin` is called when all are open."""
    files = []
    for number, request in enumerate(requests):
        files.append(directory / f"request-{number}")
        files[-1].write_bytes(request)
    watcher = subprocess.Popen([program, "watch", "127.0.0.1", str(port), str(tokens), *files], stdout=subprocess.PIPE, text=True)
    try:
        assert watcher.stdout.readline() == "open\n"
        begin()
        return json.loads(watcher.stdout.readline())
    finally:
        watcher.kill()
        watcher.wait()
        watcher.stdout.close()


def post(path, body):
    content = json.dumps(body).encode()
    return (f"POST {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(content)}\r\n\r\n").encode() + content


def many_sessions(program, server, peer, directory, sessions, seconds):
    """The delay of each token, first from the backend alone, then through the sessions, and the server's processor time."""
    tokens = RATE * seconds
    prompt = f"TOKENS {tokens} EVERY {1_000_000 // RATE}"
    bare = watch(program, directory, peer.port, [post("/v1/chat/completions", {"messages": [{"role": "user", "content": prompt}]})] * sessions, tokens)
    assert bare["tokens"] == tokens * sessions, f"the backend alone: {bare}"
    with httpx.Client(base_url=server.public, trust_env=False, timeout=30) as api:
        for i in range(sessions):
            api.get(f"/sessions/many-{i}/session").raise_for_status()

        started = []

        def begin():
            time.sleep(0.5)  # the observers' streams are open, and their first events are read
            started.append((time.monotonic(), cpu_seconds(server.process.pid)))
            for i in range(sessions):
                api.post(f"/sessions/many-{i}/request", json={"prompt": prompt, "async": True}).raise_for_status()

        observers = [f"GET /sessions/many-{i}/updates HTTP/1.1\r\nHost: 127.0.0.1\r\nAccept: text/event-stream\r\n\r\n".encode() for i in range(sessions)]
        found = watch(program, directory, int(server.public.rsplit(":", 1)[1]), observers, tokens, begin)
    (at, cpu), = started
    cores = (cpu_seconds(server.process.pid) - cpu) / (time.monotonic() - at)
    return {"sessions": sessions, "tokens": found["tokens"], "expected": tokens * sessions, "bare_p50_ms": bare["p50_ms"], "bare_p99_ms": bare["p99_ms"],
            "bare_worst_p99_ms": bare["worst_p99_ms"], "observer_p50_ms": found["p50_ms"], "observer_p99_ms": found["p99_ms"],
            "observer_worst_p99_ms": found["worst_p99_ms"], "observer_max_ms": found["max_ms"], "cores": cores}


def idle_sessions(server, count):
    """Bytes that a session costs which was used once. Others are used before, so that caches are full."""
    with httpx.Client(base_url=server.public, trust_env=False, timeout=30) as api:
        def use(name, number):
            for i in range(number):
                assert api.post(f"/sessions/{name}-{i}/request", json={"prompt": "TOKENS 3 EVERY 0"}).json()["success"]

        use("warm", max(100, count // 2))
        time.sleep(2)  # the followers catch up
        before = server.rss_bytes()
        use("idle", count)
        time.sleep(2)
        return {"idle_sessions": count, "idle_bytes": (server.rss_bytes() - before) / count, "rss_bytes": server.rss_bytes()}


def measure(program, directory, quick):
    peer_program = build_peer()
    peer, server, backend, real = Peer(peer_program), None, None, None
    try:
        server = Server(directory / "data", config=config(peer.url + "/v1", chat={"tools": [], "parallel_sessions": 1000}), binary=str(program)).start(60)
        rounds, sessions, seconds, idle = (200, 200, 5, 300) if quick else (1000, 200, 20, 1000)
        first_tokens(server, peer.port, "TOKENS 3 EVERY 0", "peer", 50, "warm-up")
        found = {"fast": first_tokens(server, peer.port, "TOKENS 3 EVERY 0", "peer", rounds, "first")}
        backend = Llama(8192, 1).start()
        real = Server(directory / "real", config=config(backend.url + "/v1", chat={"tools": []}), binary=str(program)).start(60)
        first_tokens(real, backend.port, "Hello", "scripted", 20, "warm-up")
        found["llama"] = first_tokens(real, backend.port, "Hello", "scripted", rounds // 4, "first")
        real.kill()
        backend.stop()
        found["many"] = many_sessions(peer_program, server, peer, directory, sessions, seconds)
        found["idle"] = idle_sessions(server, idle)
        return found
    finally:
        for each in (server, real):
            if each:
                each.kill()
        if backend:
            backend.stop()
        peer.stop()


def rows(found):
    """(what, value, limit, unit, beside)"""
    for name in ("fast", "llama"):
        one = found[name]
        for part in ("p50", "p99"):
            yield (f"first token, {name} backend, added {part}", one[f"added_{part}_ms"], LIMITS[f"added_{part}_ms"], "ms",
                   f"direct {one[f'direct_{part}_ms']:.2f}, through {one[f'through_{part}_ms']:.2f}, {one[f'through_{part}_ms'] / one[f'direct_{part}_ms']:.1f} times")
    many = found["many"]
    yield (f"{many['sessions']} sessions at {RATE} tokens/s, p99 of the worst observer", many["observer_worst_p99_ms"], LIMITS["observer_worst_p99_ms"], "ms",
           f"all of them p50 {many['observer_p50_ms']:.2f}, p99 {many['observer_p99_ms']:.2f}, max {many['observer_max_ms']:.1f}; the backend alone: "
           f"p50 {many['bare_p50_ms']:.2f}, p99 {many['bare_p99_ms']:.2f}, worst p99 {many['bare_worst_p99_ms']:.2f}")
    yield "processor of the server meanwhile", many["cores"], LIMITS["cores"], "cores", f"{many['tokens']} of {many['expected']} tokens"
    yield "memory of an idle session", found["idle"]["idle_bytes"], LIMITS["idle_bytes"], "bytes", f"{found['idle']['idle_sessions']} sessions"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", default=ROOT / "build/bin/shepherd", help="the shepherd to measure")
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="shepherd-bench-") as directory:
        found = measure(Path(options.program).resolve(), Path(directory), options.quick)
    good = found["many"]["tokens"] == found["many"]["expected"]
    for what, value, limit, unit, beside in rows(found):
        good = good and value <= limit
        print(f"{'ok  ' if value <= limit else 'OVER'} {what}: {value:.2f} {unit} (limit {limit:g}; {beside})")
    print(json.dumps({"bench": "chat", "good": good, **{name: {k: round(v, 3) for k, v in part.items()} for name, part in found.items()}}))
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
