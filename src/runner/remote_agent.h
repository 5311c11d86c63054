// The address and credentials of an agent that is a service: an entry of the configuration.
// Threads: value.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "driver/grpc/dialect.h"
#include "runner/grpc_link.h"
#include "runner/limits.h"

namespace shepherd {

struct RemoteAgent {
  std::string address;  // host:port
  bool tls = false;
  std::string ca_file, cert_file, key_file;     // PEM; empty for the system's roots and no certificate of ours
  std::string server_name;                      // the name in its certificate; empty for the address's
  std::string token_file;                       // its first line is sent as "authorization: Bearer …"; empty for none
  std::map<std::string, std::string> metadata;  // sent with the call unchanged
  std::chrono::milliseconds connect_wait = kAgentConnectWait;
  std::optional<GrpcDialect> dialect;  // the only one that is tried; nullopt: whichever it takes
  bool insecure = false;               // its token may be sent in clear text, also beyond this machine
  std::string traceparent;             // of the run; empty for none
};

// host:port, [v6]:port or unix:path; invalid_argument describes the right form.
Result<void> check_address(std::string_view address);
// Whether traffic to this address stays on this machine.
bool is_loopback_address(std::string_view address);

// Reads the files each time, because tokens and certificates change while a runner runs. invalid_argument names the
// file that cannot be read.
Result<GrpcTarget> grpc_target(const RemoteAgent& agent, std::string method);

// Values that must not appear in a log: the token, and metadata with secret-sounding names.
std::vector<std::string> secrets_of(const RemoteAgent& agent);

// Whether a name (of a header, a variable) says that its value is secret.
bool sounds_secret(std::string_view name);

// A new trace in the form of the W3C header.
std::string make_traceparent(Random& random);

}  // namespace shepherd
