// What tests of streams share: an answer as text, read from bytes that are cut anywhere.
// Threads: caller.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "llm/answer_stream.h"
#include "llm/model_config.h"

namespace shepherd {

inline std::unique_ptr<AnswerStream> stream_of(ModelDialect dialect) {
  switch (dialect) {
    case ModelDialect::openai:
      break;
    case ModelDialect::anthropic:
      return read_anthropic_stream("made_", "backend");
    case ModelDialect::ollama:
      return read_ollama_stream("made_");
  }
  return read_openai_stream("made_");
}

// What an answer's observer would see and get.
struct ReadAnswer {
  std::string text, reasoning;  // as it was passed on
  Result<ModelAnswer> answer = ModelAnswer();
};

// Pieces of `sizes`, over and over; one piece if there are none.
inline ReadAnswer read_answer(ModelDialect dialect, std::string_view bytes,
                              const std::vector<std::size_t>& sizes = {}) {
  ReadAnswer read;
  auto stream = stream_of(dialect);
  auto pass_on = [&] {
    for (const AnswerRun& run : stream->answer().fresh()) {
      (run.reasoning ? read.reasoning : read.text).append(stream->answer().text_of(run));
    }
    stream->answer().forget_fresh();
  };
  for (std::size_t turn = 0; !bytes.empty(); ++turn) {
    std::size_t size = sizes.empty() ? bytes.size() : std::min(sizes[turn % sizes.size()], bytes.size());
    std::string piece(bytes.substr(0, size));  // of its own, so that sanitizers see a read beyond it
    bytes.remove_prefix(size);
    stream->take(piece);
    pass_on();
  }
  stream->finish();
  pass_on();
  read.answer = stream->conclude("backend");
  return read;
}

inline std::string error_text(const Error& error) {
  std::string text = "error: " + error.reason + "\nmessage: " + error.message + "\n";
  for (const ErrorField& field : error.fields) {
    text += field.name + ": ";
    if (const auto* number = std::get_if<std::int64_t>(&field.value)) text += std::to_string(*number);
    if (const auto* words = std::get_if<std::string>(&field.value)) text += *words;
    text += "\n";
  }
  return text;
}

// Everything about it, a line each.
inline std::string answer_text(const ReadAnswer& read) {
  std::string text;
  auto line = [&](std::string_view what, std::string_view value) {
    if (!value.empty()) text.append(what).append(": ").append(value).append("\n");
  };
  line("text", read.text);
  line("reasoning", read.reasoning);
  if (!read.answer) return text + error_text(read.answer.error());
  const ModelAnswer& answer = *read.answer;
  if (answer.text != read.text) line("whole text", answer.text);
  if (answer.reasoning != read.reasoning) line("whole reasoning", answer.reasoning);
  line("state", answer.reasoning_state);
  for (const ToolRequest& call : answer.tool_calls) line("call", call.id + " " + call.name + " " + call.arguments);
  line("finish", name(answer.finish));
  const ModelUsage& usage = answer.usage;
  line("usage", !usage.known ? "unknown"
                             : std::to_string(usage.input) + " in, " + std::to_string(usage.output) + " out, " +
                                   std::to_string(usage.cache_read) + " read, " + std::to_string(usage.cache_write) +
                                   " written, " + std::to_string(usage.reasoning) + " thought");
  line("model", answer.model);
  return text;
}

inline std::string answer_text(ModelDialect dialect, std::string_view bytes) {
  return answer_text(read_answer(dialect, bytes));
}

}  // namespace shepherd
