// Claude Code's tools: what a call is called in one human line.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

namespace shepherd {

// "Reading src/auth.go", "Running go test ./...". `input` is the call's compact JSON object; paths inside `cwd` are
// shown relative to it. Invisible characters are written out (visible_text): it is what people decide by.
std::string claude_call_summary(std::string_view tool, std::string_view input, std::string_view cwd);

}  // namespace shepherd
