// The `agents` section of the configuration: agents under user-defined names. A program:
//
//   agents:
//     reviewer:
//       driver: claude                     # which driver speaks to it; a known agent's name has its own
//       command: [claude-next, --verbose]  # program and arguments
//       env: {EDITOR: vi}
//
// or a service:
//
//     auditor:
//       driver: grpc                                                             # or type: grpc
//       address: agents.example.org:443
//       tls: {ca: ca.pem, cert: ours.pem, key: ours.key, server_name: auditor}   # or tls: true
//       token_file: auditor.token
//       metadata: {x-team: red}
//       connect_ms: 5000
//       dialect: typed                     # or json; without it, both are tried
//
// An error describes the problem in the entry; the caller adds its place.
// Threads: value.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "config/agent_entry.h"

namespace shepherd {

// Checks the name of an entry, which a task's `agent` may refer to.
Result<void> check_agent_name(const std::string& name);

// `yaml` is the entry itself.
Result<AgentEntry> parse_agent_entry(const std::string& name, const std::string& yaml);

// The entry as JSON, which is also YAML. Values of metadata and variables are hidden, and their placeholders cannot be
// read back.
std::string agent_entry_json(const AgentEntry& agent);

// Values of its environment that must not appear in a log, by the sound of their names.
std::vector<std::string> secrets_of(const ProgramAgent& agent);

}  // namespace shepherd
