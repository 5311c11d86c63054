// An answer as it grows, within its bounds, whatever the dialect.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "llm/model.h"
#include "llm/utf8_gate.h"

namespace shepherd {

// A part of the answer's text, or of its reasoning, that has not been passed on yet.
struct AnswerRun {
  bool reasoning = false;
  std::size_t begin = 0, end = 0;
};

// What one chunk says about a tool call. Empty views: it says nothing.
struct CallFragment {
  std::optional<std::int64_t> index;
  std::string_view id, name, arguments;
};

// After a failure nothing is added any more.
// Threads: caller.
class AnswerBuilder {
 public:
  // `id_prefix` begins the ids of tool calls to which the backend gives none.
  explicit AnswerBuilder(std::string id_prefix) : id_prefix_(std::move(id_prefix)) {}

  void add_text(std::string_view bytes) { add(bytes, false); }
  void add_reasoning(std::string_view bytes) { add(bytes, true); }
  // Fragments of one call have the same index. Servers leave it out, use one for all calls, or repeat a name.
  void add_call(const CallFragment& fragment);
  // Space for something opaque.
  void add_state(std::string_view bytes);
  void set_finish(Finish finish) { finish_ = finish; }
  void set_model(std::string_view model);
  ModelUsage& usage() { return answer_.usage; }

  void fail_with(Error error);
  const std::optional<Error>& error() const { return error_; }
  bool finished() const { return finish_.has_value(); }
  // Something of the answer has come: text, reasoning, or part of a tool call.
  bool begun() const { return begun_; }

  std::string_view text_of(const AnswerRun& run) const;
  std::span<const AnswerRun> fresh() const { return fresh_; }  // in the order in which it came
  void forget_fresh() { fresh_.clear(); }

  // Half characters become U+FFFD and are the last fresh ones. The finish is the backend's, or follows from the calls.
  void close();
  ModelAnswer take() { return std::move(answer_); }

 private:
  struct Slot {
    std::int64_t index;
    std::size_t call;
  };

  void add(std::string_view bytes, bool reasoning);
  void note(bool reasoning, std::size_t begin);
  bool fits(std::size_t bytes);
  std::optional<std::size_t> call_of(const CallFragment& fragment);
  std::optional<std::size_t> new_call(std::optional<std::int64_t> index);

  const std::string id_prefix_;
  ModelAnswer answer_;
  Utf8Gate text_gate_, reasoning_gate_;
  std::vector<AnswerRun> fresh_;
  std::vector<Slot> slots_;
  std::optional<Finish> finish_;
  std::optional<Error> error_;
  std::size_t bytes_ = 0;
  bool begun_ = false;
};

}  // namespace shepherd
