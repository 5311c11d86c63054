// One connection to an MCP server, in whichever version the server speaks: the agreement on a version, the list of
// tools, calls, progress, cancellation, and answers to what the server asks.
//
// Modern servers (2026-07-28) are asked by server/discover; what does not answer like one is legacy and gets the
// initialize handshake. A session that a server has forgotten is begun anew, and what was refused is sent again.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "mcp/limits.h"
#include "mcp/link.h"
#include "mcp/server_log.h"
#include "mcp/tool_list.h"
#include "net/event_loop.h"
#include "net/timers.h"
#include "tools/toolbox.h"

namespace shepherd {

// What is known about a server's version; kept for its next connection.
enum class McpEra : std::uint8_t {
  unknown,
  legacy,
  oldest,  // 2024-11-05 over HTTP
  modern,
};

// Called on the loop, never inside a call of the connection. It must not destroy the connection meanwhile.
class McpConnectionObserver {
 public:
  virtual ~McpConnectionObserver() = default;
  // The server's tools: when it is ready, and after each change.
  virtual void on_tools(const std::vector<McpTool>& tools) = 0;
  // The last call; calls of tools fail after it. For a person.
  virtual void on_connection_end(std::string why) = 0;
};

// Why a request has no result. Threads: value.
struct McpFailure {
  enum class Cause : std::uint8_t { error, fault, timed_out, closed };
  Cause cause = Cause::error;
  std::int64_t code = 0;  // of an error
  McpFault fault;
  std::string message;
  std::string data;  // of an error; JSON
};

// All of these outlive the connection.
struct McpConnectionParts {
  net::EventLoop& loop;
  net::Timers& timers;
  McpServerLog& log;
  // A new link of this kind; `oldest` and others differ over HTTP.
  std::function<std::unique_ptr<McpLink>(McpEra, McpLinkObserver&)> link;
  std::string server;   // its configured name
  std::string version;  // of this program
  std::chrono::milliseconds call_wait;
};

// Threads: strand.
class McpConnection final : private McpLinkObserver {
 public:
  // `era` is read now and written when the server's version is known; it outlives the connection.
  McpConnection(McpConnectionParts parts, McpEra& era, McpConnectionObserver& observer);
  ~McpConnection() override;
  McpConnection(const McpConnection&) = delete;
  McpConnection& operator=(const McpConnection&) = delete;

  using Done = std::move_only_function<void(ToolOutcome)>;
  using Progress = std::function<void(std::string_view)>;
  // Returns the call's number. `done` is called once, never inside.
  std::int64_t call(const std::string& tool, std::string_view arguments, Done done, Progress progress);
  void cancel(std::int64_t number);
  // Says goodbye. Calls end first; the observer is not called any more.
  void end(std::function<void()> done);

  const std::string& protocol() const { return protocol_; }  // empty: not agreed on yet

 private:
  using Reply = std::move_only_function<void(std::expected<std::string, McpFailure>)>;
  struct Open {
    McpOutgoing sent;
    Reply reply;
    std::int64_t call = 0;  // that it belongs to
    std::chrono::milliseconds wait{0};
    net::TimePoint until_at_most;
    std::unique_ptr<net::Timer> deadline;
    bool resent = false;
  };
  struct Call {
    std::string tool, arguments;
    std::string extras;  // members that its next request has in addition
    Done done;
    Progress progress;
    std::int64_t request = 0;  // 0: none is open
    net::TimePoint began, shown;
    double at = -1;  // progress
    int rounds = 0;
    bool relisted = false;
    std::unique_ptr<net::Timer> pause;
  };

  // requests (connection.cpp)
  std::int64_t request(std::string_view method, std::string_view members, std::chrono::milliseconds wait, Reply reply,
                       std::int64_t call = 0);
  std::string params(std::string_view members, std::int64_t token) const;
  void notify(std::string_view method, std::string_view given);
  void send_open(std::int64_t id, Open& open);
  void time_out(std::int64_t id);
  void close(std::string why);
  void fail_all(const std::string& why);
  void withdraw(std::int64_t id, const Open& open, std::string_view why);
  const McpTool* find_tool(std::string_view name) const;

  // messages (connection_messages.cpp)
  void on_message(McpMessage&& message) override;
  void on_noise(std::size_t bytes) override;
  void on_failed(std::int64_t id, McpFault fault) override;
  void on_closed(std::string why) override { close(std::move(why)); }
  void answer(const McpMessage& message);
  void take_notification(const McpMessage& message);
  void take_progress(std::string_view params);
  void count_flood(std::size_t bytes);
  void session_lost(std::int64_t id);

  // the beginning (connection_start.cpp)
  void discover();
  void take_discovery(std::expected<std::string, McpFailure> reply);
  void initialize();
  void take_initialize(std::expected<std::string, McpFailure> reply);
  void become(McpEra era, std::string_view version, std::string_view capabilities);
  void fall_back(const McpFailure& why);
  void list_tools();
  void list_page(std::string cursor, int page, std::vector<McpTool> tools);
  void listed(std::vector<McpTool> tools);
  void list_failed(const McpFailure& why);
  void list_again();
  void list_changed();
  void subscribe();

  // calls (connection_calls.cpp)
  void send_call(std::int64_t number);
  void take_call(std::int64_t number, std::expected<std::string, McpFailure> reply);
  void take_input_required(std::int64_t number, std::string_view result);
  void retry_waiting_calls();
  void finish_call(std::int64_t number, ToolOutcome outcome);
  std::string describe(const McpFailure& failure) const;

  const McpConnectionParts parts_;
  McpEra& era_;
  McpConnectionObserver* observer_;  // null after the end
  std::unique_ptr<McpLink> link_;
  std::shared_ptr<McpConnection*> self_;  // posted work finds this by it, unless it is gone
  std::string protocol_;
  bool modern_ = false, oldest_ = false, ready_ = false;
  bool has_tools_ = false, list_changes_ = false;
  std::int64_t last_id_ = 0, last_call_ = 0;
  std::map<std::int64_t, Open> open_;
  std::map<std::int64_t, Call> calls_;
  // the beginning
  std::int64_t discovery_ = 0, initializing_ = 0;
  int discoveries_ = 0;
  net::Timer probe_;
  // the list
  std::vector<McpTool> tools_;
  bool listing_ = false, list_once_more_ = false;
  net::Timer relist_;
  std::int64_t subscription_ = 0;
  std::chrono::milliseconds subscribe_pause_;
  net::Timer resubscribe_;
  net::TimePoint last_list_;
  std::set<std::int64_t> waiting_calls_;  // for a new list
  std::set<std::int64_t> refused_;        // requests that wait for a new session
  // floods
  net::TimePoint flood_since_;
  std::size_t flood_messages_ = 0, flood_bytes_ = 0;
};

}  // namespace shepherd
