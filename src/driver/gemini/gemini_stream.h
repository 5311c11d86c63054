// The driver of Gemini CLI in its one-way form: `gemini -p --output-format stream-json`, and reading its batch format.
//
// The model's words come in pieces only; they are put together here. A tool result says nothing of a command's exit
// code, and what tools print is often left out. It takes no commands and asks no operator: tools that need an approval
// are not offered to the model. Interrupted, it exits with 0 and prints no result. Threads: caller.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "driver/driver.h"
#include "driver/error_output.h"
#include "driver/open_calls.h"
#include "driver/record_events.h"
#include "driver/stand_still.h"
#include "driver/usage_data.h"

namespace shepherd {

class GeminiStream final : public Driver {
 public:
  std::string_view name() const override { return "gemini-stream"; }
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
  void init(Actions& out);
  void message(Actions& out);
  void piece(std::string_view text, Actions& out);
  void end_text(Actions& out);
  void tool_use(Actions& out);
  void tool_result(Actions& out);
  void agent_error(Actions& out);
  void result(Actions& out);

  // gemini_result.cpp
  void finish_batch(Actions& out);
  void usage(Actions& out);
  void tell_usage(UsageData& usage, std::optional<std::int64_t> duration_ms, Actions& out);
  void failed(std::string_view type, std::string_view message, Actions& out);
  Verdict verdict(const ExitFacts& exit) const;

  RecordEvents events_;
  OpenCalls calls_;
  ErrorOutput errors_;
  StandStill still_{"this agent does not listen while it works"};
  Hints hints_;
  bool deltas_ = true;
  bool begun_ = false;  // it has said that a session began

  std::string text_;  // of the message that is coming in pieces
  std::int64_t text_since_ms_ = 0;
  std::uint64_t texts_ = 0;
  std::string last_text_;
  std::string warning_;  // the newest error that was not the end
  std::string batch_;    // the batch format, which is one document on many lines

  struct Ending {
    bool good = false;
    std::string text;
  };
  std::optional<Ending> ending_;
};

}  // namespace shepherd
