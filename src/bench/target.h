// A server that can be loaded: the server under test, or one it is compared with.
#pragma once

#include <cstddef>
#include <string>

#include "base/result.h"
#include "bench/load.h"

namespace shepherd::bench {

// The size of a load.
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
  // The load of this shape on new channels. The plan is valid until the next call.
  virtual Result<LoadPlan> plan(const Shape& shape) = 0;
};

}  // namespace shepherd::bench
