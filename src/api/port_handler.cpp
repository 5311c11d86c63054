#include "api/port_handler.h"

#include <charconv>
#include <utility>

#include "api/completions_json.h"
#include "api/limits.h"
#include "api/otlp_problem.h"
#include "api/problem.h"

namespace shepherd {
namespace {

// By its headers; 0 if they do not say.
std::size_t announced_bytes(const net::Request& head) {
  std::string_view text = head.header("content-length");
  std::size_t bytes = 0;
  std::from_chars(text.data(), text.data() + text.size(), bytes);
  return bytes;
}

}  // namespace

PortHandler::PortHandler(Core& core, unsigned listener, std::string_view name, const ListenerConfig& config)
    : core_(core), metrics_(core.parts.metrics, name), gate_(core, listener, config) {}

net::Admission PortHandler::admit(const net::Request& head) {
  // Without a body an early refusal saves nothing, and handle() can keep the connection.
  if (!has_body(head)) return {kMaxSmallBodyBytes, std::nullopt};
  auto pass = gate_.check(head);
  if (!pass) return {0, refuse(head, pass.error())};
  // Routes without a body still accept a small one, because some clients send `{}` with every POST.
  std::size_t most = pass->route->max_body == 0 ? kMaxSmallBodyBytes : pass->route->max_body;
  bool openai = is_openai(pass->route->pattern);
  // Their clients expect errors in the form of that interface.
  if ((openai || is_otlp(pass->route->pattern) || is_chat(*pass->route)) && announced_bytes(head) > most) {
    Error error{ErrorCode::too_large,
                "body_too_large",
                "The body has more than " + std::to_string(most) + " bytes. " +
                    (openai                          ? "Send less, with smaller images."
                     : is_otlp(pass->route->pattern) ? "Export smaller batches."
                                                     : "Put long texts into a file."),
                {}};
    return {0, refuse(head, {pass->route, pass->principal, std::move(error), 413, {}})};
  }
  std::string caller = pass->principal == nullptr ? std::string() : pass->principal->token_id;
  // Kept for handle(), so that the check runs once.
  if (ConnectionState* state = connection_state(head)) state->admitted = std::move(*pass);
  return {most, std::nullopt, std::move(caller)};
}

void PortHandler::handle(net::Request&& request, net::Responder responder) {
  if (auto allowed = gate_.preflight(request)) {
    add_api_headers(*allowed);
    return responder.send(std::move(*allowed));
  }
  std::optional<Pass> pass;
  if (ConnectionState* state = connection_state(request)) pass = std::exchange(state->admitted, std::nullopt);
  if (!pass) {
    auto checked = gate_.check(request);
    if (!checked) return responder.send(refuse(request, checked.error()));
    pass = std::move(*checked);
  }
  auto* handle_route = pass->route->handle;
  handle_route(Call(core_, metrics_, std::move(*pass), std::move(request), std::move(responder)));
}

net::Response PortHandler::protocol_error(int status, std::string_view reason, std::string_view message) {
  metrics_.answered(nullptr, status, 0);
  ErrorCode code = status >= 500   ? ErrorCode::unavailable
                   : status == 429 ? ErrorCode::rate_limited
                                   : ErrorCode::invalid_argument;
  net::Response response = problem({code, std::string(reason), std::string(message), {}}, status);
  add_api_headers(response);
  return response;
}

net::Response PortHandler::refuse(const net::Request& request, const Refusal& refusal) {
  metrics_.answered(refusal.route, refusal.status, 0);
  AuditRecord record;
  record.at_ms = core_.parts.clock.wall_ms();
  if (refusal.principal != nullptr) {
    record.person = refusal.principal->person;
    record.token_id = refusal.principal->token_id;
  }
  record.peer = request.peer;
  record.method = request.method;
  record.path = core_.parts.audited(request.path());
  record.status = refusal.status;
  record.reason = refusal.error.reason;
  core_.parts.audit.record(std::move(record));

  bool chat = refusal.route != nullptr && is_chat(*refusal.route);
  net::Response response = is_openai(request.path()) ? completion_problem(refusal.error, refusal.status)
                           : is_otlp(request.path()) ? otlp_problem(refusal.error, refusal.status, request)
                           : chat                    ? chat_problem(refusal.error, refusal.status)
                                                     : problem(refusal.error, refusal.status);
  if (!refusal.allow.empty()) response.headers.emplace_back("Allow", refusal.allow);
  add_api_headers(response);
  if (refusal.route != nullptr) share_response(response, gate_.shared_with(request, *refusal.route));
  return response;
}

}  // namespace shepherd
