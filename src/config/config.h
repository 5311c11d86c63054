// The program's settings. The environment overrides one YAML file, and flags override both. Every value records its
// origin, so that `shepherd config` can show it.
//
//   file         --config, SHEPHERD_CONFIG, $XDG_CONFIG_HOME/shepherd/config.yaml, ~/.config/shepherd/config.yaml;
//                only the last two may be missing
//   environment  SHEPHERD_ and the key in capitals: SHEPHERD_PUBLIC_LISTEN for public.listen
//   flags        the commands' own, and --set KEY=VALUE
//
// Errors are invalid_argument and name the key, the place (file and line, variable, flag) and a correct value.
// Threads: value.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "base/result.h"
#include "chat/turn.h"
#include "client/find_server.h"
#include "config/agent_entry.h"
#include "config/limits.h"
#include "follow/limits.h"
#include "hub/limits.h"
#include "llm/model_config.h"
#include "mcp/mcp_config.h"
#include "model/condense.h"
#include "prices/model_price.h"
#include "process/limits.h"
#include "redact/redact.h"
#include "steering/steering_config.h"
#include "tools/tool_settings.h"

namespace shepherd {

inline constexpr std::string_view kNoListen = "off";

struct PortConfig {
  std::string listen;
  std::string auth = "token";  // or "none"
  std::string tls_cert, tls_key;
  std::vector<std::string> hosts, origins;
  bool trusted_network = false;  // internal only
};

inline PortConfig port_at(std::string listen) {
  PortConfig port;
  port.listen = std::move(listen);
  return port;
}

struct Config {
  std::string file;  // path it was read from, or empty
  std::string data;
  PortConfig public_port = port_at("127.0.0.1:8080");  // the keys under `public`
  PortConfig internal = port_at("127.0.0.1:8081");
  bool allow_query_token = false;
  bool metrics_open = false;
  bool insecure_bind = false;
  PortConfig grpc = port_at("127.0.0.1:8082");  // uses the public port's `auth`; listen "off" disables it
  bool grpc_required = false;  // grpc.listen was set explicitly, so the server fails if that address is in use
  std::string log_level = "info";
  std::int64_t io_threads = 0;  // 0: one per core, at most four
  int retention_days = kRetentionDays;
  std::uint64_t retention_bytes = kRetentionBytes;
  int stats_days = kLedgerDays;
  std::uint64_t stats_bytes = kLedgerBytes;
  std::int64_t stalled_seconds = std::chrono::duration_cast<std::chrono::seconds>(kStallSilence).count();
  RedactOptions redact;
  CondenseRules condense;
  bool keep_detail = true;
  SteeringConfig steering;  // the keys under `callbacks`, and the server's keys under `runners`
  // For this program's own runs and runners.
  std::string confine = "secrets";  // none, secrets, workspace (docs/security.md)
  // Whether runners.confine was set explicitly; an agent that cannot have that level then does not start.
  bool confine_required = false;
  std::vector<std::string> confine_writable;
  std::string rules;           // file or directory, or empty
  std::string claude_program;  // empty: "claude" from PATH
  std::string claude_output_format = "stream-json";
  // The waits of the stop sequence: after the agent's own interrupt, SIGINT and SIGTERM.
  std::int64_t stop_interrupt_ms = kInterruptWait.count();
  std::int64_t stop_sigint_ms = kCloseWait.count();
  std::int64_t stop_sigterm_ms = kTerminateWait.count();
  std::int64_t runners = kRunners;                        // of `serve`
  std::map<std::string, AgentEntry> agents;               // by user-defined names
  std::map<std::string, ModelConfig> models;              // by user-defined names
  std::map<std::string, ModelPrice, std::less<>> prices;  // by the names of models
  std::vector<std::string> chat_models;                   // names, the first that works; empty: all, by name
  ChatConfig chat;
  std::vector<std::string> chat_cors_origins;          // other sites whose pages may use the paths of chats
  ToolSettings chat_tools;                             // chat.tools and the keys of single tools
  std::map<std::string, McpServerConfig> mcp_servers;  // by user-defined names
  // Keys that other programs' files have too: whether agents are watched step by step, and events kept per tail.
  bool observability_enabled = true;
  std::int64_t observability_buffer_size = kTailEvents;
};

// The origin of a value, for a person: "default", "file /etc/x.yaml:3", "SHEPHERD_DATA", "--data".
struct LoadedConfig {
  Config config;
  std::map<std::string, std::string> sources;  // by key
  std::string file;                            // the file that was read, or empty
};

struct ConfigInputs {
  std::string file;                                        // --config; empty: search for one
  std::vector<std::pair<std::string, std::string>> flags;  // (key, value); the last one wins
};
Result<LoadedConfig> load_config(const ConfigInputs& inputs, const Environment& environment);

// The effective settings as a YAML file. load_config() reads it back to the same settings; each line names the origin
// of its value.
std::string config_as_yaml(const LoadedConfig& loaded);
// {"public.listen":{"value":…,"from":"default"},…}
std::string config_as_json(const LoadedConfig& loaded);

}  // namespace shepherd
