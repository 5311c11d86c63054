// One request between the gate and its answer, as the handlers get it. Answering counts it, audits it and adds the
// common headers. A call that is dropped unanswered becomes a 500 (net::Responder).
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
  // Decoded path parameters; a malformed one is empty and matches nothing.
  const std::string& id() const { return id_; }
  const std::string& second() const { return second_; }
  const std::shared_ptr<const Principal>& principal() const { return pass_.principal; }
  bool on_internal() const { return pass_.listener == kOnInternal; }
  CredentialKind credential() const { return pass_.credential; }
  ConnectionState* connection() const { return connection_state(request_); }

  // Sets the caller for the audit if a handler identified it (login).
  void set_principal(std::shared_ptr<const Principal> principal) { pass_.principal = std::move(principal); }
  // Sets the range of numbers that this answer contains.
  void set_range(std::uint64_t first, std::uint64_t last);
  // Whether the peer has gone since, for requests that wait. The function outlives the call.
  std::function<bool()> peer_watch() const { return responder_.peer_watch(); }
  // Frees what only the handler needed (headers, body) before the call waits in a queue.
  void drop_request();
  // From here on this call is audited elsewhere, or not at all, unless it fails.
  void skip_audit() { audited_elsewhere_ = true; }
  AuditRecord audit_record() const;

  void send(net::Response response);        // adds API headers
  void send_page(net::Response response);   // adds page headers
  void send_as_is(net::Response response);  // the headers are complete
  void send_json(int status, std::string body);
  void fail(const Error& error);
  void fail(const Error& error, int status);
  // Starts a stream; the handler audits it at its end.
  void stream(net::Response head, std::shared_ptr<net::StreamHandler> handler);
  void upgrade(std::shared_ptr<net::StreamHandler> handler);

  // Runs work(Call) on a thread of that lane; for all blocking work. Answers 503 if too much waits there, and does not
  // read for a client that went away while it waited.
  template <class Work>
  static void on_lane(Lane Lanes::* which, Call call, Work work) {
    Lane& lane = call.parts().lanes.*which;
    std::string caller = call.lane_caller();
    lane.offer(caller, [&lane, call = std::move(call), work = std::move(work)](Turn turn) mutable {
      if (call.may_run(lane, turn)) work(std::move(call));
    });
  }
  // For reads of a few rows.
  template <class Work>
  static void on_worker(Call call, Work work) {
    on_lane(&Lanes::queries, std::move(call), std::move(work));
  }
  // For long work: runs step(Call&) again and again until it returns true, after answering the call. Other callers have
  // their turns in between, and it ends when the client has gone.
  template <class Step>
  static void in_steps(Lane Lanes::* which, Call call, Step step) {
    Lane& lane = call.parts().lanes.*which;
    std::string caller = call.lane_caller();
    lane.offer(caller, [&lane, caller, call = std::move(call), step = std::move(step)](Turn turn) mutable {
      run_step(lane, std::move(caller), std::move(call), std::move(step), turn);
    });
  }

 private:
  template <class Step>
  static void run_step(Lane& lane, std::string caller, Call call, Step step, Turn turn) {
    if (!call.may_run(lane, turn) || step(call)) return;
    std::string same = caller;
    lane.go_on(same,
               [&lane, caller = std::move(caller), call = std::move(call), step = std::move(step)](Turn next) mutable {
                 run_step(lane, std::move(caller), std::move(call), std::move(step), next);
               });
  }
  // Whose turns in a lane this call takes.
  std::string lane_caller() const;
  // Answers the call and returns false if it was refused, or if its client went away while it waited.
  bool may_run(Lane& lane, Turn turn);
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
