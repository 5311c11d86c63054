// The driver of OpenCode in its one-way form: `opencode run --format json`.
//
// It prints finished parts only: no live text, no tool that still runs, no end. The end is a step that finished with
// the reason "stop", and the end of the output. While the model's API fails it tries again without an end and prints
// nothing; the runner tells that silence. What its configuration asks about is refused, because it cannot ask an
// operator. Threads: caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "driver/driver.h"
#include "driver/error_output.h"
#include "driver/opencode/parts.h"
#include "driver/record_events.h"
#include "driver/stand_still.h"

namespace shepherd {

class OpenCodeRun final : public Driver {
 public:
  std::string_view name() const override { return "opencode-run"; }
  std::vector<std::string> version_command(const std::string& program) const override;
  std::vector<std::string> state_paths(const Variable& variable) const override;
  Result<LaunchPlan> launch(const Launch& launch) override;
  void record(std::string_view line, std::int64_t now_ms, Actions& out) override;
  void stderr_line(std::string_view line, std::int64_t now_ms, Actions& out) override;
  void tick(std::int64_t now_ms, Actions& out) override;
  void command(const Command& command, std::int64_t now_ms, Actions& out) override;
  Verdict finish(const ExitFacts& exit, std::int64_t now_ms, Actions& out) override;
  Capabilities capabilities() const override;
  AgentTraits traits() const override;
  Hints hints() const override;

 private:
  void dispatch(Actions& out);
  void begin(Actions& out);
  void words(std::string_view kind, Actions& out);
  void step_finish(Actions& out);
  void agent_error(Actions& out);
  Verdict verdict(const ExitFacts& exit) const;

  RecordEvents events_;
  OpenCodeTools tools_;
  OpenCodeUsage usage_;
  ErrorOutput errors_;
  StandStill still_{"this agent does not listen while it works"};
  Hints hints_;
  bool begun_ = false;              // it has said that a session began
  bool refused_ = false;            // the newest step ended with a call that no operator could allow
  std::string reason_;              // of the newest finished step; empty while one runs
  std::int64_t usage_told_ms_ = 0;  // when usage was last reported, or the session began
  std::string last_text_;
  std::string last_error_;
};

}  // namespace shepherd
