// Whole messages in a run of bytes: each is preceded by its length, four bytes, the highest first.
// Threads: value.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

void append_frame(std::string& out, std::string_view message);

// Takes the first message off; nullopt when there is no whole one.
std::optional<std::string_view> take_frame(std::string_view& bytes);

}  // namespace shepherd
