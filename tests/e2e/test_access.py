"""Permissions, and how a client authenticates."""

import base64
import json
import re
import subprocess
import time
from urllib.parse import urlsplit

import grpc
import httpx
import pytest
import websockets

import contract
from rpc_client import RpcClient
from server import BINARY, DidNotStart, environment
from streams import StreamEnded
from tasks import end_task, new_id, new_task, note, post_events


def make_token(api, scope, **members):
    answer = api.post("/api/v1/tokens", json={"name": new_id(scope), "scope": scope, **members})
    assert answer.status_code == 201, answer.text
    value = answer.json()
    assert value["secret"].startswith("shp_")
    return value["id"], value["secret"]


def status_of(client, method, path, **options):
    return client.request(method, path, **options).status_code


# --- scopes ---

ALLOWED = {
    #            view   create  patch  produce admin
    "viewer": (True, False, False, False, False),
    "operator": (True, True, True, False, False),
    "producer": (True, False, False, True, False),
    "admin": (True, True, True, True, True),
}


@pytest.mark.parametrize("scope", ALLOWED)
def test_scopes(server, api, runner, task, scope):
    post_events(runner, task, note("x"))
    _, secret = make_token(api, scope)
    view, create, patch, produce, admin = ALLOWED[scope]

    def verdict(allowed):
        return (200, 201, 204) if allowed else (403,)

    with server.api(secret) as public, server.runner(secret) as internal:
        assert status_of(public, "GET", f"/api/v1/tasks/{task}") in verdict(view)
        assert status_of(public, "GET", f"/api/v1/tasks/{task}/events") in verdict(view)
        assert status_of(public, "POST", "/api/v1/tasks", json={"prompt": "x"}) in verdict(create)
        assert status_of(public, "PATCH", f"/api/v1/tasks/{task}", json={"title": "x"}) in verdict(patch)
        assert status_of(internal, "POST", f"/api/v1/tasks/{task}/events", json=note("y")) in verdict(produce)
        assert status_of(internal, "POST", f"/api/v1/tasks/{task}/status", json={"event": "progress"}) in verdict(produce)
        assert status_of(public, "GET", "/api/v1/tokens") in verdict(admin)
        assert status_of(public, "POST", "/api/v1/tokens", json={"name": "x", "scope": "admin"}) in verdict(admin)
        assert status_of(public, "DELETE", f"/api/v1/tasks/{task}") in verdict(admin)


def test_producer_of_one_task(server, api, runner):
    mine, other = new_task(api), new_task(api)
    _, secret = make_token(api, "producer", task=mine)
    with server.runner(secret) as internal, server.api(secret) as public:
        assert status_of(internal, "POST", f"/api/v1/tasks/{mine}/events", json=note("x")) == 200
        assert status_of(internal, "POST", f"/api/v1/tasks/{other}/events", json=note("x")) == 403
        assert status_of(public, "GET", f"/api/v1/tasks/{mine}/events") == 200
        assert status_of(public, "GET", f"/api/v1/tasks/{other}/events") == 403
        stream = {"Accept": "text/event-stream"}
        assert status_of(public, "GET", f"/api/v1/events?tasks={other}", headers=stream) == 403
    with server.websocket("/api/v1/events", token=secret) as feed:
        feed.until(lambda m: m.type == "caught_up")
        post_events(runner, other, note("not yours"))
        post_events(runner, mine, note("yours"))
        assert feed.until(lambda m: m.type == "task_event")[-1].data["summary"] == "yours"


@pytest.mark.parametrize("token", ["", "shp_wrong", "garbage", "x" * 5000])
def test_without_a_good_token(server, task, token):
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    with httpx.Client(base_url=server.public, trust_env=False) as client:
        for path in ("/api/v1/tasks", f"/api/v1/tasks/{task}", f"/api/v1/tasks/{task}/events", "/api/v1/events",
                     "/api/v1/search?q=x", "/api/v1/tokens", "/metrics"):
            answer = client.get(path, headers=headers)
            assert answer.status_code == 401, path
            contract.check_response(answer)
            assert "Bearer" in answer.headers["www-authenticate"]
    with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
        server.websocket(f"/api/v1/tasks/{task}/events", token=token or "none")
    assert refused.value.response.status_code == 401


def test_open_paths(server):
    with httpx.Client(base_url=server.public, trust_env=False) as client:
        for path in ("/", "/healthz", "/readyz", "/openapi.json"):
            assert client.get(path).status_code == 200, path
        page = client.get("/")
        policy = page.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy
        assert "http://" not in page.text.replace("http://www.w3.org", "") and "https://" not in page.text


def test_internal_port_wants_a_token_too(server, task):
    with httpx.Client(base_url=server.internal, trust_env=False) as client:
        assert client.post(f"/api/v1/tasks/{task}/events", json=note("x")).status_code == 401


def test_routes_stay_on_their_port(server, api, runner, task):
    assert status_of(api, "POST", f"/api/v1/tasks/{task}/events", json=note("x")) in (404, 405)
    assert status_of(runner, "POST", "/api/v1/tasks", json={"prompt": "x"}) in (404, 405)
    assert status_of(runner, "GET", "/api/v1/tokens") in (404, 405)


# --- tokens ---

def test_tokens_are_listed_without_their_secret(api):
    token_id, secret = make_token(api, "viewer")
    text = api.get("/api/v1/tokens").text
    assert token_id in text and secret not in text


def test_tokens_are_stored_hashed(server, api):
    _, secret = make_token(api, "viewer")
    for path in server.data.rglob("*"):
        if path.is_file() and path.name != "admin.token":
            assert secret.encode() not in path.read_bytes(), path


def test_tokens_expire(server, api):
    _, secret = make_token(api, "viewer", expiresInSeconds=1)
    with server.api(secret) as client:
        deadline = time.monotonic() + 10
        while (status := client.get("/api/v1/tasks").status_code) == 200 and time.monotonic() < deadline:
            time.sleep(0.1)  # between two tries
        assert status == 401


@pytest.mark.parametrize("body", [{}, {"name": "x"}, {"scope": "viewer"}, {"name": "x", "scope": "king"},
                                  {"name": "", "scope": "viewer"}, {"name": "n" * 101, "scope": "viewer"},
                                  {"name": "x", "scope": "viewer", "expiresInSeconds": -1}], ids=str)
def test_bad_token_requests(api, body):
    assert api.post("/api/v1/tokens", json=body).status_code == 400


def test_a_revoked_token_cuts_its_streams(server, api, runner, task):
    token_id, secret = make_token(api, "viewer")
    _, other = make_token(api, "viewer")
    path = f"/api/v1/tasks/{task}/events"
    with server.websocket(path, token=secret) as cut, server.websocket("/api/v1/events", token=secret) as cut_all, \
            server.sse(path, token=secret) as cut_sse, server.websocket(path, token=other) as kept:
        for feed in (cut, cut_all, cut_sse, kept):
            feed.until(lambda m: m.type == "caught_up")
        assert api.delete(f"/api/v1/tokens/{token_id}").status_code == 204
        assert cut.to_end()[1].code == 4101
        assert cut_all.to_end()[1].code == 4101
        assert cut_sse.to_end()[1].code is None
        post_events(runner, task, note("after"))
        assert kept.sequences(1) == [1], "another person's stream goes on"
    with server.api(secret) as client:
        assert client.get("/api/v1/tasks").status_code == 401


def test_revoking_twice(api):
    token_id, _ = make_token(api, "viewer")
    assert api.delete(f"/api/v1/tokens/{token_id}").status_code == 204
    assert api.delete(f"/api/v1/tokens/{token_id}").status_code == 404


# --- browsers ---

def login(server, api):
    """Gets a browser's session cookie by a login link."""
    link = api.post("/api/v1/login-links").json()
    assert link["url"] == f"http://shepherd.localhost:{urlsplit(server.public).port}{link['path']}"
    browser = httpx.Client(base_url=server.public, trust_env=False, follow_redirects=False)
    answer = browser.get(link["path"])
    assert answer.status_code == 303, answer.text
    return browser, answer, link["path"]


def test_login_link_makes_a_session(server, api):
    browser, answer, url = login(server, api)
    cookie = answer.headers["set-cookie"].lower()
    assert "httponly" in cookie and ("samesite=strict" in cookie or "samesite=lax" in cookie)
    assert browser.get("/api/v1/tasks").status_code == 200
    again = httpx.get(server.public + url, trust_env=False)
    assert again.status_code == 401, "a link works once"
    twice = browser.get(url)
    assert (twice.status_code, twice.headers["location"]) == (302, "/"), "who is signed in is led to the page"
    origin, session = {"Origin": server.public}, dict(browser.cookies)
    assert browser.post("/api/v1/logout", headers=origin).status_code == 204
    stale = httpx.get(server.public + "/api/v1/tasks", cookies=session, trust_env=False)
    assert stale.status_code == 401, "the session itself has ended, not only the browser's cookie"


def test_start_prints_a_login_link(tmp_path):
    """Without --json the server prints the link for a person."""
    process = subprocess.Popen([BINARY, "serve", "--data", tmp_path / "data", "--listen", "127.0.0.1:0",
                                "--internal-listen", "127.0.0.1:0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                               text=True, env=environment(tmp_path))
    try:
        link = None
        for line in process.stdout:
            if match := re.search(r"http://shepherd\.localhost:(\d+)(/login\S*)", line):
                link = f"http://127.0.0.1:{match.group(1)}{match.group(2)}"
            if "Ctrl-C" in line:
                break
        assert link, "no login link"
        with httpx.Client(trust_env=False, follow_redirects=True) as browser:
            assert browser.get(link).status_code == 200
            assert browser.get(link.split("/login")[0] + "/api/v1/whoami").status_code == 200
    finally:
        process.terminate()
        assert process.wait(15) == 0


def test_a_cookie_alone_changes_nothing(server, api, task):
    """Cross-site request forgery: a mutation authenticated by cookie must come from our own page."""
    browser, _, _ = login(server, api)
    path, body = f"/api/v1/tasks/{task}", {"title": "forged"}
    assert browser.patch(path, json=body).status_code == 403
    assert browser.patch(path, json=body, headers={"Origin": "http://evil.example"}).status_code == 403
    assert browser.patch(path, json=body, headers={"Origin": "null"}).status_code == 403
    assert browser.patch(path, content=json.dumps(body), headers={"Origin": server.public,
                                                                 "Content-Type": "text/plain"}).status_code == 415
    assert browser.patch(path, json=body, headers={"Origin": server.public}).status_code == 200


def test_foreign_pages_cannot_open_streams(server, api, task):
    for origin in ("http://evil.example", "null"):
        with pytest.raises(websockets.exceptions.InvalidStatus) as refused:
            server.websocket(f"/api/v1/tasks/{task}/events", origin=origin)
        assert refused.value.response.status_code == 403
    with server.websocket(f"/api/v1/tasks/{task}/events", origin=server.public) as feed:
        assert feed.next().type == "caught_up"


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8080", "127.0.0.1.evil.example"])
def test_a_rebound_name_is_refused(api, host):
    assert api.get("/api/v1/tasks", headers={"Host": host}).status_code == 403
    assert api.get("/", headers={"Host": host}).status_code == 403


def test_configured_names_are_served(make_server):
    server = make_server(config="public:\n  hosts: [tower.example]\n  origins: ['https://page.example']\n").start()
    with server.api() as api:
        assert api.get("/api/v1/tasks", headers={"Host": "tower.example"}).status_code == 200
        assert api.get("/api/v1/tasks", headers={"Host": "other.example"}).status_code == 403
        assert api.post("/api/v1/tasks", json={"prompt": "x"}, headers={"Origin": "https://page.example"}).status_code == 201


def test_subprotocol_bearer(server, task):
    encoded = base64.urlsafe_b64encode(server.token.encode()).decode().rstrip("=")
    with server.websocket(f"/api/v1/tasks/{task}/events", token="",
                          subprotocols=["shepherd.v1", f"bearer.{encoded}"]) as feed:
        assert feed.subprotocol == "shepherd.v1", "the secret is not echoed"
        assert feed.next().type == "caught_up"


def test_tickets(server, api, runner, task):
    post_events(runner, task, note("1"), note("2"))
    ticket = api.post("/api/v1/tickets").json()["ticket"]
    path = f"/api/v1/tasks/{task}/events?ticket={ticket}"
    with server.sse(path, token="") as feed:
        assert feed.sequences(2) == [1, 2]
    with server.sse(path, token="") as feed:
        assert feed.status == 401, "single use"
    with server.sse(path, token="", headers={"Last-Event-ID": "1"}) as feed:
        assert feed.status == 200 and feed.sequences(1) == [2], "its own stream may reconnect with a cursor"
    other = new_task(api)
    with server.sse(f"/api/v1/tasks/{other}/events?ticket={ticket}&after=0", token="") as feed:
        assert feed.status == 401, "but not another stream"
    with httpx.Client(base_url=server.public, trust_env=False) as client:
        fresh = api.post("/api/v1/tickets").json()["ticket"]
        assert client.get(f"/api/v1/tasks?ticket={fresh}").status_code == 401, "tickets open streams, nothing else"


def test_token_in_the_query_only_when_configured(server, make_server, task):
    with httpx.Client(trust_env=False) as client:
        assert client.get(f"{server.public}/api/v1/tasks?token={server.token}").status_code == 401
        open_server = make_server(config="public:\n  allow_query_token: true\n").start()
        assert client.get(f"{open_server.public}/api/v1/tasks?token={open_server.token}").status_code == 200
        assert client.get(f"{open_server.public}/api/v1/tasks?token=wrong").status_code == 401
        assert open_server.stop() == 0
        for place in (open_server.log_path, *open_server.data.glob("audit*")):
            assert open_server.token not in place.read_text(), f"{place.name} holds a token"


# --- audit, rates, configuration ---

def test_audit_says_who_did_what(make_server):
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        _, secret = make_token(api, "viewer")
        name = [t["name"] for t in api.get("/api/v1/tokens").json() if t["scope"] == "viewer"][0]
        task = new_task(api)
        post_events(runner, task, note("1"), note("2"), note("3"))
        with server.websocket(f"/api/v1/tasks/{task}/events?after=1", token=secret) as feed:
            assert feed.sequences(2) == [2, 3]
        with server.api(secret) as client:
            client.post("/api/v1/tasks", json={"prompt": "x"})
    assert server.stop() == 0
    records = [json.loads(line) for path in server.data.glob("audit*") for line in path.read_text().splitlines()]
    texts = [json.dumps(r) for r in records]
    assert not any(secret in t or server.token in t for t in texts)
    mine = [r for r, t in zip(records, texts) if name in t]
    streams = [r for r in mine if f"/api/v1/tasks/{task}/events" in json.dumps(r)]
    assert len(streams) == 1 and {2, 3} <= set(streams[0].values()), "one record per stream, with its range"
    assert any(403 in r.values() for r in mine), "refusals are recorded"


def test_guessing_is_slowed_down(make_server):
    server = make_server().start()
    with httpx.Client(base_url=server.public, trust_env=False) as client:
        statuses = [client.get("/api/v1/tasks", headers={"Authorization": f"Bearer shp_{i}"}).status_code
                    for i in range(120)]
        assert statuses[0] == 401 and statuses[-1] == 429
        limited = client.get("/api/v1/tasks", headers={"Authorization": "Bearer shp_x"})
        assert limited.status_code == 429 and int(limited.headers["retry-after"]) > 0
        assert client.get("/healthz").status_code == 200
        good = client.get("/api/v1/tasks", headers={"Authorization": f"Bearer {server.token}"})
        assert good.status_code == 200, "who has a good token is not slowed down by a neighbour's stale one"


def test_a_revoked_token_takes_its_browsers_along(make_server):
    server = make_server().start()
    with server.api() as api:
        ann = api.post("/api/v1/tokens", json={"name": "ann", "scope": "operator"}).json()
        with server.api(ann["secret"]) as own:
            link = own.post("/api/v1/login-links", json={}).json()
        with httpx.Client(base_url=server.public, trust_env=False) as browser:
            assert browser.get(link["path"]).status_code == 303
            assert browser.get("/api/v1/whoami").json()["person"] == "ann"
            listed = server.cli("token", "list").stdout
            assert f"session of {ann['id']}" in listed, listed
            assert api.delete(f"/api/v1/tokens/{ann['id']}").status_code == 204
            assert browser.get("/api/v1/whoami").status_code == 401
        assert ann["id"] not in server.cli("token", "list").stdout


def test_the_session_is_no_token(server, api, task):
    """A session that another server on this machine gets from a browser is not valid as a token, on any port."""
    browser, _, _ = login(server, api)
    secret = browser.cookies["shepherd_session"]
    bearer = {"Authorization": f"Bearer {secret}"}
    assert browser.get("/api/v1/whoami").json()["scope"] == "admin"
    assert httpx.get(server.public + "/api/v1/tasks", headers=bearer, trust_env=False).status_code == 401
    assert httpx.post(server.public + "/api/v1/tokens", json={"name": "x", "scope": "admin"}, headers=bearer,
                      trust_env=False).status_code == 401
    assert httpx.post(f"{server.internal}/api/v1/tasks/{task}/events", json=note("x"), headers=bearer,
                      trust_env=False).status_code == 401
    with RpcClient(server.ready["grpc"], secret) as stranger, pytest.raises(grpc.RpcError) as refused:
        stranger.call("ListAgents")
    assert refused.value.code() == grpc.StatusCode.UNAUTHENTICATED


def test_one_token_cannot_end_the_links_and_tickets_of_others(make_server):
    server = make_server().start()
    with server.api() as api:
        task = new_task(api)
        link = api.post("/api/v1/login-links").json()["path"]
        ticket = api.post("/api/v1/tickets").json()["ticket"]
        _, viewer = make_token(api, "viewer")
        _, agent = make_token(api, "producer", taskID=task)
    with server.api(viewer) as curious, server.api(agent) as program:
        assert program.post("/api/v1/login-links").status_code == 403
        for _ in range(1010):
            assert curious.post("/api/v1/login-links").status_code == 201
        for _ in range(2000):
            assert program.post("/api/v1/tickets").status_code == 201
    for _ in range(70):
        httpx.get(server.public + "/login?code=shl_wrong", trust_env=False)
    assert httpx.get(server.public + link, trust_env=False).status_code == 303
    with server.websocket(f"/api/v1/tasks/{task}/events?ticket={ticket}", token="") as feed:
        assert feed.next().type == "caught_up"


def test_revoking_a_token_with_many_browsers_is_quick(make_server):
    server = make_server().start()
    with server.api() as api:
        token_id, secret = make_token(api, "viewer")
        with server.api(secret) as own:
            cookies = [httpx.get(server.public + own.post("/api/v1/login-links").json()["path"], trust_env=False).cookies
                       for _ in range(230)]
        listed = [t for t in api.get("/api/v1/tokens").json() if t.get("sessionOf") == token_id]
        assert len(listed) == 200, "the newest ones"
        assert httpx.get(server.public + "/api/v1/whoami", cookies=cookies[0], trust_env=False).status_code == 401
        assert httpx.get(server.public + "/api/v1/whoami", cookies=cookies[-1], trust_env=False).status_code == 200
        assert api.delete(f"/api/v1/tokens/{token_id}").status_code == 204
        assert httpx.get(server.public + "/api/v1/whoami", cookies=cookies[-1], trust_env=False).status_code == 401


def test_no_credentials_when_configured(make_server):
    server = make_server(config="public:\n  auth: none\ninternal:\n  auth: none\n").start()
    with server.api("") as api, server.runner("") as runner:
        task = new_task(api)
        post_events(runner, task, note("x"))
        end_task(runner, task)
        with server.websocket(f"/api/v1/tasks/{task}/events", token="") as feed, pytest.raises(StreamEnded):
            for _ in range(5):
                feed.next()


@pytest.mark.parametrize("config,addresses", [
    ("public:\n  auth: none\n", {"listen": "0.0.0.0:0"}),
    ("internal:\n  auth: none\n", {"internal": "0.0.0.0:0"}),
    ("", {"listen": "0.0.0.0:0"}),
], ids=["public-none", "internal-none", "no-tls"])
def test_unsafe_addresses_need_a_word(make_server, config, addresses):
    with pytest.raises(DidNotStart) as refused:
        make_server(config=config, **addresses).start()
    assert refused.value.code == 2, refused.value
    assert "0.0.0.0:0" in refused.value.text
    assert "127.0.0.1" in refused.value.text or "--insecure-bind" in refused.value.text, "it says what to do"


def test_admin_token_file(server):
    path = server.data / "admin.token"
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.read_text().strip() == server.token and server.token.startswith("shp_")
