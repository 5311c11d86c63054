// What a server sends: answers, requests of its own, progress, changes.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/scan.h"
#include "mcp/connection.h"

namespace shepherd {
namespace {

std::string progress_line(std::string_view params, double at) {
  std::string message = shortened(text_member(params, "message"), kMaxMcpProgressBytes);
  for (char& c : message) {
    if (c >= 0 && c < 0x20) c = ' ';
  }
  auto total = number_value(find_member(params, "total"));
  std::string count = total && *total > 0 ? fmt::format("{:g} of {:g}", at, *total) : fmt::format("{:g}", at);
  return message.empty() ? count : fmt::format("{} ({})", message, count);
}

}  // namespace

void McpConnection::on_message(McpMessage&& message) {
  if (observer_ == nullptr) return;
  if (message.kind == McpMessage::Kind::request) {
    count_flood(message.body.size());
    return answer(message);
  }
  if (message.kind == McpMessage::Kind::notification) {
    count_flood(message.body.size());
    return take_notification(message);
  }
  auto id = message.answers();
  auto node = id ? open_.extract(*id) : decltype(open_)::node_type();
  // A late answer to what was withdrawn, or to nothing.
  if (node.empty()) return count_flood(message.body.size());
  if (message.kind == McpMessage::Kind::result) return node.mapped().reply(std::move(message.body));
  McpFailure failure{
      McpFailure::Cause::error, message.code, {}, std::move(message.error_message), std::move(message.body)};
  node.mapped().reply(std::unexpected(std::move(failure)));
}

void McpConnection::on_noise(std::size_t bytes) {
  if (observer_ != nullptr) count_flood(bytes);
}

void McpConnection::count_flood(std::size_t bytes) {
  auto now = std::chrono::steady_clock::now();
  if (now - flood_since_ > kMcpFloodWindow) {
    flood_since_ = now;
    flood_messages_ = flood_bytes_ = 0;
  }
  flood_bytes_ += bytes;
  if (++flood_messages_ <= kMaxMcpFloodMessages && flood_bytes_ <= kMaxMcpFloodBytes) return;
  close(fmt::format("it sent {} messages with {} bytes in a few seconds that nothing had asked for", flood_messages_,
                    flood_bytes_));
}

// Nothing is offered to servers, so they can only ask whether this program is there.
void McpConnection::answer(const McpMessage& message) {
  if (observer_ == nullptr || (modern_ && link_->over_http())) return;
  McpOutgoing reply;
  reply.text = message.method == "ping"
                   ? result_text(message.id, "{}")
                   : error_text(message.id, -32601, "this client does not offer " + message.method);
  link_->send(std::move(reply));
}

void McpConnection::take_notification(const McpMessage& message) {
  if (observer_ == nullptr) return;
  if (message.method == "notifications/progress") return take_progress(message.body);
  if (message.method == "notifications/tools/list_changed") list_changed();
}

void McpConnection::take_progress(std::string_view params) {
  std::string_view token = find_member(params, "progressToken");
  auto id = whole_value(token);
  if (!id) id = whole_value(string_value(token).value_or(""));
  auto found = id ? open_.find(*id) : open_.end();
  auto at = number_value(find_member(params, "progress"));
  if (found == open_.end() || !at || found->second.call == 0) return;
  Open& open = found->second;
  auto now = std::chrono::steady_clock::now();
  if (open.deadline) open.deadline->arm(std::min(now + open.wait, open.until_at_most));
  Call& call = calls_[open.call];
  if (*at <= call.at || !call.progress) return;
  call.at = *at;
  if (now - call.shown < kMcpProgressPause) return;
  call.shown = now;
  // It may cancel the call.
  Progress show = call.progress;
  show(progress_line(params, *at));
}

void McpConnection::on_failed(std::int64_t id, McpFault fault) {
  if (observer_ == nullptr) return;
  if (fault.kind == McpFault::Kind::session_lost) {
    auto found = open_.find(id);
    if (found != open_.end() && !found->second.resent) return session_lost(id);
  }
  auto node = open_.extract(id);
  if (node.empty()) return;
  bool away = ready_ && fault.kind == McpFault::Kind::unreachable;
  McpFailure failure{McpFailure::Cause::fault, 0, fault, fault.message, ""};
  node.mapped().reply(std::unexpected(std::move(failure)));
  if (away) close(std::move(fault.message));
}

// The server has done nothing yet, so the request can be sent once more.
void McpConnection::session_lost(std::int64_t id) {
  open_[id].resent = true;
  refused_.insert(id);
  if (initializing_ != 0) return;
  parts_.log.note("the server has forgotten the session; a new one begins");
  initialize();
}

}  // namespace shepherd
