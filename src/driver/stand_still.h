// Operators' commands to an agent that cannot be spoken to while it runs: an interrupt makes all its processes stand
// still, a resume lets them go on, a stop is left to the ladder, everything else is refused.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "driver/actions.h"
#include "driver/driver.h"
#include "model/command.h"

namespace shepherd {

class StandStill {
 public:
  // `deaf` says why other commands are refused.
  explicit StandStill(std::string_view deaf) : deaf_(deaf) {}

  void command(const Command& command, std::int64_t now_ms, std::string_view session, Actions& out);
  bool stopping() const { return stopping_; }  // an operator or the runner has asked it to end

  static std::uint32_t commands();  // for Capabilities

 private:
  std::string_view deaf_;
  bool paused_ = false, stopping_ = false;
};

}  // namespace shepherd
