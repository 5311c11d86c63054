// The timing of a replay: how long to wait before the next event, at a speed that can change during the wait.
// Threads: value.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd {

class ReplayPace {
 public:
  // `speed` is one of speeds(). Pauses of the log longer than `idle` are shortened to it.
  ReplayPace(std::string_view speed, std::chrono::milliseconds idle);

  static std::vector<std::string> speeds();  // "1", "2", … "64", "max"

  void faster();
  void slower();
  std::string text() const;  // "8x", "max"

  // Schedules the event that happened at this time. If a producer's clock went back, there is no pause.
  void next_event(std::int64_t happened_ms);
  // Real time until that event; zero: now.
  std::chrono::milliseconds left() const;
  // Records that real time has passed.
  void passed(std::chrono::milliseconds real);
  void skip() { left_ms_ = 0; }

 private:
  std::size_t speed_ = 0;
  std::int64_t idle_ms_;
  std::optional<std::int64_t> last_ms_;  // when the newest event happened
  double left_ms_ = 0;                   // in the log's time
};

}  // namespace shepherd
