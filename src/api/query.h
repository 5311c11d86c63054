// The query part of a request, decoded and read strictly: a parameter that is present must make sense.
// Every error is invalid_argument/bad_parameter and names the parameter.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "journal/feed.h"

namespace shepherd {

Error bad_parameter(std::string_view parameter, std::string message);

class Query {
 public:
  static Result<Query> parse(std::string_view text);

  // The first value of that name; nullopt when absent. An empty value counts as absent.
  std::optional<std::string_view> text(std::string_view name) const;
  std::vector<std::string_view> all(std::string_view name) const;
  // Digits only, at most 2^63 - 1.
  Result<std::optional<std::uint64_t>> number(std::string_view name) const;
  // A page size: `fallback` when absent, at most `most`; 0 is an error.
  Result<std::size_t> limit(std::size_t fallback, std::size_t most) const;
  Result<bool> flag(std::string_view name) const;  // 1, true, 0, false; absent: false
  // `types=a,b`.
  Result<TypeFilter> types() const;
  // `tasks=a,b`: nullopt when absent. Ids must be well-formed, at most kMaxFeedTasks.
  Result<std::optional<std::vector<std::string>>> tasks() const;

  // This query with one parameter replaced, encoded again; for Link headers. Never holds ticket or token.
  std::string with(std::string_view name, std::string_view value) const;

 private:
  std::vector<std::pair<std::string, std::string>> values_;
};

// Whether an event passes the filter. `json` is the finished event; it is parsed only for unknown types.
bool passes(const TypeFilter& filter, EventType type, std::string_view json);

}  // namespace shepherd
