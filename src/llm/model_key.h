// The key of a backend: from a file, a command or the environment, read when it is first needed.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "llm/model_config.h"
#include "net/event_loop.h"
#include "process/program_stop.h"

namespace shepherd {

// Where a key is; at most one of the last three. Threads: value.
struct KeyPlace {
  std::string owner;  // in messages: model "local"
  std::string file, command, variable;
};

// Files and commands are read on a thread of their own, because both may be slow. The key is read once for all calls
// that wait for it, and again after it was refused. Errors: permission_denied/model_key, which never contains a key.
// Threads: strand.
class ModelKey {
 public:
  using Done = std::move_only_function<void(Result<std::string>)>;

  // `loop` and `clock` outlive it. The warden owns the command's processes (process/launch_warden.h).
  ModelKey(const ModelConfig& config, net::EventLoop& loop, const Clock& clock,
           std::string warden_program = "/proc/self/exe");
  ModelKey(KeyPlace place, net::EventLoop& loop, const Clock& clock, std::string warden_program = "/proc/self/exe");
  ~ModelKey();  // ends a command that runs; what waits is not called any more
  ModelKey(const ModelKey&) = delete;
  ModelKey& operator=(const ModelKey&) = delete;

  bool configured() const { return !place_.file.empty() || !place_.command.empty() || !place_.variable.empty(); }
  // Calls done(key) on the loop: at once if the key is known, or none is configured (then it is empty).
  void get(Done done);
  void forget();                                      // the backend refused it
  const std::string& last() const { return known_; }  // to keep it out of messages; empty if there is none

 private:
  void begin_reading();
  void take(Result<std::string> read);

  const KeyPlace place_;
  const std::string warden_program_;
  net::EventLoop& loop_;
  const Clock& clock_;
  std::string known_;
  bool valid_ = false;
  bool reading_ = false;
  std::vector<Done> waiting_;
  std::shared_ptr<ModelKey*> self_;  // what the thread posts to the loop finds this by it, unless it is gone
  ProgramStop stop_;
  std::thread thread_;
};

}  // namespace shepherd
