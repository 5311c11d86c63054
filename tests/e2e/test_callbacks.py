"""Callbacks and repository tokens in the real program: a real receiver, its failures, and a crash in between."""

import base64
import datetime
import hashlib
import hmac
import http.server
import json
import os
import subprocess
import threading
import time

import httpx
import pytest

import contract
from tasks import end_task, new_task, note, post_events
from test_claims import AGENT, claim
from test_commands import command, wait_for


class Receiver:
    """Records its requests. `answers` are the statuses for the next requests, followed by 200."""

    def __init__(self):
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_POST(self):
                body = self.rfile.read(int(self.headers["content-length"]))
                with outer.lock:
                    outer.received.append((self.path, dict((k.lower(), v) for k, v in self.headers.items()), body))
                    status = outer.answers.pop(0) if outer.answers else 200
                if status == "hang":
                    outer.released.wait(30)
                    status = 200
                self.send_response(status)
                if status in (301, 302, 307):
                    self.send_header("Location", outer.url + "/elsewhere")
                self.send_header("Content-Length", "0")
                self.end_headers()

            def log_message(self, *_):
                pass

        self.received, self.answers, self.lock, self.released = [], [], threading.Lock(), threading.Event()
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def of(self, task):
        with self.lock:
            received = list(self.received)
        for _, headers, body in received:
            contract.check_callback(headers, body)
        calls = [(path, headers, json.loads(body)) for path, headers, body in received]
        return [call for call in calls if call[2]["taskID"] == task]

    def close(self):
        self.released.set()
        self.server.shutdown()


@pytest.fixture
def receiver():
    made = Receiver()
    yield made
    made.close()


def callback_of(api, task):
    return api.get(f"/api/v1/tasks/{task}").json().get("callback")


def check_signatures(server, headers, body):
    secret = (server.data / "callback.secret").read_text().strip()
    key = base64.b64decode(secret.removeprefix("whsec_") + "==")
    assert headers["x-shepherd-signature"] == "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest()
    signed = f"{headers['webhook-id']}.{headers['webhook-timestamp']}.".encode() + body
    expected = base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest()).decode()
    assert headers["webhook-signature"] == "v1," + expected


def test_the_end_of_a_task_is_told(server, api, runner, receiver):
    task = new_task(api, callbackURL=receiver.url + "/hook?x=1")
    assert callback_of(api, task) == {"state": "pending", "attempts": 0}
    post_events(runner, task, note("working"))
    end_task(runner, task, message="Done", details={"pr_url": "https://example.com/pull/42"})
    wait_for(lambda: callback_of(api, task)["state"] == "sent")
    [(path, headers, body)] = receiver.of(task)
    assert path == "/hook?x=1" and headers["content-type"] == "application/json"
    assert body == {"taskID": task, "event": "completed", "message": "Done",
                    "details": {"state": "completed", "prURL": "https://example.com/pull/42",
                                "pr_url": "https://example.com/pull/42", "error": "", "costUSD": 0, "lastSequence": 2}}
    check_signatures(server, headers, receiver.received[-1][2])
    assert callback_of(api, task) == {"state": "sent", "attempts": 1, "status": 200}
    assert (os.stat(server.data / "callback.secret").st_mode & 0o777) == 0o600


def test_reports_are_told_when_the_task_asks_for_them(server, api, runner, receiver):
    """An adapter gets its runner's reports verbatim, in order, each with its own id."""
    task = new_task(api, callbackURL=receiver.url, callbackEvents=["started", "progress"])
    assert api.get(f"/api/v1/tasks/{task}").json()["callbackEvents"] == ["started", "progress"]
    silent = new_task(api, callbackURL=receiver.url)
    receiver.answers = [500]
    for each in (task, silent):
        runner.post(f"/api/v1/tasks/{each}/status", json={"event": "started", "message": "runner starting task"})
        runner.post(f"/api/v1/tasks/{each}/status", json={"event": "progress", "message": "half", "details": {"percent": 50}})
        end_task(runner, each, message="task completed", details={"pr_url": "https://example.com/pull/7", "commits": ["a", "b"]})
        wait_for(lambda: callback_of(api, each)["state"] == "sent")
    wait_for(lambda: len(receiver.of(task)) >= 4)
    calls = receiver.of(task)
    first = {}
    for _, headers, body in calls:
        first.setdefault(body["event"], (headers["webhook-id"], body))
    assert list(first) == ["started", "progress", "completed"]
    assert len({identity for identity, _ in first.values()}) == 3
    repeated = [headers["webhook-id"] for _, headers, body in calls if body["event"] == "started"]
    assert len(repeated) == 2 and len(set(repeated)) == 1, "what was not taken comes again, as the same"
    assert first["progress"][1]["details"] == {"percent": 50, "lastSequence": 2}
    details = first["completed"][1]["details"]
    assert details["commits"] == ["a", "b"] and details["prURL"] == details["pr_url"] == "https://example.com/pull/7"
    assert [body["event"] for _, _, body in receiver.of(silent)] == ["completed"]
    bad = api.post("/api/v1/tasks", json={"prompt": "x", "callbackURL": receiver.url, "callbackEvents": ["beginning"]})
    assert bad.status_code == 400 and "callbackEvents" in bad.json()["detail"]


def test_a_task_stopped_before_it_began_is_told(api, receiver):
    task = new_task(api, agent="none-such", callbackURL=receiver.url)
    command(api, task, "stop")
    wait_for(lambda: receiver.of(task))
    body = receiver.of(task)[0][2]
    assert (body["event"], body["details"]["reason"]) == ("failed", "cancelled")


def test_failures_are_repeated_with_the_same_id(api, runner, receiver):
    receiver.answers = [500, 302]
    task = new_task(api, callbackURL=receiver.url)
    end_task(runner, task)
    wait_for(lambda: callback_of(api, task)["state"] == "sent")
    calls = receiver.of(task)
    assert len(calls) == 3 and len({headers["webhook-id"] for _, headers, _ in calls}) == 1
    assert {path for path, _, _ in calls} == {"/"}, "redirects are not followed"
    assert callback_of(api, task)["attempts"] == 3


def test_it_gives_up(make_server, receiver):
    server = make_server(config="callbacks:\n  attempts: 2\n").start()
    receiver.answers = [404, 404, 404]
    with server.api() as api, server.runner() as runner:
        task = new_task(api, callbackURL=receiver.url)
        end_task(runner, task)
        wait_for(lambda: callback_of(api, task)["state"] == "failed")
        assert callback_of(api, task) == {"state": "failed", "attempts": 2, "status": 404,
                                          "error": "answered with status 404"}
        assert len(receiver.of(task)) == 2


@pytest.mark.parametrize("url", ["http://169.254.169.254/latest/meta-data/", "http://[fe80::1]/x", "ftp://example.com/",
                                 "http://[::ffff:169.254.169.254]/", "not a url", "http://0.0.0.0/"])
def test_where_callbacks_never_go(api, url):
    answer = api.post("/api/v1/tasks", json={"prompt": "x", "callbackURL": url})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_callback_url"), answer.text


def test_an_address_behind_a_name_is_refused(api, runner):
    task = new_task(api, callbackURL="http://2852039166/")  # every resolver reads this as 169.254.169.254
    end_task(runner, task)
    wait_for(lambda: callback_of(api, task)["state"] == "failed")
    assert "must not be called" in callback_of(api, task)["error"]
    assert callback_of(api, task)["attempts"] == 1


def test_callbacks_go_through_the_proxy(make_server, receiver):
    """The proxy is asked for a tunnel to the address that was checked, not for the name. Loopback needs no proxy."""
    asked = []

    class Proxy(http.server.BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_CONNECT(self):
            asked.append((self.path, self.headers["proxy-authorization"]))
            self.send_response(200)
            self.end_headers()  # the next request on this connection is the callback

        def do_POST(self):
            self.rfile.read(int(self.headers["content-length"]))
            asked.append((self.headers["host"], self.path))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *_):
            pass

    proxy = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Proxy)
    threading.Thread(target=proxy.serve_forever, daemon=True).start()
    try:
        server = make_server(env={"http_proxy": f"http://joe:pw@127.0.0.1:{proxy.server_port}"}).start()
        with server.api() as api, server.runner() as runner:
            direct = new_task(api, callbackURL=receiver.url)
            end_task(runner, direct)
            wait_for(lambda: callback_of(api, direct)["state"] == "sent")
            assert asked == []
            proxied = new_task(api, callbackURL="http://3221225985:8099/done")  # resolvers read it as 192.0.2.1
            end_task(runner, proxied)
            wait_for(lambda: callback_of(api, proxied)["state"] == "sent")
            refused = new_task(api, callbackURL="http://2852039166/")  # 169.254.169.254
            end_task(runner, refused)
            wait_for(lambda: callback_of(api, refused)["state"] == "failed")
    finally:
        proxy.shutdown()
    assert asked == [("192.0.2.1:8099", "Basic am9lOnB3"), ("3221225985:8099", "/done")]


def test_a_crash_between_the_end_and_the_callback(make_server, receiver):
    """Killed after the end was committed and before the callback was acknowledged: the next start sends it with the
    same id."""
    server = make_server().start()
    receiver.answers = ["hang"]
    with server.api() as api, server.runner() as runner:
        task = new_task(api, callbackURL=receiver.url)
        end_task(runner, task)
        wait_for(lambda: receiver.of(task))
    server.kill()
    server.start()
    with server.api() as api:
        wait_for(lambda: callback_of(api, task)["state"] == "sent")
    calls = receiver.of(task)
    assert len(calls) == 2 and calls[0][1]["webhook-id"] == calls[1][1]["webhook-id"]


def test_ends_that_are_killed_at_once(make_server, receiver):
    """The server is killed right after it acknowledged the ends: it still reports every one of them."""
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        tasks = [new_task(api, callbackURL=receiver.url) for _ in range(20)]
        for task in tasks:
            end_task(runner, task)
    server.kill()
    server.start()
    with server.api() as api:
        for task in tasks:
            wait_for(lambda: callback_of(api, task)["state"] == "sent")
            assert receiver.of(task)


def test_a_slow_receiver_holds_up_nobody(api, runner, receiver):
    slow = Receiver()
    slow.answers = ["hang"]
    try:
        held = new_task(api, callbackURL=slow.url)
        end_task(runner, held)
        wait_for(lambda: slow.of(held))
        task = new_task(api, callbackURL=receiver.url)
        end_task(runner, task)
        wait_for(lambda: callback_of(api, task)["state"] == "sent", 5)
    finally:
        slow.close()


def test_a_deleted_task_leaves_nothing(api, runner, receiver):
    task = new_task(api, callbackURL=receiver.url)
    end_task(runner, task)
    wait_for(lambda: receiver.of(task))
    assert api.delete(f"/api/v1/tasks/{task}").status_code == 204
    again = new_task(api, id=task, callbackURL=receiver.url)
    assert callback_of(api, again) == {"state": "pending", "attempts": 0}
    end_task(runner, task)
    wait_for(lambda: len(receiver.of(task)) == 2)


# --- repository tokens ---

def lease_of(runner, task):
    """The number of the task's newest claim; 1 if nobody claimed it."""
    events = runner.get(f"/api/v1/tasks/{task}/events?types=status").json()["events"]
    return max([event["data"]["leaseEpoch"] for event in events if "leaseEpoch" in event["data"]], default=1)


def token(runner, task, expect=200, lease="newest"):
    """Requests the token as the runner that has claimed the task."""
    if lease == "newest":
        lease = lease_of(runner, task)
    answer = runner.get(f"/api/v1/tasks/{task}/token", headers={"Shepherd-Lease": str(lease)} if lease else {})
    assert answer.status_code == expect, answer.text
    return answer.json()


def expires_in(given):
    """Seconds until expiry; Go's time.RFC3339 must be able to parse the time."""
    time_text = given["expiresAt"].replace("Z", "+00:00")
    return datetime.datetime.fromisoformat(time_text).timestamp() - time.time()


def test_no_provider(api, runner):
    task = new_task(api, agent=AGENT)
    claim(runner, "r1", taskID=task)
    assert token(runner, task, expect=503)["code"] == "no_token_provider"


def test_a_token_once_per_lease(make_server, tmp_path):
    file = tmp_path / "token"
    file.write_text("secret-of-the-file\n")
    server = make_server(config=f"runners:\n  token_file: {file}\n").start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api, agent=AGENT)
        claim(runner, "r1", taskID=task)
        assert token(runner, task, expect=409, lease=None)["code"] == "lease_needed", "whoever else may post to the task"
        assert token(runner, task, expect=409, lease=lease_of(runner, task) + 1)["code"] == "lease_lost"
        given = token(runner, task)
        assert given["token"] == "secret-of-the-file" and expires_in(given) > 3000, given
        assert token(runner, task, expect=409)["code"] == "token_taken"
    server.kill()
    server.start()
    with server.api() as api, server.runner() as runner:
        assert token(runner, task, expect=409)["code"] == "token_taken", "a restart does not forget"
        end_task(runner, task)
        assert token(runner, task, expect=410)["code"] == "task_ended"
        other = new_task(api, agent=AGENT)
        claim(runner, "r1", taskID=other)
        with server.api(api.post("/api/v1/tokens", json={"name": "v", "scope": "viewer"}).json()["secret"]) as viewer:
            assert viewer.get(f"/api/v1/tasks/{other}/token").status_code == 404, "on the internal listener only"
        file.unlink()
        assert token(runner, other, expect=503)["code"] == "token_provider_failed"
        file.write_text("better\n")
        assert token(runner, other)["token"] == "better", "what failed was not given"
    assert "secret-of-the-file" not in server.log()
    for path in server.data.rglob("*"):
        assert not path.is_file() or b"secret-of-the-file" not in path.read_bytes(), path


def test_a_token_once_per_task_that_nobody_claimed(make_server, tmp_path):
    """Older runners get their task from another program and never claim it."""
    file = tmp_path / "token"
    file.write_text("secret-of-the-file\n")
    server = make_server(config=f"runners:\n  token_file: {file}\ninternal:\n  auth: none\n").start()
    with server.api() as api, server.runner(token="") as runner:
        task, other, failed = new_task(api), new_task(api, agent=AGENT), new_task(api)
        given = token(runner, task)
        assert given["token"] == "secret-of-the-file" and 3000 < expires_in(given) <= 3600, given
        assert token(runner, task, expect=409)["code"] == "token_taken"
        assert token(runner, other)["token"] == "secret-of-the-file"
        file.unlink()
        assert token(runner, failed, expect=503)["code"] == "token_provider_failed"
        file.write_text("secret-of-the-file\n")
    server.kill()
    server.start()
    with server.api() as api, server.runner(token="") as runner:
        assert token(runner, task, expect=409)["code"] == "token_taken", "a restart does not forget"
        assert token(runner, failed)["token"] == "secret-of-the-file", "what failed was not given"
        claim(runner, "r1", taskID=other)
        assert token(runner, other)["token"] == "secret-of-the-file", "a lease has a token of its own"
        assert token(runner, other, expect=409)["code"] == "token_taken"
        end_task(runner, task)
        assert token(runner, task, expect=410)["code"] == "task_ended"
        assert runner.get("/api/v1/tasks/nobody/token").status_code == 404


def test_a_token_from_a_command(make_server, tmp_path):
    program = tmp_path / "give-token"
    program.write_text('#!/bin/sh\nprintf \'{"token":"for %s at %s","expiresAt":"2030-01-01T00:00:00Z"}\' '
                       '"$SHEPHERD_TASK_ID" "$SHEPHERD_REPO_URL"\n')
    program.chmod(0o755)
    server = make_server(config=f"runners:\n  token_command: [{program}]\n").start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api, agent=AGENT, repo={"url": "https://example.com/a.git", "ref": "main"})
        claim(runner, "r1", taskID=task)
        assert token(runner, task) == {"token": f"for {task} at https://example.com/a.git",
                                       "expiresAt": "2030-01-01T00:00:00.000Z"}
        program.write_text("#!/bin/sh\nexit 3\n")
        other = new_task(api, agent=AGENT)
        claim(runner, "r1", taskID=other)
        assert token(runner, other, expect=503)["code"] == "token_provider_failed"


def test_a_token_from_a_github_app(make_server, tmp_path):
    pem, public, seen = tmp_path / "app.pem", tmp_path / "public.pem", []
    subprocess.run(["openssl", "genrsa", "-traditional", "-out", pem, "2048"], check=True, capture_output=True)
    subprocess.run(["openssl", "rsa", "-in", pem, "-pubout", "-out", public], check=True, capture_output=True)

    class GitHub(http.server.BaseHTTPRequestHandler):
        def answer(self, status, value):
            body = json.dumps(value, indent=2).encode()
            self.send_response(status)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            seen.append((self.path, self.headers["authorization"]))
            self.answer(200, {"id": 77}) if self.path == "/repos/acme/app/installation" else self.answer(404, {})

        def do_POST(self):
            body = json.loads(self.rfile.read(int(self.headers["content-length"])))
            seen.append((self.path, body))
            self.answer(201, {"token": "ghs_made", "expires_at": "2030-01-01T00:00:00Z"})

        def log_message(self, *_):
            pass

    github = http.server.ThreadingHTTPServer(("127.0.0.1", 0), GitHub)
    threading.Thread(target=github.serve_forever, daemon=True).start()
    try:
        server = make_server(config=f"""runners:
  github_app:
    id: "12345"
    key_file: {pem}
    api_url: http://127.0.0.1:{github.server_port}
""").start()
        with server.api() as api, server.runner() as runner:
            task = new_task(api, agent=AGENT, repo={"url": "https://github.com/acme/app.git", "ref": "main"})
            claim(runner, "r1", taskID=task)
            assert token(runner, task) == {"token": "ghs_made", "expiresAt": "2030-01-01T00:00:00.000Z"}
            other = new_task(api, agent=AGENT, repo={"url": "https://github.com/acme/other", "ref": "main"})
            claim(runner, "r1", taskID=other)
            assert "GitHub answered 404" in token(runner, other, expect=503)["detail"]
    finally:
        github.shutdown()
    assert seen[1] == ("/app/installations/77/access_tokens", {"repositories": ["app"]})
    header, claims, signature = seen[0][1].removeprefix("Bearer ").split(".")

    def decoded(text):
        return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))

    signature_file = tmp_path / "signature"
    signature_file.write_bytes(decoded(signature))
    subprocess.run(["openssl", "dgst", "-sha256", "-verify", public, "-signature", signature_file], check=True,
                   input=f"{header}.{claims}".encode(), capture_output=True)
    assert json.loads(decoded(header))["alg"] == "RS256" and json.loads(decoded(claims))["iss"] == "12345"


def test_a_token_command_that_closes_its_output_and_lives_on(make_server, tmp_path):
    """It does not delay a shutdown, and none of its processes is left."""
    marks = tmp_path / "marks"
    server = make_server(config="runners:\n  token_command: [sh, -c, 'sleep 777 & echo $$ $! >> %s; exec >&-; exec sleep 777']\n" % marks).start()
    answers = []
    with server.api() as api, server.runner() as runner:
        tasks = [new_task(api, agent=AGENT) for _ in range(3)]
        for task in tasks:
            claim(runner, "r1", taskID=task)

    def ask(task):
        with server.runner() as client:
            try:
                answers.append(token(client, task, expect=503)["code"])
            except Exception as error:  # noqa: BLE001  the server may be gone before it answers
                answers.append(str(error))

    asking = [threading.Thread(target=ask, args=(task,)) for task in tasks]
    [each.start() for each in asking]
    wait_for(lambda: marks.exists() and len(marks.read_text().split()) == 4, 30)
    assert server.stop(timeout=20) == 0
    [each.join(30) for each in asking]
    wait_for(lambda: not any(is_alive(int(pid)) for pid in marks.read_text().split()), 20)
    assert len(answers) == 3


def test_a_token_command_does_not_outlive_a_server_that_is_killed(make_server, tmp_path):
    """Neither it nor the processes it started."""
    marks = tmp_path / "marks"
    server = make_server(config="runners:\n  token_command: [sh, -c, 'sleep 777 & echo $$ $! >> %s; exec >&-; exec sleep 777']\n" % marks).start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api, agent=AGENT)
        lease = claim(runner, "r1", taskID=task)["leaseEpoch"]

    def ask():
        with server.runner() as client:
            try:
                client.get(f"/api/v1/tasks/{task}/token", headers={"Shepherd-Lease": str(lease)})
            except httpx.HTTPError:
                pass  # the server is gone

    asking = threading.Thread(target=ask)
    asking.start()
    wait_for(lambda: marks.exists() and len(marks.read_text().split()) == 2, 30)
    pids = [int(pid) for pid in marks.read_text().split()]
    assert all(is_alive(pid) for pid in pids)
    server.kill()
    asking.join(30)
    wait_for(lambda: not any(is_alive(pid) for pid in pids), 10)


def is_alive(pid):
    try:
        return open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False
