#include "rpc/callers.h"

namespace shepherd {
namespace {

// "ipv4:127.0.0.1:50312" -> "127.0.0.1:50312"
std::string peer_of(const grpc::CallbackServerContext& context) {
  std::string peer = context.peer();
  std::size_t colon = peer.find(':');
  return colon == std::string::npos ? peer : peer.substr(colon + 1);
}

std::string_view bearer_of(const grpc::CallbackServerContext& context) {
  auto given = context.client_metadata().find("authorization");
  if (given == context.client_metadata().end()) return {};
  std::string_view value(given->second.data(), given->second.size());
  constexpr std::string_view kBearer = "Bearer ";
  return value.starts_with(kBearer) ? value.substr(kBearer.size()) : std::string_view{};
}

int http_like(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::OK:
    case grpc::StatusCode::CANCELLED:  // the caller ended the call
      return 200;
    case grpc::StatusCode::UNAUTHENTICATED:
      return 401;
    case grpc::StatusCode::PERMISSION_DENIED:
      return 403;
    case grpc::StatusCode::NOT_FOUND:
      return 404;
    case grpc::StatusCode::RESOURCE_EXHAUSTED:
      return 429;
    case grpc::StatusCode::UNAVAILABLE:
      return 503;
    case grpc::StatusCode::INTERNAL:
      return 500;
    default:
      return 400;
  }
}

}  // namespace

Callers::Callers(Access& access, Audit& audit, const Clock& clock, bool auth)
    : access_(access), audit_(audit), clock_(clock), failed_logins_(clock) {
  if (auth) return;
  auto anybody = std::make_shared<Principal>();
  anybody->person = "anonymous";
  anybody->scope = Scope::viewer;
  anonymous_ = std::move(anybody);
}

Result<std::shared_ptr<const Principal>> Callers::identify(const grpc::CallbackServerContext& context) {
  if (anonymous_ != nullptr) return anonymous_;
  std::string peer = peer_of(context);
  std::string_view secret = bearer_of(context);
  if (secret.empty()) {
    return fail(ErrorCode::unauthenticated, "no_token",
                "this call needs the metadata \"authorization: Bearer TOKEN\"; `shepherd token create` makes a token");
  }
  auto principal = access_.authenticate(secret);
  if (!principal) {
    // Throttles only failures, so that one program's stale token does not lock out its neighbours.
    if (auto few = failed_logins_.check(peer); !few) return fail(few.error());
    failed_logins_.failed(peer);
    return fail(principal.error());
  }
  if (!(*principal)->may(Right::view, "")) {
    return fail(ErrorCode::permission_denied, "wrong_scope",
                "this token is for one task; these calls are about all tasks and need the scope viewer");
  }
  return principal;
}

CallTrail Callers::trail(const grpc::CallbackServerContext& context, std::string_view method) const {
  return {nullptr, peer_of(context), "/shepherd.observability.v1.ObservabilityService/" + std::string(method),
          clock_.wall_ms(), clock_.steady_ms()};
}

bool Callers::still_valid(const Principal& principal) const {
  return anonymous_ != nullptr || access_.still_valid(principal);
}

void Callers::record(const CallTrail& trail, const grpc::Status& status, std::uint64_t messages) const {
  AuditRecord record;
  record.at_ms = trail.begun_wall_ms;
  if (trail.principal != nullptr) {
    record.person = trail.principal->person;
    record.token_id = trail.principal->token_id;
  }
  record.peer = trail.peer;
  record.method = "gRPC";
  record.path = trail.method;
  record.status = http_like(status);
  if (!status.ok()) record.reason = "grpc_" + std::to_string(status.error_code());
  if (messages > 0) {
    record.first = 1;
    record.last = static_cast<std::int64_t>(messages);
  }
  record.duration_ms = clock_.steady_ms() - trail.begun_steady_ms;
  audit_.record(std::move(record));
}

}  // namespace shepherd
