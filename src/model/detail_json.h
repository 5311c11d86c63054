// The detail beside an event: full content and raw record, bounded.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

// The detail itself when it fits into `most` bytes; otherwise {"truncated":true,"bytes":N,…} with the members that fit,
// the first that does not cut short: a string at a character, anything else as the beginning of its JSON text.
std::string capped_detail(std::string_view detail, std::size_t most);

}  // namespace shepherd
