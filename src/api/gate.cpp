#include "api/gate.h"

#include <utility>

#include "api/header_text.h"
#include "api/host_check.h"
#include "api/status_map.h"

namespace shepherd {
namespace {

Result<void> check_media_type(const net::Request& request, BodyKind body) {
  if (body == BodyKind::none && !has_body(request)) return {};
  if (std::string_view coding = request.header("content-encoding");
      !coding.empty() && !is_media_type(coding, "identity") &&
      !(body == BodyKind::otlp && is_media_type(coding, "gzip"))) {
    if (body == BodyKind::otlp) {
      return fail(ErrorCode::unsupported_media_type, "unsupported_content_encoding",
                  "Send the body as it is or with Content-Encoding: gzip, not " + std::string(coding) + ".");
    }
    return fail(ErrorCode::unsupported_media_type, "unsupported_content_encoding",
                "Bodies are taken as they are. Send this one without Content-Encoding (" + std::string(coding) +
                    "), uncompressed.");
  }
  std::string_view type = request.header("content-type");
  if (body == BodyKind::form) {
    if (is_media_type(type, "application/x-www-form-urlencoded")) return {};
    return fail(ErrorCode::unsupported_media_type, "unsupported_media_type",
                "Send the form with Content-Type: application/x-www-form-urlencoded.");
  }
  if (is_media_type(type, "application/json")) return {};
  if (body == BodyKind::otlp) {
    if (is_media_type(type, "application/x-protobuf")) return {};
    return fail(ErrorCode::unsupported_media_type, "unsupported_media_type",
                "Send telemetry with Content-Type: application/json or application/x-protobuf.");
  }
  if (body == BodyKind::prompt && (type.empty() || is_media_type(type, "text/plain"))) return {};
  if (body == BodyKind::events &&
      (is_media_type(type, "application/x-ndjson") || is_media_type(type, "application/ndjson"))) {
    return {};
  }
  return fail(ErrorCode::unsupported_media_type, "unsupported_media_type",
              body == BodyKind::events ? "Send events with Content-Type: application/json or application/x-ndjson."
                                       : "Send the body with Content-Type: application/json.");
}

bool changes_something(const net::Request& request) {
  return request.method != "GET" && request.method != "HEAD";
}

bool has_cursor(const net::Request& request) {
  return !request.header("last-event-id").empty() || net::query_value(request.query(), "after").has_value();
}

}  // namespace

bool has_body(const net::Request& request) {
  std::string_view length = request.header("content-length");
  return (!length.empty() && length != "0") || !request.header("transfer-encoding").empty();
}

void share_response(net::Response& response, std::string_view origin) {
  if (origin.empty()) return;
  response.headers.emplace_back("Access-Control-Allow-Origin", origin);
  response.headers.emplace_back("Vary", "Origin");
}

ConnectionState* connection_state(const net::Request& request) {
  if (request.connection_slot == nullptr) return nullptr;
  if (*request.connection_slot == nullptr) *request.connection_slot = std::make_shared<ConnectionState>();
  return static_cast<ConnectionState*>(request.connection_slot->get());
}

Gate::Gate(Core& core, unsigned listener, const ListenerConfig& config)
    : core_(core),
      config_(config),
      listener_(listener),
      router_(listener),
      other_listener_(listener == kOnPublic ? "internal" : "public") {
  if (config.auth) return;
  auto everybody = std::make_shared<Principal>();
  everybody->person = "anonymous";
  everybody->scope = listener == kOnPublic ? Scope::admin : Scope::producer;
  anonymous_ = std::move(everybody);
}

std::string_view Gate::shared_with(const net::Request& request, const Route& route) const {
  return is_chat(route) ? chat_origin(request, config_) : std::string_view();
}

std::optional<net::Response> Gate::preflight(const net::Request& request) const {
  std::string_view method = request.header("access-control-request-method");
  if (request.method != "OPTIONS" || method.empty() || !check_host(request, config_)) return std::nullopt;
  Found found = router_.find(method, request.path());
  if (found.route == nullptr) return std::nullopt;
  std::string_view origin = shared_with(request, *found.route);
  if (origin.empty()) return std::nullopt;
  net::Response response;
  response.status = 204;
  share_response(response, origin);
  response.headers.emplace_back("Access-Control-Allow-Methods", found.route->method);
  response.headers.emplace_back("Access-Control-Allow-Headers",
                                "Authorization, Content-Type, Last-Event-ID, X-API-Key, X-Client-ID");
  response.headers.emplace_back("Access-Control-Max-Age", "600");
  return response;
}

std::expected<Pass, Refusal> Gate::check(const net::Request& request) {
  auto refuse = [](Error error, const Route* route = nullptr, std::shared_ptr<const Principal> principal = nullptr) {
    int status = http_status(error.code);
    return std::unexpected(Refusal{route, std::move(principal), std::move(error), status, {}});
  };
  Found found = router_.find(request.method == "HEAD" ? "GET" : request.method, request.path());
  if (auto good = check_host(request, config_); !good) return refuse(good.error(), found.route);
  if (found.route == nullptr) {
    std::string where =
        found.elsewhere ? " The " + other_listener_ + " listener has what this request asks for." : std::string();
    if (found.allow.empty()) {
      return refuse({ErrorCode::not_found,
                     "unknown_path",
                     "There is nothing at this path; /openapi.json lists what there is." + where,
                     {}});
    }
    return std::unexpected(Refusal{
        nullptr,
        nullptr,
        {ErrorCode::invalid_argument, "method_not_allowed", "This path answers " + found.allow + " here." + where, {}},
        405,
        found.allow});
  }
  const Route& route = *found.route;
  bool mutation = changes_something(request);
  std::string_view shared = shared_with(request, route);
  if ((mutation || request.is_websocket) && shared.empty()) {
    // Any web page can submit a form, so a form must prove that it came from our own page.
    OriginRule rule = route.body == BodyKind::form ? OriginRule::required : OriginRule::if_sent;
    if (auto good = check_origin(request, config_, rule); !good) return refuse(good.error(), &route);
  }
  Pass pass{&route, found.parts, nullptr, CredentialKind::none, listener_, shared};
  bool needs_nobody = route.need == Need::open || (route.need == Need::metrics && core_.parts.config.metrics_open);
  if (!needs_nobody) {
    auto identity = identify(request, route);
    if (!identity) return refuse(identity.error(), &route);
    pass.principal = std::move(identity->principal);
    pass.credential = identity->credential;
    // A cookie is not proof of what another site's page may do.
    if (pass.credential == CredentialKind::cookie && (mutation || request.is_websocket)) {
      if (auto good = check_origin(request, config_, OriginRule::required); !good) {
        return refuse(good.error(), &route, pass.principal);
      }
    }
    std::string_view task = request.path().substr(pass.parts[0].offset, pass.parts[0].size);
    if (!allowed(*pass.principal, route, task)) {
      return refuse({ErrorCode::permission_denied,
                     "forbidden",
                     "A token of scope " + std::string(name(pass.principal->scope)) + " may not do this here.",
                     {}},
                    &route, pass.principal);
    }
  }
  if (mutation) {
    if (auto good = check_media_type(request, route.body); !good) return refuse(good.error(), &route, pass.principal);
  }
  return pass;
}

bool Gate::allowed(const Principal& principal, const Route& route, std::string_view task) const {
  switch (route.need) {
    case Need::open:
    case Need::anyone:
      return true;
    case Need::person:
      return principal.scope != Scope::producer;
    case Need::metrics:
      return principal.may(Right::view, "");
    case Need::view:
      return principal.may(Right::view, task);
    case Need::command:
      return principal.may(Right::command, task);
    case Need::produce:
      return principal.may(Right::produce, task);
    case Need::administer:
      return principal.may(Right::administer, task);
  }
  return false;
}

Result<Gate::Identity> Gate::identify(const net::Request& request, const Route& route) {
  ConnectionState* state = connection_state(request);
  std::string_view authorization = request.header("authorization");
  std::uint64_t revision = core_.parts.access.revision();
  if (state != nullptr && state->principal != nullptr && !authorization.empty() &&
      state->authorization == authorization && state->revision == revision) {
    return Identity{state->principal, CredentialKind::bearer};
  }
  auto identity = look_up(request, route);
  if (identity && state != nullptr && identity->credential == CredentialKind::bearer) {
    state->authorization = authorization;
    state->principal = identity->principal;
    state->revision = revision;  // read before the look-up, so that a later check notices a revocation in between
  }
  return identity;
}

Result<Gate::Identity> Gate::look_up(const net::Request& request, const Route& route) {
  Access& access = core_.parts.access;
  Credential credential =
      find_credential(request, {.stream = route.stream, .token_parameter = core_.parts.config.allow_token_parameter});
  if (credential.kind == CredentialKind::none) {
    if (anonymous_ != nullptr) return Identity{anonymous_, CredentialKind::none};
    return fail(ErrorCode::unauthenticated, "missing_credentials",
                "Send a token as `Authorization: Bearer …`. `shepherd token create` makes one.");
  }
  // Without an address failures cannot be counted per client, and one stranger must not lock out the rest.
  bool counted = anonymous_ == nullptr && !request.peer.empty();
  auto principal = credential.kind == CredentialKind::ticket
                       ? access.use_ticket(credential.secret, request.path(), has_cursor(request))
                   : credential.kind == CredentialKind::cookie ? access.authenticate_session(credential.secret)
                                                               : access.authenticate(credential.secret);
  if (principal) return Identity{std::move(*principal), credential.kind};
  if (anonymous_ != nullptr) return Identity{anonymous_, CredentialKind::none};
  // Throttles only failures, so that one program's stale token does not lock out its neighbours.
  if (counted) {
    if (auto few = core_.failed_logins.check(request.peer); !few) return fail(few.error());
    core_.failed_logins.failed(request.peer);
  }
  return fail(principal.error());
}

}  // namespace shepherd
