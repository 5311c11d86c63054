#include "api/call.h"

#include <utility>

#include "api/completions_json.h"
#include "api/host_check.h"
#include "api/otlp_problem.h"
#include "api/problem.h"
#include "api/status_map.h"
#include "base/log.h"

namespace shepherd {
namespace {

constexpr int kClientGoneStatus = 499;  // for metrics and audit; the client does not read it

std::string path_parameter(const net::Request& request, PathPart part) {
  std::string_view raw = request.path().substr(part.offset, part.size);
  if (raw.find('%') == std::string_view::npos) return std::string(raw);
  return net::percent_decode(raw, false).value_or(std::string(raw));  // which is no id then
}

}  // namespace

Call::Call(Core& core, RouteMetrics& route_metrics, Pass pass, net::Request&& request, net::Responder responder)
    : in_flight_(core),
      route_metrics_(&route_metrics),
      pass_(std::move(pass)),
      request_(std::move(request)),
      responder_(std::move(responder)),
      id_(path_parameter(request_, pass_.parts[0])),
      second_(path_parameter(request_, pass_.parts[1])),
      begun_(std::chrono::steady_clock::now()) {}

void Call::set_range(std::uint64_t first, std::uint64_t last) {
  first_ = static_cast<std::int64_t>(first);
  last_ = static_cast<std::int64_t>(last);
}

void Call::drop_request() {
  request_.headers = {};
  request_.body = {};
}

AuditRecord Call::audit_record() const {
  AuditRecord record;
  record.at_ms = parts().clock.wall_ms();
  if (pass_.principal != nullptr) {
    record.person = pass_.principal->person;
    record.token_id = pass_.principal->token_id;
  }
  record.peer = request_.peer;
  record.method = request_.method;
  record.path = parts().audited(request_.path());
  record.status = 200;
  return record;
}

void Call::send(net::Response response) {
  add_api_headers(response);
  finish(std::move(response), "");
}

void Call::send_page(net::Response response) {
  add_page_headers(response);
  finish(std::move(response), "");
}

void Call::send_as_is(net::Response response) {
  finish(std::move(response), "");
}

void Call::send_json(int status, std::string body) {
  send(json_response(status, std::move(body)));
}

void Call::fail(const Error& error) {
  fail(error, http_status(error.code));
}

void Call::fail(const Error& error, int status) {
  if (error.code == ErrorCode::internal) {
    log_error("{} {}: {} ({})", pass_.route->method, pass_.route->pattern, error.message, error.reason);
  }
  audited_elsewhere_ = false;
  net::Response response = is_openai(pass_.route->pattern) ? completion_problem(error, status)
                           : is_otlp(pass_.route->pattern) ? otlp_problem(error, status, request_)
                                                           : problem(error, status);
  add_api_headers(response);
  finish(std::move(response), error.reason);
}

void Call::finish(net::Response response, std::string_view reason) {
  share_response(response, pass_.shared_with);
  std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begun_;
  route_metrics_->answered(pass_.route, response.status, taken.count());
  // Probes and static files need no credentials and are not audited; everything else is.
  if (!audited_elsewhere_ && (pass_.principal != nullptr || response.status >= 400)) {
    AuditRecord record = audit_record();
    record.status = response.status;
    record.reason = reason;
    record.first = first_;
    record.last = last_;
    record.duration_ms = static_cast<std::int64_t>(taken.count() * 1000);
    parts().audit.record(std::move(record));
  }
  if (request_.secure && is_own_domain(request_.header("host"))) {
    response.headers.emplace_back("Strict-Transport-Security", "max-age=31536000");
  }
  responder_.send(std::move(response));
}

std::string Call::lane_caller() const {
  if (pass_.principal != nullptr && !pass_.principal->token_id.empty()) return pass_.principal->token_id;
  return request_.peer;
}

bool Call::may_run(Lane& lane, Turn turn) {
  if (turn == Turn::refused) {
    fail({ErrorCode::unavailable,
          "busy",
          "More requests are waiting than the server takes. Try again in a moment, with fewer at a time.",
          {}});
    return false;
  }
  // A client that shuts down its sending side alone looks the same, so a read that did not wait is done for it. A write
  // is always done: its producer may not wait for the answer.
  if (turn == Turn::at_once || request_.method != "GET" || !responder_.peer_watch()()) return true;
  lane.count_abandoned();
  fail({ErrorCode::unavailable, "client_gone", "The client closed its side before its turn came.", {}},
       kClientGoneStatus);
  return false;
}

void Call::stream(net::Response head, std::shared_ptr<net::StreamHandler> handler) {
  add_api_headers(head);
  share_response(head, pass_.shared_with);
  route_metrics_->opened(*pass_.route, head.status);
  responder_.stream(std::move(head), std::move(handler));
}

void Call::upgrade(std::shared_ptr<net::StreamHandler> handler) {
  route_metrics_->opened(*pass_.route, 101);
  responder_.upgrade(offers_subprotocol(request_) ? std::string(kSubprotocol) : std::string(), {}, std::move(handler));
}

}  // namespace shepherd
