// What an agent asked a person and has no answer to yet: permissions, questions, plans. The same for every agent; how
// the answer is written is the driver's matter.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

struct PendingAsk {
  enum class Kind : std::uint8_t { permission, question, plan };
  Kind kind = Kind::permission;
  std::string tool;
  std::string input;  // compact JSON object, exact
  std::string call_id, parent_call_id;
};
std::string_view name(PendingAsk::Kind kind);

// Threads: value.
class PendingAsks {
 public:
  // By the agent's own id of the request, which is the approval's id.
  void open(std::string id, PendingAsk ask) { open_.insert_or_assign(std::move(id), std::move(ask)); }
  const PendingAsk* find(std::string_view id) const;
  // Forgets it; nullopt if it is not open.
  std::optional<PendingAsk> close(std::string_view id);

  bool empty() const { return open_.empty(); }
  std::string first() const { return open_.empty() ? "" : open_.begin()->first; }  // the id of any open one
  std::string of_call(std::string_view call_id) const;                             // empty if none is about this call

  // The command that decided about a call, until the call goes on: only then the agent has heeded it.
  void decided(std::string_view call_id, std::string command_id);
  std::optional<std::string> take_decision(std::string_view call_id);

 private:
  std::map<std::string, PendingAsk, std::less<>> open_;
  std::map<std::string, std::string, std::less<>> decisions_;  // call id -> command id
};

// The data of the `approval` event that says how it ended.
std::string closed_ask_data(std::string_view id, const PendingAsk& ask, std::string_view state,
                            std::string_view message);

}  // namespace shepherd
