// Calls of tools, with the rounds in which a modern server asks for more.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/scan.h"
#include "json/text.h"
#include "json/write.h"
#include "mcp/connection.h"
#include "mcp/contents.h"

namespace shepherd {
namespace {

constexpr std::int64_t kHeaderMismatch = -32020;

// Answers to what a server wants to be asked of a person or a model: a question to a person is declined. nullopt if one
// of them cannot be answered.
std::optional<std::string> input_responses(std::string_view requests, std::string& why) {
  std::string answers = "{";
  for (JsonMembers members(requests); members.next();) {
    std::string method = text_member(members.value(), "method");
    if (method != "elicitation/create") {
      why = fmt::format("it asks for {}, which is not offered to it", method.empty() ? "something" : method);
      return std::nullopt;
    }
    answers += fmt::format("{}\"{}\":{{\"action\":\"decline\"}}", answers.size() > 1 ? "," : "", members.key());
  }
  return answers + "}";
}

}  // namespace

std::int64_t McpConnection::call(const std::string& tool, std::string_view arguments, Done done, Progress progress) {
  std::int64_t number = ++last_call_;
  Call& call = calls_[number];
  call.tool = tool;
  // In one line, as a program reads it. The model may have written several.
  if (!append_compact_json(call.arguments, arguments)) call.arguments = "{}";
  call.done = std::move(done);
  call.progress = std::move(progress);
  call.began = std::chrono::steady_clock::now();
  std::string why;
  if (observer_ == nullptr || !ready_) why = "it is not ready";
  if (open_.size() >= kMaxMcpRequests) why = fmt::format("{} requests to it are open already", open_.size());
  if (why.empty()) {
    send_call(number);
    return number;
  }
  parts_.loop.post([weak = std::weak_ptr(self_), number, why = std::move(why)] {
    if (auto self = weak.lock()) {
      (*self)->finish_call(number, failed_tool(fmt::format("MCP server \"{}\": {}", (*self)->parts_.server, why)));
    }
  });
  return number;
}

void McpConnection::send_call(std::int64_t number) {
  Call& call = calls_[number];
  std::string members = "\"name\":";
  append_json_string(members, call.tool);
  members += ",\"arguments\":" + call.arguments + call.extras;
  call.request = request(
      "tools/call", members, parts_.call_wait,
      [this, number](std::expected<std::string, McpFailure> reply) { take_call(number, std::move(reply)); }, number);
}

void McpConnection::take_call(std::int64_t number, std::expected<std::string, McpFailure> reply) {
  auto found = calls_.find(number);
  if (found == calls_.end()) return;
  Call& call = found->second;
  call.request = 0;
  if (reply) {
    if (modern_ && text_member(*reply, "resultType") == "input_required") return take_input_required(number, *reply);
    return finish_call(number, outcome_of(*reply));
  }
  const McpFailure& failure = reply.error();
  // The marks of its arguments may have changed.
  if (failure.code == kHeaderMismatch && modern_ && link_->over_http() && !std::exchange(call.relisted, true)) {
    waiting_calls_.insert(number);
    return list_again();
  }
  finish_call(number, failed_tool(describe(failure)));
}

void McpConnection::retry_waiting_calls() {
  for (std::int64_t number : std::exchange(waiting_calls_, {})) {
    if (calls_.contains(number)) send_call(number);
  }
}

void McpConnection::take_input_required(std::int64_t number, std::string_view result) {
  Call& call = calls_[number];
  std::string_view requests = find_member(result, "inputRequests");
  std::string_view state = find_member(result, "requestState");
  std::string why;
  if (++call.rounds > kMaxMcpInputRounds) why = fmt::format("it asked {} times for more input", kMaxMcpInputRounds);
  if (state.size() > kMaxMcpStateBytes) why = "it wants more bytes back than are kept";
  call.extras.clear();
  if (why.empty() && requests.starts_with('{')) {
    if (auto answers = input_responses(requests, why)) call.extras += ",\"inputResponses\":" + *answers;
  }
  if (!why.empty()) return finish_call(number, failed_tool(fmt::format("MCP server \"{}\": {}", parts_.server, why)));
  if (state.starts_with('"')) call.extras += fmt::format(",\"requestState\":{}", state);
  // The first attempt follows at once; then a server that only says "again" is given time.
  auto wait = call.rounds == 1 ? std::chrono::milliseconds(0)
                               : std::min(kMcpInputPause * (1 << (call.rounds - 2)), kMostMcpInputPause);
  call.pause = std::make_unique<net::Timer>(parts_.timers, [this, number] { send_call(number); });
  call.pause->arm(std::chrono::steady_clock::now() + wait);
}

std::string McpConnection::describe(const McpFailure& failure) const {
  if (failure.cause == McpFailure::Cause::error) {
    return fmt::format("{} (error {} of MCP server \"{}\")",
                       failure.message.empty() ? "the call was refused" : failure.message, failure.code, parts_.server);
  }
  return fmt::format("MCP server \"{}\": {}", parts_.server, failure.message);
}

void McpConnection::finish_call(std::int64_t number, ToolOutcome outcome) {
  auto node = calls_.extract(number);
  if (!node.empty() && node.mapped().done) node.mapped().done(std::move(outcome));
}

void McpConnection::cancel(std::int64_t number) {
  auto node = calls_.extract(number);
  if (node.empty()) return;
  auto open = open_.extract(node.mapped().request);
  if (!open.empty() && observer_ != nullptr) withdraw(open.key(), open.mapped(), "cancelled");
}

}  // namespace shepherd
