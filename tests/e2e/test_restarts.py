"""kill -9 and restart, many times, with clients attached: once `ready` is printed, every port accepts connections.

SHEPHERD_RESTARTS=500 is the long form; SHEPHERD_RESTART_SEED repeats its choices.
"""

import contextlib
import http.client
import json
import os
import random
import socket
import threading
import time
from urllib.parse import urlsplit

from server import DidNotStart
from streams import WebSocketFeed
from tasks import new_task

RESTARTS = int(os.environ.get("SHEPHERD_RESTARTS", "20"))
SEED = int(os.environ.get("SHEPHERD_RESTART_SEED", str(random.randrange(1_000_000))))


class Client(threading.Thread):
    """Repeats one operation at the same address, whatever happens."""

    def __init__(self, act):
        super().__init__(daemon=True)
        self.act, self.ended, self.good = act, False, 0

    def run(self):
        while not self.ended:
            try:
                self.act()
                self.good += 1
            except Exception:  # the server is being killed
                pass
            time.sleep(0.02)


def clients_of(server, task):
    token = server.headers()

    def ask(base, method, path, body=None, timeout=10):
        with contextlib.closing(http.client.HTTPConnection(urlsplit(base).netloc, timeout=timeout)) as connection:
            connection.request(method, path, body and json.dumps(body), {**token, "Content-Type": "application/json"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status < 300, answer.status

    def post():
        ask(server.internal, "POST", f"/api/v1/tasks/{task}/events", {"type": "log", "summary": "x"})

    def read():
        ask(server.public, "GET", "/api/v1/tasks")

    def follow():
        with WebSocketFeed(f"{server.public}/api/v1/tasks/{task}/events?tail=1", token) as feed:
            while True:
                feed.next(30)

    def claim():
        ask(server.internal, "POST", "/api/v1/claims", {"runner": "r", "agents": ["none"], "wait": 10}, 20)

    return [Client(act) for act in (post, post, read, follow, follow, claim)]


def test_once_ready_every_port_takes_connections(make_server):
    print(f"seed {SEED}, {RESTARTS} restarts")
    choice = random.Random(SEED)
    server = make_server().start()
    server.listen, server.internal_listen = urlsplit(server.public).netloc, urlsplit(server.internal).netloc
    server.grpc_listen = server.ready["grpc"]
    with server.api() as api:
        task = new_task(api)
    clients = clients_of(server, task)
    for each in clients:
        each.start()
    slowest, interrupted = 0.0, 0
    try:
        for number in range(RESTARTS):
            # Kills some of them during their start.
            time.sleep(choice.choice([0.0, 0.0, 0.002, 0.01, 0.05, 0.2]))
            server.kill()
            if choice.random() < 0.3:
                try:
                    killer = threading.Timer(choice.random() * 0.15, lambda: server.kill())
                    killer.start()
                    server.start(timeout=60)
                except DidNotStart:
                    interrupted += 1
                finally:
                    killer.cancel()
                    killer.join()
                server.kill()
            began = time.monotonic()
            server.start(timeout=60)
            slowest = max(slowest, time.monotonic() - began)
            for address in (server.public, server.internal, "grpc://" + server.ready["grpc"]):
                parts = urlsplit(address)
                # One try only, because a refused connection is the defect to find.
                with socket.create_connection((parts.hostname, parts.port), timeout=30) as connection:
                    if parts.scheme == "http":
                        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
                        answer = connection.recv(65536)
                        assert answer.startswith(b"HTTP/1.1 200"), (number, address, answer)
    finally:
        for each in clients:
            each.ended = True
    print(f"slowest start {slowest:.2f} s, {interrupted} killed while starting, clients {[each.good for each in clients]}")
    assert all(each.good for each in clients[:3]), "the clients had nothing to do with it"
