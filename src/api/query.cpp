#include "api/query.h"

#include <algorithm>
#include <charconv>
#include <limits>

#include "api/limits.h"
#include "base/ids.h"
#include "model/limits.h"
#include "model/wire_json.h"
#include "net/http.h"

namespace shepherd {
namespace {

std::vector<std::string_view> split_commas(std::string_view text) {
  std::vector<std::string_view> parts;
  while (!text.empty()) {
    std::size_t comma = std::min(text.find(','), text.size());
    if (comma != 0) parts.push_back(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return parts;
}

void append_encoded(std::string& out, std::string_view text) {
  constexpr char kHex[] = "0123456789ABCDEF";
  for (char c : text) {
    auto byte = static_cast<unsigned char>(c);
    if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '.' ||
        c == '_' || c == '~' || c == ',') {
      out += c;
    } else {
      out += '%';
      out += kHex[byte >> 4];
      out += kHex[byte & 15];
    }
  }
}

}  // namespace

Error bad_parameter(std::string_view parameter, std::string message) {
  return Error{ErrorCode::invalid_argument, "bad_parameter", std::move(message), {}}.with("parameter",
                                                                                          std::string(parameter));
}

Result<Query> Query::parse(std::string_view text) {
  Query query;
  while (!text.empty()) {
    std::string_view pair = text.substr(0, text.find('&'));
    text.remove_prefix(std::min(pair.size() + 1, text.size()));
    if (pair.empty()) continue;
    std::size_t equals = std::min(pair.find('='), pair.size());
    auto name = net::percent_decode(pair.substr(0, equals), true);
    auto value = net::percent_decode(pair.substr(std::min(equals + 1, pair.size())), true);
    if (!name || !value) {
      return fail(bad_parameter(pair.substr(0, equals), "The query is not valid percent-encoded text."));
    }
    query.values_.emplace_back(std::move(*name), std::move(*value));
  }
  return query;
}

std::optional<std::string_view> Query::text(std::string_view name) const {
  for (const auto& [key, value] : values_) {
    if (key == name) return value.empty() ? std::nullopt : std::optional<std::string_view>(value);
  }
  return std::nullopt;
}

std::vector<std::string_view> Query::all(std::string_view name) const {
  std::vector<std::string_view> found;
  for (const auto& [key, value] : values_) {
    if (key == name && !value.empty()) found.push_back(value);
  }
  return found;
}

Result<std::optional<std::uint64_t>> Query::number(std::string_view name) const {
  auto value = text(name);
  if (!value) return std::nullopt;
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(value->data(), value->data() + value->size(), number);
  if (error != std::errc() || end != value->data() + value->size() ||
      number > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max())) {
    return fail(bad_parameter(name, "`" + std::string(name) + "` must be a whole number, 0 or more."));
  }
  return number;
}

Result<std::size_t> Query::limit(std::size_t fallback, std::size_t most) const {
  auto value = number("limit");
  if (!value) return fail(value.error());
  if (!*value) return fallback;
  if (**value == 0) return fail(bad_parameter("limit", "`limit` must be at least 1."));
  return static_cast<std::size_t>(std::min<std::uint64_t>(**value, most));
}

Result<bool> Query::flag(std::string_view name) const {
  auto value = text(name);
  if (!value || *value == "0" || *value == "false") return false;
  if (*value == "1" || *value == "true") return true;
  return fail(bad_parameter(name, "`" + std::string(name) + "` must be 1 or 0."));
}

Result<TypeFilter> Query::types() const {
  TypeFilter filter;
  auto value = text("types");
  if (!value) return filter;
  for (std::string_view type : split_commas(*value)) {
    if (type.size() > kMaxTypeBytes || filter.unknown.size() >= kMaxFilterTypes) {
      return fail(bad_parameter("types", "`types` must be a short list of event types, separated by commas."));
    }
    EventType known = event_type(type);
    if (known == EventType::other) {
      filter.unknown.emplace_back(type);
    } else {
      filter.known |= mask_of(known);
    }
  }
  return filter;
}

Result<std::optional<std::vector<std::string>>> Query::tasks() const {
  auto value = text("tasks");
  if (!value) return std::nullopt;
  std::vector<std::string> ids;
  for (std::string_view id : split_commas(*value)) {
    if (!is_task_id(id)) return fail(bad_parameter("tasks", "`tasks` must be task ids, separated by commas."));
    ids.emplace_back(id);
  }
  if (ids.size() > kMaxFeedTasks) {
    return fail(bad_parameter("tasks", "At most " + std::to_string(kMaxFeedTasks) + " tasks fit in one feed."));
  }
  return ids;
}

std::string Query::with(std::string_view name, std::string_view value) const {
  std::string out;
  for (const auto& [key, old] : values_) {
    if (key == name || key == "ticket" || key == "token" || old.empty()) continue;
    append_encoded(out, key);
    out += '=';
    append_encoded(out, old);
    out += '&';
  }
  append_encoded(out, name);
  out += '=';
  append_encoded(out, value);
  return out;
}

bool passes(const TypeFilter& filter, EventType type, std::string_view json) {
  if (filter.everything()) return true;
  if ((filter.known & mask_of(type)) != 0) return true;
  if (type != EventType::other || filter.unknown.empty()) return false;
  auto event = parse_event(json);
  return event && std::find(filter.unknown.begin(), filter.unknown.end(), event->type_name) != filter.unknown.end();
}

}  // namespace shepherd
