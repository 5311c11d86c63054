// The gRPC listener: ObservabilityService, health and reflection.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "access/access.h"
#include "access/audit.h"
#include "base/clock.h"
#include "base/executor.h"
#include "base/lane_set.h"
#include "base/metrics.h"
#include "base/result.h"
#include "journal/journal.h"

namespace shepherd {

struct RpcConfig {
  std::string address;            // "127.0.0.1:8082"; port 0 picks a free one
  std::string tls_cert, tls_key;  // PEM files; empty for plain text
  bool auth = true;               // false lets every client call; the configuration has checked the network
};

// All of these must outlive the server.
struct RpcParts {
  Journal& journal;
  Access& access;
  Audit& audit;
  MetricRegistry& metrics;
  const Clock& clock;
  Lanes& lanes;                      // for blocking store reads
  std::vector<Executor*> executors;  // sequential; streams are spread over them
};

// A failed start has a message with the address and what to do. The destructor ends streams and calls.
// Threads: any; tick() from one.
class RpcServer {
 public:
  static Result<std::unique_ptr<RpcServer>> listen(RpcParts parts, const RpcConfig& config);
  ~RpcServer();
  RpcServer(const RpcServer&) = delete;
  RpcServer& operator=(const RpcServer&) = delete;

  std::string address() const;  // "127.0.0.1:8082"
  void tick();                  // call at least every second

 private:
  struct Impl;
  explicit RpcServer(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shepherd
