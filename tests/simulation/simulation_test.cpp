// Runs whole server processes under random schedules, faults and a bad bus. `SHEPHERD_SIM_SEED=n` runs one seed,
// `SHEPHERD_SIM_SEEDS=n` runs n of them.
#include <gtest/gtest.h>

#include <cstdlib>
#include <iostream>
#include <string>

#include "base/log.h"
#include "world.h"

namespace shepherd::simulation {
namespace {

std::uint64_t number_from(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::stoull(text);
}

TEST(Simulation, NothingIsLostRepeatedOrReordered) {
  start_log("off");  // avoids thousands of lines about simulated disk failures
  std::uint64_t only = number_from("SHEPHERD_SIM_SEED", 0);
  std::uint64_t first = only == 0 ? 1 : only;
  std::uint64_t last = only == 0 ? number_from("SHEPHERD_SIM_SEEDS", 3000) : only;
  for (std::uint64_t seed = first; seed <= last; ++seed) {
    World(seed).run();
    if (testing::Test::HasFailure()) {
      FAIL() << "seed " << seed << " failed; again with SHEPHERD_SIM_SEED=" << seed;
    }
  }
  std::cout << last - first + 1 << " seeds\n";
}

}  // namespace
}  // namespace shepherd::simulation
