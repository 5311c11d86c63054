"""Claims and leases in the real program: a runner gets a task, keeps it, and loses it."""

import collections
import threading
import time

import pytest

from streams import WAIT
from tasks import end_task, new_id, new_task, note, post_events
from test_commands import command, wait_for

AGENT = "of-these-tests"  # no other runner claims it


def claim(runner, runner_id, expect=200, **members):
    answer = runner.post("/api/v1/claims", json={"runner": runner_id, "agents": [AGENT], **members})
    assert answer.status_code == expect, answer.text
    return None if expect == 204 else answer.json()


def renew(runner, task, runner_id, epoch, expect=200):
    answer = runner.put(f"/api/v1/tasks/{task}/lease", json={"runner": runner_id, "leaseEpoch": epoch})
    assert answer.status_code == expect, answer.text
    return answer.json()


def state_of(api, task):
    return api.get(f"/api/v1/tasks/{task}").json()["status"]["state"]


def test_a_claim_and_its_task(api, runner):
    earlier = new_task(api)
    post_events(runner, earlier, {"type": "session_start", "summary": "start", "sessionID": "s-77", "data": {"model": "m"}})
    task = new_task(api, agent=AGENT, runner="r1", model="big", mode="interactive", maxTurns=3, allowedTools=["Read"],
                    mcpServers={"files": {"command": "x"}}, budget=1.5, timeout="5m", command=["make", "test"],
                    repo={"url": "https://example.com/app.git", "ref": "main"}, labels={"team": "web"}, resumeOf=earlier,
                    task={"description": "Fix it", "context": "It is broken", "sourceURL": "https://example.com/1",
                          "sourceType": "issue", "sourceID": "1"})
    claimed = claim(runner, "r1")
    epoch = claimed["leaseEpoch"]
    assert claimed == {"taskID": task, "leaseEpoch": epoch, "leaseSeconds": 30}
    row = api.get(f"/api/v1/tasks/{task}").json()
    assert (row["status"]["state"], row["runner"], row["command"]) == ("starting", "r1", ["make", "test"])
    [event] = api.get(f"/api/v1/tasks/{task}/events").json()["events"]
    assert event["type"] == "status"
    assert event["data"] == {"state": "starting", "message": "claimed by r1", "runner": "r1", "leaseEpoch": epoch}
    data = runner.get(f"/api/v1/tasks/{task}/data").json()
    assert data == {"id": task, "description": "Fix it", "context": "It is broken", "sourceURL": "https://example.com/1",
                    "sourceType": "issue", "sourceID": "1", "repo": {"url": "https://example.com/app.git", "ref": "main"},
                    "agent": AGENT, "model": "big", "mode": "interactive", "command": ["make", "test"], "maxTurns": 3,
                    "allowedTools": ["Read"], "mcpServers": {"files": {"command": "x"}}, "budget": 1.5, "timeout": 300,
                    "resumeOf": earlier, "resumeSession": "s-77", "labels": {"team": "web"}}
    assert command(api, task, "interrupt")["state"] == "accepted", "a lease is somebody"
    assert renew(runner, task, "r1", epoch) == {"leaseEpoch": epoch, "leaseSeconds": 30}
    end_task(runner, task)
    wait_for(lambda: runner.put(f"/api/v1/tasks/{task}/lease", json={"runner": "r1", "leaseEpoch": epoch}).status_code == 409)


def test_each_task_is_claimed_exactly_once(server, api):
    """Twenty runners, some of them waiting, race for tasks that appear meanwhile."""
    tasks, claimed, done = [], collections.Counter(), threading.Event()

    def work(i):
        with server.runner() as runner:
            while not done.is_set():
                answer = runner.post("/api/v1/claims", json={"runner": f"race-{i}", "agents": [AGENT], "wait": i % 3})
                if answer.status_code == 200:
                    claimed[answer.json()["taskID"]] += 1
                else:
                    assert answer.status_code == 204, answer.text

    runners = [threading.Thread(target=work, args=(i,)) for i in range(20)]
    [r.start() for r in runners]
    for _ in range(60):
        tasks.append(new_task(api, agent=AGENT))
    wait_for(lambda: len(claimed) == len(tasks), 30)
    done.set()
    [r.join() for r in runners]
    assert set(claimed) == set(tasks) and set(claimed.values()) == {1}
    for task in tasks:
        [event] = api.get(f"/api/v1/tasks/{task}/events").json()["events"]
        assert event["data"]["state"] == "starting"


def test_a_claim_waits_for_a_task(server, api):
    answers = []

    def wait():
        with server.runner() as runner:
            answers.append(claim(runner, "waiting", wait=30))

    waiting = threading.Thread(target=wait)
    waiting.start()
    wait_for(lambda: "shepherd_claims_waiting 1" in api.get("/metrics").text)
    before = time.monotonic()
    task = new_task(api, agent=AGENT, labels={"for": "waiting"})
    waiting.join(WAIT)
    assert answers and answers[0]["taskID"] == task and time.monotonic() - before < 10


def test_nothing_came(runner):
    before = time.monotonic()
    claim(runner, "r1", expect=204)
    claim(runner, "r1", expect=204, wait=1)
    assert time.monotonic() - before >= 1


def test_a_named_claim_may_be_repeated(api, runner):
    task = new_task(api, agent=AGENT, runner="mine")
    assert claim(runner, "other", expect=204) is None
    assert claim(runner, "other", expect=409, taskID=task)["code"] == "not_claimable"
    first = claim(runner, "mine", taskID=task)
    assert claim(runner, "mine", taskID=task) == first
    assert claim(runner, "other", expect=409, taskID=task)["code"] == "already_claimed"
    assert len(api.get(f"/api/v1/tasks/{task}/events").json()["events"]) == 1
    end_task(runner, task)
    assert claim(runner, "mine", expect=410, taskID=task)["code"] == "task_ended"
    assert claim(runner, "mine", expect=404, taskID=new_id())["code"] == "unknown_task"


def test_labels_choose(api, runner):
    task = new_task(api, agent=AGENT, labels={"gpu": "yes", "zone": "b"})
    claim(runner, "r1", expect=204, labels={"gpu": "no"})
    assert claim(runner, "r1", labels={"gpu": "yes"})["taskID"] == task


@pytest.mark.parametrize("body, member", [
    ({"agents": ["a"]}, "runner"), ({"runner": "r"}, "agents"), ({"runner": "r", "agents": "a"}, "agents"),
    ({"runner": "r", "agents": ["a"], "wait": 31}, "wait"), ({"runner": "r", "agents": ["a"], "taskID": "../x"}, "taskID"),
    ({"runner": "r" * 129, "agents": ["a"]}, "runner"), ({"runner": "r", "agents": ["a"], "labels": {"a": 1}}, "a")])
def test_bad_claims(runner, body, member):
    answer = runner.post("/api/v1/claims", json=body)
    assert answer.status_code == 400 and answer.json()["member"].endswith(member), answer.text


def test_who_may_claim(server, api):
    task = new_task(api, agent=AGENT)

    def token(scope, **members):
        return api.post("/api/v1/tokens", json={"name": "t", "scope": scope, **members}).json()["secret"]

    with server.runner(token("operator")) as other:
        claim(other, "r1", expect=403)
        assert other.get(f"/api/v1/tasks/{task}/data").status_code == 403
    with server.runner(token("producer", task=task)) as one:
        claim(one, "r1", expect=403)
        claim(one, "r1", taskID=task)
    with server.api() as public:
        assert public.post("/api/v1/claims", json={"runner": "r", "agents": ["a"]}).status_code == 404


def test_a_stale_lease_is_told(api, runner):
    task = new_task(api, agent=AGENT)
    epoch = claim(runner, "r1")["leaseEpoch"]
    post_events(runner, task, note("mine"), headers={"Shepherd-Lease": str(epoch)})
    for path, body in (("events", note("not mine")), ("status", {"event": "progress"}), ("deltas", {"block": "b", "text": "x"})):
        answer = runner.post(f"/api/v1/tasks/{task}/{path}", json=body, headers={"Shepherd-Lease": str(epoch + 1)})
        assert (answer.status_code, answer.json()["code"]) == (409, "lease_lost"), answer.text
    answer = runner.post(f"/api/v1/tasks/{task}/events", json=note("x"), headers={"Shepherd-Lease": "soon"})
    assert (answer.status_code, answer.json()["code"]) == (400, "bad_lease")
    assert renew(runner, task, "r2", epoch, expect=409)["code"] == "lease_lost"
    assert len(api.get(f"/api/v1/tasks/{task}/events").json()["events"]) == 2


@pytest.fixture
def hasty(make_server):
    return make_server(config="runners:\n  lease_seconds: 2\n").start()


def test_a_silent_runner_is_lost(hasty):
    with hasty.api() as api, hasty.runner() as runner:
        kept, lost = new_task(api, agent=AGENT), new_task(api, agent=AGENT)
        epoch = claim(runner, "r1", taskID=kept)["leaseEpoch"]
        claim(runner, "r2", taskID=lost)
        post_events(runner, lost, note("begun"))
        ended = time.monotonic() + WAIT
        while time.monotonic() < ended:
            renew(runner, kept, "r1", epoch)
            if state_of(api, lost) == "failed":
                break
            time.sleep(0.2)
        row = api.get(f"/api/v1/tasks/{lost}").json()
        assert (row["status"]["state"], row["status"]["error"]) == ("failed", "runner lost")
        assert state_of(api, kept) == "starting"
        post_events(runner, lost, note("still here"))
        assert api.get(f"/api/v1/tasks/{lost}/events").json()["events"][-1]["late"] is True


def test_a_task_whose_runner_was_never_heard_of_goes_to_another(hasty):
    with hasty.api() as api, hasty.runner() as runner:
        task = new_task(api, agent=AGENT)
        first = claim(runner, "r1")
        second = claim(runner, "r2", wait=20)
        assert second["taskID"] == task and second["leaseEpoch"] > first["leaseEpoch"]
        assert renew(runner, task, "r1", first["leaseEpoch"], expect=409)["code"] == "lease_lost"
        renew(runner, task, "r2", second["leaseEpoch"])


def test_leases_survive_a_crash(hasty):
    with hasty.api() as api, hasty.runner() as runner:
        running, queued = new_task(api, agent=AGENT), new_task(api, agent=AGENT)
        epoch = claim(runner, "r1", taskID=running)["leaseEpoch"]
        post_events(runner, running, note("begun"))
    hasty.kill()
    time.sleep(2.5)  # longer than a lease, whose clock runs only while the server does
    hasty.start()
    with hasty.api() as api, hasty.runner() as runner:
        renew(runner, running, "r1", epoch)
        assert claim(runner, "r2")["taskID"] == queued
        wait_for(lambda: state_of(api, running) == "failed")


def test_a_shutdown_lets_waiting_claims_go(make_server):
    server = make_server().start()
    statuses = []

    def wait():
        with server.runner() as runner:
            statuses.append(runner.post("/api/v1/claims", json={"runner": "r", "agents": [AGENT], "wait": 30}).status_code)

    waiting = threading.Thread(target=wait)
    waiting.start()
    with server.api() as api:
        wait_for(lambda: "shepherd_claims_waiting 1" in api.get("/metrics").text)
    assert server.stop() == 0  # less than the claim would wait
    waiting.join(WAIT)
    assert statuses == [204]
