"""A stream's conversation with the operator, in plain grpcio: what the C++ library does for an agent, in small.

Every call that sends or waits is also a place where the work can be interrupted, and throws Stopped when the stream is over.
"""

import collections
import json
import re
import secrets
import signal
import threading
import time
from concurrent import futures

import grpc
from gibson import agent_pb2 as pb
from gibson import agent_pb2_grpc
from grpc_health.v1 import health, health_pb2, health_pb2_grpc
from grpc_reflection.v1alpha import reflection

SERVICE = pb.DESCRIPTOR.services_by_name["AgentService"].full_name
SEND_DEADLINE_SECONDS = 5
SHUTDOWN_SECONDS = 5
STREAMS = 16
TRACEPARENT = re.compile(r"00-(?!0{32})([0-9a-f]{32})-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}")


class Stopped(BaseException):
    """The stream is over. Not an Exception, so that `except Exception` around a tool does not swallow it."""


class Run:
    def __init__(self, start, task, metadata):
        self.goal = task.get("goal", "")
        self._interactive = start.initial_mode == pb.AGENT_MODE_INTERACTIVE
        traceparent = TRACEPARENT.fullmatch(metadata.get("traceparent", ""))
        self._trace_id = traceparent.group(1) if traceparent else secrets.token_hex(16)
        self._span_id = secrets.token_hex(8)
        self._sequence = 0
        self._changed = threading.Condition()  # guards everything here
        self._outgoing = collections.deque()
        self._words = collections.deque()
        self._interrupt = None  # its reason, until the resume
        self._resumed = self._closed = self._ended = False
        with self._changed:
            self._status(pb.AGENT_STATUS_RUNNING, "started")

    # --- the work's side ---

    def output(self, text):
        self._send(output=pb.OutputChunk(content=text))

    def reason(self, text):
        self._send(output=pb.OutputChunk(content=text, is_reasoning=True))

    def tool_call(self, tool, input_json):
        call_id = f"call-{secrets.token_hex(6)}"
        self._send(tool_call=pb.ToolCallEvent(tool_name=tool, input_json=input_json, call_id=call_id))
        return call_id

    def tool_result(self, call_id, output_json, success):
        self._send(tool_result=pb.ToolResultEvent(call_id=call_id, output_json=output_json, success=success))

    def finding(self, finding):
        self._send(finding=pb.FindingEvent(finding_json=json.dumps(finding)))

    def error(self, code, message):
        self._send(error=pb.ErrorEvent(code=code, message=message))

    def wait_for(self, seconds):
        with self._changed:
            self._pause()
            self._changed.wait_for(lambda: self._ended or self._interrupt is not None, seconds)
            self._pause()

    def next_steering(self):
        with self._changed:
            self._pause()
            return self._words.popleft() if self._words else None

    def wait_for_input(self, question):
        """In interactive mode waits for the operator's word; nothing in autonomous mode."""
        with self._changed:
            self._pause()
            while self._interactive and not self._words:
                self._status(pb.AGENT_STATUS_WAITING_FOR_INPUT, question)
                self._changed.wait_for(lambda: self._words or not self._interactive or self._interrupt is not None or
                                       self._closed or self._ended)
                if not self._pause():
                    self._stop_if(self._closed and not self._words)
                    self._status(pb.AGENT_STATUS_RUNNING, "goes on")
            return self._words.popleft() if self._words else None

    # --- the operator's side ---

    def hear(self, message):
        with self._changed:
            kind = message.WhichOneof("payload")
            if kind == "steering":
                self._words.append(message.steering.content)
                self._put(steering_ack=pb.SteeringAck(message_id=message.steering.id,
                                                      response=f"acknowledged: {message.steering.content}"))
            elif kind == "interrupt":
                self._interrupt, self._resumed = message.interrupt.reason, False
            elif kind == "resume" and self._interrupt is not None:
                self._resumed = True
                if message.resume.guidance:
                    self._words.append(message.resume.guidance)
            elif kind == "set_mode":
                self._interactive = message.set_mode.mode == pb.AGENT_MODE_INTERACTIVE
            self._changed.notify_all()

    def half_closed(self):
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def end(self, status, message):
        """The last status; nothing is sent after it."""
        with self._changed:
            self._status(status, message)
            self._ended = True
            self._changed.notify_all()

    def fail(self, problem):
        with self._changed:
            self._put(error=pb.ErrorEvent(code="WORK_FAILED", message=str(problem), fatal=True))
        self.end(pb.AGENT_STATUS_FAILED, str(problem))

    # --- the sending side ---

    def messages(self):
        """What is to be sent, until the stream has ended."""
        while True:
            with self._changed:
                self._changed.wait_for(lambda: self._outgoing or self._ended)
                if not self._outgoing:
                    return
                message = self._outgoing.popleft()
                self._changed.notify_all()
            yield message

    def _put(self, **payload):
        if self._ended:
            return
        self._sequence += 1
        self._outgoing.append(pb.AgentMessage(trace_id=self._trace_id, span_id=self._span_id, sequence=self._sequence,
                                              timestamp_ms=int(time.time() * 1000), **payload))
        self._changed.notify_all()

    def _status(self, status, message):
        self._put(status=pb.StatusChange(status=status, message=message))

    def _send(self, **payload):
        with self._changed:
            self._pause()
            self._stop_if(not self._changed.wait_for(lambda: len(self._outgoing) < 64 or self._ended,
                                                     SEND_DEADLINE_SECONDS))
            self._put(**payload)

    def _stop_if(self, over):
        if over and not self._ended:
            self._status(pb.AGENT_STATUS_INTERRUPTED, "the caller is gone")
            self._ended = True
            self._changed.notify_all()
        if self._ended:
            raise Stopped

    def _pause(self):
        """Waits while the work is interrupted. True when it was."""
        self._stop_if(False)
        if self._interrupt is None:
            return False
        self._status(pb.AGENT_STATUS_INTERRUPTED, self._interrupt)
        self._changed.wait_for(lambda: self._resumed or self._closed or self._ended)
        self._stop_if(not self._resumed)
        self._interrupt, self._resumed = None, False
        self._status(pb.AGENT_STATUS_RUNNING, "resumed")
        return True


class Service(agent_pb2_grpc.AgentServiceServicer):
    def __init__(self, work):
        self._work = work
        self._runs = set()
        self._lock = threading.Lock()

    def StreamExecute(self, requests, context):
        first = next(requests, None)
        if first is None or not first.HasField("start"):
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the first message must be start")
        try:
            task = json.loads(first.start.task_json)
            task.get("goal")
        except (ValueError, AttributeError) as problem:
            context.abort(grpc.StatusCode.INVALID_ARGUMENT, f"task_json is not a JSON object: {problem}")
        run = Run(first.start, task, dict(context.invocation_metadata()))
        with self._lock:
            self._runs.add(run)
        context.add_callback(lambda: run.end(pb.AGENT_STATUS_INTERRUPTED, "cancelled"))
        threading.Thread(target=self._listen, args=(run, requests), daemon=True).start()
        threading.Thread(target=self._work_on, args=(run,), daemon=True).start()
        try:
            yield from run.messages()
        finally:
            with self._lock:
                self._runs.discard(run)

    def stop_all(self):
        with self._lock:
            runs = list(self._runs)
        for run in runs:
            run.end(pb.AGENT_STATUS_INTERRUPTED, "the agent is shutting down")

    def _listen(self, run, requests):
        try:
            for message in requests:
                run.hear(message)
        except grpc.RpcError:
            pass  # cancelled: the callback has ended the run
        run.half_closed()

    def _work_on(self, run):
        try:
            self._work(run)
            run.wait_for(0)  # an interrupt that came last is honoured
            run.end(pb.AGENT_STATUS_COMPLETED, "completed")
        except Stopped:
            pass
        except Exception as problem:  # whatever the work throws is the task's failure, not the agent's
            run.fail(problem)


def serve(address, work):
    """Until SIGTERM or SIGINT; then running streams are told, and the server ends."""
    over = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: over.set())
    server = grpc.server(futures.ThreadPoolExecutor(STREAMS), options=[("grpc.so_reuseport", 0)])
    service = Service(work)
    agent_pb2_grpc.add_AgentServiceServicer_to_server(service, server)
    state = health.HealthServicer()
    health_pb2_grpc.add_HealthServicer_to_server(state, server)
    state.set("", health_pb2.HealthCheckResponse.SERVING)
    state.set(SERVICE, health_pb2.HealthCheckResponse.SERVING)
    reflection.enable_server_reflection((SERVICE, reflection.SERVICE_NAME), server)
    if server.add_insecure_port(address) == 0:
        raise SystemExit(f"cannot listen on {address}")
    server.start()
    over.wait()
    state.enter_graceful_shutdown()
    service.stop_all()
    server.stop(SHUTDOWN_SECONDS).wait()
