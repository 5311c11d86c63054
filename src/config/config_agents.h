// The `agents` section of the configuration: agents under user-defined names.
//
//   agents:
//     auditor:
//       type: grpc                                                               # the only supported type
//       address: agents.example.org:443
//       tls: {ca: ca.pem, cert: ours.pem, key: ours.key, server_name: auditor}   # or tls: true
//       token_file: auditor.token
//       metadata: {x-team: red}
//       connect_ms: 5000
//
// An error describes the problem in the entry; the caller adds its place.
// Threads: value.
#pragma once

#include <string>

#include "base/result.h"
#include "runner/remote_agent.h"

namespace shepherd {

// Checks the name of an entry, which a task's `agent` may refer to.
Result<void> check_agent_name(const std::string& name);

// `yaml` is the entry itself.
Result<RemoteAgent> parse_agent_entry(const std::string& yaml);

// The entry as JSON, which is also YAML. Values of metadata are hidden, and their placeholders cannot be read back.
std::string agent_entry_json(const RemoteAgent& agent);

}  // namespace shepherd
