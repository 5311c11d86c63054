"""The runner of the older design: one POST per event, each on its own connection, without waiting for the answer.

It reads an agent's stream and posts the events that it recognises, without credentials or retries and in any order of
connections. It reports the end of the task only after all of them have been answered.
"""

import http.client
import json
import random
import threading
from datetime import datetime, timezone
from urllib.parse import urlsplit


def task_events(lines):
    """Maps an agent's lines as that runner does: text, calls, results with the name of their tool."""
    tools, number = {}, 0
    for line in lines:
        record = json.loads(line)
        content = record.get("message", {}).get("content")
        if record["type"] not in ("assistant", "user") or not isinstance(content, list):
            continue
        for block in content:
            event = _event(block, tools)
            if event:
                number += 1
                now = datetime.now(timezone.utc).isoformat(timespec="milliseconds").replace("+00:00", "Z")
                yield {"sequence": number, "timestamp": now, **event}


def _event(block, tools):
    if block["type"] == "text":
        return {"type": "thinking", "summary": block["text"][:200]}
    if block["type"] == "tool_use":
        tools[block["id"]] = block["name"]
        return {"type": "tool_call", "summary": f"Running {block['name']}", "tool": block["name"], "input": block["input"]}
    if block["type"] == "tool_result":
        return {"type": "tool_result", "summary": str(block["content"])[:200], "tool": tools[block["tool_use_id"]],
                "output": {"success": not block.get("is_error", False), "summary": str(block["content"])[:200]}}
    return None


class ForgetfulRunner:
    def __init__(self, internal_url, task, seed, spread=12):
        self.address, self.task = urlsplit(internal_url).netloc, task
        self.random, self.spread = random.Random(seed), spread
        self.threads, self.answers, self.lock = [], [], threading.Lock()

    def run(self, lines):
        """Posts everything, up to `spread` places out of order, and returns the events in their true order."""
        events = list(task_events(lines))
        order = sorted(events, key=lambda event: event["sequence"] + self.random.uniform(0, self.spread))
        assert [event["sequence"] for event in order] != [event["sequence"] for event in events]
        for event in order:
            thread = threading.Thread(target=self._post, args=("events", event), daemon=True)
            thread.start()
            self.threads.append(thread)
        for thread in self.threads:
            thread.join(60)
        self._post("status", {"event": "completed", "message": "done", "details": {"pr_url": "https://example.com/pr/7"}})
        return events

    def _post(self, what, body):
        connection = http.client.HTTPConnection(self.address, timeout=60)
        try:
            connection.request("POST", f"/api/v1/tasks/{self.task}/{what}", json.dumps(body),
                               {"Content-Type": "application/json", "Connection": "close"})
            answer = connection.getresponse()
            seen = (answer.status, answer.read().decode())
        except OSError as error:
            seen = (0, str(error))
        finally:
            connection.close()
        with self.lock:
            self.answers.append(seen)
