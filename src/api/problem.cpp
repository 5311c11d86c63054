#include "api/problem.h"

#include <algorithm>
#include <utility>

#include "api/status_map.h"
#include "json/write.h"

namespace shepherd {
namespace {

void append_member(std::string& out, std::string_view name, std::string_view value) {
  out += ',';
  append_json_string(out, name);
  out += ':';
  append_json_string(out, value);
}

void append_field(std::string& out, const ErrorField& field) {
  if (const auto* text = std::get_if<std::string>(&field.value)) {
    append_member(out, field.name, *text);
    return;
  }
  out += ',';
  append_json_string(out, field.name);
  out += ':';
  out += std::to_string(std::get<std::int64_t>(field.value));
}

std::string retry_after(const Error& error) {
  for (const ErrorField& field : error.fields) {
    const auto* seconds = std::get_if<std::int64_t>(&field.value);
    if (seconds != nullptr && field.name == "retryAfterSeconds") return std::to_string(*seconds);
  }
  return "1";
}

}  // namespace

net::Response problem(const Error& error) {
  return problem(error, http_status(error.code));
}

net::Response problem(const Error& error, int status) {
  net::Response response;
  response.status = status;
  response.content_type = "application/problem+json";
  std::string& body = response.body;
  body = R"({"type":"about:blank","title":)";
  append_json_string(body, status_title(status));
  body += R"(,"status":)";
  body += std::to_string(status);
  append_member(body, "detail", error.message);
  append_member(body, "code", error.reason);
  append_member(body, "error", error.message);
  for (const ErrorField& field : error.fields) append_field(body, field);
  body += '}';
  if (status == 401) response.headers.emplace_back("WWW-Authenticate", R"(Bearer realm="shepherd")");
  if (retryable(error.code)) response.headers.emplace_back("Retry-After", retry_after(error));
  return response;
}

net::Response chat_problem(const Error& error, int status) {
  net::Response response = problem(error, status);
  response.content_type = "application/json";
  response.body = object_text([&](JsonObject& object) {
    object.flag("success", false);
    // Clients of this protocol know a refused key by the form that OpenAI's interface has for it.
    if (status == 401) {
      object.object("error", [&](JsonObject& inner) {
        inner.text("message", error.message);
        inner.text("type", "authentication_error");
        inner.text("code", "401");
      });
      object.text("detail", error.message);
    } else {
      object.text("error", error.message);
    }
    object.text("code", error.reason);
  });
  return response;
}

net::Response json_response(int status, std::string body) {
  net::Response response;
  response.status = status;
  response.content_type = "application/json";
  response.body = std::move(body);
  return response;
}

void add_api_headers(net::Response& response) {
  bool has_cache_rule = std::any_of(response.headers.begin(), response.headers.end(),
                                    [](const auto& header) { return header.first == "Cache-Control"; });
  response.headers.reserve(response.headers.size() + 3);
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  if (!has_cache_rule) response.headers.emplace_back("Cache-Control", "no-store");
}

void add_page_headers(net::Response& response) {
  response.headers.emplace_back("X-Content-Type-Options", "nosniff");
  response.headers.emplace_back("Referrer-Policy", "no-referrer");
  response.headers.emplace_back("Content-Security-Policy",
                                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                                "img-src 'self' data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'");
}

}  // namespace shepherd
