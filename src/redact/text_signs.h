// What a text must have somewhere before a closer look for some secrets is worth it, found in one pass over its bytes.
// Threads: value.
#pragma once

#include <string_view>

namespace shepherd {

// Both are generous: true where nothing comes of it costs time, false promises that nothing would.
struct TextSigns {
  bool joint = false;  // a backslash before a line end, or the three of JSON source that spell one
  bool card = false;   // digits in such groups as card numbers have
};

TextSigns signs_of(std::string_view text);

}  // namespace shepherd
