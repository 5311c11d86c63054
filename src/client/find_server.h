// Which server a program on this machine talks to, and as whom.
//
//   address   --url, SHEPHERD_URL, or what `shepherd serve` wrote to server.json in the data directory
//             (for posting events: --internal-url, SHEPHERD_INTERNAL_URL, else the same way)
//   token     SHEPHERD_TOKEN, or admin.token in the data directory; the latter is only ever given to the server of that
//             data directory, never to an address that merely came from a flag or the environment, and not inside a
//             task (SHEPHERD_TASK_ID): an agent must not approve what it asks for
//   data      --data, SHEPHERD_DATA, $XDG_DATA_HOME/shepherd, ~/.local/share/shepherd
//
// Failures: unavailable/no_server when no address is known, invalid_argument when a file or a URL makes no sense.
// Threads: value.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "base/result.h"

namespace shepherd {

// A variable of the environment; empty when it is not set. Passed in, so that tests do not touch the real one.
using Environment = std::function<std::string(const char* name)>;
Environment process_environment();

// The data directory when no flag or configuration names one.
Result<std::string> default_data_directory(const Environment& environment);

// What a running server leaves in its data directory. One that ends takes it away; one that is killed leaves it.
struct ServerRecord {
  std::string public_url, internal_url;
  std::int64_t pid = 0;
  std::int64_t started_ms = 0;
  bool serve = false;  // a `shepherd serve`; else a run that hosts
};
inline constexpr const char* kServerRecordFile = "server.json";
inline constexpr const char* kAdminTokenFile = "admin.token";

Result<ServerRecord> read_server_record(const std::string& directory);  // not_found/no_server when there is none
Result<void> write_server_record(const std::string& directory, const ServerRecord& record);  // whole or not at all

struct FindOptions {
  std::string url;             // --url
  std::string internal_url;    // --internal-url
  std::string data_directory;  // --data
  bool own_server = false;     // it is this process's, so its token is too, also inside a task
};

struct Destination {
  std::string public_url;
  std::string internal_url;   // where events are posted
  std::string token;          // empty: none known
  std::string no_token = {};  // why not, where that is not plain
};
Result<Destination> find_server(const FindOptions& options, const Environment& environment);

}  // namespace shepherd
