// Which of an agent's tool calls are still running.
// Threads: value.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace shepherd {

struct OpenCall {
  std::string tool;
  std::string parent;           // the call inside which a sub-agent made it
  std::string plan;             // what ExitPlanMode asks to be approved
  std::int64_t started_ms = 0;  // by the agent's clock: when it was made, or when it was allowed or denied
  std::int64_t seen_ms = 0;     // by ours: when it was made
  bool denied = false;
};

// Calls without a result, by the agent's id. The oldest is forgotten beyond kMaxOpenCalls: an agent that never answers
// its own calls must not fill memory.
class OpenCalls {
 public:
  void open(std::string_view id, OpenCall call);
  const OpenCall* find(std::string_view id) const;
  // It was allowed or denied now, by our clock: what came before is not the tool's time.
  enum class Decision : std::uint8_t { made, denied };
  void decided(std::string_view id, Decision decision, std::int64_t now_ms);
  std::optional<OpenCall> close(std::string_view id);
  std::vector<std::string> ids() const;  // oldest first
  std::size_t size() const { return calls_.size(); }

 private:
  std::unordered_map<std::string, OpenCall> calls_;
  std::deque<std::string> order_;
};

}  // namespace shepherd
