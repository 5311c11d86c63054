// Delivers the calls that hooks spooled while their server was down, as a client of that server once it runs.
#pragma once

#include <stop_token>
#include <string>
#include <thread>

namespace shepherd {

// Retries until the spool is empty. Hooks that run meanwhile deliver too; if one of them holds the lock, this does not
// wait for it. The destructor stops it and leaves the rest in the spool.
// Owns its thread. Threads: any.
class HookUptake {
 public:
  // `data` is the data directory of a server that answers.
  explicit HookUptake(std::string data);

 private:
  static void run(const std::stop_token& stop, const std::string& data);

  std::jthread thread_;
};

}  // namespace shepherd
