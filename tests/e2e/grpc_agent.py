"""A streaming agent whose goal is a script: a JSON list of steps. Independent of the program under test.

Steps: {"say": text, "reasoning": bool} · {"tool": name, "input": …, "result": …, "success": bool} · {"finding": {…}} ·
{"status": "RUNNING", "message": text} · {"error": code, "message": text, "fatal": bool} · {"wait": "steering"|"interrupt"|
"resume"|"set_mode"|"end"} · {"burst": n} · {"number": n} (sets the next sequence number) · {"again": true} (repeats the
last message) · {"pauses": true} (answers interrupts as the vendor's library does) · {"unknown": true} ·
{"abort": STATUS, "message": text} · {"acks": bool} · {"hang": true} (reads nothing more until it is cancelled).

A goal that is not JSON gets one answer and the task is done. The agent obeys an interrupt between two steps and while
it waits: it reports INTERRUPTED and waits for a resume, whose guidance may be a list of further steps, or for the end of the stream.
"""

import json
import queue
import sys
import threading
import time
from concurrent import futures

import grpc

import grpc_proto

pb, services = grpc_proto.load()


class Ended(Exception):
    """The other side is gone or has closed the stream."""


class Stream:
    """One call: the received requests and the sequence numbers of sent messages."""

    def __init__(self, agent, requests, context):
        self.agent, self.context = agent, context
        self.heard, self.number, self.acks = queue.Queue(), 0, True
        self.last, self.pauses = None, False
        self.metadata = dict(context.invocation_metadata())
        self.trace = self.metadata.get("traceparent", "00-" + "0" * 32).split("-")[1]
        self.calls = 0
        threading.Thread(target=self._listen, args=(requests,), daemon=True).start()

    def _listen(self, requests):
        try:
            for request in requests:
                self.agent.received.append(request)
                self.heard.put(request)
        except grpc.RpcError:
            pass
        self.heard.put(None)

    def message(self, **payload):
        self.number += 1
        self.last = pb.AgentMessage(trace_id=self.trace, span_id=f"{self.number:016x}" if self.agent.spans else "1" * 16,
                                    sequence=self.number, timestamp_ms=int(time.time() * 1000), **payload)
        return self.last

    def status(self, name, message=""):
        return self.message(status=pb.StatusChange(status=f"AGENT_STATUS_{name}", message=message))

    # --- commands of operators ---

    def take(self, request):
        """Answers one request."""
        if request is None:
            raise Ended
        kind = request.WhichOneof("payload")
        if kind == "steering" and self.acks:
            yield self.message(steering_ack=pb.SteeringAck(message_id=request.steering.id, response=f"heard {request.steering.content}"))
        if kind == "interrupt" and self.pauses:
            yield self.status("PAUSED", f"Execution paused: {request.interrupt.reason}")
            yield self.status("INTERRUPTED", "Execution interrupted by client")
            yield from self.wait("end")
            raise Ended
        if kind == "interrupt":
            yield self.status("INTERRUPTED", request.interrupt.reason)
            guidance = None
            for answer in self.wait("resume"):
                if isinstance(answer, str):
                    guidance = answer
                else:
                    yield answer
            yield self.status("RUNNING", "going on")
            if guidance.startswith("["):
                yield from self.steps(json.loads(guidance))

    def look(self):
        """Answers all requests that have arrived."""
        while True:
            try:
                request = self.heard.get_nowait()
            except queue.Empty:
                return
            if request is None:
                self.heard.put(None)  # for a wait for the end
                return
            yield from self.take(request)

    def wait(self, wanted):
        """Waits for a request of that kind; for a resume, returns its guidance."""
        while True:
            request = self.heard.get()
            if request is None and wanted == "end":
                return
            if request is not None and request.WhichOneof("payload") == wanted == "resume":
                yield request.resume.guidance
                return
            yield from self.take(request)
            if request.WhichOneof("payload") == wanted:
                return

    # --- the work ---

    def steps(self, steps):
        for step in steps:
            yield from self.look()
            yield from self.step(step)

    def step(self, step):
        if "say" in step:
            yield self.message(output=pb.OutputChunk(content=step["say"], is_reasoning=step.get("reasoning", False)))
        elif "burst" in step:
            for i in range(step["burst"]):
                yield self.message(output=pb.OutputChunk(content=f"{i} "))
        elif "tool" in step:
            self.calls += 1
            name = step.get("id", f"call-{self.calls}")
            yield self.message(tool_call=pb.ToolCallEvent(tool_name=step["tool"], input_json=json.dumps(step.get("input", {})), call_id=name))
            if "result" in step:
                yield self.message(tool_result=pb.ToolResultEvent(call_id=name, output_json=json.dumps(step["result"]), success=step.get("success", True)))
        elif "finding" in step:
            yield self.message(finding=pb.FindingEvent(finding_json=json.dumps(step["finding"])))
        elif "status" in step:
            yield self.status(step["status"], step.get("message", ""))
        elif "error" in step:
            yield self.message(error=pb.ErrorEvent(code=step["error"], message=step.get("message", ""), fatal=step.get("fatal", False)))
        elif "wait" in step:
            yield from self.wait(step["wait"])
        elif "number" in step:
            self.number = step["number"] - 1
        elif "again" in step:
            yield self.last
        elif "unknown" in step:
            yield self.message()
        elif "abort" in step:
            self.context.abort(grpc.StatusCode[step["abort"]], step.get("message", ""))
        elif "hang" in step:
            gone = threading.Event()
            self.context.add_callback(gone.set)
            gone.wait(60)
        self.acks = step.get("acks", self.acks)
        self.pauses = step.get("pauses", self.pauses)


class Agent(services.AgentServiceServicer):
    """Threads: gRPC's; `received` and `started` grow."""

    stream = Stream

    def __init__(self, token=None, spans=False):
        self.token, self.spans = token, spans
        self.received, self.started, self.metadata = [], [], []

    def task_of(self, start):
        return json.loads(start.task_json)

    def StreamExecute(self, requests, context):
        if self.token and ("authorization", f"Bearer {self.token}") not in context.invocation_metadata():
            context.abort(grpc.StatusCode.UNAUTHENTICATED, "the token is not right")
        stream = self.stream(self, requests, context)
        self.metadata.append(stream.metadata)
        first = stream.heard.get()
        if first is None or not first.HasField("start"):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the first message must be start")
        task = self.task_of(first.start)
        self.started.append(task)
        yield stream.status("RUNNING", "started")
        try:
            plan = json.loads(task["goal"]) if task["goal"].startswith("[") else [{"say": f"You want: {task['goal']}"}]
            yield from stream.steps(plan)
        except Ended:
            return
        if not any("status" in step for step in plan):
            yield stream.status("COMPLETED", "all done")


def serve(agent, credentials=None, workers=160):
    """Starts a server on a free loopback port; returns it and its address."""
    server = grpc.server(futures.ThreadPoolExecutor(workers))
    services.add_AgentServiceServicer_to_server(agent, server)
    if credentials:
        port = server.add_secure_port("localhost:0", credentials)
    else:
        port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, f"{'localhost' if credentials else '127.0.0.1'}:{port}"


if __name__ == "__main__":
    running, address = serve(Agent())
    print(address, flush=True)
    sys.stdin.read()
    running.stop(None)
