// The stream of POST /chat/completions as OpenAI, llama.cpp, vLLM, Ollama and TensorRT-LLM send it.
#include "llm/answer_stream.h"
#include "llm/stream_lines.h"

namespace shepherd {
namespace {

Finish openai_finish(std::string_view reason) {
  if (reason == "length" || reason == "max_tokens") return Finish::length;
  if (reason == "tool_calls" || reason == "function_call") return Finish::tool_calls;
  if (reason == "content_filter") return Finish::filtered;
  return Finish::stop;
}

class OpenAiStream final : public AnswerStream {
 public:
  using AnswerStream::AnswerStream;

 private:
  void read(std::string_view bytes) override {
    auto take = [this](std::string_view name, std::string_view data) { return read_event(name, data); };
    if (!events_.cut(bytes, take)) too_long_line();
    if (over()) answer_.close();
  }
  void read_rest() override {
    events_.finish([this](std::string_view name, std::string_view data) { return read_event(name, data); });
    answer_.close();
  }

  bool read_event(std::string_view name, std::string_view data) {
    begun_ = true;
    if (data.starts_with("[DONE]")) {
      ended_ = true;
      return false;
    }
    if (auto chunk = json_.parse(data)) {
      read_chunk(*chunk, name == "error");
    } else if (data.find('\n') != std::string_view::npos) {
      // Documents that no empty line separates.
      while (!data.empty() && !over()) {
        std::size_t end = data.find('\n');
        std::string_view line = data.substr(0, end);
        data.remove_prefix(end == std::string_view::npos ? data.size() : end + 1);
        if (!line.empty()) read_event(name, line);
      }
    } else if (name == "error") {
      fault_ = read_fault(500, data);
    } else if (!data.empty()) {
      not_json();
    }
    return !over();
  }

  void read_chunk(simdjson::dom::element chunk, bool named_error) {
    if (auto fault = fault_in(json_, chunk, named_error)) {
      fault_ = *std::move(fault);
      return;
    }
    answer_.set_model(json_.text(chunk, "model"));
    if (auto usage = member_of(chunk, "usage")) read_usage(*usage);
    auto choices = member_of(chunk, "choices");
    simdjson::dom::element choice;
    if (!choices || choices->at(0).get(choice) != simdjson::SUCCESS) return;
    auto delta = member_of(choice, "delta");
    if (!delta) delta = member_of(choice, "message");
    if (delta) read_delta(*delta);
    std::string_view reason = json_.text(choice, "finish_reason");
    if (!reason.empty()) answer_.set_finish(refused_ ? Finish::refused : openai_finish(reason));
  }

  void read_delta(simdjson::dom::element delta) {
    std::string_view reasoning = json_.text(delta, "reasoning_content");
    answer_.add_reasoning(reasoning.empty() ? json_.text(delta, "reasoning") : reasoning);
    answer_.add_text(json_.text(delta, "content"));
    if (std::string_view refusal = json_.text(delta, "refusal"); !refusal.empty()) {
      refused_ = true;
      answer_.add_text(refusal);
    }
    auto calls = member_of(delta, "tool_calls");
    simdjson::dom::array list;
    if (!calls || calls->get(list) != simdjson::SUCCESS) return;
    for (simdjson::dom::element call : list) read_call(call);
  }

  void read_call(simdjson::dom::element call) {
    CallFragment fragment;
    fragment.index = count_in(call, "index");
    fragment.id = json_.text(call, "id");
    std::string whole;
    if (auto function = member_of(call, "function")) {
      fragment.name = json_.text(*function, "name");
      auto arguments = member_of(*function, "arguments");
      if (arguments && arguments->is_string()) fragment.arguments = json_.text(*arguments);
      if (arguments && arguments->is_object()) fragment.arguments = whole = json_.compact(*arguments);
    }
    answer_.add_call(fragment);
  }

  void read_usage(simdjson::dom::element from) {
    auto input = count_in(from, "prompt_tokens"), output = count_in(from, "completion_tokens");
    if (!input) return;  // half of it would look exact
    ModelUsage& usage = answer_.usage();
    usage.known = true;
    usage.input = *input;
    usage.output = output.value_or(0);
    if (auto details = member_of(from, "prompt_tokens_details")) {
      usage.cache_read = count_in(*details, "cached_tokens").value_or(0);
    }
    if (auto details = member_of(from, "completion_tokens_details")) {
      usage.reasoning = count_in(*details, "reasoning_tokens").value_or(0);
    }
  }

  EventLines events_;
  bool refused_ = false;
};

}  // namespace

std::unique_ptr<AnswerStream> read_openai_stream(std::string id_prefix) {
  return std::make_unique<OpenAiStream>(std::move(id_prefix));
}

}  // namespace shepherd
