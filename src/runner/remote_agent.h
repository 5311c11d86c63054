// Where an agent that is a service is, and what it is shown so that it lets us in: an entry of the configuration.
// Threads: value.
#pragma once

#include <chrono>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "runner/grpc_link.h"
#include "runner/limits.h"

namespace shepherd {

struct RemoteAgent {
  std::string address;  // host:port
  bool tls = false;
  std::string ca_file, cert_file, key_file;     // PEM; empty: the system's roots, no certificate of ours
  std::string server_name;                      // that its certificate has; empty: the address's
  std::string token_file;                       // its first line goes as "authorization: Bearer …"; empty: none
  std::map<std::string, std::string> metadata;  // goes with the call as it is
  std::chrono::milliseconds connect_wait = kAgentConnectWait;
  bool insecure = false;    // its token may go in clear text, also beyond this machine
  std::string traceparent;  // of the run; empty: none
};

// host:port, [v6]:port or unix:path; invalid_argument says what it should look like.
Result<void> check_address(std::string_view address);
// Whether what is sent there stays on this machine.
bool is_loopback_address(std::string_view address);

// Reads the files, each time anew: tokens and certificates are exchanged while a runner runs. invalid_argument names
// the file that cannot be read.
Result<GrpcTarget> grpc_target(const RemoteAgent& agent, std::string method);

// What must not appear in a log: the token, and the metadata whose names say that they are secret.
std::vector<std::string> secrets_of(const RemoteAgent& agent);

// A new trace, as W3C's header has it.
std::string make_traceparent(Random& random);

}  // namespace shepherd
