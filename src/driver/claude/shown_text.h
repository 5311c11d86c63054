// What a person should see of the texts that Claude Code writes for its model: without its markup, its ids, and its
// remarks about how to go on.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

// For a summary alone; the event keeps the text as it is. Markup that is not the agent's own stays: it may be what a
// tool printed.
std::string claude_shown_text(std::string_view text);

}  // namespace shepherd
