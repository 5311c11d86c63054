"""/openapi.json is a valid description, and what it describes is there."""

import re

import httpx
import pytest
from openapi_spec_validator import OpenAPIV31SpecValidator

from tasks import new_task, post_events


@pytest.fixture(scope="module")
def description(shared_server):
    answer = httpx.get(shared_server.public + "/openapi.json", trust_env=False)
    assert answer.status_code == 200 and answer.headers["content-type"] == "application/json"
    return answer.json()


def test_it_is_valid(description):
    assert description["openapi"].startswith("3.1")
    OpenAPIV31SpecValidator(description).validate()


def test_every_operation_answers(server, api, runner, description):
    """Each described path and method exists on one of the listeners: whatever the answer, it is not 404 or 405."""
    asset = re.search(r"assets/([\w.-]+)", httpx.get(server.public + "/", trust_env=False).text)[1]
    wrong = []
    for path, item in description["paths"].items():
        for method in sorted(set(item) & {"get", "post", "put", "patch", "delete"}):
            task = new_task(api)
            post_events(runner, task, {"type": "tool_call", "tool": "Bash", "summary": "x",
                                       "input": {"command": "y" * 2000}})
            post_events(runner, task, {"type": "session_start", "summary": "x", "sessionID": task})
            token = api.post("/api/v1/tokens", json={"name": "x", "scope": "viewer"}).json()
            owner = token["id"] if "/tokens/" in path else task
            target = path.replace("{id}", owner).replace("{taskID}", owner).replace("{task}", owner)
            target = target.replace("{sequence}", "1").replace("{name}", asset).replace("{n}", "1")
            assert "{" not in target, f"unknown parameter in {path}"
            statuses = []
            for base in (server.public, server.internal):
                with httpx.stream(method.upper(), base + target, headers={**server.headers(), "Content-Type": "application/json"},
                                  trust_env=False, timeout=10) as answer:
                    statuses.append(answer.status_code)
            if all(s in (404, 405) for s in statuses):
                wrong.append(f"{method.upper()} {path}: {statuses}")
    assert not wrong


def test_operations_describe_their_answers(description):
    for path, item in description["paths"].items():
        for method in set(item) & {"get", "post", "put", "patch", "delete"}:
            operation = item[method]
            assert operation.get("summary") or operation.get("description"), f"{method} {path}"
            assert operation["responses"], f"{method} {path}"
