// The stream of Anthropic's POST /messages.
#include <algorithm>

#include "json/write.h"
#include "llm/answer_stream.h"
#include "llm/limits.h"
#include "llm/stream_lines.h"

namespace shepherd {
namespace {

Finish anthropic_finish(std::string_view reason) {
  if (reason == "max_tokens" || reason == "model_context_window_exceeded") return Finish::length;
  if (reason == "tool_use") return Finish::tool_calls;
  if (reason == "refusal") return Finish::refused;
  return Finish::stop;
}

// Thinking and its signature stand in reasoning_state as {"backend":name,"blocks":[…]}, byte for byte what must be sent
// back while a tool loop goes on.
class AnthropicStream final : public AnswerStream {
 public:
  AnthropicStream(std::string id_prefix, std::string backend)
      : AnswerStream(std::move(id_prefix)), backend_(std::move(backend)) {}

 private:
  struct Thinking {
    std::int64_t index;
    std::string text, signature;
  };

  void read(std::string_view bytes) override {
    auto take = [this](std::string_view name, std::string_view data) { return read_event(name, data); };
    if (!events_.cut(bytes, take)) too_long_line();
    if (over()) close();
  }
  void read_rest() override {
    events_.finish([this](std::string_view name, std::string_view data) { return read_event(name, data); });
    close();
  }
  void close() {
    if (has_state_) answer_.add_state("]}");
    has_state_ = false;
    answer_.close();
  }

  bool read_event(std::string_view name, std::string_view data) {
    begun_ = true;
    auto chunk = json_.parse(data);
    if (!chunk) {
      if (name == "error") {
        fault_ = read_fault(500, data);
      } else {
        not_json();
      }
      return false;
    }
    std::string_view type = json_.text(*chunk, "type");
    if (auto fault = fault_in(json_, *chunk, name == "error")) {
      fault_ = *std::move(fault);
    } else if (type == "content_block_delta") {
      read_delta(*chunk);
    } else if (type == "content_block_start") {
      read_block_start(*chunk);
    } else if (type == "content_block_stop") {
      end_thinking(count_in(*chunk, "index").value_or(0));
    } else if (type == "message_start") {
      if (auto message = member_of(*chunk, "message")) {
        answer_.set_model(json_.text(*message, "model"));
        if (auto usage = member_of(*message, "usage")) read_usage(*usage);
      }
    } else if (type == "message_delta") {
      if (auto usage = member_of(*chunk, "usage")) read_usage(*usage);
      auto delta = member_of(*chunk, "delta");
      std::string_view reason = delta ? json_.text(*delta, "stop_reason") : std::string_view();
      if (!reason.empty()) answer_.set_finish(anthropic_finish(reason));
    } else if (type == "message_stop") {
      ended_ = true;
    }
    return !over();
  }

  void read_block_start(simdjson::dom::element event) {
    std::int64_t index = count_in(event, "index").value_or(0);
    auto block = member_of(event, "content_block");
    if (!block) return;
    std::string_view type = json_.text(*block, "type");
    if (type == "text") {
      answer_.add_text(json_.text(*block, "text"));
    } else if (type == "tool_use") {
      CallFragment fragment{index, json_.text(*block, "id"), json_.text(*block, "name"), {}};
      std::string whole;
      if (auto input = member_of(*block, "input"); input && input->is_object()) {
        whole = json_.compact(*input);
        if (whole != "{}") fragment.arguments = whole;
      }
      answer_.add_call(fragment);
      if (!over()) tools_.push_back(index);
    } else if (type == "thinking" && thinking_.size() < kMaxAnswerToolCalls) {
      thinking_.push_back({index, {}, std::string(json_.text(*block, "signature"))});
      add_thinking(index, json_.text(*block, "thinking"));
    } else if (type == "redacted_thinking") {
      std::string_view data = json_.text(*block, "data");
      add_block(object_text([&](JsonObject& object) {
        object.text("type", "redacted_thinking");
        object.text("data", data);
      }));
    }
  }

  void read_delta(simdjson::dom::element event) {
    std::int64_t index = count_in(event, "index").value_or(0);
    auto delta = member_of(event, "delta");
    if (!delta) return;
    std::string_view type = json_.text(*delta, "type");
    if (type == "text_delta") {
      answer_.add_text(json_.text(*delta, "text"));
    } else if (type == "input_json_delta") {
      // Tools that the backend runs by itself have such deltas, too.
      bool ours = std::ranges::find(tools_, index) != tools_.end();
      if (ours) answer_.add_call({index, {}, {}, json_.text(*delta, "partial_json")});
    } else if (type == "thinking_delta") {
      add_thinking(index, json_.text(*delta, "thinking"));
    } else if (type == "signature_delta") {
      auto known = std::ranges::find(thinking_, index, &Thinking::index);
      std::string_view signature = json_.text(*delta, "signature");
      if (known != thinking_.end() && known->signature.size() + signature.size() <= kMaxToolArgumentBytes) {
        known->signature.append(signature);
      }
    }
  }

  void add_thinking(std::int64_t index, std::string_view text) {
    answer_.add_reasoning(text);
    auto known = std::ranges::find(thinking_, index, &Thinking::index);
    if (known != thinking_.end() && !over()) known->text.append(text);
  }

  // Without a signature there is nothing that could be sent back.
  void end_thinking(std::int64_t index) {
    auto known = std::ranges::find(thinking_, index, &Thinking::index);
    if (known == thinking_.end()) return;
    if (!known->signature.empty()) {
      add_block(object_text([&](JsonObject& object) {
        object.text("type", "thinking");
        object.text("thinking", known->text);
        object.text("signature", known->signature);
      }));
    }
    thinking_.erase(known);
  }

  void add_block(const std::string& block) {
    if (has_state_) {
      answer_.add_state(",");
    } else {
      std::string begin = R"({"backend":)";
      append_json_string(begin, backend_);
      answer_.add_state(begin + R"(,"blocks":[)");
    }
    has_state_ = true;
    answer_.add_state(block);
  }

  // Figures are cumulative; an event has only those that are new.
  void read_usage(simdjson::dom::element from) {
    ModelUsage& usage = answer_.usage();
    usage.known = true;
    if (auto count = count_in(from, "input_tokens")) uncached_ = *count;
    if (auto count = count_in(from, "cache_creation_input_tokens")) usage.cache_write = *count;
    if (auto count = count_in(from, "cache_read_input_tokens")) usage.cache_read = *count;
    if (auto count = count_in(from, "output_tokens")) usage.output = *count;
    usage.input = uncached_ + usage.cache_write + usage.cache_read;
  }

  const std::string backend_;
  EventLines events_;
  std::vector<Thinking> thinking_;   // open blocks
  std::vector<std::int64_t> tools_;  // indexes of tool_use blocks
  std::int64_t uncached_ = 0;
  bool has_state_ = false;
};

}  // namespace

std::unique_ptr<AnswerStream> read_anthropic_stream(std::string id_prefix, std::string backend) {
  return std::make_unique<AnthropicStream>(std::move(id_prefix), std::move(backend));
}

}  // namespace shepherd
