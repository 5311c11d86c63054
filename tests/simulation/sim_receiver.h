// The receiver of all callbacks in the simulated world. It answers late, badly or not at all, and its answers get lost.
// It notes what it got, and fails the test when a task's callbacks overlap or
// change their order.
// Threads: caller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/random.h"
#include "outbound/post_callback.h"

namespace shepherd::simulation {

class SimReceiver {
 public:
  SimReceiver(Random& random, const Clock& clock) : random_(random), clock_(clock) {}

  // For one replica.
  std::unique_ptr<CallbackPoster> make_poster();
  // Answers one of the waiting requests, if there is one.
  void act();
  // Answers all of them well.
  bool accept_all();
  // Whether a callback with this webhook-id was accepted.
  bool accepted(const std::string& id) const { return accepted_.contains(id); }
  std::size_t count() const { return accepted_.size(); }

 private:
  class Poster;
  struct Held {
    const Poster* from;
    std::string id;
    std::int64_t until_ms;
    CallbackPoster::Done done;
  };
  void arrive(const Poster& from, const CallbackPost& request, CallbackPoster::Done done);
  void give_up(const Poster& from);
  void answer(std::size_t which, bool good);

  Random& random_;
  const Clock& clock_;
  std::vector<Held> held_;
  std::set<std::string> seen_;                               // webhook-ids
  std::map<std::string, std::vector<std::uint64_t>> begun_;  // by task: the first attempts, in their order
  std::set<std::string> accepted_;
};

}  // namespace shepherd::simulation
