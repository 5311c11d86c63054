// Reads the body of POST /v1/chat/completions.
// Threads: value.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "llm/model.h"

namespace shepherd {

struct CompletionBody {
  std::string model;
  ModelRequest request;
  bool stream = false;
  bool include_usage = false;  // in a stream
};

// Members that have no meaning here are ignored, as OpenAI's own server ignores them. What a client relies on and would
// not get is refused: several choices, log probabilities, messages or tools of an unknown kind. Errors are
// invalid_argument with the reasons bad_json and bad_member, whose field `member` names the place ("messages[2].role").
Result<CompletionBody> read_completion(std::string_view json);

}  // namespace shepherd
