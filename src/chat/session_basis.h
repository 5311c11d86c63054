// What a session needs of the beginning of its log: its system prompt, its mode, what a person allowed for all of it,
// and whether its cost is known. Retention drops old events of a session that goes on, so this is also a record.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "model/command.h"

namespace shepherd {

inline constexpr std::string_view kBasisRecords = "chat_session";  // the kind of these records; the key is the task

struct SessionBasis {
  bool started = false;  // the session has its system prompt, which may be empty
  std::string system;
  std::int64_t system_tokens = 0;
  AgentMode mode = AgentMode::interactive;
  bool priced = true;
  std::set<std::string> rules;  // approvals that are remembered

  friend bool operator==(const SessionBasis&, const SessionBasis&) = default;
};

// `created_ms`: of the task, because a deleted one can have had the same id.
std::string encode_basis(const SessionBasis& basis, std::int64_t created_ms);
// Empty if the record is none, or of another task.
std::optional<SessionBasis> decode_basis(std::string_view record, std::int64_t created_ms);

}  // namespace shepherd
