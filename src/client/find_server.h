// Finds the server and the token for a program on this machine.
//
//   address   --url, SHEPHERD_URL, or server.json in the data directory, written by `shepherd serve`
//             (for posting events: --internal-url, SHEPHERD_INTERNAL_URL, otherwise the same way)
//   token     SHEPHERD_TOKEN, or admin.token in the data directory. The latter is sent only to the server of that
//             data directory, never to an address from a flag or the environment, and not inside a task
//             (SHEPHERD_TASK_ID): an agent must not approve its own requests
//   data      --data, SHEPHERD_DATA, $XDG_DATA_HOME/shepherd, ~/.local/share/shepherd
//
// Failures: unavailable/no_server if no address is known, invalid_argument for an invalid file or URL.
// Threads: value.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace shepherd {

// An environment variable; empty if it is not set. Passed in, so that tests do not change the real environment.
using Environment = std::function<std::string(const char* name)>;
Environment process_environment();

// The data directory if no flag or configuration names one.
Result<std::string> default_data_directory(const Environment& environment);

// The record of a running server in its data directory. A server removes it at its end; a killed server leaves it.
struct ServerRecord {
  std::string public_url, internal_url;
  std::int64_t pid = 0;
  std::int64_t started_ms = 0;
  bool serve = false;  // a `shepherd serve`; otherwise a hosting run
};
inline constexpr const char* kServerRecordFile = "server.json";
inline constexpr const char* kAdminTokenFile = "admin.token";

Result<ServerRecord> read_server_record(const std::string& directory);  // not_found/no_server if there is none
Result<void> write_server_record(const std::string& directory, const ServerRecord& record);  // all or nothing

struct FindOptions {
  std::string url;             // --url
  std::string internal_url;    // --internal-url
  std::string data_directory;  // --data
  bool own_server = false;     // this process hosts the server, so it may use its token, also inside a task
};

struct Destination {
  std::string public_url;
  std::string internal_url;   // for posting events
  std::string token;          // empty if none is known
  std::string no_token = {};  // the reason, if it is not obvious
};
Result<Destination> find_server(const FindOptions& options, const Environment& environment);

}  // namespace shepherd
