// One request between the gate and its answer: what the handlers get. Answering counts it, audits it and adds the
// headers that every answer has. A call that is dropped unanswered becomes a 500 (net::Responder).
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/core.h"
#include "api/gate.h"
#include "api/route_metrics.h"
#include "base/result.h"
#include "net/http.h"

namespace shepherd {

// Threads: caller; move-only, and may be answered from any thread.
class Call {
 public:
  Call(Core& core, RouteMetrics& route_metrics, Pass pass, net::Request&& request, net::Responder responder);

  ApiParts& parts() const { return in_flight_.core().parts; }
  Core& core() const { return in_flight_.core(); }
  const net::Request& request() const { return request_; }
  std::string_view query() const { return request_.query(); }
  // Decoded path parameters; a malformed one is empty, which names nothing.
  const std::string& id() const { return id_; }
  const std::string& second() const { return second_; }
  const std::shared_ptr<const Principal>& principal() const { return pass_.principal; }
  bool on_internal() const { return pass_.listener == kOnInternal; }
  CredentialKind credential() const { return pass_.credential; }
  ConnectionState* connection() const { return connection_state(request_); }

  // Who asked, for the audit, when a handler found out by itself (login).
  void set_principal(std::shared_ptr<const Principal> principal) { pass_.principal = std::move(principal); }
  // The range of numbers that went out with this answer.
  void set_range(std::uint64_t first, std::uint64_t last);
  // Whether the caller has gone since; for requests that wait. It outlives the call.
  std::function<bool()> peer_watch() const { return responder_.peer_watch(); }
  // Frees what only the handler needed (headers, body), before the call waits in a queue.
  void drop_request();
  // From here on this call is audited elsewhere, or not at all, unless it fails.
  void skip_audit() { audited_elsewhere_ = true; }
  AuditRecord audit_record() const;

  void send(net::Response response);        // API headers
  void send_page(net::Response response);   // page headers
  void send_as_is(net::Response response);  // its headers are complete
  void send_json(int status, std::string body);
  void fail(const Error& error);
  void fail(const Error& error, int status);
  // Streams; the handler audits itself when it ends.
  void stream(net::Response head, std::shared_ptr<net::StreamHandler> handler);
  void upgrade(std::shared_ptr<net::StreamHandler> handler);

  // Runs work(Call) on a worker thread: for whatever blocks.
  template <class Work>
  static void on_worker(Call call, Work work) {
    Executor& workers = call.parts().workers;
    workers.post([call = std::move(call), work = std::move(work)]() mutable { work(std::move(call)); });
  }

 private:
  void finish(net::Response response, std::string_view reason);

  InFlight in_flight_;
  RouteMetrics* route_metrics_;
  Pass pass_;
  net::Request request_;
  net::Responder responder_;
  std::string id_, second_;
  std::chrono::steady_clock::time_point begun_;
  std::int64_t first_ = -1, last_ = -1;
  bool audited_elsewhere_ = false;
};

}  // namespace shepherd
