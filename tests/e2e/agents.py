"""Agent programs for the tests: the project's scripted agent and the real Claude Code."""

import json
import os
import queue
import signal
import subprocess
import threading
import time
import uuid

import pytest

SCRIPTED = os.environ.get("SCRIPTED_AGENT_BIN", "")
CLAUDE = os.environ.get("CLAUDE_BIN", "")

# Skipped on a machine without a package registry; under CI=true a skipped test has failed (conftest.py).
needs_claude = pytest.mark.skipif(not os.access(CLAUDE, os.X_OK),
                                  reason="NOT TESTED: the real Claude Code is not installed; tools/install-agent says why")

# The arguments with which Shepherd's driver starts it for a conversation.
TWO_WAY = ["-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose",
           "--replay-user-messages", "--permission-prompt-tool", "stdio"]


def claude_environment(home, api_url):
    """The real program's whole environment: its own home, a key that is worthless, an API on loopback."""
    return {"PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": str(home), "LANG": "C.UTF-8", "TERM": "dumb",
            "ANTHROPIC_BASE_URL": api_url, "ANTHROPIC_API_KEY": "sk-test", "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1", "CLAUDE_CODE_MAX_RETRIES": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1"}


class Conversation:
    """A direct conversation with an agent program, without Shepherd in between."""

    def __init__(self, program, cwd, env, args=()):
        self.process = subprocess.Popen([program, *TWO_WAY, *args], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, cwd=cwd, env=env, start_new_session=True)
        self.seen, self._lines = [], queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._lines.put(line.decode())
        self._lines.put(None)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        if self.process.poll() is None:
            os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait(10)

    def say(self, words, message_uuid=None, **members):
        self.send({"type": "user", "message": {"role": "user", "content": words}, "parent_tool_use_id": None,
                   "session_id": "", "uuid": message_uuid or str(uuid.uuid4()), **members})

    def request(self, subtype, request_id="r1", **members):
        self.send({"type": "control_request", "request_id": request_id, "request": {"subtype": subtype, **members}})

    def answer(self, request, **response):
        self.send({"type": "control_response", "response": {
            "subtype": "success", "request_id": request["request_id"], "response": response}})

    def send(self, value):
        self.process.stdin.write(json.dumps(value).encode() + b"\n")
        self.process.stdin.flush()

    def until(self, wanted, timeout=60):
        """Reads lines up to the first that `wanted` accepts, and returns it."""
        deadline = time.monotonic() + timeout
        while True:
            try:
                line = self._lines.get(timeout=max(0.0, deadline - time.monotonic()))
            except queue.Empty:
                raise AssertionError(f"did not come within {timeout} s; seen: {self.kinds()}") from None
            assert line is not None, f"the agent ended; seen: {self.kinds()}\n{self.process.stderr.read().decode()}"
            value = json.loads(line)
            self.seen.append((line, value))
            if wanted(value):
                return value

    def until_kind(self, kind, timeout=60):
        return self.until(lambda value: kind_of(value) == kind, timeout)

    def close(self, timeout=60):
        """Closes the input, reads the rest and returns the exit code."""
        self.process.stdin.close()
        while (line := self._lines.get(timeout=timeout)) is not None:
            self.seen.append((line, json.loads(line)))
        return self.process.wait(timeout)

    def kinds(self):
        return [kind_of(value) for _, value in self.seen]

    def printed(self):
        return "".join(line for line, _ in self.seen)


def kind_of(value):
    """The kind of a line: `assistant/text`, `user/tool_result`, `system/init`, `result/success`, …"""
    kind = value["type"]
    if kind in ("assistant", "user"):
        content = value["message"]["content"]
        return f"{kind}/{'string' if isinstance(content, str) else content[0]['type']}"
    if kind == "control_request":
        return f"{kind}/{value['request']['subtype']}"
    if kind == "command_lifecycle":
        return f"{kind}/{value['state']}"
    return f"{kind}/{value['subtype']}" if "subtype" in value else kind


def call_input(step):
    return step["message"]["content"][0]["input"]


def result_text(step):
    content = step["message"]["content"][0]["content"]
    return content if isinstance(content, str) else "".join(block.get("text", "") for block in content)
