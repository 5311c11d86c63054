// The program's settings: one YAML file, the environment over it, flags over both. Every value remembers where it came
// from, so that `shepherd config` can say.
//
//   file         --config, SHEPHERD_CONFIG, $XDG_CONFIG_HOME/shepherd/config.yaml, ~/.config/shepherd/config.yaml;
//                only the last two may be missing
//   environment  SHEPHERD_ and the key in capitals: SHEPHERD_PUBLIC_LISTEN for public.listen
//   flags        the commands' own, and --set KEY=VALUE
//
// Errors are invalid_argument and name the key, the place (file and line, variable, flag) and what would be right.
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
#include "client/find_server.h"
#include "config/limits.h"
#include "follow/limits.h"
#include "hub/limits.h"
#include "model/condense.h"
#include "process/limits.h"
#include "redact/redact.h"
#include "runner/remote_agent.h"
#include "steering/steering_config.h"

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
  std::string file;  // that it was read from; empty: none
  std::string data;
  PortConfig public_port = port_at("127.0.0.1:8080");  // the keys under `public`
  PortConfig internal = port_at("127.0.0.1:8081");
  bool allow_query_token = false;
  bool metrics_open = false;
  bool insecure_bind = false;
  PortConfig grpc = port_at("127.0.0.1:8082");  // its `auth` is the public one's; listen "off": not served
  bool grpc_required = false;                   // somebody asked for that address: when it is taken, say so and end
  std::string log_level = "info";
  std::int64_t io_threads = 0;  // 0: up to four, as the machine has cores
  int retention_days = kRetentionDays;
  std::uint64_t retention_bytes = kRetentionBytes;
  int stats_days = kLedgerDays;
  std::uint64_t stats_bytes = kLedgerBytes;
  std::int64_t stalled_seconds = std::chrono::duration_cast<std::chrono::seconds>(kStallSilence).count();
  RedactOptions redact;
  CondenseRules condense;
  bool keep_detail = true;
  SteeringConfig steering;  // the keys under `callbacks`, and those of `runners` that are the server's
  // For whoever runs the agents: this program's runs and runners.
  std::string confine = "secrets";  // none, secrets, workspace (docs/security.md)
  bool confine_required = false;    // somebody asked for that level: an agent that cannot have it does not start
  std::vector<std::string> confine_writable;
  std::string rules;           // file or directory; empty: none
  std::string claude_program;  // empty: "claude", as PATH finds it
  std::string claude_output_format = "stream-json";
  // The waits of the stop ladder: after the agent's own interrupt, SIGINT and SIGTERM.
  std::int64_t stop_interrupt_ms = kInterruptWait.count();
  std::int64_t stop_sigint_ms = kSigintWait.count();
  std::int64_t stop_sigterm_ms = kSigtermWait.count();
  std::int64_t runners = kRunners;            // of `serve`
  std::map<std::string, RemoteAgent> agents;  // by names of one's own
  // A setting of other programs' files; kept and shown.
  bool observability_enabled = true;
  std::int64_t observability_buffer_size = kTailEvents;
};

// Where a value came from, for a person: "default", "file /etc/x.yaml:3", "SHEPHERD_DATA", "--data".
struct LoadedConfig {
  Config config;
  std::map<std::string, std::string> sources;  // by key
  std::string file;                            // the file that was read; empty: none
};

struct ConfigInputs {
  std::string file;                                        // --config; empty: look for one
  std::vector<std::pair<std::string, std::string>> flags;  // (key, value), later wins
};
Result<LoadedConfig> load_config(const ConfigInputs& inputs, const Environment& environment);

// The effective settings as a YAML file that load_config() reads back to the same ones; each line says where its value
// came from.
std::string config_as_yaml(const LoadedConfig& loaded);
// {"public.listen":{"value":…,"from":"default"},…}
std::string config_as_json(const LoadedConfig& loaded);

}  // namespace shepherd
