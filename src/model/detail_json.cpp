#include "model/detail_json.h"

#include <algorithm>

#include "json/scan.h"
#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

std::size_t sequence_bytes(char lead) {
  auto byte = static_cast<unsigned char>(lead);
  return byte < 0xC0 ? 1 : byte < 0xE0 ? 2 : byte < 0xF0 ? 3 : 4;
}

// The length in bytes of the character at escaped[at]: an escape, a surrogate pair of escapes, or a UTF-8 sequence.
std::size_t character_bytes(std::string_view escaped, std::size_t at) {
  if (escaped[at] != '\\') return sequence_bytes(escaped[at]);
  if (escaped.substr(at, 2) != "\\u") return 2;
  std::string_view surrogate = escaped.substr(at + 2, 2);
  bool high =
      surrogate.size() == 2 && (surrogate[0] | 0x20) == 'd' && std::string_view("89abAB").contains(surrogate[1]);
  return high && escaped.substr(at + 6, 2) == "\\u" ? 12 : 6;
}

std::string_view cut_escaped(std::string_view escaped, std::size_t most) {
  std::size_t at = 0;
  while (at < escaped.size()) {
    std::size_t next = at + character_bytes(escaped, at);
    if (next > std::min(most, escaped.size())) break;
    at = next;
  }
  return escaped.substr(0, at);
}

std::string_view cut_utf8(std::string_view text, std::size_t most) {
  if (text.size() <= most) return text;
  while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
  return text.substr(0, most);
}

}  // namespace

std::string capped_detail(std::string_view detail, std::size_t most) {
  if (detail.size() <= most) return std::string(detail);
  return object_text([&](JsonObject& object) {
    object.flag("truncated", true);
    object.number("bytes", std::uint64_t{detail.size()});
    JsonMembers members(detail);
    while (members.next()) {
      std::size_t around = members.key().size() + 8;  // comma, quotes, colon, the value's quotes, the closing brace
      std::size_t room = most > object.bytes() + around ? most - object.bytes() - around : 0;
      std::string_view value = members.value();
      if (value.size() <= room) {
        object.json(members.key(), value);
      } else if (room > 0 && value.front() == '"') {
        auto cut = cut_escaped(value.substr(1, value.size() - 2), room);
        object.member(members.key()).append("\"").append(cut).append("\"");
      } else if (room > 0) {
        // Escaping JSON text at most doubles it, because JSON text has no control characters.
        object.text(members.key(), cut_utf8(value, room / 2));
      }
    }
  });
}

}  // namespace shepherd
