#include "mcp/stdio_link.h"

#include <fmt/format.h>

#include <cstdlib>
#include <utility>

#include "mcp/limits.h"

namespace shepherd {

AgentSpec program_of(const McpServerConfig& config) {
  AgentSpec spec;
  spec.command = config.command;
  auto own = [](const char* name) {
    const char* value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  for (const char* name : {"PATH", "HOME", "USER", "LOGNAME", "SHELL", "LANG", "LC_ALL", "TZ", "TMPDIR"}) {
    std::string value = own(name);
    if (!value.empty() && !config.environment.contains(name))
      spec.environment.push_back(fmt::format("{}={}", name, value));
  }
  for (const auto& [name, value] : config.environment) spec.environment.push_back(fmt::format("{}={}", name, value));
  spec.directory = config.directory.empty() ? own("HOME") : config.directory;
  if (spec.directory.empty()) spec.directory = "/";
  return spec;
}

McpStdioLink::McpStdioLink(McpChildParts parts, AgentSpec spec, McpServerLog& log, McpLinkObserver& observer)
    : loop_(parts.loop),
      log_(log),
      observer_(&observer),
      lines_(kMaxMcpMessageBytes),
      self_(std::make_shared<McpStdioLink*>(this)),
      child_(McpChild::start(parts, std::move(spec), *this)) {}

McpStdioLink::~McpStdioLink() {
  child_->abandon();
}

void McpStdioLink::send(McpOutgoing message) {
  message.text += '\n';
  if (child_->write(message.text) || message.id == 0) return;
  McpFault fault{McpFault::Kind::unreachable, 0, "it does not read its input"};
  loop_.post([weak = std::weak_ptr(self_), id = message.id, fault = std::move(fault)]() mutable {
    auto self = weak.lock();
    if (self && (*self)->observer_ != nullptr) (*self)->observer_->on_failed(id, std::move(fault));
  });
}

void McpStdioLink::on_child_output(std::string_view bytes) {
  if (observer_ == nullptr || !why_.empty()) return;
  bool fits = lines_.cut(bytes, [this](std::string_view line) { return take(line); });
  if (!fits && observer_ != nullptr && why_.empty()) {
    close(fmt::format("it sent a line of more than {} bytes", kMaxMcpMessageBytes));
  }
}

bool McpStdioLink::take(std::string_view line) {
  if (line.find_first_not_of(" \t") == std::string_view::npos) return true;
  auto message = read_message(line);
  if (message) {
    observer_->on_message(*std::move(message));
  } else {
    log_.note(fmt::format("skipped output that is no message: {}", shortened(line, kMaxMcpLogLineBytes)));
    observer_->on_noise(line.size());
  }
  return observer_ != nullptr && why_.empty();
}

void McpStdioLink::close(std::string why) {
  why_ = std::move(why);
  child_->kill();
}

void McpStdioLink::on_child_end(std::string how) {
  if (ended_) return std::exchange(ended_, nullptr)();
  McpLinkObserver* observer = std::exchange(observer_, nullptr);
  if (observer == nullptr) return;
  if (!why_.empty()) return observer->on_closed(why_);
  const std::string& words = log_.last_words();
  observer->on_closed(words.empty() ? fmt::format("it ended: {}", how) : fmt::format("it ended: {}; {}", how, words));
}

void McpStdioLink::end(std::function<void()> done) {
  bool over = observer_ == nullptr && !ended_;
  observer_ = nullptr;
  if (over) return loop_.post([done = std::move(done)] { done(); });
  ended_ = std::move(done);
  child_->end();
}

}  // namespace shepherd
