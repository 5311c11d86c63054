#include "mcp/header_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <set>

#include "base/base64.h"
#include "json/limits.h"
#include "json/scan.h"

namespace shepherd {
namespace {

constexpr std::string_view kHeaderMark = "x-mcp-header";
constexpr std::int64_t kMostSafeInteger = (1LL << 53) - 1;  // what JavaScript keeps exactly

bool is_token(std::string_view text) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

std::string lower(std::string text) {
  for (char& c : text) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return text;
}

std::unexpected<Error> bad_mark(std::string why) {
  return fail(ErrorCode::invalid_argument, "bad_header_mark", std::move(why));
}

class MarkReader {
 public:
  Result<void> read_schema(std::string_view schema, bool reachable, std::size_t depth) {
    if (depth > kMaxJsonDepth) return {};
    for (JsonMembers members(schema); members.next();) {
      std::string_view value = members.value();
      if (members.key() == kHeaderMark) {
        if (auto taken = take(schema, value, reachable); !taken) return taken;
      } else if (members.key() == "properties" && value.starts_with('{')) {
        if (auto read = read_properties(value, reachable, depth + 1); !read) return read;
      } else if (auto read = read_elsewhere(value, depth + 1); !read) {
        return read;
      }
    }
    return {};
  }
  std::vector<McpHeaderParameter> found;

 private:
  Result<void> read_properties(std::string_view properties, bool reachable, std::size_t depth) {
    for (JsonMembers members(properties); members.next();) {
      if (!members.value().starts_with('{')) continue;
      path_.push_back(unescape(members.key()).value_or(""));
      auto read = read_schema(members.value(), reachable, depth + 1);
      path_.pop_back();
      if (!read) return read;
    }
    return {};
  }
  // A mark behind any other keyword cannot be found in the arguments.
  Result<void> read_elsewhere(std::string_view value, std::size_t depth) {
    if (depth > kMaxJsonDepth) return {};
    if (value.starts_with('{')) return read_schema(value, false, depth);
    if (!value.starts_with('[')) return {};
    for (std::string_view each : array_elements(value).value_or(std::vector<std::string_view>())) {
      if (auto read = read_elsewhere(each, depth + 1); !read) return read;
    }
    return {};
  }
  Result<void> take(std::string_view schema, std::string_view value, bool reachable) {
    auto name = string_value(value);
    // A property may have this name; then its value is a schema.
    if (!name && value.starts_with('{')) return read_elsewhere(value, 1);
    if (!name || !is_token(*name)) return bad_mark(fmt::format("its {} is not a name for a header", kHeaderMark));
    if (!reachable || path_.empty()) {
      return bad_mark(fmt::format("its {} \"{}\" is not at a plain property", kHeaderMark, *name));
    }
    std::string type = text_member(schema, "type");
    if (type != "string" && type != "integer" && type != "boolean") {
      return bad_mark(fmt::format("its {} \"{}\" is at a value that no header can have", kHeaderMark, *name));
    }
    if (!names_.insert(lower(*name)).second) {
      return bad_mark(fmt::format("its {} \"{}\" is there twice", kHeaderMark, *name));
    }
    found.push_back({path_, "Mcp-Param-" + *name});
    return {};
  }

  std::vector<std::string> path_;
  std::set<std::string> names_;
};

// The member by its unescaped name.
std::string_view member_named(std::string_view object, std::string_view name) {
  for (JsonMembers members(object); members.next();) {
    if (unescape(members.key()) == name) return members.value();
  }
  return {};
}

}  // namespace

Result<std::vector<McpHeaderParameter>> header_parameters(std::string_view schema) {
  MarkReader reader;
  if (auto read = reader.read_schema(schema, true, 0); !read) return fail(std::move(read.error()));
  return std::move(reader.found);
}

net::HeaderList headers_of(const std::vector<McpHeaderParameter>& parameters, std::string_view arguments) {
  net::HeaderList headers;
  for (const McpHeaderParameter& parameter : parameters) {
    std::string_view value = arguments;
    for (const std::string& name : parameter.path) {
      value = value.starts_with('{') ? member_named(value, name) : std::string_view();
    }
    if (auto text = string_value(value)) {
      headers.emplace_back(parameter.header, header_value(*text));
    } else if (value == "true" || value == "false") {
      headers.emplace_back(parameter.header, value);
    } else if (auto number = number_value(value);
               number && *number == std::trunc(*number) && std::abs(*number) <= static_cast<double>(kMostSafeInteger)) {
      headers.emplace_back(parameter.header, std::to_string(static_cast<std::int64_t>(*number)));
    }
  }
  return headers;
}

std::string header_value(std::string_view text) {
  constexpr std::string_view kBegin = "=?base64?";
  constexpr std::string_view kEnd = "?=";
  bool plain = std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; });
  bool padded = !text.empty() && (text.front() == ' ' || text.back() == ' ');
  bool marked = text.starts_with(kBegin) && text.ends_with(kEnd);
  if (plain && !padded && !marked) return std::string(text);
  std::string encoded = encode_base64(text);
  while (encoded.size() % 4 != 0) encoded += '=';
  return fmt::format("{}{}{}", kBegin, encoded, kEnd);
}

}  // namespace shepherd
