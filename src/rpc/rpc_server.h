// The gRPC listener: ObservabilityService, health and reflection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "access/access.h"
#include "access/audit.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/metrics.h"
#include "base/result.h"
#include "journal/journal.h"

namespace shepherd {

struct RpcConfig {
  std::string address;            // "127.0.0.1:8082", port 0 takes a free one
  std::string tls_cert, tls_key;  // PEM files; empty: in the clear
  bool auth = true;               // false: everybody may call; whoever configures it has checked the network
};

// All of it must outlive the server.
struct RpcParts {
  Journal& journal;
  Access& access;
  Audit& audit;
  MetricRegistry& metrics;
  const Clock& clock;
  Executor& workers;                 // blocking store reads
  std::vector<Executor*> executors;  // sequential ones; streams are spread over them
};

// Fails to start with a message that names the address and what to do. The destructor ends streams and calls.
// Threads: any; tick() from one.
class RpcServer {
 public:
  static Result<std::unique_ptr<RpcServer>> listen(RpcParts parts, const RpcConfig& config);
  virtual ~RpcServer() = default;
  virtual std::string address() const = 0;  // "127.0.0.1:8082"
  virtual void tick() = 0;                  // about every second
};

}  // namespace shepherd
