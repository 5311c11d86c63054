// The driver for any command: its lines are its output, its exit code is its result.
// Threads: caller.
#pragma once

#include "driver/driver.h"
#include "driver/stand_still.h"
#include "driver/text_joiner.h"

namespace shepherd {

class PlainText final : public Driver {
 public:
  std::string_view name() const override { return "text"; }
  // Runs Launch::command; the prompt, when there is one, is its standard input.
  Result<LaunchPlan> launch(const Launch& launch) override;
  void record(std::string_view line, std::int64_t now_ms, Actions& out) override;
  void stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) override;
  void tick(std::int64_t now_ms, Actions& out) override;
  // interrupt pauses the processes, resume lets them go on, stop leaves them to the ladder. Nothing can be said to
  // them.
  void command(const Command& command, std::int64_t now_ms, Actions& out) override;
  Verdict finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) override;
  Capabilities capabilities() const override;
  AgentTraits traits() const override;
  Hints hints() const override;

 private:
  void output(Actions& out, const std::optional<JoinedText>& lines);

  TextJoiner lines_, errors_;
  std::string last_line_, last_error_;
  Hints hints_;
  StandStill still_{"a plain program takes no commands"};
};

}  // namespace shepherd
