"""Requests that callers begin and do not finish: their bytes are bounded, and they do not block other callers."""

import socket
import threading
from urllib.parse import urlsplit

import httpx

from tasks import eventually, new_task

MIB = 1024 * 1024
BODY = 15 * MIB


def begin(address, task, secret):
    """Starts a post of 15 MiB without its end; returns the server's answer meanwhile, or None."""
    connection = socket.create_connection(address)
    connection.settimeout(30)
    head = (f"POST /api/v1/tasks/{task}/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {secret}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {BODY}\r\n\r\n")
    piece = b" " * 65536
    answer = b""
    try:
        connection.sendall(head.encode())
        for _ in range(BODY // len(piece) - 1):
            connection.sendall(piece)
    except OSError:
        pass
    try:
        connection.settimeout(0.2)
        while chunk := connection.recv(65536):
            answer += chunk
    except OSError:
        pass
    return connection, answer.decode()


def test_two_hundred_unfinished_posts_of_an_agent_cost_its_share_alone(make_server):
    server = make_server().start()
    with server.api() as api:
        task, other = new_task(api), new_task(api)
        secret = api.post("/api/v1/tokens", json={"name": "agent", "scope": "producer", "taskID": task}).json()["secret"]
    before = server.rss_bytes()
    address = (urlsplit(server.internal).hostname, urlsplit(server.internal).port)
    made, lock = [], threading.Lock()

    def attack():
        for _ in range(20):
            one = begin(address, task, secret)
            with lock:
                made.append(one)

    threads = [threading.Thread(target=attack) for _ in range(10)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()
    answers = [text for _, text in made if text]
    assert len(made) == 200
    grown = server.rss_bytes() - before
    assert grown < 160 * MIB, f"{grown // MIB} MiB more"
    assert len(answers) >= 190, "four of them fit into one caller's share"
    assert all(text.startswith("HTTP/1.1 429 ") and "\r\nRetry-After: " in text and "\r\nConnection: close" in text
               and "too_many_unfinished_requests" in text for text in answers), answers[0]
    # Another producer has its own share, also for a body that takes several reads.
    event = {"type": "log", "summary": "here", "metadata": {"text": "x" * (2 * MIB)}}
    with server.runner() as runner:
        assert runner.post(f"/api/v1/tasks/{other}/events", json=event).status_code in (200, 413)
        assert runner.post(f"/api/v1/tasks/{other}/events", json={"type": "log", "summary": "small"}).status_code == 200
    for connection, _ in made:
        connection.close()

    def again():
        answer = httpx.post(f"{server.internal}/api/v1/tasks/{task}/events", json={"type": "log", "summary": "x" * 200_000},
                            headers=server.headers(secret), trust_env=False)
        return answer.status_code != 429

    eventually(again)
