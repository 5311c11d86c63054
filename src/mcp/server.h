// One configured MCP server: connected, asked for its tools, and started again when it goes away.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "base/result.h"
#include "mcp/connection.h"
#include "mcp/http_core.h"
#include "mcp/mcp_config.h"
#include "mcp/server_log.h"
#include "net/event_loop.h"
#include "net/timers.h"
#include "process/confinement.h"
#include "tools/toolbox.h"

namespace shepherd {

// All references outlive the server.
struct McpParts {
  net::EventLoop& loop;
  const Clock& clock;
  Random& random;
  std::string version;                            // of this program
  std::string warden_program = "/proc/self/exe";  // process/launch_warden.h
  Confinement confinement = {};                   // of programs
};

// While a server is away it has no tools, and calls fail with the reason. Pauses between attempts double. A program
// that does not stay is given up after kMaxMcpRestarts attempts in a row; a service is tried as long as this program
// runs. Threads: strand.
class McpServer final : private McpConnectionObserver {
 public:
  // invalid_argument/bad_config if its address cannot be read. `changed` is called on the loop.
  static Result<std::unique_ptr<McpServer>> make(McpParts parts, net::Timers& timers, McpServerConfig config,
                                                 std::function<void()> changed);
  ~McpServer() override;

  void open();  // on the loop
  const McpServerConfig& config() const { return config_; }
  const std::vector<McpTool>& tools() const { return tools_; }  // those that are used; empty while it is away
  bool ready() const { return state_ == State::ready; }
  bool settled() const { return state_ != State::connecting; }  // ready, or known not to be
  // "ready", or why it is not.
  std::string status() const;

  std::unique_ptr<ToolRun> start(const std::string& tool, std::string_view arguments,
                                 std::move_only_function<void(ToolOutcome)> done,
                                 std::function<void(std::string_view)> progress);
  // Ends it in a bounded time; `done` is called once.
  void stop(std::function<void()> done);

 private:
  enum class State : std::uint8_t { idle, connecting, ready, ending, waiting, given_up, stopped };
  struct Use {
    std::move_only_function<void(ToolOutcome)> done;
    std::int64_t call = 0;
  };
  // A use under way, for the one who started it.
  class Run final : public ToolRun {
   public:
    Run(const std::shared_ptr<McpServer*>& server, std::int64_t use) : server_(server), use_(use) {}
    ~Run() override;

   private:
    const std::weak_ptr<McpServer*> server_;
    const std::int64_t use_;
  };

  McpServer(McpParts parts, net::Timers& timers, McpServerConfig config, std::function<void()> changed);
  void connect();
  std::unique_ptr<McpLink> make_link(McpEra era, McpLinkObserver& observer);
  void on_tools(const std::vector<McpTool>& tools) override;
  void on_connection_end(std::string why) override;
  void try_later();
  void cancel(std::int64_t use);
  void finish(std::int64_t use, ToolOutcome outcome);

  const McpParts parts_;
  net::Timers& timers_;
  const McpServerConfig config_;
  const std::function<void()> changed_;
  McpServerLog log_;
  std::unique_ptr<McpHttpCore> http_;  // of a service
  State state_ = State::idle;
  McpEra era_ = McpEra::unknown;
  std::string why_;  // it is not ready
  int failures_ = 0;
  net::TimePoint ready_since_;
  std::vector<McpTool> tools_;
  std::shared_ptr<McpServer*> self_;  // runs and posted work find this by it, unless it is gone
  net::Timer again_;
  std::int64_t last_use_ = 0;
  std::map<std::int64_t, Use> uses_;
  std::unique_ptr<McpConnection> connection_;
};

}  // namespace shepherd
