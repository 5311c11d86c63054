// What a Codex session has used, as the agent itself counts it: running totals of the session, cost not included.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "json/slices.h"
#include "model/task.h"

namespace shepherd {

class CodexUsage {
 public:
  // The session's totals, in either spelling. They replace what was known.
  void total(const JsonSlices& record, const JsonNode& tokens);
  // Steps of this run.
  void tool_use() { ++total_.tool_uses; }
  void api_call() { ++total_.api_calls; }
  void turn() { ++total_.turns; }
  void told() { untold_ = false; }

  bool has_untold() const { return untold_; }
  bool has_any() const { return tokens() > 0; }
  std::uint64_t tokens() const;
  std::uint64_t turns() const { return total_.turns; }
  // The `data` of a usage event, with the members of the object `extra`.
  std::string tell(std::string_view model, std::string_view extra);

 private:
  Usage total_;
  bool untold_ = false;
};

}  // namespace shepherd
