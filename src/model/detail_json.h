// The detail of an event: its full content and raw record, bounded in size.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

// Returns the detail if it fits into `most` bytes. Otherwise returns {"truncated":true,"bytes":N,…} with the members
// that fit. The first member that does not fit is cut: a string at a character, any other value as the beginning of its
// JSON text.
std::string capped_detail(std::string_view detail, std::size_t most);

}  // namespace shepherd
