#include "cli/assignment_port.h"

#include <fmt/format.h>
#include <openssl/crypto.h>

#include <algorithm>
#include <boost/algorithm/string/predicate.hpp>
#include <boost/json.hpp>
#include <utility>

#include "api/host_check.h"
#include "api/limits.h"
#include "api/status_map.h"
#include "config/exposure.h"

namespace shepherd {
namespace {

namespace json = boost::json;

net::Response problem(int status, std::string_view code, std::string_view detail) {
  net::Response response;
  response.status = status;
  response.content_type = "application/problem+json";
  response.body = json::serialize(json::object{{"type", "about:blank"},
                                               {"title", status_title(status)},
                                               {"status", status},
                                               {"code", code},
                                               {"detail", detail},
                                               {"error", detail}});
  return response;
}

std::string without_slash(std::string text) {
  while (text.ends_with('/')) text.pop_back();
  return text;
}

bool is_json(std::string_view content_type) {
  std::string_view type = content_type.substr(0, content_type.find(';'));
  while (type.ends_with(' ')) type.remove_suffix(1);
  return boost::iequals(type, "application/json");
}

// Rejects web pages: both those with an Origin and those whose host name was rebound to this machine.
Result<void> not_a_page(const net::Request& head, bool any_host) {
  ListenerConfig names;
  names.any_host = any_host;
  if (Result<void> host = check_host(head, names); !host) return host;
  if (head.header("origin").empty()) return {};
  return fail(ErrorCode::permission_denied, "bad_origin", "web pages cannot assign tasks");
}

bool same_secret(std::string_view left, std::string_view right) {
  return left.size() == right.size() && CRYPTO_memcmp(left.data(), right.data(), left.size()) == 0;
}

}  // namespace

Result<std::unique_ptr<AssignmentPort>> AssignmentPort::open(AssignmentOptions options, RunnerPool& pool,
                                                             const Clock& clock) {
  if (!options.open && options.token.empty())
    return fail(ErrorCode::invalid_argument, "needs_token", "callers must have a token");
  for (std::string& url : options.api_urls) url = without_slash(std::move(url));
  std::unique_ptr<AssignmentPort> port(new AssignmentPort(std::move(options), pool));
  net::ListenOptions listen;
  listen.address = port->options_.listen;
  listen.name = "assignments";
  auto server = net::HttpServer::listen(port->io_, std::move(listen), *port, clock, port->metrics_);
  if (!server) return fail(std::move(server.error()));
  port->server_ = *std::move(server);
  return port;
}

AssignmentPort::~AssignmentPort() {
  if (server_) server_->shutdown(0);
  lane_.reset();  // finishes posted work
  server_.reset();
  io_.stop();
}

net::Admission AssignmentPort::admit(const net::Request& head) {
  net::Admission admission;
  admission.max_body_bytes = kMaxSmallBodyBytes;
  std::string_view given = head.header("authorization");
  constexpr std::string_view kBearer = "Bearer ";
  bool probe = head.path() == "/healthz" && (head.method == "GET" || head.method == "HEAD");
  bool known =
      options_.open || (given.starts_with(kBearer) && same_secret(given.substr(kBearer.size()), options_.token));
  // Beyond loopback the Host is the name of a machine or service, which is unknown here.
  Result<void> caller = not_a_page(head, !is_loopback(options_.listen));
  if (!caller) {
    admission.refuse = problem(http_status(caller.error().code), caller.error().reason, caller.error().message);
  } else if (probe) {
    return admission;
  } else if (!known) {
    admission.refuse = problem(401, "unauthenticated", "a bearer token is needed");
  } else if (head.path() != "/task") {
    admission.refuse = problem(404, "not_found", "there are only POST /task and GET /healthz");
  } else if (head.method != "POST") {
    admission.refuse = problem(405, "method_not_allowed", "there is only POST /task");
  } else if (!is_json(head.header("content-type"))) {
    admission.refuse = problem(415, "unsupported_media_type", "send the body with Content-Type: application/json");
  }
  return admission;
}

net::Response AssignmentPort::protocol_error(int status, std::string_view reason, std::string_view message) {
  return problem(status, reason, message);
}

// A claim is a request to the server, which may take long, so it must not run on the io thread.
void AssignmentPort::handle(net::Request&& request, net::Responder responder) {
  if (request.path() == "/healthz") {
    net::Response healthy;
    healthy.content_type = "text/plain";
    healthy.body = "ok";
    return responder.send(std::move(healthy));
  }
  lane_->post([this, request = std::move(request), responder = std::move(responder)]() mutable {
    responder.send(answer(request));
  });
}

net::Response AssignmentPort::answer(const net::Request& request) {
  Result<void> taken = take(request);
  if (!taken) return problem(http_status(taken.error().code), taken.error().reason, taken.error().message);
  net::Response response;
  response.content_type = "application/json";
  response.body = R"({"status":"accepted"})";
  return response;
}

Result<void> AssignmentPort::take(const net::Request& request) {
  boost::system::error_code error;
  json::value value = json::parse(request.body, error);
  const json::object* object = error ? nullptr : value.if_object();
  auto text = [&](std::string_view name) {
    const json::value* member = object == nullptr ? nullptr : object->if_contains(name);
    return member != nullptr && member->is_string() ? std::string(member->get_string()) : std::string();
  };
  std::string task = text("taskID");
  if (task.empty()) {
    return fail(ErrorCode::invalid_argument, "bad_assignment", "the body must be {\"taskID\":…, \"apiURL\":…}");
  }
  std::string url = without_slash(text("apiURL"));
  if (!url.empty() && std::ranges::find(options_.api_urls, url) == options_.api_urls.end()) {
    return fail(ErrorCode::permission_denied, "unknown_server",
                "this runner does not work for that server; its operator can allow it with --api-url");
  }
  return pool_.assign(task);
}

}  // namespace shepherd
