// What a Claude Code session has used, as the agent itself counts it.
//
// A `result` line carries the totals of the session so far, all models and sub-agents included; they are taken as they
// are, never added up. Between results only messages are known, and a message is printed once per content block: each
// counts once by its id, with the newest numbers. They are what is told during a turn, and when one ends without a
// result. What it costs is told by results alone. Threads: value.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "json/slices.h"
#include "model/task.h"
#include "model/usage_json.h"

namespace shepherd {

class ClaudeUsage {
 public:
  // An `assistant` line's message. `usage` holds the numbers at the start of the message.
  void message(std::string_view id, std::string_view model, const JsonSlices& record, const JsonNode& usage);
  // The end of a streamed message: its numbers are known now.
  void message_end(std::string_view id, const JsonSlices& record, const JsonNode& usage);
  void tool_use() { ++tool_uses_; }
  // A `result` line: what it says replaces what was known.
  void result(const JsonSlices& record);
  // The totals that a transcript ends with.
  void totals(const JsonSlices& record);

  std::optional<double> cost_usd() const { return cost_usd_; }
  std::uint64_t results() const { return results_; }
  bool has_unreported() const { return !open_.empty(); }  // the newest messages are always among those

  // Of the totals so far, in the middle of a turn: whether they have changed since they were told, and their `data`.
  bool has_untold() const { return untold_; }
  std::string tell_so_far();
  std::uint64_t tokens() const { return total_tokens(total()); }
  // The `data` of a usage event: the agent's totals, plus the messages that no result has covered.
  std::string data(const JsonSlices& record) const;
  std::string data_without_result() const;

 private:
  struct Message {
    std::string model;
    Usage usage;
  };
  void forget_oldest();
  std::map<std::string, Usage> by_model() const;
  Usage total() const;
  std::string encode(std::string_view extra_members) const;

  std::optional<double> cost_usd_;
  std::map<std::string, Usage> models_;  // the newest totals
  // Since the newest totals: messages by id, oldest first in order_, and the sum of those that are too old to be
  // printed again. An agent may work for days without a result.
  std::unordered_map<std::string, Message> open_;
  std::deque<std::string> order_;
  std::map<std::string, Usage> older_;
  bool untold_ = false;
  std::uint64_t api_calls_ = 0, tool_uses_ = 0, results_ = 0;
};

}  // namespace shepherd
