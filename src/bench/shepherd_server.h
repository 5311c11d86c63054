// The server under test: a child process with a data directory of its own, and the few calls a measurement makes.
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

// Owns the process; it ends with this.
// Threads: caller.
class ShepherdServer final : public Target {
 public:
  struct Options {
    std::string program;                 // what to run: `PROGRAM serve …`
    std::vector<std::string> arguments;  // further ones
    std::filesystem::path directory;     // an empty one: the data and the log go there
    bool tls = false;                    // on the public address
    int core = -1;
  };
  // unavailable/not_started with the end of its log.
  static Result<ShepherdServer> start(const Options& options);

  pid_t pid() const { return process_.pid(); }
  const std::filesystem::path& data() const { return data_; }
  const Address& open() const { return open_; }
  const std::string& grpc() const { return grpc_; }    // "127.0.0.1:8082"
  const std::string& token() const { return token_; }  // an admin's
  // Ends it in good order, so that its files are complete.
  void stop() { process_.stop(); }

  Result<HttpAnswer> get(const std::string& target);
  // All of them on the internal port, the answers in their order.
  Result<std::vector<HttpAnswer>> internal_calls(std::vector<HttpRequest> requests);
  std::string authorization() const { return "Authorization: Bearer " + token_ + "\r\n"; }
  // Makes tasks with fresh names.
  Result<std::vector<std::string>> create_tasks(std::size_t count);
  // A number of /metrics; 0 when it is not there.
  Result<double> metric(const std::string& name);
  // Bytes of the event database: its file and what SQLite keeps beside it.
  std::uint64_t store_bytes() const;

  // Producers and consumers of these tasks; targets are /api/v1/tasks/{id}/events and `query` (such as "?after=7").
  SubscribePlan subscribe(const std::vector<std::string>& tasks, std::size_t count, Transport transport,
                          const std::string& query = "") const;
  // The load on these tasks. Its wire lives until the next plan.
  LoadPlan plan_for(const std::vector<std::string>& tasks, const Shape& shape);
  // Fresh tasks and the load on them.
  Result<LoadPlan> plan(const Shape& shape) override;

 private:
  ShepherdServer(Process process, std::filesystem::path data) : process_(std::move(process)), data_(std::move(data)) {}

  Process process_;
  std::filesystem::path data_;
  Address open_, internal_;
  std::string grpc_, token_;
  std::uint64_t made_ = 0;  // tasks so far
  std::unique_ptr<HttpWire> wire_;
};

}  // namespace shepherd::bench
