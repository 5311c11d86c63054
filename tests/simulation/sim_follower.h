// A follower in the simulated world: it mirrors which tasks there are, how long their logs are and which records exist,
// from what it is told alone. It refuses, delays and restarts at random.
// Threads: caller.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "base/random.h"
#include "journal/journal.h"

namespace shepherd::simulation {

class SimFollower {
 public:
  SimFollower(std::string name, Random& random) : name_(std::move(name)), random_(random) {}
  ~SimFollower() { leave(); }

  // As a part of the server does at its start: follow from now on, then read the state.
  void join(Journal& journal, Executor& workers);
  void leave();
  bool joined() const { return follower_ != nullptr; }
  bool is_at(Place place) const { return joined() && follower_->place() == place; }
  // Finishes what it has delayed.
  void go_on();

  void check_complete(const EventStore& store) const;

 private:
  void take(const News& news, std::move_only_function<void(bool)> done);
  bool load();

  const std::string name_;
  Random& random_;
  const EventStore* store_ = nullptr;
  std::map<std::string, std::uint64_t> tasks_;  // the last sequence of each
  std::map<std::string, std::string> records_;  // of kind "side"
  std::move_only_function<void(bool)> delayed_;
  std::unique_ptr<Follower> follower_;
};

}  // namespace shepherd::simulation
