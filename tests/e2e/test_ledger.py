"""The ledger (the source of statistics) over the life of an installation: backed up, examined, lost, damaged, old."""

import json
import sqlite3
import time

from tasks import end_task, eventually, new_task, note, post_events


def usage(cost):
    return {"type": "usage", "summary": "", "sessionID": "s", "data": {"costUSD": cost, "inputTokens": 10}}


def totals(api, **parameters):
    """The answer's totals once the ledger is up to date."""
    def look():
        answer = api.get("/api/v1/stats", params=parameters).json()
        return answer["totals"] if answer["indexedThrough"] == answer["head"] else None
    return eventually(look)


def doctor(server):
    result = server.cli("doctor", "--json", check=False)
    found = [json.loads(line) for line in result.stdout.splitlines()]
    return result.returncode, [f for f in found if f["subject"] == "ledger"]


def spend(server, cost):
    with server.api() as api, server.runner() as runner:
        task = new_task(api, model="opus")
        post_events(runner, task, usage(cost), note("work"))
        end_task(runner, task, "completed")
        return totals(api)


def test_a_backup_has_the_figures_that_the_logs_no_longer_have(server, make_server, tmp_path):
    """No log has deleted tasks; only the ledger has their cost."""
    before = spend(server, 0.25)
    with server.api() as api:
        for task in api.get("/api/v1/tasks").json():
            assert api.delete(f"/api/v1/tasks/{task['id']}").status_code == 204
    said = json.loads(server.cli("backup", tmp_path / "tower.db", "--json").stdout)
    ledger = tmp_path / "tower.ledger.db"
    assert said["ledger"] == {"file": str(ledger), "bytes": ledger.stat().st_size}
    assert ledger.stat().st_mode & 0o777 == 0o600
    copy = make_server(name="restored")
    (tmp_path / "tower.db").rename(copy.data / "shepherd.db")
    ledger.rename(copy.data / "ledger.db")
    copy.start()
    with copy.api() as api:
        restored = totals(api)
        assert restored["costUSD"] == before["costUSD"] == 0.25
        assert restored["running"] == 0
    assert not (copy.data / "ledger.db.old").exists(), "it was taken as it is"


def test_a_backup_while_events_come_is_never_ahead_of_its_store(server, make_server, tmp_path):
    with server.api() as api, server.runner() as runner:
        task = new_task(api)
        for round_ in range(3):
            for _ in range(20):
                post_events(runner, task, note("x"))
            server.cli("backup", tmp_path / f"{round_}.db")
            with sqlite3.connect(tmp_path / f"{round_}.ledger.db") as ledger:
                (through,) = ledger.execute("SELECT through FROM progress").fetchone()
            with sqlite3.connect(tmp_path / f"{round_}.db") as store:
                (head,) = store.execute("SELECT max(position) FROM run").fetchone()
            assert through <= head


def test_a_backup_of_the_logs_is_made_also_without_figures(make_server, tmp_path):
    server = make_server().start()
    spend(server, 1)
    server.stop()
    (server.data / "ledger.db").write_bytes(b"not a database at all" * 1000)
    for suffix in ("-wal", "-shm"):
        (server.data / f"ledger.db{suffix}").unlink(missing_ok=True)
    result = server.cli("backup", tmp_path / "tower.db", check=False)
    assert result.returncode == 1 and "figures are not copied" in result.stdout, result.stdout
    assert (tmp_path / "tower.db").exists() and not (tmp_path / "tower.ledger.db").exists()


def test_the_doctor_knows_the_ledger(make_server):
    server = make_server().start()
    spend(server, 1)
    code, (sound,) = doctor(server)
    assert code == 0 and sound["level"] == "ok", sound
    assert "format 1" in sound["text"] and "figures since 20" in sound["text"]
    server.stop()

    with sqlite3.connect(server.data / "ledger.db") as ledger:
        ledger.execute("UPDATE amount SET events = events + 1 WHERE unit = 60")
    code, (wrong,) = doctor(server)
    assert code == 1 and wrong["level"] == "fail" and "add up" in wrong["text"], wrong
    assert "ledger.db" in wrong["advice"]

    with sqlite3.connect(server.data / "ledger.db") as ledger:
        ledger.execute("PRAGMA user_version = 7")
    _, (foreign,) = doctor(server)
    assert foreign["level"] == "warn" and "format 7" in foreign["text"]

    (server.data / "ledger.db").rename(server.data / "away")
    _, (missing,) = doctor(server)
    assert missing["level"] == "warn" and "does not exist" in missing["text"]


def test_a_lost_or_damaged_ledger_is_built_again(make_server):
    server = make_server().start()
    before = spend(server, 0.5)
    server.kill()
    for path in server.data.glob("ledger.db*"):
        path.unlink()
    server.start()
    with server.api() as api:
        assert totals(api) == before

    server.kill()
    for suffix in ("-wal", "-shm"):
        (server.data / f"ledger.db{suffix}").unlink(missing_ok=True)
    (server.data / "ledger.db").write_bytes(b"rubbish, not a database" * 1000)
    server.start()
    with server.api() as api:
        assert totals(api) == before
    code, found = doctor(server)
    assert code == 0 and [f["level"] for f in found] == ["ok", "warn"] and ".old" in found[1]["text"], found


def test_old_figures_go(make_server):
    server = make_server().start()
    spend(server, 0.5)
    server.stop()
    day = 86_400
    now = int(time.time()) // 900 * 900
    with sqlite3.connect(server.data / "ledger.db") as ledger:
        for days in (5, 100, 500):
            for unit in (60, 900):
                ledger.execute("INSERT INTO amount VALUES(?, ?, 'claude', 'old', 1000000000, 0, 0, 0, 0, 1, 0, 0, 0)",
                               (unit, now - days * day))
                ledger.execute("INSERT INTO tool VALUES(?, ?, 'Bash', 1, 0)", (unit, now - days * day))
            ended = (now - days * day) * 1000
            ledger.execute("INSERT INTO span VALUES(?, 'claude', 'old', ?, ?)", (f"old{days}", ended - 1000, ended))
    server.start()

    def kept():
        with sqlite3.connect(server.data / "ledger.db") as ledger:
            rows = ledger.execute("SELECT unit, at FROM amount WHERE model = 'old' ORDER BY unit, at").fetchall()
            spans = ledger.execute("SELECT ended FROM span WHERE model = 'old' ORDER BY ended").fetchall()
        return [(unit, (now - at) // day) for unit, at in rows], [(now - ended // 1000) // day for (ended,) in spans]

    expected = [(60, 5), (900, 100), (900, 5)], [100, 5]
    eventually(lambda: kept() == expected)
    with server.api() as api:
        fine = {"from": f"-{101}d", "to": "-99d", "step": 1800}
        answer = api.get("/api/v1/stats", params=fine).json()
        assert answer["totals"]["costUSD"] == 1
        near = {"from": time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(now - 100 * day - 1800)),
                "to": time.strftime("%Y-%m-%dT%H:%M:00Z", time.gmtime(now - 100 * day + 1800)), "step": 60}
        answer = api.get("/api/v1/stats", params=near).json()
        assert answer["stepSeconds"] == 900 and answer["totals"]["costUSD"] == 1, "told in quarters, not lost"


def test_a_deleted_task_leaves_no_word_in_the_ledger(make_server):
    """Tools that only it called, its id, its findings: they are in no answer and in no page of the file."""
    server = make_server().start()
    word = "Zyzzyva"
    with server.api() as api, server.runner() as runner:
        other = new_task(api, id="stays", model="opus")
        task = new_task(api, id=f"about-{word}", model="opus")
        calls = [(f"tool{i * 7919 % 3001}_{word if i % 3 == 0 else 'x'}", task if i % 3 == 0 else other) for i in range(3000)]
        for some in range(0, len(calls), 50):  # scattered among others, so that rows move from page to page
            for whose in (task, other):
                post_events(runner, whose, *[{"type": "tool_result", "summary": "", "tool": tool, "callID": "c", "durationMS": 5}
                                             for tool, caller in calls[some:some + 50] if caller == whose])
            if some % 500 == 0:
                totals(api)
        shared = {"type": "tool_call", "summary": "", "tool": "Bash", "callID": "b"}
        post_events(runner, task, shared, {"type": "finding", "summary": word, "data": {"severity": f"high {word}"}}, usage(0.5))
        post_events(runner, other, shared)
        end_task(runner, task)
        before = totals(api)
        assert f'tool="tool0_{word}"' in api.get("/metrics").text
        assert any(word.encode() in path.read_bytes() for path in server.data.glob("ledger.db*")), "there is something to remove"

        assert api.delete(f"/api/v1/tasks/{task}").status_code == 204
        eventually(lambda: not any(word.encode() in path.read_bytes() for path in server.data.glob("ledger.db*")))
        after = api.get("/api/v1/stats").json()
        assert word not in json.dumps(after)
        assert after["tools"][0]["tool"] == "Bash" and after["tools"][0]["calls"] == 2, "what another task has called stays"
        assert after["totals"] == before, "what it cost stays known"
        assert word not in api.get("/metrics").text
    server.stop()
    assert not any(word.encode() in path.read_bytes() for path in server.data.glob("ledger.db*"))
    code, (sound,) = doctor(server)
    assert code == 0 and sound["level"] == "ok", sound


def test_tools_in_a_ledger_of_an_older_program_stay(make_server):
    """The older ledger does not record which task called them."""
    server = make_server().start()

    def call(tool):
        with server.api() as api, server.runner() as runner:
            task = new_task(api)
            post_events(runner, task, *[{"type": "tool_call", "summary": "", "tool": each, "callID": each} for each in tool])
            totals(api)
            return task

    call(["Old"])
    server.stop()
    with sqlite3.connect(server.data / "ledger.db") as ledger:
        ledger.execute("DROP TABLE tool_task")
    server.start()
    task = call(["Old", "New"])
    with server.api() as api:
        assert {tool["tool"] for tool in api.get("/api/v1/stats").json()["tools"]} == {"Old", "New"}
        assert api.delete(f"/api/v1/tasks/{task}").status_code == 204
        eventually(lambda: [(t["tool"], t["calls"]) for t in api.get("/api/v1/stats").json()["tools"]] == [("Old", 2)])
