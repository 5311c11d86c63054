// Decides which commands of one task's log its runner carries out. A command that was settled before the log was caught
// up with (another runner's, or without a runner) is skipped; every other is delivered once, and withdrawn if it
// expires afterwards.
#pragma once

#include <deque>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/command.h"

namespace shepherd {

struct CommandNotice {
  enum class What { take, withdraw, deleted };
  What what = What::take;
  Command command;  // take; withdraw: its id
};

// Threads: caller.
class CommandLog {
 public:
  // A `command` or `command_result` event.
  void take_event(std::string_view event);
  // The log is caught up with.
  void go_live();
  // The connection is gone: what follows may be settled already.
  void lose() { live_ = false; }
  void take_deletion();

  // What has to be delivered next; empty() if nothing has.
  bool empty() const { return due_.empty(); }
  CommandNotice next();
  void drop_all() { due_.clear(); }

 private:
  void take_result(std::string_view data);
  bool is_new(const std::string& id);

  bool live_ = false;
  std::vector<Command> waiting_;   // perhaps settled; decided when the log is caught up with
  std::deque<CommandNotice> due_;  // to be delivered, in order
  // The newest kSeenCommands ids: an id is one command, however often the log has it.
  std::set<std::string> seen_;
  std::deque<std::string> seen_order_;
};

}  // namespace shepherd
