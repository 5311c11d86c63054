"""The protocol of streaming agents as Python modules, generated from proto/ on demand."""

import importlib
import sys
import tempfile
from pathlib import Path

from grpc_tools import protoc

PROTO = Path(__file__).resolve().parents[2] / "proto"


def load():
    """(messages, services) of gibson/agent.proto."""
    if "gibson.agent_pb2" not in sys.modules:
        out = tempfile.mkdtemp(prefix="shepherd-proto-")
        code = protoc.main(["protoc", f"--proto_path={PROTO}", f"--python_out={out}", f"--grpc_python_out={out}", "gibson/agent.proto"])
        assert code == 0, "the protocol file does not compile"
        sys.path.insert(0, out)
    return importlib.import_module("gibson.agent_pb2"), importlib.import_module("gibson.agent_pb2_grpc")
