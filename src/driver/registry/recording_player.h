// Plays what an agent printed to the driver that understands it: plain lines as they come, or a recording of both
// directions (driver/recorded_line.h) with what was said to the agent and with the times it has.
//
// The first lines say which of the agent's forms it is and how the recorded run was started; they are held until then.
// Threads: caller.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "driver/replay.h"

namespace shepherd {

class RecordingPlayer {
 public:
  // invalid_argument/unknown_agent. `launch` says what the lines do not.
  static Result<RecordingPlayer> open(std::string_view agent, Launch launch);

  // The next line, without its newline. Plain lines happen at `now_ms`; a recording begins with its first line then.
  // An error when the driver cannot be started with what the recording says.
  Result<void> line(std::string_view text, std::int64_t now_ms, Actions& out);
  Result<Verdict> finish(std::int64_t now_ms, Actions& out);

 private:
  struct Held {
    RecordedLine line;
    std::int64_t now_ms = 0;
  };
  RecordingPlayer(std::vector<std::string_view> drivers, Launch launch)
      : drivers_(std::move(drivers)), launch_(std::move(launch)) {}

  void choose(std::string_view name);
  Result<void> start(Actions& out);
  void play(const Held& held, Actions& out);

  std::vector<std::string_view> drivers_;
  Launch launch_;
  bool recorded_ = false;
  std::int64_t began_ms_ = 0, last_ms_ = 0;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Replay> replay_;
  bool started_ = false;
  std::vector<Held> held_;  // before the start
};

}  // namespace shepherd
