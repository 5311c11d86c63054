// The port of a listening runner: POST /task {taskID, apiURL} assigns it a task.
//
// It is bound to loopback by default, requires a bearer token by default, and accepts only servers on a list: a caller
// must not be able to make this runner work for, or send its token to, an arbitrary server. Web pages are refused: a
// request with an Origin, under a Host name that could be rebound, or without a JSON content type. GET /healthz is
// open, for probes.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/thread_pool.h"
#include "net/server.h"
#include "runner/runner_pool.h"

namespace shepherd {

struct AssignmentOptions {
  std::string listen = "127.0.0.1:8888";
  bool open = false;                  // no token needed
  std::string token;                  // if not `open`, callers must send this; not empty
  std::vector<std::string> api_urls;  // servers whose tasks are accepted, under their own names
};

// Threads: any.
class AssignmentPort final : private net::HttpHandler {
 public:
  static Result<std::unique_ptr<AssignmentPort>> open(AssignmentOptions options, RunnerPool& pool, const Clock& clock);
  ~AssignmentPort() override;

  std::string url() const { return server_->url(); }

 private:
  AssignmentPort(AssignmentOptions options, RunnerPool& pool) : options_(std::move(options)), pool_(pool), io_(1) {}

  net::Admission admit(const net::Request& head) override;
  net::Response protocol_error(int status, std::string_view reason, std::string_view message) override;
  void handle(net::Request&& request, net::Responder responder) override;
  net::Response answer(const net::Request& request);
  Result<void> take(const net::Request& request);

  const AssignmentOptions options_;
  RunnerPool& pool_;
  MetricRegistry metrics_;
  net::IoThreads io_;
  std::unique_ptr<ThreadPool> lane_ = std::make_unique<ThreadPool>("assign", 1);
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace shepherd
