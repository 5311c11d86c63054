// The time of a replay: how long to wait before the next event, at a speed that can change while it waits.
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
  // One of speeds(); pauses of the log longer than `idle` are shortened to it.
  ReplayPace(std::string_view speed, std::chrono::milliseconds idle);

  static std::vector<std::string> speeds();  // "1", "2", … "64", "max"

  void faster();
  void slower();
  std::string text() const;  // "8x", "max"

  // The event that happened at this time comes next. Clocks of producers may go back: that is no pause.
  void next_event(std::int64_t happened_ms);
  // Real time until then; zero: now.
  std::chrono::milliseconds left() const;
  // Real time has passed, waiting.
  void passed(std::chrono::milliseconds real);
  void skip() { left_ms_ = 0; }

 private:
  std::size_t speed_ = 0;
  std::int64_t idle_ms_;
  std::optional<std::int64_t> last_ms_;  // when the newest event happened
  double left_ms_ = 0;                   // of the log's time
};

}  // namespace shepherd
