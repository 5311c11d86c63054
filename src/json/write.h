// Writing small JSON objects member by member, in the order of the calls.
// Threads: caller.
#pragma once

#include <concepts>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shepherd {

void append_json_string(std::string& out, std::string_view text);  // quoted and escaped; bad UTF-8 becomes U+FFFD
void append_number(std::string& out, std::uint64_t value);
void append_number(std::string& out, std::int64_t value);
void append_number(std::string& out, double value);  // shortest text that reads back the same; not finite: null

// The members of an object while it is written; made by write_object() and object_text() alone, so that an object is
// closed before its text is read. Keys must not need escaping.
class JsonObject {
 public:
  JsonObject(const JsonObject&) = delete;
  JsonObject& operator=(const JsonObject&) = delete;

  // Starts a member whose value the caller appends to the returned text.
  std::string& member(std::string_view key);
  void text(std::string_view key, std::string_view value);
  void text_unless_empty(std::string_view key, std::string_view value);
  void texts(std::string_view key, const std::vector<std::string>& values);
  void texts(std::string_view key, const std::map<std::string, std::string>& values);  // an object
  void time(std::string_view key, std::int64_t wall_ms);                               // null for 0: not yet
  void json(std::string_view key, std::string_view value) { member(key).append(value); }
  template <class Fill>
  void object(std::string_view key, Fill&& fill);    // as write_object()
  void members(std::string_view encoded);            // `"a":1,"b":2`, or nothing
  std::size_t bytes() const { return out_.size(); }  // of the text so far, this object's and what is before it
  void flag(std::string_view key, bool value) { json(key, value ? "true" : "false"); }
  template <class Number>
    requires std::integral<Number> || std::floating_point<Number>
  void number(std::string_view key, Number value) {
    append_number(member(key), value);
  }

 private:
  explicit JsonObject(std::string& out) : out_(out) {}
  template <class Fill>
  friend void write_object(std::string& out, Fill&& fill);

  std::string& out_;
  bool first_ = true;
};

// Appends `{`, what fill(JsonObject&) writes, and `}`.
template <class Fill>
void write_object(std::string& out, Fill&& fill) {
  out.push_back('{');
  JsonObject object(out);
  fill(object);
  out.push_back('}');
}

template <class Fill>
void JsonObject::object(std::string_view key, Fill&& fill) {
  write_object(member(key), std::forward<Fill>(fill));
}

// The text does not exist before fill() returns: fill() appends through its JsonObject, never to the result's name.
template <class Fill>
std::string object_text(Fill&& fill) {
  std::string text;
  write_object(text, std::forward<Fill>(fill));
  return text;
}

}  // namespace shepherd
