// The state of `shepherd top`: the tasks, filter, order and selection. Independent of the terminal.
// Threads: caller.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "cli/open_approvals.h"

namespace shepherd {

// A task as a row. All text is already escaped.
struct TopRow {
  struct Command {
    std::string id, kind, state, reason;
  };
  std::string id, title, agent, model, state, activity;
  std::int64_t created_ms = 0, started_ms = 0, completed_ms = 0, last_event_ms = 0;
  std::uint64_t last_sequence = 0;
  std::uint64_t tokens = 0;  // sum of all classes
  double cost_usd = 0;
  bool unpriced = false;  // the cost of some of its use is not known
  std::vector<OpenApproval> approvals;
  std::vector<Command> commands;

  std::string need;           // reason it is in the inbox ("approval", "failed", …); empty: it is not
  std::size_t need_rank = 0;  // its rank in the inbox

  bool ended() const;
  bool needs_you() const { return !need.empty(); }
  bool waits() const { return needs_you() && need != "failed" && need != "stalled"; }  // needs a person's answer
  std::int64_t elapsed_ms(std::int64_t now_ms) const;
};
// Reads a row from a task's JSON.
Result<TopRow> read_top_row(std::string_view task_json);

enum class TopSort : std::uint8_t { needs, newest, cost, tokens, time, title };

struct TopTotals {
  std::size_t needs_you = 0, running = 0, queued = 0, ended = 0;
  double cost_usd = 0;
  bool unpriced = false;
};

class TopModel {
 public:
  // Replaces all rows; the selected task stays selected.
  void replace(std::vector<TopRow> rows);
  // Adds or replaces a row. Above kTopTasks the oldest ended ones are dropped.
  void put(TopRow row);
  void remove(const std::string& task);

  // The inbox in the server's order: a task and what it needs. `total` is the number of needs in it.
  struct Need {
    std::string task, kind;
  };
  void set_needs(const std::vector<Need>& needs, std::size_t total);

  // Shows rows whose id, title, agent, model or state contains all words of the text, ignoring ASCII case.
  void set_filter(std::string text);
  const std::string& filter() const { return filter_; }
  void next_sort();
  std::string_view sort_name() const;
  void toggle_ended();
  bool shows_ended() const { return shows_ended_; }

  const std::vector<const TopRow*>& shown() const;
  std::optional<std::size_t> chosen_place() const;  // index in shown(); nullopt: nothing is shown
  const TopRow* chosen() const;
  void choose(std::string_view id);
  void move(std::int64_t by);
  // The first row of a window of this height that contains the selected row; scrolls as little as possible.
  std::size_t scroll(std::size_t height);

  const TopRow* find(const std::string& id) const;
  TopTotals totals() const;

 private:
  void apply_need(TopRow& row) const;
  // Runs on access, because many rows may have changed since.
  void arrange() const;
  bool is_wanted(const TopRow& row) const;

  std::map<std::string, TopRow> rows_;
  std::map<std::string, std::pair<std::string, std::size_t>> needs_;  // by task: kind and rank
  std::size_t needs_total_ = 0;
  mutable std::vector<const TopRow*> shown_;
  std::string filter_;
  mutable std::string chosen_;     // id
  mutable std::size_t place_ = 0;  // last index of the selected row
  std::size_t first_ = 0;          // first row of the window
  mutable bool stale_ = false;     // shown_ is out of date
  TopSort sort_ = TopSort::needs;
  bool shows_ended_ = true;
};

}  // namespace shepherd
