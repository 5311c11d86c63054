// What a session of an ACP agent has used: its turns' tokens added up, and the cost as the agent itself totals it.
// Threads: value.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "json/slices.h"
#include "model/task.h"

namespace shepherd {

class AcpUsage {
 public:
  // A usage_update: what the context holds now, and the cost of the session so far.
  void update(const JsonSlices& record, const JsonNode& update);
  // The answer to a prompt: what its turn used. Without a list of models it was the session's current one.
  void turn_ended(const JsonSlices& record, const JsonNode& result, std::string_view current_model);
  void tool_use() { ++total_.tool_uses; }

  std::optional<double> cost_usd() const { return cost_usd_; }
  std::uint64_t turns() const { return total_.turns; }
  bool has_untold() const { return untold_; }
  std::uint64_t context_tokens() const { return context_used_; }
  // The `data` of a usage event. `partial`: in the middle of a turn.
  std::string tell(bool partial, std::string_view outcome);

 private:
  Usage total_;
  std::map<std::string, Usage, std::less<>> models_;
  std::optional<double> cost_usd_;
  std::uint64_t context_used_ = 0, context_size_ = 0;
  bool untold_ = false;
};

}  // namespace shepherd
