// Tokens in the simulated world: made and revoked on any replica, and used on all.
// Threads: caller.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/random.h"
#include "replica.h"

namespace shepherd::simulation {

class SimKeys {
 public:
  explicit SimKeys(Random& random) : random_(random) {}

  void act(Replica& replica);
  // Every replica accepts the tokens that the store has, and no other one.
  void check(const std::vector<std::unique_ptr<Replica>>& replicas, const EventStore& truth) const;

 private:
  struct Key {
    std::string id, secret;
    bool revoked = false;  // acknowledged
  };
  Random& random_;
  std::vector<Key> keys_;
};

}  // namespace shepherd::simulation
