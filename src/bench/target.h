// What a load can be put on: the server under test and the ones it is compared with.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "bench/load.h"

namespace shepherd::bench {

// How many of what.
struct Shape {
  std::size_t channels = 1;
  std::size_t subscribers = 0;
  std::size_t publishers = 1;
  std::size_t batch = 1;
  Transport transport = Transport::websocket;
};

// Threads: caller.
class Target {
 public:
  virtual ~Target() = default;
  // The load of this shape on channels that nobody has used before. The plan is good until the next call.
  virtual Result<LoadPlan> plan(const Shape& shape) = 0;
};

}  // namespace shepherd::bench
