// The server under test: a child process with its own data directory, and the few calls that a measurement makes.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/http_call.h"
#include "bench/link.h"
#include "bench/load.h"
#include "bench/process.h"
#include "bench/target.h"

namespace shepherd::bench {

// Owns the process, which ends with this object.
// Threads: caller.
class ShepherdServer final : public Target {
 public:
  struct Options {
    std::string program;                 // runs as `PROGRAM serve …`
    std::vector<std::string> arguments;  // further arguments
    std::filesystem::path directory;     // must be empty; holds the data and the log
    bool tls = false;                    // on the public address
    int core = -1;
  };
  // unavailable/not_started with the end of its log.
  static Result<ShepherdServer> start(const Options& options);

  pid_t pid() const { return process_.pid(); }
  const std::filesystem::path& data() const { return data_; }
  const Address& open() const { return open_; }
  const std::string& grpc() const { return grpc_; }    // "127.0.0.1:8082"
  const std::string& token() const { return token_; }  // an admin token
  // Shuts it down properly, so that its files are complete.
  void stop() { process_.stop(); }

  Result<HttpAnswer> get(const std::string& target);
  // Sends all requests to the internal port; the answers are in the same order.
  Result<std::vector<HttpAnswer>> internal_calls(std::vector<HttpRequest> requests);
  std::string authorization() const { return "Authorization: Bearer " + token_ + "\r\n"; }
  // Creates tasks with new names and this much context each.
  Result<std::vector<std::string>> create_tasks(std::size_t count, std::size_t context_bytes = 0);
  // A value from /metrics; 0 if it is absent.
  Result<double> metric(const std::string& name);
  // Size of the event database: its file and SQLite's files beside it.
  std::uint64_t store_bytes() const;

  // Consumers of these tasks. Targets are /api/v1/tasks/{id}/events and `query` (such as "?after=7").
  SubscribePlan subscribe(const std::vector<std::string>& tasks, std::size_t count, Transport transport,
                          const std::string& query = "") const;
  // The load on these tasks. Its wire is valid until the next plan.
  LoadPlan plan_for(const std::vector<std::string>& tasks, const Shape& shape);
  // Creates tasks and plans the load on them.
  Result<LoadPlan> plan(const Shape& shape) override;

 private:
  ShepherdServer(Process process, std::filesystem::path data) : process_(std::move(process)), data_(std::move(data)) {}

  Process process_;
  std::filesystem::path data_;
  Address open_, internal_;
  std::string grpc_, token_;
  std::uint64_t made_ = 0;  // tasks created so far
  std::unique_ptr<HttpWire> wire_;
};

}  // namespace shepherd::bench
