// A scripted model on loopback: answers agents in four dialects (model_dialects.h) as model_reply.h says.
//
// Owns a listener on a free port and its thread; the destructor ends both. Keys are not looked at. What it does not
// serve gets an empty JSON object, because agents ask for much at their start. Threads: any.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/metrics.h"
#include "base/result.h"
#include "net/server.h"

namespace shepherd::harness {

class ScriptedModel final : private net::HttpHandler {
 public:
  static Result<std::unique_ptr<ScriptedModel>> listen();
  ~ScriptedModel() override;

  std::string url() const { return server_->url(); }  // "http://127.0.0.1:41234"
  std::size_t asked() const { return asked_; }        // answers of the model so far

 private:
  ScriptedModel() : io_(1) {}
  net::Admission admit(const net::Request& head) override;
  net::Response protocol_error(int status, std::string_view reason, std::string_view message) override;
  void handle(net::Request&& request, net::Responder responder) override;
  net::Response answer(const net::Request& request);

  SystemClock clock_;
  MetricRegistry metrics_;
  std::atomic<std::size_t> asked_ = 0;
  net::IoThreads io_;
  std::unique_ptr<net::HttpServer> server_;
};

}  // namespace shepherd::harness
