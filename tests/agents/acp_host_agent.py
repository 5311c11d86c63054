#!/usr/bin/env python3
"""A small agent that speaks the Agent Client Protocol (version 1, JSON-RPC lines on stdio) and asks its client for files and terminals.

Its prompt is a JSON list of requests: [method, parameters]. It sends them one after the other, each when the answer to the
last one has come, and leaves the list of the answers as answers.json in its directory. "$N.key" in a parameter is that member of answer N.
["write", path, text] writes a file by itself, ["hold"] keeps its turn open until it is cancelled, and ["burst", path, count]
reads a file that often and reads its input only after the last request; the answer is the length of each text.
"""

import json
import os
import sys
import time

OUR_ID = 100


def send(message):
    sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
    sys.stdout.flush()


class Agent:
    def __init__(self):
        self.asked = OUR_ID
        self.capabilities = {}

    def read(self):
        line = sys.stdin.readline()
        if not line:
            sys.exit(0)
        return json.loads(line)

    def ask(self, method, parameters):
        self.asked += 1
        send({"id": self.asked, "method": method, "params": parameters})
        while True:
            message = self.read()
            if "method" not in message and message.get("id") == self.asked:
                return message.get("result", message.get("error"))

    def burst(self, session, path, count):
        first = self.asked + 1
        for _ in range(count):
            self.asked += 1
            send({"id": self.asked, "method": "fs/read_text_file", "params": {"sessionId": session, "path": path}})
        time.sleep(1)  # a client that does not wait for its agent has filled every buffer by then
        answers = [self.read() for _ in range(count)]
        assert [answer["id"] for answer in answers] == list(range(first, first + count))
        return [len(answer["result"]["content"]) for answer in answers]

    def say(self, session, text):
        send({"method": "session/update", "params": {"sessionId": session, "update": {
            "sessionUpdate": "agent_message_chunk", "content": {"type": "text", "text": text}}}})

    # Shown at once. The words of a message are shown when it is whole, which an open turn does not tell.
    def plan(self, session, step):
        send({"method": "session/update", "params": {"sessionId": session, "update": {
            "sessionUpdate": "plan", "entries": [{"content": step, "priority": "medium", "status": "in_progress"}]}}})

    def filled(self, value, answers):
        if isinstance(value, str) and value.startswith("$"):
            number, key = value[1:].split(".")
            return answers[int(number)][key]
        return value

    def turn(self, session, prompt):
        answers = []
        for request in json.loads(prompt):
            if request[0] == "write":
                with open(request[1], "w") as file:
                    file.write(request[2])
                answers.append(None)
            elif request[0] == "burst":
                answers.append(self.burst(session, *request[1:]))
            elif request[0] == "hold":
                self.plan(session, "holding")
                while self.read().get("method") != "session/cancel":
                    pass
                return "cancelled"
            else:
                parameters = {key: self.filled(value, answers) for key, value in request[1].items()}
                answers.append(self.ask(request[0], {"sessionId": session, **parameters}))
        with open("answers.json", "w") as file:
            json.dump(answers, file)
        self.say(session, "done")
        return "end_turn"

    def serve(self):
        while True:
            message = self.read()
            method, number = message.get("method"), message.get("id")
            if method == "initialize":
                self.capabilities = message["params"]["clientCapabilities"]
                send({"id": number, "result": {"protocolVersion": 1, "agentCapabilities": {}, "authMethods": []}})
            elif method == "session/new":
                assert os.path.samefile(message["params"]["cwd"], os.getcwd())
                send({"id": number, "result": {"sessionId": "s-1"}})
            elif method == "session/prompt":
                text = "".join(part.get("text", "") for part in message["params"]["prompt"])
                reason = self.turn(message["params"]["sessionId"], text[text.index("[["):])
                send({"id": number, "result": {"stopReason": reason}})
            elif number is not None and method is not None:
                send({"id": number, "error": {"code": -32601, "message": "no such method"}})


Agent().serve()
