#include "llm/answer_stream.h"

#include <fmt/format.h>

#include "llm/limits.h"

namespace shepherd {

void AnswerStream::too_long_line() {
  answer_.fail_with({ErrorCode::too_large,
                     "answer_too_long",
                     fmt::format("a line of the model's answer is longer than {} bytes", kMaxStreamLineBytes),
                     {}});
}

void AnswerStream::not_json() {
  if (at_end_) return;
  fault_.emplace().message = "a chunk of its stream is not JSON";
}

Result<ModelAnswer> AnswerStream::conclude(const std::string& backend) {
  if (fault_) return fail(error_of(*fault_, backend));
  if (answer_.error()) return fail(*answer_.error());
  if (!ended_ && !answer_.finished()) {
    return fail(ErrorCode::unavailable, "model_broke_off",
                fmt::format("the answer of model \"{}\" broke off: its stream ended without an end", backend));
  }
  ModelAnswer answer = answer_.take();
  answer.backend = backend;
  return answer;
}

}  // namespace shepherd
