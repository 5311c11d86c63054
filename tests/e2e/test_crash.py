"""The server is killed at random moments, repeatedly. No acknowledged event is lost, and no consumer sees a gap, a
repeat or a different order.

Producers of both kinds keep posting over several connections and tasks, and consumers follow by WebSocket and SSE, one
log at a time or all together, while the server is killed with SIGKILL and started again on the same data and ports.
SHEPHERD_CRASH_SEED repeats a run's choices, SHEPHERD_CRASHES sets the number of kills.
"""

import asyncio
import json
import os
import random
import socket
import time
from collections import Counter, defaultdict

import httpx
import websockets

import contract
import sse

KILLS = int(os.environ.get("SHEPHERD_CRASHES", "55"))
TASKS = 4
CHUNK = 8


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class World:
    def __init__(self, server, seed):
        self.server, self.seed = server, seed
        self.tasks = [f"crash-{i}" for i in range(TASKS)]
        self.acknowledged = defaultdict(set)  # task -> summaries that were answered 200
        self.sent = defaultdict(set)
        self.posting = True
        self.problems = []
        self.deliveries = Counter()

    def headers(self):
        return {"Authorization": f"Bearer {self.server.token}"}


async def create_tasks(world):
    async with httpx.AsyncClient(base_url=world.server.public, headers=world.headers(), trust_env=False) as client:
        for task in world.tasks:
            (await client.post("/api/v1/tasks", json={"id": task, "prompt": "survive"})).raise_for_status()


async def strict_producer(world, task, name, rng):
    """A spool: numbers from 1, repeats a chunk until it is acknowledged."""
    number = 0
    async with httpx.AsyncClient(base_url=world.server.internal, headers=world.headers(), trust_env=False,
                                 timeout=5) as client:
        while world.posting:
            chunk = [{"type": "output", "sequence": number + i, "summary": f"{name}:{number + i}",
                      "timestamp": "2026-02-18T14:00:00.000Z"}
                     for i in range(1, rng.randint(1, CHUNK) + 1)]
            world.sent[task].update(e["summary"] for e in chunk)
            while True:
                try:
                    answer = await client.post(f"/api/v1/tasks/{task}/events", json=chunk,
                                               headers={"Shepherd-Producer": name})
                except httpx.TransportError:
                    await asyncio.sleep(0.01)  # the server is down; the spool tries again
                    if not world.posting:
                        return
                    continue
                if answer.status_code == 200:
                    break
                if answer.status_code == 503:
                    await asyncio.sleep(0.01)
                    continue
                world.problems.append(f"{name}: {answer.status_code} {answer.text}")
                return
            number += len(chunk)
            world.acknowledged[task].update(e["summary"] for e in chunk)


async def loose_producer(world, task, name, rng, numbered):
    """Fire and forget: no retry, but an event that was answered 200 must be in the log."""
    number = 0
    async with httpx.AsyncClient(base_url=world.server.internal, headers=world.headers(), trust_env=False,
                                 timeout=5) as client:
        while world.posting:
            number += 1
            event = {"type": "thinking", "summary": f"{name}:{number}", **({"sequence": number} if numbered else {})}
            world.sent[task].add(event["summary"])
            try:
                answer = await client.post(f"/api/v1/tasks/{task}/events", json=event)
                if answer.status_code == 200:
                    world.acknowledged[task].add(event["summary"])
                elif answer.status_code != 503:
                    world.problems.append(f"{name}: {answer.status_code} {answer.text}")
            except httpx.TransportError:
                await asyncio.sleep(0.01)
            await asyncio.sleep(rng.uniform(0, 0.004))


class Log:
    """One consumer's view of one task. It must be 1, 2, 3, … and nothing else."""

    def __init__(self, world, who, task):
        self.world, self.who, self.task, self.events = world, who, task, []

    def add(self, event):
        expected = len(self.events) + 1
        if event["sequence"] != expected:
            self.world.problems.append(f"{self.who} of {self.task}: expected {expected}, got {event['sequence']}")
        if len(self.events) % 16 == 0:
            contract.validate("Event", event)
        self.events.append(event["summary"])
        self.world.deliveries[self.who.split("-")[0]] += 1


async def websocket_consumer(world, who, task, logs, done):
    """Without a task, follows all of them on one connection. Reconnects with the last number it saw."""
    if task is None:
        logs.update({t: Log(world, who, t) for t in world.tasks})
    else:
        logs[task] = Log(world, who, task)
    cursor = 0
    base = world.server.public.replace("http", "ws", 1)
    while not done():
        path = f"/api/v1/tasks/{task}/events" if task else "/api/v1/events"
        query = f"?after={cursor}" if task else f"?tasks={','.join(world.tasks)}&after={cursor}"
        try:
            async with websockets.connect(base + path + query, additional_headers=world.headers(), open_timeout=5,
                                          ping_interval=None, compression=None) as connection:
                while not done():
                    try:
                        message = json.loads(await asyncio.wait_for(connection.recv(), 0.5))
                    except asyncio.TimeoutError:
                        continue
                    if message["type"] == "task_event":
                        logs[message["taskID"]].add(message["data"])
                        cursor = message["data"]["sequence"] if task else message.get("cursor", cursor)
                    elif message["type"] in ("position", "caught_up") and not task:
                        cursor = message["data"].get("cursor", cursor)
                    elif message["type"] == "gap":
                        world.problems.append(f"{who}: gap {message}")
        except websockets.InvalidStatus as refused:
            world.problems.append(f"{who}: {refused.response.status_code} {refused.response.body!r} at {cursor}")
            return
        except (OSError, EOFError, websockets.WebSocketException, asyncio.TimeoutError):
            await asyncio.sleep(0.01)


async def sse_consumer(world, who, task, logs, done):
    if task is None:
        logs.update({t: Log(world, who, t) for t in world.tasks})
    else:
        logs[task] = Log(world, who, task)
    last_id = "0"
    path = f"/api/v1/tasks/{task}/events" if task else f"/api/v1/events?tasks={','.join(world.tasks)}"
    async with httpx.AsyncClient(base_url=world.server.public, trust_env=False,
                                 timeout=httpx.Timeout(5, read=0.5)) as client:
        while not done():
            parser = sse.Parser()
            headers = {**world.headers(), "Accept": "text/event-stream", "Last-Event-ID": last_id}
            try:
                async with client.stream("GET", path, headers=headers) as response:
                    if response.status_code != 200:
                        world.problems.append(f"{who}: {response.status_code} {await response.aread()!r} at {last_id}")
                        return
                    async for chunk in response.aiter_raw():
                        for frame in parser.feed(chunk):
                            if frame.event == "task_event":
                                event = json.loads(frame.data)
                                logs[task or event["taskID"]].add(event)
                            elif frame.event == "gap":
                                world.problems.append(f"{who}: gap {frame.data}")
                            if frame.id is not None:
                                last_id = frame.id
                        if done():
                            return
            except httpx.TransportError:  # down, or quiet for half a second: reconnect with the last id
                await asyncio.sleep(0.01)


async def run(world):
    rng = random.Random(world.seed)
    await create_tasks(world)
    finished = asyncio.Event()
    consumers = []
    all_logs = []
    for consume, name in ((websocket_consumer, "ws"), (sse_consumer, "sse")):
        for target in (world.tasks[0], world.tasks[1], None):
            logs = {}
            all_logs.append(logs)
            who = f"{name}-{target or 'all'}"
            consumers.append(asyncio.create_task(consume(world, who, target, logs, finished.is_set)))
    producers = []
    for i, task in enumerate(world.tasks):
        for k in range(2):
            producers.append(strict_producer(world, task, f"strict-{i}-{k}", random.Random(world.seed + i * 10 + k)))
        # One task also has lost numbers, and so has events that wait for predecessors which never come.
        producers.append(loose_producer(world, task, f"loose-{i}", random.Random(world.seed + i), i == TASKS - 1))
    producers = [asyncio.create_task(p) for p in producers]

    loop = asyncio.get_running_loop()
    for _ in range(KILLS):
        await asyncio.sleep(rng.uniform(0.02, 0.9))
        world.server.kill()
        await loop.run_in_executor(None, world.server.start)
        if world.problems or any(t.done() for t in (*consumers, *producers)):
            break
    # After the last start, every producer gets an acknowledgement before it is stopped.
    before = {task: len(world.acknowledged[task]) for task in world.tasks}
    while not world.problems and any(len(world.acknowledged[task]) == before[task] for task in world.tasks):
        await asyncio.sleep(0.01)
    world.posting = False
    await asyncio.gather(*producers)

    # Read the stored log, then wait until every consumer has all of it.
    stored = {}
    async with httpx.AsyncClient(base_url=world.server.public, headers=world.headers(), trust_env=False) as client:
        for task in world.tasks:
            stored[task] = []
            while True:
                answer = await client.get(f"/api/v1/tasks/{task}/events",
                                          params={"after": len(stored[task]), "limit": 5000})
                page = answer.json()["events"]
                if not page:
                    break
                assert [e["sequence"] for e in page] == list(range(len(stored[task]) + 1, len(stored[task]) + len(page) + 1))
                stored[task] += [e["summary"] for e in page]
                world.sent[task].update(e["summary"] for e in page if e["type"] == "log")  # a note of missing numbers
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline and not world.problems:
        if all(len(log.events) >= len(stored[task]) for logs in all_logs for task, log in logs.items()):
            break
        await asyncio.sleep(0.05)  # between two polls
    finished.set()
    await asyncio.gather(*consumers)
    return stored, all_logs


def test_nothing_is_lost_across_crashes(make_server):
    seed = int(os.environ.get("SHEPHERD_CRASH_SEED", random.SystemRandom().randrange(1 << 32)))
    server = make_server(listen=f"127.0.0.1:{free_port()}", internal=f"127.0.0.1:{free_port()}")
    server.start()
    world = World(server, seed)
    hint = f"repeat with SHEPHERD_CRASH_SEED={seed}"
    stored, all_logs = asyncio.run(run(world))
    assert not world.problems, f"{world.problems[:5]}; {hint}"

    for task in world.tasks:
        counted = Counter(stored[task])
        missing = world.acknowledged[task] - set(counted)
        assert not missing, f"{len(missing)} acknowledged events are gone, e.g. {sorted(missing)[:3]}; {hint}"
        assert set(counted) <= world.sent[task], hint
        twice = [s for s, n in counted.items() if n > 1 and s in world.acknowledged[task]]
        assert not twice, f"stored twice: {twice[:3]}; {hint}"
        for i in range(TASKS):
            for k in range(2):
                name = f"strict-{i}-{k}:"
                numbers = [int(s.removeprefix(name)) for s in stored[task] if s.startswith(name)]
                assert numbers == list(range(1, len(numbers) + 1)), f"{name} out of order; {hint}"
    for logs in all_logs:
        for task, log in logs.items():
            assert log.events == stored[task], f"{log.who} saw another log of {task}; {hint}"
    total = sum(len(s) for s in world.acknowledged.values())
    assert total > KILLS * 5, f"only {total} events were acknowledged: the test did not do its work"
    assert all(world.deliveries[kind] > total / 4 for kind in ("ws", "sse"))
    assert server.stop() == 0
