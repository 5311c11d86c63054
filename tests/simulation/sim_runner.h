// A runner in the simulated world: claims tasks by name or not, renews, posts under its lease, answers commands, asks
// for approvals, falls silent, comes back, and ends its tasks. It repeats what was not acknowledged, as real ones do.
// Threads: caller.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "replica.h"

namespace shepherd::simulation {

// Which claims are under way, over all runners. One that is alone, with a store that does not fail, must find a task
// that waits.
struct ClaimWatch {
  bool exact = false;       // the store does not fail
  std::uint64_t begun = 0;  // claims, and what else can come between a claim and its answer
  std::size_t active = 0;
  std::set<std::uint64_t> epochs;  // those that were given
};

class SimRunner {
 public:
  SimRunner(std::string name, Random& random, const Clock& clock, ClaimWatch& claims)
      : name_(std::move(name)), random_(random), clock_(clock), claims_(claims) {}

  // Does one thing, if nothing of it is under way. A diligent one ends what it has.
  void act(Replica& replica, const std::vector<std::string>& jobs, bool diligent);
  bool is_resting() const { return !posting_ && !job_; }

  static constexpr const char* kAgent = "sim";

 private:
  struct Job {
    std::string task;
    std::uint64_t epoch = 0;
    std::uint64_t spool = 0;  // of its events; one that starts again has a new one
    std::uint64_t next = 1;   // number of the next event
    std::string unsaid;       // text of the next event, if it is not acknowledged yet
    bool ends = false;        // the next event is the last one
  };
  void ask(Replica& replica, const std::vector<std::string>& jobs, const std::string& task, bool diligent);
  // The jobs that wait for a runner like this one, with the end of their logs.
  std::map<std::string, Place> waiting(const EventStore& store, const std::vector<std::string>& jobs) const;
  void say(const std::string& type, const std::string& data, bool ends = false);
  void post(Replica& replica);
  void renew(Replica& replica);
  void ask_for_approval();
  bool answer_command(const Replica& replica);

  const std::string name_;
  Random& random_;
  const Clock& clock_;
  ClaimWatch& claims_;
  std::optional<Job> job_;
  bool asking_ = false;
  bool posting_ = false;
  std::shared_ptr<bool> gone_;  // of the claim that waits
  std::int64_t silent_until_ms_ = 0;
  std::uint64_t approvals_ = 0, spools_ = 0;
};

}  // namespace shepherd::simulation
