"""`shepherd run` as a process, and operations on the task it runs."""

import json
import os
import queue
import signal
import subprocess
import threading
import time
import uuid
from pathlib import Path

from streams import WAIT

AGENT_WAIT = 120  # a real agent's program starts slowly on a busy machine
EXIT_CODE = {"completed": 0, "failed": 7, "timed_out": 8, "cancelled": 9}
MARK = "SHEPHERD_TEST_MARK"  # in the environment of every process that an agent starts


def survivors(mark):
    """Ids of the processes that carry the mark."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if f"{MARK}={mark}".encode() in (entry / "environ").read_bytes():
                found.append(int(entry.name))
        except OSError:
            continue  # gone, or another user's
    return found


def command_line(pid):
    """The process's arguments, joined by spaces; empty if it is gone."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


class AgentRun:
    """One `shepherd run` against a server. Facts come from the task's own live feed."""

    def __init__(self, server, arguments, cwd, env):
        self.server, self.mark = server, uuid.uuid4().hex
        self.process = subprocess.Popen(
            [server.binary, "run", "--json", *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, cwd=cwd, start_new_session=True,
            env={**env, MARK: self.mark, "SHEPHERD_URL": server.public, "SHEPHERD_TOKEN": server.token,
                 "SHEPHERD_DATA": str(server.data)})
        self.printed, self._lines, self.events = [], queue.Queue(), []
        self.errors = b""
        threading.Thread(target=self._read, daemon=True).start()
        threading.Thread(target=self._read_errors, daemon=True).start()
        self.api = server.api()
        self.task = self._task_id()
        self.feed = server.websocket(f"/api/v1/tasks/{self.task}/events?after=0")

    def _read(self):
        for line in self.process.stdout:
            self.printed.append(line.decode())
            self._lines.put(line.decode())
        self._lines.put(None)

    def _read_errors(self):
        self.errors = self.process.stderr.read()

    def _task_id(self):
        while True:
            line = self._lines.get(timeout=AGENT_WAIT)
            assert line is not None, f"`shepherd run` ended: {self.process.wait()}\n{self.errors.decode()}"
            value = json.loads(line)
            if "taskID" in value:
                return value["taskID"]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.feed.close()
        self.api.close()
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    # --- facts ---

    def until(self, wanted, timeout=AGENT_WAIT):
        """The next event that `wanted` accepts."""
        deadline = time.monotonic() + timeout
        while True:
            message = self.feed.next(max(0.01, deadline - time.monotonic()))
            assert message.type != "task_complete", f"the task ended: {message.data}\n{self.story()}"
            if message.type != "task_event":
                continue
            self.events.append(message.data)
            if wanted(message.data):
                return message.data

    def until_type(self, kind, timeout=AGENT_WAIT):
        return self.until(lambda event: event["type"] == kind, timeout)

    def until_state(self, state, timeout=AGENT_WAIT):
        return self.until(lambda e: e["type"] == "status" and e.get("data", {}).get("state") == state, timeout)

    def to_end(self, timeout=AGENT_WAIT):
        """Reads the log to its end; returns the task and the exit code."""
        deadline = time.monotonic() + timeout
        while True:
            message = self.feed.next(max(0.01, deadline - time.monotonic()))
            if message.type == "task_event":
                self.events.append(message.data)
            elif message.type == "task_complete":
                break
        code = self.process.wait(max(1, deadline - time.monotonic()))
        return self.api.get(f"/api/v1/tasks/{self.task}").json(), code

    def of_type(self, kind):
        return [event for event in self.events if event["type"] == kind]

    def story(self):
        return "\n".join(f"{e['sequence']} {e['type']}: {e['summary'][:150]}" for e in self.events)

    # --- commands ---

    def command(self, kind, **members):
        """Posts a command and waits until it settles; returns its last state and reason."""
        return self.settled(self.send(kind, **members))

    def stand_still(self, go_on):
        """Pauses an agent that acknowledges nothing, calls `go_on` while it is paused, and lets it continue."""
        last = ("delivered", "refused", "expired")  # `delivered` is the final state of such an agent's commands
        interrupt = self.send("interrupt")
        self.until_state("paused")  # comes before the command's result
        assert self.settled(interrupt, last)["state"] == "delivered", self.story()
        go_on()
        assert self.settled(self.send("resume"), last)["state"] == "delivered", self.story()

    def send(self, kind, **members):
        """Posts a command and returns its id."""
        name = uuid.uuid4().hex
        answer = self.api.post(f"/api/v1/tasks/{self.task}/commands", json={"id": name, "kind": kind, **members})
        assert answer.status_code == 202, answer.text
        return name

    def settled(self, name, states=("acknowledged", "refused", "expired"), timeout=AGENT_WAIT):
        """The last state of a command, which may have settled already."""
        def about(event):
            return event["type"] == "command_result" and event["data"]["id"] == name and event["data"]["state"] in states
        for event in self.events:
            if about(event):
                return event["data"]
        return self.until(about, timeout)["data"]


def wait_until_gone(mark, but=(), timeout=WAIT):
    """Waits until no process carries the mark; returns those that are left."""
    deadline = time.monotonic() + timeout
    while True:
        left = [pid for pid in survivors(mark) if pid not in but]
        if not left or time.monotonic() > deadline:
            return left
        time.sleep(0.02)  # between two polls of /proc
