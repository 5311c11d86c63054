#!/usr/bin/env python3
"""A small agent that speaks the Agent Client Protocol (version 1, JSON-RPC lines on stdio), with one defect of choice.

    acp_agent.py [DEFECT]

It has no model: a command between two backticks of its prompt is its one tool call, for which it asks permission. Without a
defect it keeps to the protocol. `acp_agent.py --list` prints the defects.
"""

import json
import queue
import os
import re
import subprocess
import sys
import threading

OPTIONS = [{"optionId": "yes", "name": "Allow", "kind": "allow_once"},
           {"optionId": "always", "name": "Always allow", "kind": "allow_always"},
           {"optionId": "no", "name": "Reject", "kind": "reject_once"}]
METHOD_NOT_FOUND, BAD_PARAMETERS, LOGIN_REQUIRED = -32601, -32602, -32000

# Each by the check of `shepherd agent test --acp` that names it.
DEFECTS = {
    "alive": ["crashes_in_turn", "ends_on_unknown_notification"],
    "initialize": ["wrong_version", "no_version", "refuses_to_begin", "ways_as_object"],
    "stdout": ["prints_banner"],
    "json_rpc": ["no_jsonrpc", "result_and_error", "error_without_code", "answers_twice", "answers_unknown_id",
                 "repeats_request_id", "sends_an_array"],
    "client_methods": ["reads_files_uninvited", "calls_own_method"],
    "unknown_method": ["unknown_method_ok", "unknown_method_code", "unknown_method_silent"],
    "unknown_notification": ["answers_notification"],
    "unknown_session": ["takes_any_session"],
    "relative_cwd": ["relative_silent"],
    "session": ["session_without_id", "refuses_sessions"],
    "prompt": ["never_answers", "refuses_prompts"],
    "updates": ["updates_other_session", "update_without_kind", "content_as_text"],
    "turn_end": ["works_after_answer"],
    "stop_reason": ["no_stop_reason", "odd_stop_reason", "says_cancelled"],
    "tool_calls": ["update_first", "call_without_title", "odd_status", "status_goes_back"],
    "tool_end": ["call_without_end"],
    "permission": ["asks_without_options", "odd_option_kind", "same_option_ids"],
    "permission_allowed": ["allowed_does_nothing"],
    "permission_rejected": ["runs_rejected", "rejected_as_completed"],
    "cancel": ["ignores_cancel", "cancel_as_error", "cancel_as_end_turn"],
    "after_cancel": ["dead_after_cancel"],
    "exit": ["stays"],
    "survivors": ["leaves_a_process"],
    "login": ["asks_for_login"],
}


class Agent:
    def __init__(self, defect):
        self.defect, self.asked, self.sessions, self.calls = defect, 0, 0, 0
        self.cancelled = False
        self.messages = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        for line in sys.stdin:
            self.messages.put(json.loads(line))
        self.messages.put(None)

    def next(self, timeout=None):
        message = self.messages.get(timeout=timeout)
        if message is None:
            self.leave()
        return message

    def leave(self):
        if self.defect == "stays":
            threading.Event().wait()
        if self.defect == "leaves_a_process":
            subprocess.Popen(["sleep", "1000"], stdin=subprocess.DEVNULL)
        sys.stdout.flush()
        os._exit(0)

    def has(self, defect):
        return self.defect == defect

    def send(self, **message):
        head = {} if self.has("no_jsonrpc") else {"jsonrpc": "2.0"}
        print(json.dumps({**head, **message}), flush=True)

    def answer(self, number, **what):
        if self.has("result_and_error") and number == 0:
            what["error"] = {"code": 0, "message": "fine"}
        self.send(id=number, **what)
        if self.has("answers_twice"):
            self.send(id=number, **what)

    def refuse(self, number, code, why):
        error = {"code": code, "message": why}
        if self.has("error_without_code"):
            del error["code"]
        self.answer(number, error=error)

    def update(self, session, kind, /, **what):
        session = "another" if self.has("updates_other_session") else session
        update = {"sessionUpdate": kind, **what}
        if self.has("update_without_kind"):
            del update["sessionUpdate"]
        self.send(method="session/update", params={"sessionId": session, "update": update})

    def say(self, session, text):
        content = text if self.has("content_as_text") else {"type": "text", "text": text}
        self.update(session, "agent_message_chunk", content=content)

    def ask(self, method, params):
        """The answer to a request, or None once the turn is cancelled; then a permission was withdrawn."""
        self.asked += 0 if self.has("repeats_request_id") and self.asked else 1
        self.send(id=self.asked, method=method, params=params)
        while True:
            message = self.next()
            if "method" not in message and message["id"] == self.asked:
                return message
            self.during_turn(message)

    def during_turn(self, message):
        if message.get("method") == "session/cancel" and not self.has("ignores_cancel"):
            self.cancelled = True

    def permitted(self, session, call):
        options = [dict(option) for option in OPTIONS]
        if self.has("asks_without_options"):
            options = []
        if self.has("odd_option_kind"):
            options[1]["kind"] = "allow_sometimes"
        if self.has("same_option_ids"):
            options[1]["optionId"] = options[0]["optionId"]
        outcome = self.ask("session/request_permission", {"sessionId": session, "toolCall": call, "options": options})
        outcome = outcome["result"]["outcome"]
        return outcome["outcome"] == "selected" and outcome["optionId"] != "no"

    def run(self, command):
        """The exit code; None if it was cancelled."""
        process = subprocess.Popen(command, shell=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, start_new_session=True)
        while process.poll() is None and not self.cancelled:
            try:
                self.during_turn(self.next(timeout=0.02))
            except queue.Empty:
                pass
        if process.poll() is None:
            os.killpg(process.pid, 9)
            process.wait()
            return None
        return process.returncode

    def tool(self, session, command):
        self.calls += 1
        call = {"toolCallId": f"call-{self.calls}"}
        shown = {**call, "title": command, "kind": "execute", "status": "pending"}
        if self.has("call_without_title"):
            del shown["title"]
        if self.has("update_first"):
            self.update(session, "tool_call_update", **call, status="in_progress")
        self.update(session, "tool_call", **shown)
        if self.has("reads_files_uninvited"):
            self.ask("fs/read_text_file", {"sessionId": session, "path": "/etc/hostname"})
        if self.has("calls_own_method"):
            self.ask("acme/hello", {})
        allowed = self.permitted(session, call)
        if self.cancelled:
            return
        if not allowed and not self.has("runs_rejected"):
            self.update(session, "tool_call_update", **call, status="completed" if self.has("rejected_as_completed") else "failed")
            return
        self.update(session, "tool_call_update", **call, status="running" if self.has("odd_status") else "in_progress")
        if self.has("crashes_in_turn"):
            os.abort()
        code = 0 if self.has("allowed_does_nothing") and "sleep" not in command else self.run(command)
        if code is None or self.has("call_without_end"):
            return
        done = "completed" if code == 0 and allowed else "failed"
        self.update(session, "tool_call_update", **call, status=done)
        if self.has("status_goes_back"):
            self.update(session, "tool_call_update", **call, status="in_progress")

    def turn(self, number, session, text):
        if self.has("refuses_prompts"):
            return self.refuse(number, -32603, "the model is tired")
        if self.has("never_answers") or (self.has("dead_after_cancel") and self.cancelled):
            return None
        self.cancelled = False
        command = re.search("`(.*)`", text)
        if command:
            self.tool(session, command.group(1))
        else:
            self.say(session, "ready")
        if self.cancelled and self.has("cancel_as_error"):
            return self.refuse(number, -32603, "aborted")
        reason = "cancelled" if self.cancelled or self.has("says_cancelled") else "end_turn"
        if self.cancelled and self.has("cancel_as_end_turn"):
            reason = "end_turn"
        result = {"stopReason": "done" if self.has("odd_stop_reason") else reason}
        self.answer(number, result={} if self.has("no_stop_reason") else result)
        if self.has("works_after_answer"):
            self.say(session, "and one more thing")
        return None

    def begin(self, number):
        if self.has("refuses_to_begin"):
            return self.refuse(number, BAD_PARAMETERS, "no")
        result = {"protocolVersion": 2 if self.has("wrong_version") else 1, "agentCapabilities": {}, "authMethods": []}
        if self.has("no_version"):
            del result["protocolVersion"]
        if self.has("ways_as_object"):
            result["authMethods"] = {}
        self.answer(number, result=result)
        if self.has("prints_banner"):
            print("Welcome to the agent!", flush=True)
        if self.has("sends_an_array"):
            print("[]", flush=True)
        if self.has("answers_unknown_id"):
            self.answer(4711, result={})

    def new_session(self, number, directory):
        if self.has("asks_for_login"):
            return self.refuse(number, LOGIN_REQUIRED, "Authentication required")
        if not os.path.isabs(directory):
            return None if self.has("relative_silent") else self.refuse(number, BAD_PARAMETERS, "cwd is not absolute")
        if self.has("refuses_sessions"):
            return self.refuse(number, -32603, "no session today")
        self.sessions += 1
        return self.answer(number, result={} if self.has("session_without_id") else {"sessionId": f"s-{self.sessions}"})

    def unknown(self, number):
        if number is None:
            if self.has("ends_on_unknown_notification"):
                os._exit(3)
            if self.has("answers_notification"):
                self.answer(None, error={"code": METHOD_NOT_FOUND, "message": "no such notification"})
        elif self.has("unknown_method_ok"):
            self.answer(number, result={})
        elif not self.has("unknown_method_silent"):
            self.refuse(number, -32603 if self.has("unknown_method_code") else METHOD_NOT_FOUND, "no such method")

    def serve(self):
        while True:
            message = self.next()
            method, number, params = message.get("method"), message.get("id"), message.get("params")
            if method == "initialize":
                self.begin(number)
            elif method == "session/new":
                self.new_session(number, params["cwd"])
            elif method == "session/prompt":
                known = params["sessionId"] in [f"s-{i + 1}" for i in range(self.sessions)]
                if not known and self.has("takes_any_session"):
                    self.answer(number, result={"stopReason": "end_turn"})
                elif known:
                    self.turn(number, params["sessionId"], "".join(part.get("text", "") for part in params["prompt"]))
                else:
                    self.refuse(number, -32002, "no such session")
            elif method is not None and method != "session/cancel":
                self.unknown(number)


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        print("\n".join(f"{check}: {defect}" for check, defects in DEFECTS.items() for defect in defects))
    else:
        wanted = sys.argv[1] if len(sys.argv) > 1 else ""
        if wanted and not any(wanted in defects for defects in DEFECTS.values()):
            sys.exit(f"no such defect: {wanted}; --list prints them")
        Agent(wanted).serve()
