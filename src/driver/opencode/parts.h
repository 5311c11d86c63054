// What OpenCode's messages are made of, the same in its one-way stream and in the events of its server: tools with
// their states, and what a step has used.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "driver/event_json.h"
#include "driver/open_calls.h"
#include "driver/record_events.h"
#include "driver/usage_data.h"
#include "json/slices.h"

namespace shepherd {

// Which members of records are looked into; everything else (a tool's input, its metadata) is one slice.
bool opencode_looks_into(std::string_view key, std::string_view parent);

std::string opencode_call_summary(std::string_view tool, std::string_view input, std::string_view cwd);

// What a permission is asked for. Its names are not those of tools; `patterns` is all that is known of others.
std::string opencode_ask_summary(std::string_view permission, std::string_view input, std::string_view patterns);

// The text without the markup that is there for the model.
std::string opencode_shown_text(std::string_view text);

// Whether the error of a tool says that a person or a rule was against the call: it was never made.
bool opencode_was_denied(std::string_view error);

struct OpenCodeError {
  std::string code, message;
  std::string members;   // JSON members with more of it, or nothing
  bool aborted = false;  // it was asked to stop
};
OpenCodeError opencode_error(const JsonSlices& json, const JsonNode& error);

// A tool part as a call, once, and as a result when it has ended. `parent`: the call inside which a sub-agent made it.
class OpenCodeTools {
 public:
  void part(RecordEvents& events, const JsonNode& part, std::string_view parent, std::string_view cwd, Actions& out);

  std::uint64_t calls() const { return count_; }
  const OpenCalls& open() const { return open_; }
  // Decided by a person now: what came before is not the tool's time.
  void decided(std::string_view call_id, OpenCalls::Decision decision, std::int64_t now_ms) {
    open_.decided(call_id, decision, now_ms);
  }

 private:
  void result(RecordEvents& events, const JsonNode& part, const JsonNode& state, Actions& out);

  OpenCalls open_, ended_;  // what has ended may be printed again
  std::uint64_t count_ = 0;
};

// What the steps of a session have used, added up: each says its own numbers.
class OpenCodeUsage {
 public:
  void step(const JsonSlices& json, const JsonNode& part, std::string_view model = {});  // empty: not known
  std::optional<double> cost_usd() const {
    return usage_.cost_known ? std::optional(usage_.total.cost_usd) : std::nullopt;
  }
  bool any() const { return usage_.total.api_calls > 0; }
  bool has_untold() const { return untold_; }
  std::string shown_cost() const;  // "; $0.0123 so far", or nothing

  // A usage event of everything so far. `more_members` of its data.
  void tell(RecordEvents& events, std::uint64_t turns, std::uint64_t tool_uses, std::string_view summary,
            std::string_view more_members, Actions& out);

 private:
  UsageData usage_;
  bool unpriced_ = false;  // it did not know what some step cost
  bool untold_ = false;
};

}  // namespace shepherd
