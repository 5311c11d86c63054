"""Records the runs of tests/golden/grpc/recordings/typed-*: what the agent of typed_agent.py sends, over gRPC, as JSON.

    python record_typed_agent.py DIRECTORY
"""

import json
import queue
import sys
from pathlib import Path

import grpc
from google.protobuf import json_format

import typed_agent

pb = typed_agent.pb
TRACE = "4bf92f3577b34da6a3ce929d0e0e4736"
START_MS = 1_794_766_800_000  # the clock of the recordings, so that a new one differs only in what was said

FINDING = {
    "id": "finding-1", "agent_name": "auditor", "title": "Password in a note", "description": "servers.md has a password in clear text",
    "category": "credential_exposure", "severity": "FINDING_SEVERITY_HIGH", "confidence": 0.9, "status": "FINDING_STATUS_CONFIRMED",
    "mitre_attack": {"matrix": "enterprise", "tactic_id": "TA0006", "tactic_name": "Credential Access", "technique_id": "T1552",
                     "technique_name": "Unsecured Credentials", "sub_techniques": ["T1552.001"]},
    "evidence": [{"title": "servers.md", "type": "EVIDENCE_TYPE_LOG", "content": "The root password is in here", "metadata": {"line": "1"}}],
    "reproduction": [{"order": 1, "description": "Open the note", "input": "servers.md"}],
    "cvss_score": 7.5, "remediation": "Move it into a vault", "tags": ["notes"], "created_at": str(START_MS)}

RUNS = {
    "typed-01-audit": [
        {"say": "The server note ", "reasoning": True}, {"say": "is the first candidate.", "reasoning": True}, {"say": "Reading the notes.\n"},
        {"tool": "read_note", "input": {"name": "servers.md", "lines": 20, "strict": True, "ratio": 0.5, "from": None, "marks": ["a", {"b": 1}]},
         "result": {"text": "The root password is in here", "lines": 1}},
        {"finding": FINDING}, {"tool": "read_note", "input": {"name": "attic.md"}, "result": "permission denied", "success": False},
        {"error": "ERROR_CODE_TOOL_EXEC_FAILED", "message": "read_note: permission denied"},
        {"status": "WAITING_FOR_INPUT", "message": "Shall I go on with plan.md?"}, {"wait": "steering"},
        {"status": "RUNNING", "message": "going on"}, {"tool": "count", "result": 3}, {"say": "Two notes checked."},
        {"status": "COMPLETED", "message": "one finding in two notes"}],
    "typed-02-interrupted": [
        {"say": "Looking at everything."}, {"wait": "interrupt"}, {"say": "Only the plan, then."}, {"status": "COMPLETED", "message": "plan.md is fine"}],
    "typed-03-fatal": [
        {"say": "Asking the model."}, {"error": "ERROR_CODE_LLM_API_ERROR", "message": "the model's account has no quota", "fatal": True},
        {"status": "FAILED", "message": "no model"}],
    "typed-04-gave-up": [{"pauses": True}, {"say": "Looking at everything."}, {"wait": "end"}],
}
# What the caller sends once the agent has said this.
ANSWERS = {
    "WAITING_FOR_INPUT": lambda: pb.ClientMessage(steering=pb.SteeringMessage(id="steer-1", content="yes")),
    "Looking at everything.": lambda: pb.ClientMessage(interrupt=pb.InterruptRequest(reason="wrong path")),
    "INTERRUPTED": lambda: pb.ClientMessage(resume=pb.ResumeRequest(guidance="only the plan")),
}


def record(address, script):
    """The messages of one run, with the recording's clock."""
    sent = queue.Queue()
    task = pb.Task(id="task", goal=json.dumps(script))
    sent.put(pb.ClientMessage(start=pb.StartExecutionRequest(task=task, initial_mode=pb.AGENT_MODE_INTERACTIVE)))
    with grpc.insecure_channel(address) as channel:
        call = channel.stream_stream("/gibson.agent.AgentService/StreamExecute", request_serializer=pb.ClientMessage.SerializeToString,
                                     response_deserializer=pb.AgentMessage.FromString)
        paused = False
        for message in call(iter(sent.get, None), metadata=[("traceparent", f"00-{TRACE}-00f067aa0ba902b7-01")]):
            message.timestamp_ms = START_MS + 40 * message.sequence
            yield json_format.MessageToDict(message, preserving_proto_field_name=True)
            text = json.dumps(json_format.MessageToDict(message))
            paused = paused or "AGENT_STATUS_PAUSED" in text
            for words, answer in ANSWERS.items():
                if words in text:
                    sent.put(None if paused and words == "INTERRUPTED" else answer())
        sent.put(None)


if __name__ == "__main__":
    server, where = typed_agent.serve(typed_agent.Agent())
    for name, run in RUNS.items():
        lines = [json.dumps(message, separators=(",", ":")) + "\n" for message in record(where, run)]
        (Path(sys.argv[1]) / f"{name}.ndjson").write_text("".join(lines))
        print(name, len(lines))
    server.stop(None)
