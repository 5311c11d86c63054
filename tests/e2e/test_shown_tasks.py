"""What is shown and kept of a task: no secrets in its members, none of its text after deletion, one number of
tokens."""

from tasks import eventually, new_id, new_task, note, post_events
from terminal import Terminal

SECRET = "ghp_" + "aB3" * 12


def test_no_member_of_a_task_shows_a_secret(server, api):
    with server.websocket("/api/v1/events") as feed:
        task = new_task(api, labels={SECRET: "x", "y": SECRET, "team": "core"}, workflowID=SECRET, model=SECRET, agent=SECRET,
                        runner=SECRET, repo={"url": "https://example.com/a.git", "ref": SECRET}, allowedTools=["Read", SECRET],
                        task={"description": "work", "sourceID": SECRET, "sourceType": SECRET, "context": SECRET})
        while True:
            update = feed.next()
            if update.type == "task_update" and update.data["id"] == task:
                break
    assert SECRET not in str(update.data)
    assert SECRET not in api.get(f"/api/v1/tasks/{task}").text
    assert SECRET not in api.get("/api/v1/tasks").text
    assert SECRET not in server.cli("export", task).stdout
    row = api.get(f"/api/v1/tasks/{task}").json()
    assert row["labels"]["team"] == "core" and row["allowedTools"][0] == "Read"
    with server.runner() as runner:
        assert runner.get(f"/api/v1/tasks/{task}/data").json()["context"] == SECRET, "the agent is told what it was meant to be told"


def test_a_secret_in_a_path_is_not_audited(server, api):
    assert api.get(f"/api/v1/tasks/{SECRET}").status_code == 404
    assert api.get(f"/no/such/{SECRET}").status_code == 404
    assert server.api(token="").get(f"/api/v1/tasks/{SECRET}/events").status_code == 401
    mark = new_id("mark")
    api.get(f"/api/v1/tasks/{mark}")
    audit = eventually(lambda: mark in (text := (server.data / "audit.ndjson").read_text()) and text)
    assert SECRET not in audit and "/no/such/[redacted" in audit


def test_words_of_a_deleted_task_are_in_no_file(server, api, runner, task):
    word = "zq" + new_id("").strip("-")
    post_events(runner, task, *[note(f"{word} {i}") for i in range(50)])
    eventually(lambda: api.get("/api/v1/search", params={"q": word}).json()["results"])
    assert api.delete(f"/api/v1/tasks/{task}").status_code == 204

    def left():
        return [path.name for path in server.data.glob("search.db*") if word.encode() in path.read_bytes()]
    eventually(lambda: left() == [])
    assert api.get("/api/v1/search", params={"q": word}).json()["results"] == []


def test_tokens_are_the_same_number_wherever_they_are_shown(make_server):
    server = make_server().start()
    with server.api() as api, server.runner() as runner:
        task, fresh = new_task(api, title="Counts its tokens"), new_task(api, title="Has used nothing")
        used = {"costUSD": 0.25, "inputTokens": 1000, "outputTokens": 500, "cacheReadTokens": 30000, "cacheWriteTokens": 200}
        post_events(runner, task, {"type": "usage", "summary": "so far", "data": {**used, "partial": True}})
        for each in (task, fresh):
            post_events(runner, each, {"type": "status", "summary": "Which way?", "data": {"state": "waiting_for_input"}})
        eventually(lambda: api.get("/api/v1/inbox").json()["total"] == 2)
    assert "\ntokens      31.7k\n" in server.cli("tasks", "show", task).stdout
    assert "tokens" not in server.cli("tasks", "show", fresh).stdout
    listed = server.cli("inbox").stdout.splitlines()
    assert [line.split("  ")[-1] for line in listed if "Counts its tokens" in line] == ["31.7k tokens, $0.25"], listed
    assert [line for line in listed if line.endswith("Has used nothing")], listed
    env = {**server.env, "SHEPHERD_URL": server.public, "SHEPHERD_TOKEN": server.token, "SHEPHERD_DATA": str(server.data)}
    screen = Terminal(["top"], env)
    try:
        screen.wait_for(lambda text: any("Counts its" in line and "31.7k" in line for line in text.splitlines()))
    finally:
        screen.kill()
    narrow = Terminal(["inbox"], env, columns=44)
    assert narrow.end() == 0
    assert all(len(line) <= 44 for line in narrow.text().splitlines()) and "Counts its tokens" in narrow.text(), narrow.text()
