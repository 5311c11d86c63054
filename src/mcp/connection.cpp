#include "mcp/connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "json/write.h"

namespace shepherd {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

McpConnection::McpConnection(McpConnectionParts parts, McpEra& era, McpConnectionObserver& observer)
    : parts_(std::move(parts)),
      era_(era),
      observer_(&observer),
      self_(std::make_shared<McpConnection*>(this)),
      oldest_(era == McpEra::oldest),
      probe_(parts_.timers, [this] { initialize(); }),
      relist_(parts_.timers, [this] { list_again(); }),
      subscribe_pause_(kMcpRetryPause),
      resubscribe_(parts_.timers, [this] { subscribe(); }) {
  link_ = parts_.link(era_, *this);
  if (era_ == McpEra::legacy || era_ == McpEra::oldest) {
    initialize();
  } else {
    discover();
  }
}

McpConnection::~McpConnection() {
  observer_ = nullptr;
  open_.clear();
  calls_.clear();
}

std::string McpConnection::params(std::string_view members, std::int64_t token) const {
  return object_text([&](JsonObject& made) {
    made.members(members);
    if (!modern_ && token == 0) return;
    made.object("_meta", [&](JsonObject& meta) {
      if (token != 0) meta.number("progressToken", token);
      if (!modern_) return;
      meta.text("io.modelcontextprotocol/protocolVersion", kMcpModern);
      meta.json("io.modelcontextprotocol/clientCapabilities", "{}");
      meta.object("io.modelcontextprotocol/clientInfo", [&](JsonObject& info) {
        info.text("name", "shepherd");
        info.text("version", parts_.version);
      });
    });
  });
}

// No time-out if `wait` is 0.
std::int64_t McpConnection::request(std::string_view method, std::string_view members, milliseconds wait, Reply reply,
                                    std::int64_t call) {
  std::int64_t id = ++last_id_;
  Open& open = open_[id];
  open.sent.id = id;
  open.sent.method = method;
  open.sent.text = request_text(id, method, params(members, call != 0 && calls_[call].progress ? id : 0));
  open.reply = std::move(reply);
  open.call = call;
  open.wait = wait;
  open.until_at_most = steady_clock::now() + std::chrono::seconds(kMaxMcpCallSeconds);
  if (wait.count() > 0) {
    open.deadline = std::make_unique<net::Timer>(parts_.timers, [this, id] { time_out(id); });
    open.deadline->arm(steady_clock::now() + wait);
  }
  if (call != 0) {
    open.sent.tool = calls_[call].tool;
    const McpTool* tool = find_tool(open.sent.tool);
    if (modern_ && tool != nullptr) open.sent.headers = headers_of(tool->headers, calls_[call].arguments);
  }
  link_->send(open.sent);
  return id;
}

const McpTool* McpConnection::find_tool(std::string_view name) const {
  auto found = std::find_if(tools_.begin(), tools_.end(), [&](const McpTool& tool) { return tool.name == name; });
  return found == tools_.end() ? nullptr : &*found;
}

void McpConnection::notify(std::string_view method, std::string_view given) {
  McpOutgoing message;
  message.method = method;
  message.text = notification_text(method, given);
  link_->send(std::move(message));
}

// The result is not wanted any more. The beginning of a session is never withdrawn.
void McpConnection::withdraw(std::int64_t id, const Open& open, std::string_view why) {
  bool by_closing = modern_ && link_->over_http();
  if (!by_closing && open.sent.method != "initialize" && open.sent.method != "server/discover") {
    notify("notifications/cancelled", object_text([&](JsonObject& made) {
             made.number("requestId", id);
             made.text("reason", why);
           }));
  }
  link_->drop(id);
}

void McpConnection::time_out(std::int64_t id) {
  auto node = open_.extract(id);
  if (node.empty() || observer_ == nullptr) return;
  Open& open = node.mapped();
  withdraw(id, open, "timed out");
  bool stuck = link_->stuck();
  McpFailure failure{McpFailure::Cause::timed_out, 0, {}, "", ""};
  failure.message = fmt::format("it did not answer {} within {} s", open.sent.method,
                                std::chrono::duration_cast<std::chrono::seconds>(open.wait).count());
  open.reply(std::unexpected(std::move(failure)));
  if (stuck) close("it does not read its input");
}

void McpConnection::close(std::string why) {
  McpConnectionObserver* observer = std::exchange(observer_, nullptr);
  if (observer == nullptr) return;
  observer->on_connection_end(why);
  fail_all(why);
}

void McpConnection::fail_all(const std::string& why) {
  probe_.disarm();
  relist_.disarm();
  resubscribe_.disarm();
  for (auto& [id, open] : std::exchange(open_, {})) {
    if (open.call == 0) continue;
    link_->drop(id);
  }
  for (auto& [number, call] : std::exchange(calls_, {})) {
    if (!call.done) continue;
    ToolOutcome outcome;
    outcome.content =
        fmt::format("Error: MCP server \"{}\" went away before the result: {}. The call may have had an effect.",
                    parts_.server, why);
    call.done(std::move(outcome));
  }
}

void McpConnection::end(std::function<void()> done) {
  observer_ = nullptr;
  fail_all("it was stopped");
  link_->end(std::move(done));
}

}  // namespace shepherd
