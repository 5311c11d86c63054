// The `agents` of the configuration: agents under names of one's own.
//
//   agents:
//     auditor:
//       type: grpc                                                               # the only one there is
//       address: agents.example.org:443
//       tls: {ca: ca.pem, cert: ours.pem, key: ours.key, server_name: auditor}   # or tls: true
//       token_file: auditor.token
//       metadata: {x-team: red}
//       connect_ms: 5000
//
// Errors say what is wrong with the entry; the caller adds where it stands.
// Threads: value.
#pragma once

#include <string>

#include "base/result.h"
#include "runner/remote_agent.h"

namespace shepherd {

// The name of an entry: what a task's `agent` may be.
Result<void> check_agent_name(const std::string& name);

// `yaml` is the entry itself.
Result<RemoteAgent> parse_agent_entry(const std::string& yaml);

// The entry as JSON, which is YAML. Values of metadata are not shown, and what stands in their place is not read back.
std::string agent_entry_json(const RemoteAgent& agent);

}  // namespace shepherd
