"""The streaming agent of grpc_agent.py in the typed dialect: it takes the same scripts, and reads and sends typed messages.

It decodes requests with the types of gibson/typed_agent.proto alone, so a start in JSON fails in gRPC's own code, before the
agent sees anything. {"error": code} takes a name of the protocol (ERROR_CODE_…); {"finding": {…}} has the protocol's members.
"""

import json
import sys
import time

import grpc
from google.protobuf import json_format

import grpc_agent
import grpc_proto

pb = grpc_proto.load_typed()


def typed(value):
    """A value of Python as a TypedValue."""
    out = pb.TypedValue()
    if value is None:
        out.null_value = pb.NULL_VALUE
    elif isinstance(value, bool):
        out.bool_value = value
    elif isinstance(value, int):
        out.int_value = value
    elif isinstance(value, float):
        out.double_value = value
    elif isinstance(value, str):
        out.string_value = value
    elif isinstance(value, list):
        out.array_value.items.extend(typed(item) for item in value)
        out.array_value.SetInParent()
    else:
        for key, item in value.items():
            out.map_value.entries[key].CopyFrom(typed(item))
        out.map_value.SetInParent()
    return out


class Stream(grpc_agent.Stream):
    def message(self, **payload):
        self.number += 1
        self.last = pb.AgentMessage(trace_id=self.trace, span_id="1" * 16, sequence=self.number, timestamp_ms=int(time.time() * 1000))
        for name, value in payload.items():
            part = getattr(self.last, name)
            if name == "tool_call":
                part.tool_name, part.call_id = value.tool_name, value.call_id
                for key, item in json.loads(value.input_json).items():
                    part.input[key].CopyFrom(typed(item))
            elif name == "tool_result":
                part.call_id, part.success = value.call_id, value.success
                part.output.CopyFrom(typed(json.loads(value.output_json)))
            elif name == "finding":
                json_format.ParseDict(json.loads(value.finding_json), part.finding)
            elif name == "error":
                part.code, part.message, part.fatal = pb.ErrorCode.Value(value.code), value.message, value.fatal
            else:  # the same in both dialects
                part.MergeFromString(value.SerializeToString())
                part.SetInParent()
        return self.last


class Agent(grpc_agent.Agent):
    """`recording`, if given, gets every message that is sent, a line each, in JSON."""

    stream, recording = Stream, None

    def task_of(self, start):
        return {"id": start.task.id, "goal": start.task.goal}

    def StreamExecute(self, requests, context):
        for message in super().StreamExecute(requests, context):
            if self.recording is not None:
                self.recording.append(json_format.MessageToDict(message, preserving_proto_field_name=True))
            yield message


def serve(agent, workers=16):
    """Starts a server on a free loopback port; returns it and its address."""
    server = grpc.server(grpc_agent.futures.ThreadPoolExecutor(workers))
    method = grpc.stream_stream_rpc_method_handler(agent.StreamExecute, request_deserializer=pb.ClientMessage.FromString,
                                                   response_serializer=pb.AgentMessage.SerializeToString)
    server.add_generic_rpc_handlers([grpc.method_handlers_generic_handler("gibson.agent.AgentService", {"StreamExecute": method})])
    port = server.add_insecure_port("127.0.0.1:0")
    server.start()
    return server, f"127.0.0.1:{port}"


if __name__ == "__main__":
    running, address = serve(Agent())
    print(address, flush=True)
    sys.stdin.read()
    running.stop(None)
