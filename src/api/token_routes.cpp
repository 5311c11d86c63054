// Tokens (for administrators) and tickets (for streams of clients that cannot set headers).
#include <algorithm>
#include <array>
#include <boost/json/object.hpp>
#include <boost/json/parse.hpp>
#include <boost/json/value.hpp>
#include <utility>

#include "access/limits.h"
#include "api/handlers.h"
#include "api/limits.h"
#include "api/query.h"
#include "json/request.h"
#include "json/write.h"

namespace shepherd {
namespace {

namespace json = boost::json;

struct TokenRequest {
  std::string name;
  Scope scope = Scope::viewer;
  std::string task;
  std::int64_t expires_ms = 0;
};

Error bad_member(std::string_view member, std::string message) {
  return Error{ErrorCode::invalid_argument, "bad_request", std::move(message), {}}.with("member", std::string(member));
}

Result<std::string> required_text(const json::object& object, std::string_view name) {
  const json::value* value = object.if_contains(name);
  if (value == nullptr || value->is_null()) return std::string();
  if (!value->is_string()) return fail(bad_member(name, "`" + std::string(name) + "` must be a string."));
  return std::string(value->get_string());
}

Result<std::int64_t> expiry(const json::object& object, std::int64_t now_ms) {
  auto at = required_text(object, "expiresAt");
  if (!at) return fail(at.error());
  if (!at->empty()) {
    auto time = parse_timestamp(*at);
    if (!time) return fail(bad_member("expiresAt", "`expiresAt` must be an RFC 3339 time."));
    return *time;
  }
  const json::value* seconds = object.if_contains("expiresInSeconds");
  if (seconds == nullptr || seconds->is_null()) {
    return now_ms + std::chrono::milliseconds(kTokenLife).count();
  }
  if (!seconds->is_int64() || seconds->get_int64() < 1 || seconds->get_int64() > kMaxTokenSeconds) {
    return fail(bad_member("expiresInSeconds", "`expiresInSeconds` must be a whole number from 1 to a hundred years."));
  }
  return now_ms + seconds->get_int64() * 1000;
}

// An unknown member could be a restriction that its sender relies on.
Result<void> only_known_members(const json::object& object) {
  constexpr auto kMembers =
      std::to_array<std::string_view>({"name", "scope", "taskID", "task", "expiresAt", "expiresInSeconds"});
  for (const auto& member : object) {
    std::string_view key = member.key();
    if (std::ranges::find(kMembers, key) != kMembers.end()) continue;
    return fail(bad_member(key, "`" + std::string(key) +
                                    "` is not a member of this request. There are `name`, `scope`, `taskID`, "
                                    "`expiresAt` and `expiresInSeconds`."));
  }
  return {};
}

// The one task of a producer. Older clients send it as `task`.
Result<std::string> only_task(const json::object& object) {
  auto task = required_text(object, "taskID");
  auto older = required_text(object, "task");
  if (!task) return task;
  if (!older || task->empty()) return older;
  if (!older->empty() && *older != *task) return fail(bad_member("task", "`task` and `taskID` name different tasks."));
  return task;
}

Result<TokenRequest> token_request(std::string_view body, std::int64_t now_ms) {
  boost::system::error_code error;
  json::value value = json::parse(body, error);
  if (error || !value.is_object()) {
    return fail(ErrorCode::invalid_argument, "bad_json", "The body must be a JSON object.");
  }
  const json::object& object = value.get_object();
  if (auto known = only_known_members(object); !known) return fail(known.error());
  auto token_name = required_text(object, "name");
  auto scope = required_text(object, "scope");
  auto task = only_task(object);
  auto expires_ms = expiry(object, now_ms);
  if (!token_name) return fail(token_name.error());
  if (!scope) return fail(scope.error());
  if (!task) return fail(task.error());
  if (!expires_ms) return fail(expires_ms.error());
  auto known = scope_named(*scope);
  if (!known) return fail(bad_member("scope", "`scope` must be viewer, operator, producer or admin."));
  return TokenRequest{std::move(*token_name), *known, std::move(*task), *expires_ms};
}

// The token's members without the closing brace, so that the secret can follow.
void append_token(std::string& out, const TokenInfo& token) {
  out += R"({"id":)";
  append_json_string(out, token.id);
  out += R"(,"name":)";
  append_json_string(out, token.name);
  out += R"(,"scope":)";
  append_json_string(out, name(token.scope));
  if (!token.only_task.empty()) {
    for (const char* member : {R"(,"taskID":)", R"(,"task":)"}) {
      out += member;
      append_json_string(out, token.only_task);
    }
  }
  out += R"(,"session":)";
  out += token.session ? "true" : "false";
  if (!token.parent.empty()) {
    out += R"(,"sessionOf":)";
    append_json_string(out, token.parent);
  }
  out += R"(,"createdAt":")" + format_timestamp(token.created_ms) + '"';
  if (token.expires_ms != 0) out += R"(,"expiresAt":")" + format_timestamp(token.expires_ms) + '"';
}

}  // namespace

void create_token(Call call) {
  ApiParts& parts = call.parts();
  auto request = token_request(call.request().body, parts.clock.wall_ms());
  if (!request) return call.fail(request.error());
  parts.access.create_token(std::move(request->name), request->scope, std::move(request->task), request->expires_ms,
                            [call = std::move(call)](Result<NewToken> made) mutable {
                              if (!made) return call.fail(made.error());
                              std::string body;
                              append_token(body, made->info);
                              body += R"(,"secret":)";
                              append_json_string(body, made->secret);
                              body += '}';
                              call.send_json(201, std::move(body));
                            });
}

void list_tokens(Call call) {
  std::string body = "[";
  for (const TokenInfo& token : call.parts().access.tokens()) {
    if (body.size() > 1) body += ',';
    append_token(body, token);
    body += '}';
  }
  body += ']';
  call.send_json(200, std::move(body));
}

void revoke_token(Call call) {
  Access& access = call.parts().access;
  std::string id = call.id();
  access.revoke_token(std::move(id), [call = std::move(call)](Result<void> revoked) mutable {
    if (!revoked) return call.fail(revoked.error());
    net::Response response;
    response.status = 204;
    call.send(std::move(response));
  });
}

void create_ticket(Call call) {
  auto ticket = call.parts().access.make_ticket(call.principal());
  if (!ticket) return call.fail(ticket.error());
  std::string body = R"({"ticket":)";
  append_json_string(body, *ticket);
  body += R"(,"expiresInSeconds":)" + std::to_string(kTicketLife.count() / 1000) + "}";
  call.send_json(201, std::move(body));
}

}  // namespace shepherd
