#include "client/problem.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <string>
#include <utility>

namespace shepherd {

namespace json = boost::json;

ErrorCode code_of_status(int status) {
  switch (status) {
    case 400:
    case 405:
    case 406:
    case 422:
      return ErrorCode::invalid_argument;
    case 401:
      return ErrorCode::unauthenticated;
    case 403:
      return ErrorCode::permission_denied;
    case 404:
      return ErrorCode::not_found;
    case 409:
    case 412:
      return ErrorCode::conflict;
    case 410:
      return ErrorCode::gone;
    case 413:
      return ErrorCode::too_large;
    case 415:
      return ErrorCode::unsupported_media_type;
    case 429:
      return ErrorCode::rate_limited;
    case 502:
    case 503:
    case 504:
      return ErrorCode::unavailable;
    case 507:
      return ErrorCode::storage_full;
    default:
      return ErrorCode::internal;
  }
}

Error read_problem(int status, std::string_view body) {
  Error problem{code_of_status(status), "", "", {}};
  boost::system::error_code error;
  json::value value = json::parse(body, error);
  if (const json::object* object = error ? nullptr : value.if_object()) {
    std::string title;
    for (const auto& [name, member] : *object) {
      if (member.is_string()) {
        std::string text(member.get_string());
        if (name == "code") {
          problem.reason = std::move(text);
        } else if (name == "detail") {
          problem.message = std::move(text);
        } else if (name == "title" || name == "error") {
          if (title.empty()) title = std::move(text);
        } else if (name != "type") {
          problem.fields.push_back({std::string(name), std::move(text)});
        }
      } else if (member.is_int64() && name != "status") {
        problem.fields.push_back({std::string(name), member.get_int64()});
      }
    }
    if (problem.message.empty()) problem.message = std::move(title);
  }
  if (problem.reason.empty()) problem.reason = name(problem.code);
  if (problem.message.empty()) problem.message = fmt::format("the server answered {}", status);
  return problem;
}

}  // namespace shepherd
