// The body of one answer, byte by byte, in a backend's dialect. No I/O.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/result.h"
#include "llm/answer_builder.h"
#include "llm/backend_fault.h"
#include "llm/model.h"

namespace shepherd {

// Implementations: OpenAI's chat stream, Anthropic's messages, Ollama's own. What came is in answer().fresh(). Bytes
// behind the end, or behind a failure, are ignored.
// Threads: caller.
class AnswerStream {
 public:
  explicit AnswerStream(std::string id_prefix) : answer_(std::move(id_prefix)) {}
  virtual ~AnswerStream() = default;
  AnswerStream(const AnswerStream&) = delete;
  AnswerStream& operator=(const AnswerStream&) = delete;

  void take(std::string_view bytes) {
    if (!over()) read(bytes);
  }
  // The body has ended. Half a chunk at its end is ignored: whether the answer broke off is another question.
  void finish() {
    at_end_ = true;
    if (!over()) read_rest();
  }
  // The dialect's own end mark was there, or a failure.
  bool over() const { return ended_ || fault_ || answer_.error(); }
  // A chunk has come, even if there is nothing of the answer in it.
  bool begun() const { return begun_; }
  AnswerBuilder& answer() { return answer_; }
  const std::optional<BackendFault>& fault() const { return fault_; }

  // After finish(): the answer, or why there is none. `backend` is its configured name.
  Result<ModelAnswer> conclude(const std::string& backend);

 protected:
  virtual void read(std::string_view bytes) = 0;
  virtual void read_rest() = 0;
  void too_long_line();
  void not_json();  // a chunk that should be

  AnswerBuilder answer_;
  ChunkJson json_;
  std::optional<BackendFault> fault_;
  bool begun_ = false;
  bool ended_ = false;
  bool at_end_ = false;  // of the body
};

std::unique_ptr<AnswerStream> read_openai_stream(std::string id_prefix);
// `backend` marks reasoning_state, which goes back to no other.
std::unique_ptr<AnswerStream> read_anthropic_stream(std::string id_prefix, std::string backend);
std::unique_ptr<AnswerStream> read_ollama_stream(std::string id_prefix);

}  // namespace shepherd
