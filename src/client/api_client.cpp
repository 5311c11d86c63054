#include "client/api_client.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "client/limits.h"
#include "client/problem.h"
#include "json/scan.h"

namespace shepherd {
namespace {

namespace json = boost::json;

constexpr std::string_view kJson = "application/json";
constexpr std::string_view kNdjson = "application/x-ndjson";

std::string task_target(std::string_view id, std::string_view rest = {}) {
  return fmt::format("/api/v1/tasks/{}{}", percent_encoded(id), rest);
}

std::unexpected<Error> bad_response(std::string_view what) {
  return fail(ErrorCode::internal, "bad_response",
              fmt::format("the server's answer is not {}; is this address a Shepherd server?", what));
}

// Returns the target in `Link: </api/v1/tasks?…>; rel="next"`, or an empty text if there is none.
std::string next_target(std::string_view link) {
  std::size_t rel = link.find("rel=\"next\"");
  if (rel == std::string_view::npos) return {};
  std::size_t open = link.rfind('<', rel);
  std::size_t close = link.find('>', open == std::string_view::npos ? 0 : open);
  if (open == std::string_view::npos || close == std::string_view::npos) return {};
  std::string_view target = link.substr(open + 1, close - open - 1);
  if (std::size_t scheme = target.find("://"); scheme != std::string_view::npos) {
    std::size_t path = target.find('/', scheme + 3);
    target = path == std::string_view::npos ? std::string_view("/") : target.substr(path);
  }
  return std::string(target);
}

std::uint64_t unsigned_member(std::string_view object, std::string_view name) {
  std::string_view source = find_member(object, name);
  std::uint64_t value = 0;
  for (char c : source) {
    if (c < '0' || c > '9') return 0;
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return value;
}

std::string string_member(std::string_view object, std::string_view name) {
  boost::system::error_code error;
  json::value value = json::parse(find_member(object, name), error);
  return !error && value.is_string() ? std::string(value.get_string()) : std::string();
}

}  // namespace

std::string percent_encoded(std::string_view text) {
  std::string out;
  for (char c : text) {
    bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
                 c == '_' || c == '~';
    if (plain) {
      out += c;
    } else {
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    }
  }
  return out;
}

Error with_connection_advice(Error error) {
  if (error.reason == "bad_certificate") {
    error.message += "; name its authority with --ca-file, or accept any certificate with --insecure-tls";
  } else if (error.code == ErrorCode::unavailable && error.reason != "no_server") {
    error.message += "; is a server running there? Start one with \"shepherd serve\", or point SHEPHERD_URL at it";
  }
  return error;
}

std::string query_text(const Parameters& query) {
  std::string out;
  for (const auto& [name, value] : query) {
    out += out.empty() ? '?' : '&';
    out += percent_encoded(name) + "=" + percent_encoded(value);
  }
  return out;
}

Result<ApiClient> ApiClient::create(Destination destination, net::ClientTls tls) {
  Result<net::Url> open = net::parse_url(destination.public_url);
  if (!open) return fail(open.error());
  Result<net::Url> internal = net::parse_url(destination.internal_url);
  if (!internal) return fail(internal.error());
  return ApiClient(std::move(destination), net::HttpClient(*std::move(open), tls),
                   net::HttpClient(*std::move(internal), tls));
}

ApiClient::ApiClient(Destination destination, net::HttpClient open, net::HttpClient internal)
    : destination_(std::move(destination)), open_(std::move(open)), internal_(std::move(internal)) {}

Result<net::ClientResponse> ApiClient::send(Call call) {
  net::HeaderList headers = std::move(call.headers);
  headers.emplace_back("Accept", kJson);
  if (!destination_.token.empty()) headers.emplace_back("Authorization", "Bearer " + destination_.token);
  if (!call.content_type.empty()) headers.emplace_back("Content-Type", call.content_type);
  net::HttpClient& http = call.port == Port::open ? open_ : internal_;
  Result<net::ClientResponse> response = http.request(call.method, call.target, headers, call.body, call.timeout);
  if (!response) {
    return fail(with_connection_advice(response.error()));
  }
  if (response->status >= 400) {
    Error error = read_problem(response->status, response->body);
    if (error.code == ErrorCode::unauthenticated) {
      error.message += destination_.token.empty()
                           ? "; set SHEPHERD_TOKEN (an admin makes one with \"shepherd token create NAME\")"
                           : "; SHEPHERD_TOKEN or the data directory's admin.token is not valid for this server";
      if (!destination_.no_token.empty()) error.message = destination_.no_token;
    }
    return fail(std::move(error));
  }
  if (response->status >= 300) return bad_response("one that a client follows");
  return response;
}

Result<std::string> ApiClient::body_of_answer(Call call) {
  Result<net::ClientResponse> response = send(std::move(call));
  if (!response) return fail(response.error());
  return std::move(response->body);
}

Result<CreatedTask> ApiClient::create_task(std::string_view body, const std::string& idempotency_key) {
  Call call{.method = "POST", .target = "/api/v1/tasks", .body = body, .content_type = kJson};
  if (!idempotency_key.empty()) call.headers.emplace_back("Idempotency-Key", idempotency_key);
  Result<net::ClientResponse> response = send(std::move(call));
  if (!response) return fail(response.error());
  Result<TaskView> row = read_task_view(response->body);
  if (!row) return fail(row.error());
  return CreatedTask{*std::move(row), response->status == 200};
}

Result<TaskList> ApiClient::task_list(std::string target) {
  Result<net::ClientResponse> response = send({.target = std::move(target)});
  if (!response) return fail(response.error());
  auto elements = array_elements(response->body);
  if (!elements) return bad_response("a list of tasks");
  TaskList list;
  for (std::string_view element : *elements) {
    Result<TaskView> row = read_task_view(element);
    if (!row) return fail(row.error());
    list.tasks.push_back(*std::move(row));
  }
  list.next = next_target(response->header("link"));
  return list;
}

Result<TaskList> ApiClient::tasks(const Parameters& filters) {
  return task_list("/api/v1/tasks" + query_text(filters));
}

Result<TaskList> ApiClient::next_tasks(const std::string& target) {
  return task_list(target);
}

Result<TaskView> ApiClient::task(std::string_view id) {
  Result<net::ClientResponse> response = send({.target = task_target(id)});
  if (!response) return fail(response.error());
  return read_task_view(response->body);
}

Result<TaskView> ApiClient::patch_task(std::string_view id, std::string_view body) {
  Result<net::ClientResponse> response =
      send({.method = "PATCH", .target = task_target(id), .body = body, .content_type = kJson});
  if (!response) return fail(response.error());
  return read_task_view(response->body);
}

Result<void> ApiClient::delete_task(std::string_view id) {
  Result<net::ClientResponse> response = send({.method = "DELETE", .target = task_target(id)});
  if (!response) return fail(response.error());
  return {};
}

Result<LogPage> ApiClient::events(std::string_view task, const Parameters& query) {
  Result<net::ClientResponse> response = send({.target = task_target(task, "/events" + query_text(query))});
  if (!response) return fail(response.error());
  std::string_view body = response->body;
  std::string_view array = find_member(body, "events");
  auto elements = array_elements(array.empty() ? body : array);
  if (!elements) return bad_response("a page of events");
  LogPage page;
  page.events.assign(elements->begin(), elements->end());
  return page;
}

Result<std::string> ApiClient::event(std::string_view task, std::uint64_t sequence) {
  return body_of_answer({.target = task_target(task, fmt::format("/events/{}", sequence))});
}

Result<std::string> ApiClient::detail(std::string_view task, std::uint64_t sequence) {
  return body_of_answer({.target = task_target(task, fmt::format("/events/{}/detail", sequence))});
}

Result<Posted> ApiClient::post_events(std::string_view task, std::string_view ndjson, const std::string& producer,
                                      std::int64_t lease) {
  Call call{.method = "POST",
            .target = task_target(task, "/events"),
            .body = ndjson,
            .content_type = kNdjson,
            .port = Port::internal};
  if (!producer.empty()) call.headers.emplace_back("Shepherd-Producer", producer);
  if (lease != 0) call.headers.emplace_back("Shepherd-Lease", std::to_string(lease));
  Result<net::ClientResponse> response = send(std::move(call));
  if (!response) {
    Error error = response.error();
    if (error.reason == "method_not_allowed") {
      error.message = fmt::format(
          "{} takes no events: give the server's internal address (--internal-url, "
          "SHEPHERD_INTERNAL_URL)",
          destination_.internal_url);
    }
    return fail(std::move(error));
  }
  return Posted{unsigned_member(response->body, "sequence"), unsigned_member(response->body, "producerSequence")};
}

Result<AcceptedCommand> ApiClient::post_command(std::string_view task, std::string_view body) {
  Result<net::ClientResponse> response =
      send({.method = "POST", .target = task_target(task, "/commands"), .body = body, .content_type = kJson});
  if (!response) return fail(response.error());
  AcceptedCommand accepted{string_member(response->body, "id"), unsigned_member(response->body, "sequence")};
  if (accepted.id.empty() || accepted.sequence == 0) return bad_response("that of a server that takes commands");
  return accepted;
}

Result<void> ApiClient::post_hooks(std::string_view calls) {
  Result<net::ClientResponse> response = send({.method = "POST",
                                               .target = "/api/v1/hooks/claude",
                                               .body = calls,
                                               .content_type = kJson,
                                               .port = Port::internal,
                                               .timeout = kHookTimeout});
  if (!response) return fail(response.error());
  return {};
}

Result<SearchAnswer> ApiClient::search(std::string_view query, const Parameters& more) {
  Parameters all{{"q", std::string(query)}};
  all.insert(all.end(), more.begin(), more.end());
  Result<net::ClientResponse> response = send({.target = "/api/v1/search" + query_text(all)});
  if (!response) return fail(response.error());
  auto elements = array_elements(find_member(response->body, "results"));
  if (!elements) return bad_response("a search result");
  SearchAnswer answer;
  for (std::string_view element : *elements) {
    answer.hits.push_back({string_member(element, "taskID"), unsigned_member(element, "sequence"),
                           string_member(element, "timestamp"), string_member(element, "type"),
                           string_member(element, "summary"), string_member(element, "snippet")});
  }
  answer.indexed_through = unsigned_member(response->body, "indexedThrough");
  answer.json = std::move(response->body);
  return answer;
}

Result<std::string> ApiClient::whoami() {
  return body_of_answer({.target = "/api/v1/whoami"});
}

Result<std::string> ApiClient::tokens() {
  return body_of_answer({.target = "/api/v1/tokens"});
}

Result<std::string> ApiClient::create_token(const TokenRequest& request) {
  json::object body{{"name", request.name}, {"scope", request.scope}};
  if (!request.task.empty()) body["task"] = request.task;
  if (request.expires_seconds > 0) body["expiresInSeconds"] = request.expires_seconds;
  std::string text = json::serialize(body);
  return body_of_answer({.method = "POST", .target = "/api/v1/tokens", .body = text, .content_type = kJson});
}

Result<void> ApiClient::revoke_token(std::string_view id) {
  Result<net::ClientResponse> response = send({.method = "DELETE", .target = "/api/v1/tokens/" + percent_encoded(id)});
  if (!response) return fail(response.error());
  return {};
}

Result<std::string> ApiClient::login_link(std::string_view whose) {
  std::string target = "/api/v1/login-links";
  if (!whose.empty()) target += "?for=" + percent_encoded(whose);
  Result<net::ClientResponse> response = send({.method = "POST", .target = std::move(target)});
  if (!response) return fail(response.error());
  std::string url = string_member(response->body, "url");
  if (url.empty()) return bad_response("a login link");
  return url.starts_with('/') ? destination_.public_url + url : url;
}

}  // namespace shepherd
