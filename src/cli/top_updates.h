// Receives data from the server while `shepherd top` waits for keys: rows, lines of the open log, answers to requests.
// It has two threads: one follows the server, one makes calls. They put news into a list, which the screen's thread
// empties when descriptor() becomes readable.
// Threads: caller; its own two threads are internal.
#pragma once

#include <atomic>
#include <deque>
#include <functional>
#include <string>
#include <thread>
#include <variant>
#include <vector>

#include "base/mutex.h"
#include "base/random.h"
#include "cli/approval_view.h"
#include "cli/context.h"
#include "cli/event_line.h"
#include "cli/top_model.h"
#include "client/live_client.h"
#include "model/command.h"

namespace shepherd {

// All rows, replacing the old ones.
struct TopRows {
  std::vector<TopRow> rows;
};
struct TopDeleted {
  std::string task;
};
struct TopLines {
  std::string task;
  std::vector<EventLine> lines;
  std::uint64_t last_sequence = 0;  // of the newest event read, including events without a line
};
// The full input of an approval.
struct TopAsked {
  std::string task, approval;
  AskedInput input;
};
// The server's inbox.
struct TopNeeds {
  std::vector<TopModel::Need> needs;
  std::size_t total = 0;
};
struct TopNotice {
  std::string text;
};
struct TopConnection {
  std::string trouble;  // empty: connected
};
// A command was accepted into the log.
struct TopSent {
  std::string task, command, kind;
};
// Following has ended with an error that a retry would not fix.
struct TopEnded {
  Error error;
};
using TopNews = std::variant<TopRows, TopRow, TopDeleted, TopLines, TopAsked, TopNeeds, TopNotice, TopConnection,
                             TopSent, TopEnded>;

class TopUpdates final : private LiveObserver {
 public:
  TopUpdates(Context& context, const ServerOptions& server);
  ~TopUpdates() override;
  TopUpdates(const TopUpdates&) = delete;
  TopUpdates& operator=(const TopUpdates&) = delete;

  int descriptor() const { return wake_; }
  std::vector<TopNews> take() EXCLUDES(mutex_);

  // Make a request; the answer comes as news.
  void ask_log(std::string task, std::uint64_t after);  // 0: the newest events
  void ask_needs();
  void ask_input(std::string task, OpenApproval approval);
  void send(std::string task, Command command);

 private:
  using Errand = std::function<void(ApiClient&)>;
  bool on_event(std::string_view, std::uint64_t, std::string_view) override { return true; }
  void on_gap(std::string_view, std::uint64_t, std::uint64_t) override {}
  void on_state(const LiveChange& change) override;
  void on_complete(std::string_view, std::string_view) override {}
  void on_row(std::string_view task, std::string_view row) override;
  void on_deleted(std::string_view task) override;

  void tell(TopNews news) EXCLUDES(mutex_);
  void ask(Errand errand) EXCLUDES(mutex_);
  void list_all(ApiClient& client);
  void follow();
  void run_errands();

  Context& context_;
  const ServerOptions& server_;
  SystemClock clock_;
  SystemRandom random_;
  int wake_ = -1;
  LiveClient live_;

  Mutex mutex_;
  CondVar changed_;
  std::vector<TopNews> news_ GUARDED_BY(mutex_);
  std::deque<Errand> errands_ GUARDED_BY(mutex_);
  bool ending_ GUARDED_BY(mutex_) = false;
  std::thread follower_, errand_runner_;
};

}  // namespace shepherd
