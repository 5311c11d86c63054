"""Pages of other sites: what a browser lets them do with chats (CORS), by `chat.cors_origins`."""

import httpx
import pytest

from chat_client import config
from chat_world import ANSWER, World, shared_world, world  # noqa: F401 (fixtures)
from server import DidNotStart, Server

SITE = "https://chat.example.com"


@pytest.fixture(scope="module")
def shared_with_a_site(tmp_path_factory):
    made = World(tmp_path_factory.mktemp("cors"), chat={"cors_origins": [SITE]}, auth="token")
    yield made
    made.close()


def preflight(server, path, method="POST", origin=SITE, **headers):
    return httpx.request("OPTIONS", server.public + path, trust_env=False, headers={
        "Origin": origin, "Access-Control-Request-Method": method, "Access-Control-Request-Headers": "authorization,content-type", **headers})


def test_a_page_of_a_listed_site_may_use_chats(shared_with_a_site):
    """As a browser does it: it asks first, without a token, and shows the page only answers that name its origin."""
    server = shared_with_a_site.server
    for path, method in (("/request", "POST"), ("/session", "GET"), ("/updates", "GET"), ("/sessions/other/cancel", "POST"), ("/sessions/other", "DELETE")):
        asked = preflight(server, path, method)
        assert asked.status_code == 204 and asked.headers["access-control-allow-origin"] == SITE, (path, asked.text)
        assert asked.headers["access-control-allow-methods"] == method and "Origin" in asked.headers["vary"]
        assert {"authorization", "content-type"} <= set(asked.headers["access-control-allow-headers"].lower().split(", "))
        assert "access-control-allow-credentials" not in asked.headers, "never with the session cookie"
    with httpx.Client(base_url=server.public, trust_env=False, headers={"Origin": SITE, "Authorization": f"Bearer {server.token}"}) as page:
        answer = page.post("/request", json={"prompt": "Hello"})
        assert answer.json()["response"] == ANSWER and answer.headers["access-control-allow-origin"] == SITE
        assert page.get("/session").headers["access-control-allow-origin"] == SITE
        with page.stream("GET", "/updates") as updates:
            assert updates.status_code == 200 and updates.headers["access-control-allow-origin"] == SITE
        # It can read why it was refused.
        refused = page.get("/session", headers={"Authorization": "Bearer wrong"})
        assert refused.status_code == 401 and refused.headers["access-control-allow-origin"] == SITE
        # The rest of the API is not shared.
        tasks = page.get("/api/v1/tasks")
        assert tasks.status_code == 200 and "access-control-allow-origin" not in tasks.headers
        assert page.post("/api/v1/tasks", json={"prompt": "x"}).status_code == 403
        assert page.post("/v1/chat/completions", json={"model": "local", "messages": []}).status_code == 403


def test_pages_of_other_sites_may_not(shared_with_a_site, world):  # noqa: F811
    server = shared_with_a_site.server
    for asked in (preflight(server, "/request", origin="https://evil.example"), preflight(server, "/request", origin="null"),
                  preflight(server, "/api/v1/tasks"), preflight(server, "/v1/chat/completions"), preflight(server, "/nothing"),
                  preflight(server, "/request", "PUT"), preflight(server, "/request", Host="evil.example"), preflight(world.server, "/request")):
        assert asked.status_code >= 400 and "access-control-allow-origin" not in asked.headers, asked.headers
    answer = httpx.post(server.public + "/request", json={"prompt": "Hello"}, trust_env=False,
                        headers={"Origin": "https://evil.example", "Authorization": f"Bearer {server.token}"})
    assert answer.status_code == 403 and answer.json()["code"] == "bad_origin" and "access-control-allow-origin" not in answer.headers


@pytest.mark.parametrize("origin", ["*", "chat.example.com", "https://chat.example.com/", "https://*.example.com", "null"])
def test_an_origin_that_is_none(tmp_path, origin):
    """Every origin is listed by itself: a star would let any page a person opens talk to the models."""
    with pytest.raises(DidNotStart, match="is no origin"):
        Server(tmp_path / "data", config=config("http://127.0.0.1:9/v1", chat={"cors_origins": [origin]})).start()
