// Plays a recording of both directions to a driver: what the agent said goes to the driver, and what was said to the
// agent then becomes the command or the answer that says it now. So a recording gives the log that its run would have
// given: with the turns that were asked for and what an operator decided.
// Threads: caller.
#pragma once

#include <cstdint>
#include <string_view>

#include "driver/driver.h"
#include "driver/recorded_line.h"

namespace shepherd {

// This one is for agents whose own words are enough: what was said to them is passed over.
class Replay {
 public:
  explicit Replay(Driver& driver) : driver_(driver) {}
  virtual ~Replay() = default;
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  // Before the launch: takes from a line how the recorded run was started. True: there is nothing more to learn.
  virtual bool prepare(const RecordedLine& /*line*/, Launch& /*launch*/) const { return true; }
  // What the driver wrote to the agent when its caller launched it or gave it a command.
  virtual void wrote(std::string_view /*bytes*/) {}
  virtual void from_agent(std::string_view line, std::int64_t now_ms, Actions& out) {
    driver_.record(line, now_ms, out);
  }
  virtual void to_agent(std::string_view /*line*/, std::int64_t /*now_ms*/, Actions& /*out*/) {}

 protected:
  Driver& driver_;
};

}  // namespace shepherd
