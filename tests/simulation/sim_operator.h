// Operators in the simulated world: they create and delete jobs, command them, repeat a command that they sent before
// (on any replica), and answer approvals. They note what was acknowledged. Threads: caller.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "model/command.h"
#include "replica.h"
#include "store/event_store.h"

namespace shepherd::simulation {

class SimOperator {
 public:
  SimOperator(Random& random, std::vector<std::string> jobs, std::vector<std::string> runners)
      : random_(random), jobs_(std::move(jobs)), runners_(std::move(runners)) {}

  void act(Replica& replica, const EventStore& truth);

  const std::vector<std::string>& jobs() const { return jobs_; }
  // Jobs whose creation was acknowledged, until their deletion was requested.
  const std::set<std::string>& created() const { return created_; }

  // An acknowledged command: what the first answer said.
  struct Sent {
    Command command;
    std::int64_t created_ms = 0;  // of the task; 0: not acknowledged
    std::uint64_t sequence = 0;
  };
  const std::map<std::pair<std::string, std::string>, Sent>& commands() const { return sent_; }  // by task and id

 private:
  void create(Replica& replica, const std::string& job);
  void command(Replica& replica, const EventStore& truth, const std::string& job);
  void repeat(Replica& replica, const EventStore& truth);
  void submit(Replica& replica, const EventStore& truth, const std::string& job, const Command& command);

  Random& random_;
  const std::vector<std::string> jobs_, runners_;
  std::set<std::string> created_;
  std::map<std::pair<std::string, std::string>, Sent> sent_;
  std::uint64_t last_command_ = 0;
};

}  // namespace shepherd::simulation
