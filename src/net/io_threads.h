// The implementation of IoThreads, for the server.
#pragma once

#include <deque>
#include <thread>
#include <vector>

#include "net/event_loop.h"
#include "net/server.h"

namespace shepherd::net {

struct IoThreads::Impl {
  std::deque<EventLoop> loops;
  std::vector<std::thread> threads;
};

}  // namespace shepherd::net
