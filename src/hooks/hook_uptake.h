// Takes up what hooks kept on disk while their server was not running: as a client of that server, once it is.
#pragma once

#include <stop_token>
#include <string>
#include <thread>

namespace shepherd {

// Tries until nothing waits any more: hooks that run meanwhile deliver, too, and who comes second waits for nobody.
// The destructor ends it; the rest is for another time.
// Owns its thread. Threads: any.
class HookUptake {
 public:
  // The data directory of a server that answers.
  explicit HookUptake(std::string data);

 private:
  static void run(const std::stop_token& stop, const std::string& data);

  std::jthread thread_;
};

}  // namespace shepherd
