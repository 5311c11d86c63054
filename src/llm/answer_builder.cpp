#include "llm/answer_builder.h"

#include <algorithm>
#include <set>

#include "llm/limits.h"

namespace shepherd {
namespace {

Error too_long(const std::string& what) {
  return {ErrorCode::too_large, "answer_too_long", "the model's answer " + what, {}};
}

void make_utf8(std::string& text) {
  Utf8Gate gate;
  std::string clean;
  gate.pass(text, clean);
  gate.finish(clean);
  text.swap(clean);
}

// An id or a name without what JSON would escape, so that its length there is bounded, too.
void make_plain(std::string& text) {
  make_utf8(text);
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ' || c == '"' || c == '\\') c = '_';
  }
}

}  // namespace

void AnswerBuilder::fail_with(Error error) {
  if (!error_) error_ = std::move(error);
}

bool AnswerBuilder::fits(std::size_t bytes) {
  if (error_) return false;
  bytes_ += bytes;
  if (bytes_ <= kMaxAnswerBytes) return true;
  fail_with(too_long("is longer than " + std::to_string(kMaxAnswerBytes) + " bytes"));
  return false;
}

void AnswerBuilder::add(std::string_view bytes, bool reasoning) {
  if (bytes.empty() || !fits(bytes.size())) return;
  begun_ = true;
  std::string& into = reasoning ? answer_.reasoning : answer_.text;
  std::size_t begin = into.size();
  (reasoning ? reasoning_gate_ : text_gate_).pass(bytes, into);
  note(reasoning, begin);
}

void AnswerBuilder::note(bool reasoning, std::size_t begin) {
  std::size_t end = (reasoning ? answer_.reasoning : answer_.text).size();
  if (end == begin) return;
  if (!fresh_.empty() && fresh_.back().reasoning == reasoning) {
    fresh_.back().end = end;
  } else {
    fresh_.push_back({reasoning, begin, end});
  }
}

std::string_view AnswerBuilder::text_of(const AnswerRun& run) const {
  const std::string& all = run.reasoning ? answer_.reasoning : answer_.text;
  return std::string_view(all).substr(run.begin, run.end - run.begin);
}

std::optional<std::size_t> AnswerBuilder::new_call(std::optional<std::int64_t> index) {
  std::size_t at = answer_.tool_calls.size();
  if (at == kMaxAnswerToolCalls) {
    fail_with(too_long("has more than " + std::to_string(kMaxAnswerToolCalls) + " tool calls"));
    return std::nullopt;
  }
  answer_.tool_calls.emplace_back();
  if (index) {
    std::erase_if(slots_, [&](const Slot& slot) { return slot.index == *index; });
    slots_.push_back({*index, at});
  }
  return at;
}

std::optional<std::size_t> AnswerBuilder::call_of(const CallFragment& fragment) {
  std::vector<ToolRequest>& calls = answer_.tool_calls;
  std::string_view id = fragment.id.substr(0, kMaxCallNameBytes), name = fragment.name.substr(0, kMaxCallNameBytes);
  // A named fragment with another id begins a call, even under an index that is taken; where there are no ids to
  // compare, another name does.
  auto begins = [&](const ToolRequest& call) {
    if (name.empty()) return false;
    if (!id.empty() && !call.id.empty()) return call.id != id;
    return !call.name.empty() && call.name != name;
  };
  if (fragment.index) {
    auto slot = std::ranges::find(slots_, *fragment.index, &Slot::index);
    if (slot == slots_.end() || begins(calls[slot->call])) return new_call(fragment.index);
    return slot->call;
  }
  if (!id.empty()) {
    auto known = std::ranges::find(calls, id, &ToolRequest::id);
    if (known != calls.end()) return static_cast<std::size_t>(known - calls.begin());
  }
  bool fresh = calls.empty() || begins(calls.back()) || (!name.empty() && !calls.back().name.empty());
  return fresh ? new_call(std::nullopt) : calls.size() - 1;
}

void AnswerBuilder::add_call(const CallFragment& fragment) {
  if (!fits(fragment.id.size() + fragment.name.size() + fragment.arguments.size())) return;
  std::optional<std::size_t> at = call_of(fragment);
  if (!at) return;
  begun_ = true;
  ToolRequest& call = answer_.tool_calls[*at];
  if (call.id.empty()) call.id = fragment.id.substr(0, kMaxCallNameBytes);
  if (call.name.empty()) call.name = fragment.name.substr(0, kMaxCallNameBytes);
  if (call.arguments.size() + fragment.arguments.size() > kMaxToolArgumentBytes) {
    fail_with(
        too_long("has a tool call with more than " + std::to_string(kMaxToolArgumentBytes) + " bytes of arguments"));
    return;
  }
  call.arguments.append(fragment.arguments);
}

void AnswerBuilder::add_state(std::string_view bytes) {
  if (fits(bytes.size())) answer_.reasoning_state.append(bytes);
}

void AnswerBuilder::set_model(std::string_view model) {
  if (answer_.model.empty()) answer_.model = model.substr(0, kMaxCallNameBytes);
}

void AnswerBuilder::close() {
  std::size_t text = answer_.text.size(), reasoning = answer_.reasoning.size();
  reasoning_gate_.finish(answer_.reasoning);
  note(true, reasoning);
  text_gate_.finish(answer_.text);
  note(false, text);
  make_utf8(answer_.model);
  std::set<std::string> ids;
  std::size_t number = 0;
  for (ToolRequest& call : answer_.tool_calls) {
    ++number;
    make_plain(call.id);
    make_plain(call.name);
    make_utf8(call.arguments);
    if (call.id.empty() || !ids.insert(call.id).second) {
      call.id = id_prefix_ + std::to_string(number);
      ids.insert(call.id);
    }
    if (call.arguments.find_first_not_of(" \t\r\n") == std::string::npos) call.arguments = "{}";
  }
  answer_.finish = finish_.value_or(Finish::stop);
  if (answer_.finish == Finish::stop && !answer_.tool_calls.empty()) answer_.finish = Finish::tool_calls;
  if (answer_.finish == Finish::tool_calls && answer_.tool_calls.empty()) answer_.finish = Finish::stop;
}

}  // namespace shepherd
