"""The protocol of streaming agents as Python modules, both dialects, generated from proto/ on demand."""

import importlib
import sys
import tempfile
from pathlib import Path

from grpc_tools import protoc

PROTO = Path(__file__).resolve().parents[2] / "proto"


def generate():
    if "gibson.agent_pb2" not in sys.modules:
        out = tempfile.mkdtemp(prefix="shepherd-proto-")
        code = protoc.main(["protoc", f"--proto_path={PROTO}", f"--python_out={out}", f"--grpc_python_out={out}",
                            "gibson/agent.proto", "gibson/typed_agent.proto"])
        assert code == 0, "the protocol files do not compile"
        sys.path.insert(0, out)


def load_typed():
    """The messages of gibson/typed_agent.proto."""
    generate()
    return importlib.import_module("gibson.typed_agent_pb2")


def load():
    """(messages, services) of gibson/agent.proto."""
    generate()
    return importlib.import_module("gibson.agent_pb2"), importlib.import_module("gibson.agent_pb2_grpc")
