// The stream of Ollama's own POST /api/chat: a JSON document per line.
#include "llm/answer_stream.h"
#include "llm/stream_lines.h"

namespace shepherd {
namespace {

class OllamaStream final : public AnswerStream {
 public:
  using AnswerStream::AnswerStream;

 private:
  void read(std::string_view bytes) override {
    if (!lines_.cut(bytes, [this](std::string_view line) { return read_line(line); })) too_long_line();
    if (over()) answer_.close();
  }
  void read_rest() override {
    read_line(lines_.rest());
    answer_.close();
  }

  bool read_line(std::string_view line) {
    if (line.find_first_not_of(" \t\r") == std::string_view::npos) return true;
    begun_ = true;
    auto chunk = json_.parse(line);
    if (!chunk) {
      not_json();
    } else if (auto fault = fault_in(json_, *chunk)) {
      fault_ = *std::move(fault);
    } else {
      read_chunk(*chunk);
    }
    return !over();
  }

  void read_chunk(simdjson::dom::element chunk) {
    answer_.set_model(json_.text(chunk, "model"));
    if (auto message = member_of(chunk, "message")) {
      answer_.add_reasoning(json_.text(*message, "thinking"));
      answer_.add_text(json_.text(*message, "content"));
      simdjson::dom::array calls;
      auto list = member_of(*message, "tool_calls");
      if (list && list->get(calls) == simdjson::SUCCESS) {
        for (simdjson::dom::element call : calls) read_call(call);
      }
    }
    bool done = false;
    auto mark = member_of(chunk, "done");
    if (!mark || mark->get(done) != simdjson::SUCCESS || !done) return;
    auto input = count_in(chunk, "prompt_eval_count"), output = count_in(chunk, "eval_count");
    ModelUsage& usage = answer_.usage();
    usage.known = input.has_value();  // it is left out of an answer whose prompt was cached
    usage.input = input.value_or(0);
    usage.output = output.value_or(0);
    answer_.set_finish(json_.text(chunk, "done_reason") == "length" ? Finish::length : Finish::stop);
    ended_ = true;
  }

  // A call comes whole.
  void read_call(simdjson::dom::element call) {
    auto function = member_of(call, "function");
    if (!function) return;
    std::string whole;
    CallFragment fragment{next_call_++, json_.text(call, "id"), json_.text(*function, "name"), {}};
    if (auto arguments = member_of(*function, "arguments")) {
      if (arguments->is_string()) fragment.arguments = json_.text(*arguments);
      if (arguments->is_object()) fragment.arguments = whole = json_.compact(*arguments);
    }
    answer_.add_call(fragment);
  }

  StreamLines lines_;
  std::int64_t next_call_ = 0;
};

}  // namespace

std::unique_ptr<AnswerStream> read_ollama_stream(std::string id_prefix) {
  return std::make_unique<OllamaStream>(std::move(id_prefix));
}

}  // namespace shepherd
