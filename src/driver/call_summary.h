// What a tool call is called in one human line: "Reading src/auth.go", "Running go test ./...".
// Threads: value.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace shepherd {

struct CallPhrase {
  std::string_view tool;
  std::string_view words;
  std::string_view member = {};  // of the input, shown after the words; empty: the words are all
};

// `input` is the call's JSON object; paths inside `cwd` are shown relative to it. A tool without a phrase is "Using
// NAME". Invisible characters are written out (visible_text): people decide by it.
std::string call_summary(std::span<const CallPhrase> phrases, std::string_view tool, std::string_view input,
                         std::string_view cwd);

}  // namespace shepherd
