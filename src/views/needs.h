// What a task needs a person for: a pure reading of its state.
// Threads: value.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/limits.h"
#include "model/task.h"

namespace shepherd {

// In the order in which they are urgent.
enum class NeedKind : std::uint8_t {
  approval,  // may it do this?
  question,  // which way?
  waiting,   // what next?
  stalled,   // it says that it works, and nothing has come for a while (kStallSilence, or as configured)
  failed,    // it ended badly within kInboxShowsFailed
};
std::string_view name(NeedKind kind);

struct TaskNeed {
  std::string task, title, agent, model;
  NeedKind kind = NeedKind::approval;
  std::int64_t since_ms = 0;
  std::string summary;
  std::uint64_t sequence = 0;            // of the event it is about
  std::uint64_t last_sequence = 0;       // of the task's log
  std::optional<TaskApproval> approval;  // approval and question
};

// An approval or a question whose answer is on its way needs nobody. Of an approval only the sequence is known here, so
// its since_ms is the task's newest event: whoever can read the log corrects it.
std::vector<TaskNeed> needs_of(const Task& task, std::int64_t now_ms, std::chrono::milliseconds stall = kStallSilence);

// Whether a comes before b: approvals and questions by deadline, then age; then the other kinds, the longest wait
// first; of failures the newest.
bool more_urgent(const TaskNeed& a, const TaskNeed& b);

// A person may say that they have seen this; it then comes back when something new happens to the task.
bool can_be_dismissed(NeedKind kind);

}  // namespace shepherd
