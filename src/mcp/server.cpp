#include "mcp/server.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/log.h"
#include "mcp/contents.h"
#include "mcp/event_link.h"
#include "mcp/http_link.h"
#include "mcp/stdio_link.h"

namespace shepherd {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

McpServer::Run::~Run() {
  if (auto server = server_.lock()) (*server)->cancel(use_);
}

Result<std::unique_ptr<McpServer>> McpServer::make(McpParts parts, net::Timers& timers, McpServerConfig config,
                                                   std::function<void()> changed) {
  std::unique_ptr<McpServer> made(new McpServer(std::move(parts), timers, std::move(config), std::move(changed)));
  if (!made->config_.url.empty()) {
    auto url = net::parse_url(made->config_.url);
    if (!url || made->config_.url.starts_with("ws")) {
      return fail(
          ErrorCode::invalid_argument, "bad_config",
          fmt::format("mcp_servers: {}: \"url\" must be an http or https address, such as http://127.0.0.1:3001/mcp",
                      made->config_.name));
    }
    made->http_ =
        std::make_unique<McpHttpCore>(made->config_, *std::move(url), made->parts_.loop, timers, made->parts_.clock);
  }
  return made;
}

McpServer::McpServer(McpParts parts, net::Timers& timers, McpServerConfig config, std::function<void()> changed)
    : parts_(std::move(parts)),
      timers_(timers),
      config_(std::move(config)),
      changed_(std::move(changed)),
      log_(config_.name),
      self_(std::make_shared<McpServer*>(this)),
      again_(timers, [this] { connect(); }) {}

McpServer::~McpServer() {
  self_.reset();
  connection_.reset();
}

void McpServer::open() {
  if (state_ == State::idle) connect();
}

std::unique_ptr<McpLink> McpServer::make_link(McpEra era, McpLinkObserver& observer) {
  if (http_ && era == McpEra::oldest) return std::make_unique<McpEventLink>(*http_, observer);
  if (http_) return std::make_unique<McpHttpLink>(*http_, observer);
  AgentSpec spec = program_of(config_);
  spec.warden_program = parts_.warden_program;
  spec.confinement = parts_.confinement;
  return std::make_unique<McpStdioLink>(McpChildParts{parts_.loop, timers_, parts_.clock}, std::move(spec), log_,
                                        observer);
}

void McpServer::connect() {
  state_ = State::connecting;
  McpConnectionParts parts{parts_.loop,
                           timers_,
                           log_,
                           [this](McpEra era, McpLinkObserver& observer) { return make_link(era, observer); },
                           config_.name,
                           parts_.version,
                           std::chrono::seconds(config_.timeout_seconds)};
  McpConnectionObserver& observer = *this;
  connection_ = std::make_unique<McpConnection>(std::move(parts), era_, observer);
}

void McpServer::on_tools(const std::vector<McpTool>& tools) {
  std::vector<McpTool> used;
  for (const McpTool& tool : tools) {
    bool wanted = config_.tools.empty() ||
                  std::find(config_.tools.begin(), config_.tools.end(), tool.name) != config_.tools.end();
    if (wanted) used.push_back(tool);
  }
  if (state_ != State::ready) {
    ready_since_ = steady_clock::now();
    log_info("mcp {}: ready with {} of {} tools, version {}", config_.name, used.size(), tools.size(),
             connection_->protocol());
    for (const std::string& wanted : config_.tools) {
      bool there = std::any_of(tools.begin(), tools.end(), [&](const McpTool& tool) { return tool.name == wanted; });
      if (!there)
        log_warn("mcp {}: the server has no tool \"{}\", which the configuration names", config_.name, wanted);
    }
  }
  state_ = State::ready;
  why_.clear();
  tools_ = std::move(used);
  changed_();
}

void McpServer::on_connection_end(std::string why) {
  bool was_ready = state_ == State::ready;
  if (was_ready && steady_clock::now() - ready_since_ >= kMcpSteady) failures_ = 0;
  state_ = State::ending;
  why_ = std::move(why);
  tools_.clear();
  // Inside a call of the connection it cannot be ended.
  parts_.loop.post([weak = std::weak_ptr(self_)] {
    auto self = weak.lock();
    if (!self || (*self)->state_ != State::ending) return;
    (*self)->connection_->end([weak] {
      auto alive = weak.lock();
      if (alive && (*alive)->state_ == State::ending) (*alive)->try_later();
    });
  });
  if (was_ready) changed_();
}

void McpServer::try_later() {
  ++failures_;
  bool program = http_ == nullptr;
  if (program && failures_ > kMaxMcpRestarts) {
    state_ = State::given_up;
    log_error("mcp {}: {}; it was started {} times and is given up. Check its command and restart this server",
              config_.name, why_, failures_);
    return changed_();
  }
  milliseconds most = std::min(kFirstMcpPause * (1 << std::min(failures_ - 1, 16)), kMostMcpPause);
  auto half = static_cast<std::uint64_t>(most.count() / 2);
  milliseconds wait(static_cast<std::int64_t>(half + parts_.random.below(half)));
  state_ = State::waiting;
  log_warn("mcp {}: {}; next attempt in {} ms", config_.name, why_, wait.count());
  again_.arm(steady_clock::now() + wait);
  changed_();
}

std::string McpServer::status() const {
  switch (state_) {
    case State::ready:
      return "ready";
    case State::idle:
    case State::connecting:
      return why_.empty() ? "it is starting" : why_;
    case State::given_up:
      return why_ + "; it was started several times and is given up";
    case State::stopped:
      return "it was stopped";
    default:
      return why_ + "; it is tried again soon";
  }
}

std::unique_ptr<ToolRun> McpServer::start(const std::string& tool, std::string_view arguments,
                                          std::move_only_function<void(ToolOutcome)> done,
                                          std::function<void(std::string_view)> progress) {
  std::int64_t use = ++last_use_;
  uses_[use].done = std::move(done);
  if (state_ == State::ready) {
    std::int64_t call = connection_->call(
        tool, arguments, [this, use](ToolOutcome outcome) { finish(use, std::move(outcome)); }, std::move(progress));
    uses_[use].call = call;
  } else {
    parts_.loop.post([weak = std::weak_ptr(self_), use] {
      auto self = weak.lock();
      if (!self) return;
      (*self)->finish(use, failed_tool(fmt::format("MCP server \"{}\" is not available: {}", (*self)->config_.name,
                                                   (*self)->status())));
    });
  }
  return std::make_unique<Run>(self_, use);
}

void McpServer::finish(std::int64_t use, ToolOutcome outcome) {
  auto node = uses_.extract(use);
  if (!node.empty()) node.mapped().done(std::move(outcome));
}

void McpServer::cancel(std::int64_t use) {
  auto node = uses_.extract(use);
  if (!node.empty() && connection_ != nullptr && node.mapped().call != 0) connection_->cancel(node.mapped().call);
}

void McpServer::stop(std::function<void()> done) {
  bool connected = connection_ != nullptr && state_ != State::waiting && state_ != State::given_up;
  again_.disarm();
  state_ = State::stopped;
  tools_.clear();
  if (!connected) return parts_.loop.post([done = std::move(done)] { done(); });
  connection_->end(std::move(done));
}

}  // namespace shepherd
