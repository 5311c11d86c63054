#!/bin/sh
# Makes DIRECTORY/notes_agent: the protocol's Go code (needs protoc), then the program. Go 1.19 or newer; the modules are
# pinned in go.mod and go.sum and come from the module proxy the first time.
set -eu
out=${1:?usage: build.sh DIRECTORY}
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$out/bin" "$out/source/gibson"
out=$(cd "$out" && pwd)
cp "$here"/*.go "$here/go.mod" "$here/go.sum" "$out/source"
export GOBIN="$out/bin"
go install google.golang.org/protobuf/cmd/protoc-gen-go@v1.31.0
go install google.golang.org/grpc/cmd/protoc-gen-go-grpc@v1.3.0
package=shepherd.example/notes_agent
PATH="$GOBIN:$PATH" protoc --proto_path="$here/../../../proto" \
  --go_out="$out/source" --go_opt="module=$package" --go_opt="Mgibson/agent.proto=$package/gibson" \
  --go-grpc_out="$out/source" --go-grpc_opt="module=$package" --go-grpc_opt="Mgibson/agent.proto=$package/gibson" \
  gibson/agent.proto
cd "$out/source" && go build -o "$out/notes_agent" .
