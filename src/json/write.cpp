#include "json/write.h"

#include <array>
#include <charconv>
#include <cmath>

#include "base/clock.h"

namespace shepherd {
namespace {

template <class Number>
void append_chars(std::string& out, Number value) {
  std::array<char, 32> text;
  auto [end, error] = std::to_chars(text.data(), text.data() + text.size(), value);
  static_cast<void>(error);  // 32 bytes hold any 64-bit number
  out.append(text.data(), end);
}

}  // namespace

void append_number(std::string& out, std::uint64_t value) {
  append_chars(out, value);
}
void append_number(std::string& out, std::int64_t value) {
  append_chars(out, value);
}
void append_number(std::string& out, double value) {
  if (!std::isfinite(value)) {
    out.append("null");
  } else {
    append_chars(out, value);
  }
}

std::string& JsonObject::member(std::string_view key) {
  out_.append(first_ ? "\"" : ",\"").append(key).append("\":");
  first_ = false;
  return out_;
}

void JsonObject::members(std::string_view encoded) {
  if (encoded.empty()) return;
  if (!first_) out_.push_back(',');
  first_ = false;
  out_.append(encoded);
}

void JsonObject::text(std::string_view key, std::string_view value) {
  append_json_string(member(key), value);
}

void JsonObject::text_unless_empty(std::string_view key, std::string_view value) {
  if (!value.empty()) text(key, value);
}

void JsonObject::texts(std::string_view key, const std::vector<std::string>& values) {
  member(key).push_back('[');
  for (const std::string& value : values) {
    if (&value != &values.front()) out_.push_back(',');
    append_json_string(out_, value);
  }
  out_.push_back(']');
}

void JsonObject::texts(std::string_view key, const std::map<std::string, std::string>& values) {
  member(key).push_back('{');
  for (const auto& [name, value] : values) {
    if (name != values.begin()->first) out_.push_back(',');
    append_json_string(out_, name);
    out_.push_back(':');
    append_json_string(out_, value);
  }
  out_.push_back('}');
}

void JsonObject::time(std::string_view key, std::int64_t wall_ms) {
  if (wall_ms == 0) {
    json(key, "null");
  } else {
    member(key).push_back('"');
    append_timestamp(out_, wall_ms);
    out_.push_back('"');
  }
}

}  // namespace shepherd
