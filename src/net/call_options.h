// What every outgoing connection is told: headers, trust, time-outs, the addresses it may call.
// Threads: value.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/limits.h"

namespace shepherd::net {

using HeaderList = std::vector<std::pair<std::string, std::string>>;

struct ClientTls {
  std::string ca_file;    // empty for the system's
  bool insecure = false;  // accepts any certificate; only by an explicit flag
};

// Time limits by phase. A call that exceeds one ends with unavailable/timed_out; its message and its field `phase` name
// the phase. Zero means no limit.
struct CallTimeouts {
  std::chrono::milliseconds resolve = kResolveDeadline;
  std::chrono::milliseconds connect = kDialDeadline;  // all addresses of a name together; a proxy's tunnel again
  std::chrono::milliseconds tls = kTlsHandshakeDeadline;
  std::chrono::milliseconds send = kWriteDeadline;            // without any progress
  std::chrono::milliseconds first_byte = kFirstByteDeadline;  // the whole request sent to the first byte of the answer
  std::chrono::milliseconds idle = kAnswerIdleDeadline;       // between two pieces of the answer
  std::chrono::milliseconds whole{0};                         // everything
};

// Called for every resolved address of the host before connecting: "10.0.0.1", "fe80::1". An IPv4 address inside an
// IPv6 one is passed as IPv4. If empty, all are allowed. If it refuses one of them, the host is not called at all,
// because a name with a forbidden address among others is not trustworthy.
using AddressRule = std::function<bool(std::string_view address)>;

}  // namespace shepherd::net
