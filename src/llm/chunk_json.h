// One JSON document of a stream, parsed once, also when its bytes are not quite JSON.
#pragma once

#include <cstdint>
#include <list>
#include <optional>
#include <string>
#include <string_view>

#include "json/read.h"

namespace shepherd {

// Backends cut text at token boundaries, so a chunk can hold half a character, raw or as half a surrogate pair. Raw
// halves are given back as they came; half pairs become U+FFFD.
// Threads: caller; what it returns is valid until the next parse on this thread.
class ChunkJson {
 public:
  // nullopt if it is not JSON.
  std::optional<simdjson::dom::element> parse(std::string_view json);
  // The bytes of a string; empty for anything else.
  std::string_view text(simdjson::dom::element value);
  std::string_view text(simdjson::dom::element object, std::string_view key);
  std::string compact(simdjson::dom::element value);  // its JSON text

 private:
  std::optional<JsonParser> parser_;  // a long document's own
  bool mended_ = false;               // bytes that are not UTF-8 stand as characters far beyond all real ones
  std::list<std::string> texts_;      // strings with such bytes, turned back
};

// The member; nullopt if it is absent or null, or the value is no object.
std::optional<simdjson::dom::element> member_of(simdjson::dom::element object, std::string_view key);
// A number >= 0 under the key, cut to a whole one; nullopt for one that is no count (kMaxCount). Threads: value.
std::optional<std::int64_t> count_in(simdjson::dom::element object, std::string_view key);

}  // namespace shepherd
