"""The server is killed at random moments of turns with tools. The log has no hole, no message twice, no tool has run twice
without saying so, and /session is what the log says.

The second story has what the first has not: prompts that wait in the log, words into a running turn, calls that a person must
approve, and a context that is full after a few prompts.

SHEPHERD_CRASH_SEED repeats a run's choices, SHEPHERD_CHAT_CRASHES sets the number of kills.
"""

import itertools
import os
import random
import threading
import time
from collections import Counter

import httpx

from chat_client import Updates
from chat_fold import check_log, fold, folded_session, whole_log
from chat_world import Script, make_world  # noqa: F401 (a fixture)
from llama import free_port
from model_fakes import Silence, calls, chunk, text
from tasks import eventually

KILLS = int(os.environ.get("SHEPHERD_CHAT_CRASHES", "50"))
SESSIONS = ("crash-a", "crash-b")


class Story:
    """The model's part: every prompt makes two calls of a tool, which leave a mark of their own in a file, then an answer."""

    def __init__(self, rng):
        self.rng, self.marks = rng, itertools.count(1)
        self.lock = threading.Lock()

    def __call__(self, request, rest, results):
        with self.lock:
            pause = Silence(self.rng.uniform(0, 0.01))
            if results == 0:
                made = calls(*(("run_command", {"command": f"echo {next(self.marks)} >> ran.txt"}) for _ in range(2)), words="Working. ")
            elif results == 1:
                made = calls(("run_command", {"command": f"echo {next(self.marks)} >> ran.txt"}))
            else:
                return text(f"Done with {rest}", pause, ".")
        made.steps[1:1] = [chunk({"content": "So. "}), pause]
        return made


class Driver:
    """Sends prompts to one session until it is told to end, and remembers what was answered."""

    def __init__(self, world, name):
        self.world, self.name, self.prompts = world, name, itertools.count(1)
        self.answered, self.sent, self.running = set(), set(), True
        self.seen = set()  # (session, id of event) that observers were shown
        self.problems = []
        self.threads = [threading.Thread(target=each, daemon=True) for each in (self._talk, self._watch)]
        for thread in self.threads:
            thread.start()

    def _talk(self):
        with httpx.Client(trust_env=False, timeout=10) as client:
            while self.running:
                words = f"STORY {self.name}/{next(self.prompts)}"
                self.sent.add(words)
                try:
                    answer = client.post(f"{self.world.server.public}/sessions/{self.name}/request", json={"prompt": words})
                    body = answer.json()
                    if body["success"]:
                        self.answered.add(words)
                    elif body["code"] not in ("shutting_down", "cancelled"):
                        self.problems.append(body)
                except (httpx.TransportError, ValueError):
                    time.sleep(0.01)  # the server is down

    def _watch(self):
        while self.running:
            try:
                opened = Updates(f"{self.world.server.public}/sessions/{self.name}/updates")
                while True:
                    event = opened.next(5)
                    if event.type == "message_added" and event.data["role"] == "user":
                        self.seen.add(event.data["content"])
            except AssertionError as problem:
                if "nothing arrived" not in str(problem):
                    self.problems.append(repr(problem))
            except Exception:
                time.sleep(0.01)  # the server is down

    def end(self):
        self.running = False
        for thread in self.threads:
            thread.join(15)


def test_a_session_survives_fifty_kills(make_world):  # noqa: F811
    seed = int(os.environ.get("SHEPHERD_CRASH_SEED", random.SystemRandom().randrange(1 << 32)))
    hint = f"repeat with SHEPHERD_CRASH_SEED={seed}"
    print(hint)
    rng = random.Random(seed)
    world = make_world(script=Script(STORY=Story(random.Random(seed + 1))), context=1 << 20, listen=f"127.0.0.1:{free_port()}",
                       chat={"tools": ["run_command"], "allow": ["run_command"]})
    drivers = [Driver(world, name) for name in SESSIONS]
    for kill in range(KILLS):
        time.sleep(rng.uniform(0.01, 0.35))  # the moment of the kill
        world.server.kill()
        world.server.start()
        if kill % 10 == 9:  # in the middle of the work, too
            with world.server.api() as api:
                for name in SESSIONS:
                    if api.get(f"/api/v1/tasks/{name}").status_code == 200:
                        check_log(whole_log(api, name))
    counts = [len(driver.answered) for driver in drivers]
    eventually(lambda: all(len(driver.answered) > count + 1 for driver, count in zip(drivers, counts)), 30)
    for driver in drivers:
        driver.end()
        assert driver.problems == [], f"{driver.problems[:3]}; {hint}"

    ran = Counter((world.root / "ran.txt").read_text().split())
    twice = [mark for mark, count in ran.items() if count > 1]
    assert not twice, f"these commands ran twice: {twice[:5]}; {hint}"
    interrupted = 0
    with world.server.api() as api:
        logged_marks = set()
        for driver in drivers:
            with world.chat(driver.name) as chat:
                eventually(lambda: not chat.status()["processing"])
                log = whole_log(api, driver.name)
                called, answered = check_log(log)
                assert fold(log) == folded_session(chat.session()), hint
            assert set(called) == answered, f"calls without results: {set(called) - answered}; {hint}"
            prompts = [event["data"]["content"] for event in log if event["type"] == "message" and event["data"]["role"] == "user"]
            assert len(prompts) == len(set(prompts)), f"a message twice; {hint}"
            assert set(prompts) <= driver.sent, hint
            assert driver.answered <= set(prompts), f"answered and lost: {driver.answered - set(prompts)}; {hint}"
            assert driver.seen <= set(prompts), f"shown and lost: {driver.seen - set(prompts)}; {hint}"
            finals = {event["data"]["content"] for event in log if event["type"] == "message" and event["data"].get("final")}
            lost = [words for words in driver.answered if f"Done with {words.removeprefix('STORY ')}." not in finals]
            assert not lost, f"answered, but the answer is not in the log: {lost[:3]}; {hint}"
            logged_marks |= {event["input"]["command"].split()[1] for event in log if event["type"] == "tool_call"}
            interrupted += sum(event["type"] == "error" for event in log)
    assert set(ran) <= logged_marks, f"ran without being in the log: {set(ran) - logged_marks}; {hint}"
    assert interrupted > KILLS / 5, f"only {interrupted} turns were cut off: the test did not do its work; {hint}"
    assert world.server.stop() == 0


# --- prompts that wait, words, approvals, evictions ---

class AskingStory(Story):
    """A call that a person must approve, then an answer that fills the context."""

    def __call__(self, request, rest, results):
        with self.lock:
            pause = Silence(self.rng.uniform(0, 0.01))
            if results > 0:
                return text(f"Done with {rest} ", pause, "x" * 700)
            made = calls(("run_command", {"command": f"echo {next(self.marks)} >> ran.txt"}), words="May I? ")
        made.steps[1:1] = [chunk({"content": "So. "}), pause]
        return made


class Asker:
    """Sends prompts with `async` and words to one session, and approves what waits for a person. It remembers what the server took."""

    def __init__(self, world, name):
        self.world, self.name = world, name
        self.queued, self.words = set(), {}  # words: id of the command -> content
        self.running, self.problems = True, []
        self.threads = [threading.Thread(target=self._repeat, args=(each,), daemon=True) for each in (self._ask, self._steer, self._approve)]
        self.client = httpx.Client(base_url=world.server.public, trust_env=False, timeout=10)
        self.numbers = itertools.count(1)
        for thread in self.threads:
            thread.start()

    def _repeat(self, act):
        while self.running:
            try:
                act()
            except (httpx.TransportError, ValueError):
                pass  # the server is down
            except Exception as error:
                self.problems.append(repr(error))
                return
            time.sleep(0.02)  # between two prompts of one sender

    def _ask(self):
        words = f"STORY {self.name}/{next(self.numbers)}"
        answer = self.client.post(f"/sessions/{self.name}/request", json={"prompt": words, "async": True})
        if answer.status_code == 200:
            self.queued.add(words)
            time.sleep(0.1 * answer.json()["queue_position"])  # a busy machine must be able to answer all of them in the end
        elif answer.json()["code"] not in ("queue_full", "shutting_down"):
            self.problems.append(answer.text)

    def _steer(self):
        content = f"WORD {self.name}/{next(self.numbers)}"
        answer = self.client.post(f"/api/v1/tasks/{self.name}/commands", json={"kind": "steer", "content": content})
        if answer.status_code == 202:
            self.words[answer.json()["id"]] = content
        time.sleep(0.1)

    def _approve(self):
        for item in self.client.get("/api/v1/inbox").json()["items"]:
            if item["taskID"] == self.name and "approval" in item:
                self.client.post(f"/api/v1/tasks/{self.name}/commands", json={"kind": "approve", "approvalID": item["approval"]["approvalID"]})

    def end(self):
        self.running = False
        for thread in self.threads:
            thread.join(15)


def test_prompts_words_and_approvals_survive_kills(make_world):  # noqa: F811
    seed = int(os.environ.get("SHEPHERD_CRASH_SEED", random.SystemRandom().randrange(1 << 32)))
    hint = f"repeat with SHEPHERD_CRASH_SEED={seed}"
    print(hint)
    rng = random.Random(seed)
    story = AskingStory(random.Random(seed + 1))
    world = make_world(script=Script(STORY=story, WORD=story), context=2048, listen=f"127.0.0.1:{free_port()}",
                       chat={"tools": ["run_command"], "max_tokens": 256})
    with world.chat("asking") as chat:
        chat.session()
    asker = Asker(world, "asking")
    for _ in range(max(1, KILLS // 3)):
        time.sleep(rng.uniform(0.05, 0.6))  # the moment of the kill
        world.server.kill()
        world.server.start()
    asker.end()
    # What waits is answered; a person approves until nothing does.
    with world.chat("asking") as chat, world.server.api() as api:
        def quiet():
            asker._approve()
            state = chat.status()
            return not state["processing"] and state["queue_depth"] == 0
        eventually(quiet, 120)
        log = whole_log(api, "asking")
        called, answered = check_log(log)
        assert fold(log) == folded_session(chat.session()), hint
        task = api.get("/api/v1/tasks/asking").json()
    assert asker.problems == [], f"{asker.problems[:3]}; {hint}"
    assert set(called) == answered, f"calls without results: {set(called) - answered}; {hint}"
    said = Counter(event["data"]["content"] for event in log if event["type"] == "message" and event["data"]["role"] == "user")
    assert max(said.values()) == 1, f"a message twice: {said.most_common(1)}; {hint}"
    lost = asker.queued - set(said)
    assert not lost, f"queued and lost: {sorted(lost)[:3]}; {hint}"
    states = {event["data"]["id"]: event["data"]["state"] for event in log if event["type"] == "command_result"}
    for command, content in asker.words.items():
        assert states.get(command) in ("acknowledged", "refused", "expired"), f"{content} did not settle: {states.get(command)}; {hint}"
        assert content in said or states[command] != "acknowledged", f"{content} was acknowledged and is lost; {hint}"
    open_approvals = {}
    for event in log:
        if event["type"] == "approval":
            open_approvals[event["data"]["approvalID"]] = event["data"]["state"]
    assert "pending" not in open_approvals.values(), hint
    ran = Counter((world.root / "ran.txt").read_text().split())
    assert max(ran.values()) == 1, f"a command ran twice: {ran.most_common(1)}; {hint}"
    approved = {event["callID"] for event in log if event["type"] == "approval" and event["data"]["state"] == "approved"}
    asked_for = {event["input"]["command"].split()[1]: event["callID"] for event in log if event["type"] == "tool_call"}
    assert {asked_for[mark] for mark in ran} <= approved, f"ran without an approval; {hint}"
    # The story did its work.
    assert any(event["type"] == "eviction" for event in log) and approved and any(content in said for content in asker.words.values()), hint
    assert sum(event["type"] == "error" for event in log) > 2, hint
    assert task["status"]["state"] == "paused", (task["status"], hint)
