"""Items enter the inbox and leave it: every kind, every way out, also across a kill -9."""

import json

import pytest

from tasks import end_task, eventually, new_task, note, post_events

STALLED = "inbox:\n  stalled_seconds: 3\n"


def entries(api, task):
    items = api.get("/api/v1/inbox", params={"limit": 1000}).json()["items"]
    return [item["kind"] for item in items if item["taskID"] == task]


def asks(kind="permission", state="pending"):
    return {"type": "approval", "summary": "may I?", "tool": "Bash",
            "data": {"approvalID": "a1", "state": state, "kind": kind, "tool": "Bash", "input": {"command": "git push"}}}


def status(state):
    return {"type": "status", "summary": f"it is {state}", "data": {"state": state}}


# kind: how a task comes to need a person, and how that ends
STORIES = {
    "approval": (asks(), asks(state="approved")),
    "question": (asks("question"), asks("question", state="answered")),
    "waiting": (status("waiting_for_input"), status("running")),
}


@pytest.mark.parametrize("kind", STORIES)
def test_it_comes_survives_a_kill_and_goes(make_server, kind):
    server = make_server().start()
    begins, ends = STORIES[kind]
    with server.api() as api, server.runner() as runner:
        task, other = new_task(api), new_task(api)
        for each in (task, other):
            post_events(runner, each, note("x"), begins)
        eventually(lambda: entries(api, task) == [kind] and entries(api, other) == [kind])
        since = api.get("/api/v1/inbox").json()["items"][0]["since"]
    server.kill()
    server.start()
    with server.api() as api, server.runner() as runner:
        eventually(lambda: entries(api, task) == [kind] and entries(api, other) == [kind])
        assert api.get("/api/v1/inbox").json()["items"][0]["since"] == since, "it waits since then, not since the start"
        post_events(runner, task, ends)
        eventually(lambda: entries(api, task) == [])
        end_task(runner, other, "completed")
        eventually(lambda: entries(api, other) == [])
    server.kill()
    server.start()
    with server.api() as api:
        api.get("/api/v1/inbox")
        assert eventually(lambda: api.get("/api/v1/inbox").json()["total"] == 0)


def test_the_terminal_shows_what_can_be_answered(make_server):
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        question = asks("question")
        question["data"]["input"] = {"questions": [
            {"question": "How?", "header": "Split", "options": [{"label": "By month", "description": "x"}, {"label": "By customer"}]}]}
        post_events(runner, task, note("x"), question)
        eventually(lambda: entries(api, task) == ["question"])
    table = server.cli("inbox").stdout
    assert "By month | By customer" in table and "{" not in table, table


def test_an_agent_that_goes_quiet_is_stalled_until_it_speaks(make_server):
    server = make_server(config=STALLED).start()
    with server.api() as api, server.runner() as runner:
        quiet, waits, ended = (new_task(api) for _ in range(3))
        for task in (quiet, waits, ended):
            post_events(runner, task, note("x"))
        post_events(runner, waits, status("waiting_for_input"))
        end_task(runner, ended, "completed")
        assert entries(api, quiet) == [], "not at once"
        eventually(lambda: entries(api, quiet) == ["stalled"])
        assert entries(api, waits) == ["waiting"] and entries(api, ended) == [], "only who says that it works can stall"
    server.kill()
    server.start()
    with server.api() as api, server.runner() as runner:
        eventually(lambda: entries(api, quiet) == ["stalled"])
        post_events(runner, quiet, note("back again"))
        eventually(lambda: entries(api, quiet) == [])
        eventually(lambda: entries(api, quiet) == ["stalled"])
        server.cli("inbox", "--dismiss", quiet)
        assert entries(api, quiet) == []
    server.kill()
    server.start()
    with server.api() as api, server.runner() as runner:
        eventually(lambda: entries(api, waits) == ["waiting"])
        assert entries(api, quiet) == [], "dismissed is dismissed, also after a kill"
        post_events(runner, quiet, note("once more"))
        eventually(lambda: entries(api, quiet) == ["stalled"])


def test_a_failure_is_listed_until_it_is_dismissed_or_deleted(make_server):
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        seen, gone = new_task(api), new_task(api)
        for task in (seen, gone):
            end_task(runner, task, "failed", message="no disk")
        eventually(lambda: entries(api, seen) == ["failed"] and entries(api, gone) == ["failed"])
    server.kill()
    server.start()
    with server.api() as api:
        eventually(lambda: entries(api, seen) == ["failed"] and entries(api, gone) == ["failed"])
        server.cli("inbox", "--dismiss", seen)
        assert entries(api, seen) == []
        assert api.delete(f"/api/v1/tasks/{gone}").status_code == 204
        eventually(lambda: entries(api, gone) == [])
        again = server.cli("inbox", "--dismiss", seen, check=False)
        assert again.returncode != 0 and "nothing in the inbox" in again.stderr


# --- the command line ---


def test_an_empty_inbox_says_so(make_server):
    server = make_server().start()
    result = server.cli("inbox")
    assert result.stdout == "" and "Nothing needs you" in result.stderr
    assert json.loads(server.cli("inbox", "--json").stdout) == {"items": [], "total": 0}


def test_what_the_list_says_to_type_works(make_server):
    """A person copies the last line. It names the approval, so that a later one is not approved by mistake."""
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        task = new_task(api, title="Push it")
        post_events(runner, task, note("x"), asks())
        eventually(lambda: entries(api, task))
        shown = server.cli("inbox").stdout
        (line,) = [line for line in shown.splitlines() if task in line]
        assert line.strip() == f"shepherd approve {task} a1" and "command: git push" in shown, shown
        # No runner has this task, so the command is in the log and refused: it reached the right approval.
        words = line.split("shepherd ", 1)[1].split()[:3]
        server.cli(*words, check=False)
        (command,) = [e for e in api.get(f"/api/v1/tasks/{task}/events").json()["events"] if e["type"] == "command"]
        assert (command["data"]["kind"], command["data"]["approvalID"]) == ("approve", "a1")
        other = server.cli("approve", task, "another-one", check=False)
        assert other.returncode != 0 and "a1" in other.stderr
