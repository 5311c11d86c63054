#!/bin/sh
# Makes the protocol's Python code in DIRECTORY (needs grpcio-tools). PYTHON chooses the interpreter.
set -eu
out=${1:?usage: build.sh DIRECTORY}
root=$(cd "$(dirname "$0")/../../.." && pwd)
mkdir -p "$out"
"${PYTHON:-python3}" -m grpc_tools.protoc --proto_path="$root/proto" --python_out="$out" --grpc_python_out="$out" gibson/agent.proto
