#include "cli/chat_transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "cli/approval_view.h"
#include "cli/limits.h"
#include "json/scan.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

constexpr TextLook kDim{.dim = true};
constexpr TextLook kPrompt{.color = Color::cyan, .bold = true};
constexpr std::size_t kValueCharacters = 60;
constexpr std::size_t kCallCharacters = 200;

std::string short_value(std::string_view json) {
  std::string text = string_value(json).value_or(std::string(json));
  return cut_to(terminal_text(text, Lines::join), kValueCharacters);
}

void add_prompt(std::string_view text, std::vector<StyledLine>& out) {
  std::string shown = terminal_text(text, Lines::keep);
  out.emplace_back();
  std::string_view front = "> ";
  for (std::size_t at = 0; at <= shown.size();) {
    std::size_t end = std::min(shown.find('\n', at), shown.size());
    out.push_back({{{std::string(front), kPrompt}, {shown.substr(at, end - at), {.bold = true}}}, 2});
    front = "  ";
    at = end + 1;
  }
}

void append(std::vector<StyledLine>& out, std::vector<StyledLine> more) {
  out.insert(out.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

void add_whole_answer(std::string_view content, std::vector<StyledLine>& out) {
  MarkdownText text;
  out.emplace_back();
  append(out, text.add(content));
  append(out, text.finish());
}

StyledLine remark(std::string_view text) {
  return styled(fmt::format("-- {}", terminal_text(text, Lines::join)), kDim);
}

}  // namespace

std::string tool_call_text(std::string_view name, std::string_view parameters) {
  std::string out = terminal_text(name, Lines::join);
  std::string values;
  JsonMembers members(parameters);
  while (members.next() && values.size() < kCallCharacters) {
    values += fmt::format("{}{}: {}", values.empty() ? "" : ", ", terminal_text(members.key(), Lines::join),
                          short_value(members.value()));
  }
  return cut_to(fmt::format("{}({})", out, values), kCallCharacters);
}

std::vector<StyledLine> ChatTranscript::event(std::string_view type, std::string_view data) {
  std::vector<StyledLine> out;
  if (type == "message_added") {
    message(data, out, true);
  } else if (type == "delta") {
    answer(text_member(data, "delta"), false, out);
  } else if (type == "codeblock") {
    answer(text_member(data, "content"), true, out);
  } else if (type == "reasoning") {
    reasoning(text_member(data, "delta"), out);
  } else if (type == "tool_call") {
    end_answer(out);
    std::string name = text_member(data, "tool_call");
    add_tool_call(text_member(data, "tool_call_id"), name, find_member(data, "parameters"));
    running_ = tool_call_text(name, find_member(data, "parameters"));
  } else if (type == "tool_result") {
    tool_result(data, out);
  } else if (type == "approval") {
    std::string state = text_member(data, "state");
    if (state != "pending") out.push_back(remark(fmt::format("{}: {}", text_member(data, "tool"), state)));
  } else if (type == "eviction" && !find_member(data, "missed").empty()) {
    out.push_back(remark("older events are gone from the log; /history shows what is left"));
  } else if (type == "eviction") {
    std::string count(find_member(data, "messages_evicted"));
    out.push_back(remark(fmt::format("{} older messages left the context", count.empty() ? "some" : count)));
  } else if (type == "cleared") {
    end_answer(out);
    out.push_back(remark("the conversation is empty"));
  } else if (type == "error") {
    end_answer(out);
    running_.clear();
    std::string text = terminal_text(text_member(data, "error"), Lines::join);
    out.push_back(styled("error: " + text, {.color = Color::red}, 7));
  } else if (type == "response_complete") {
    end_answer(out);
    running_.clear();
    said_ = missed_ = false;
  }
  return out;
}

void ChatTranscript::message(std::string_view data, std::vector<StyledLine>& out, bool live) {
  std::string role = text_member(data, "role"), content = text_member(data, "content");
  end_answer(out);
  if (role == "user") {
    said_ = missed_ = false;
    return add_prompt(content, out);
  }
  if (role == "assistant") {
    if (!live || !said_ || missed_) {
      if (said_ && missed_ && !content.empty()) out.push_back(remark("the connection was lost; the whole answer is"));
      if (!content.empty()) add_whole_answer(content, out);
    }
    said_ = missed_ = false;
    return;
  }
  if (role != "tool") return;
  ShownToolCall* call = find(text_member(data, "tool_call_id"));
  if (call != nullptr) call->result = std::move(content);
}

std::vector<StyledLine> ChatTranscript::history(std::string_view session_json, std::size_t most) {
  std::vector<StyledLine> out;
  auto messages = array_elements(find_member(session_json, "messages")).value_or(std::vector<std::string_view>());
  std::erase_if(messages, [](std::string_view each) { return text_member(each, "role") == "system"; });
  std::size_t first = messages.size() > most ? messages.size() - most : 0;
  if (first > 0) out.push_back(remark(fmt::format("{} earlier messages; /history shows them", first)));
  for (std::size_t i = 0; i < messages.size(); ++i) {
    std::vector<StyledLine> lines;
    message(messages[i], lines, false);
    auto calls = array_elements(find_member(messages[i], "tool_calls")).value_or(std::vector<std::string_view>());
    for (std::string_view call : calls) {
      std::string_view function = find_member(call, "function");
      std::string_view given = find_member(function, "arguments");
      add_tool_call(text_member(call, "id"), text_member(function, "name"),
                    given.starts_with('{') ? std::string(given) : string_value(given).value_or("{}"));
    }
    if (text_member(messages[i], "role") == "tool") {
      const ShownToolCall* call = find(text_member(messages[i], "tool_call_id"));
      if (call != nullptr) lines.push_back(tool_line(static_cast<std::size_t>(call - calls_.data())));
    }
    if (i >= first) append(out, std::move(lines));
  }
  return out;
}

std::vector<StyledLine> ChatTranscript::unfinished() const {
  std::vector<StyledLine> out;
  if (!thought_.empty()) out.push_back(styled("┆ " + terminal_text(thought_, Lines::join), kDim, 2));
  append(out, answer_.unfinished());
  return out;
}

// Code comes without its fences, so it gets new ones.
void ChatTranscript::answer(std::string_view piece, bool code, std::vector<StyledLine>& out) {
  if (piece.empty()) return;
  if (!thought_.empty()) reasoning("\n", out);
  if (!said_) out.emplace_back();
  said_ = true;
  if (code != in_code_) {
    if (line_open_) append(out, answer_.add("\n"));
    append(out, answer_.add("```\n"));
    in_code_ = code;
    if (!code && piece.starts_with('\n')) piece.remove_prefix(1);  // the rest of the closing fence's line
  }
  if (piece.empty()) return;
  line_open_ = piece.back() != '\n';
  append(out, answer_.add(piece));
}

void ChatTranscript::reasoning(std::string_view piece, std::vector<StyledLine>& out) {
  thought_ += piece;
  for (std::size_t end = thought_.find('\n'); end != std::string::npos; end = thought_.find('\n')) {
    out.push_back(styled("┆ " + terminal_text(std::string_view(thought_).substr(0, end), Lines::join), kDim, 2));
    thought_.erase(0, end + 1);
  }
}

void ChatTranscript::end_answer(std::vector<StyledLine>& out) {
  if (!thought_.empty()) reasoning("\n", out);
  if (in_code_) {
    if (line_open_) append(out, answer_.add("\n"));
    append(out, answer_.add("```\n"));
  }
  in_code_ = line_open_ = false;
  append(out, answer_.finish());
}

void ChatTranscript::add_tool_call(std::string_view id, std::string_view name, std::string_view parameters) {
  if (calls_.size() == kChatToolCalls) {
    calls_.erase(calls_.begin());
    ++dropped_calls_;
  }
  calls_.push_back({std::string(id), std::string(name), std::string(parameters), "", "", true});
}

void ChatTranscript::tool_result(std::string_view data, std::vector<StyledLine>& out) {
  running_.clear();
  std::string id = text_member(data, "tool_call_id");
  ShownToolCall* call = id.empty() && !calls_.empty() ? &calls_.back() : find(id);
  if (call == nullptr) {
    add_tool_call(id, text_member(data, "tool_name"), "{}");
    call = &calls_.back();
  }
  call->success = find_member(data, "success") == "true";
  call->error = text_member(data, "error");
  out.push_back(tool_line(static_cast<std::size_t>(call - calls_.data())));
}

StyledLine ChatTranscript::tool_line(std::size_t index) const {
  const ShownToolCall& call = calls_[index];
  StyledLine line;
  line.hanging = 4;
  line.parts.push_back(call.success ? StyledPart{"  ✓ ", {.color = Color::green}}
                                    : StyledPart{"  ✗ ", {.color = Color::red}});
  line.parts.push_back({tool_call_text(call.name, call.parameters), {.color = Color::magenta}});
  if (!call.success) line.parts.push_back({": " + cut_to(terminal_text(call.error, Lines::join), kCallCharacters), {}});
  line.parts.push_back({fmt::format("  [{}]", dropped_calls_ + index + 1), kDim});
  return line;
}

ShownToolCall* ChatTranscript::find(std::string_view id) {
  auto found = std::find_if(calls_.rbegin(), calls_.rend(), [&](const ShownToolCall& call) { return call.id == id; });
  return found == calls_.rend() ? nullptr : &*found;
}

const ShownToolCall* ChatTranscript::tool_call(std::size_t number) const {
  if (calls_.empty()) return nullptr;
  if (number == 0) return &calls_.back();
  bool known = number > dropped_calls_ && number - dropped_calls_ <= calls_.size();
  return known ? &calls_[number - dropped_calls_ - 1] : nullptr;
}

std::vector<StyledLine> ChatTranscript::whole_tool_call(const ShownToolCall& call) {
  std::vector<StyledLine> out;
  out.push_back(styled(terminal_text(call.name, Lines::join), {.color = Color::magenta, .bold = true}));
  for (const std::string& line : input_lines(call.parameters, 0)) out.push_back(styled("  " + line, {}, 4));
  std::string result = call.result.empty() ? call.error : call.result;
  out.push_back(styled(result.empty() ? "  (no result is known)" : "  result:", kDim));
  std::string shown = terminal_text(result, Lines::keep);
  for (std::size_t at = 0; at < shown.size();) {
    std::size_t end = std::min(shown.find('\n', at), shown.size());
    out.push_back(styled("  | " + shown.substr(at, end - at), {}, 4));
    at = end + 1;
  }
  return out;
}

}  // namespace shepherd
