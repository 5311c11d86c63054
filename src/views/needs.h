// What a task needs a person for, derived from its state alone.
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

// Most urgent first.
enum class NeedKind : std::uint8_t {
  approval,  // the agent asks for permission
  question,  // the agent asks a question
  waiting,   // the agent waits for input
  stalled,   // claims to work, but no event arrived for a while (kStallSilence, or as configured)
  failed,    // failed within kInboxShowsFailed
};
std::string_view name(NeedKind kind);

struct TaskNeed {
  std::string task, title, agent, model;
  NeedKind kind = NeedKind::approval;
  std::int64_t since_ms = 0;
  std::string summary;
  std::uint64_t sequence = 0;            // of the event that it is about
  std::uint64_t last_sequence = 0;       // of the task's log
  std::optional<TaskApproval> approval;  // approval and question
};

// An approval or a question that is already answered needs no person. The state has only an approval's sequence, so its
// since_ms is the time of the task's newest event; a caller that can read the log corrects it.
std::vector<TaskNeed> needs_of(const TaskRow& task, std::int64_t now_ms,
                               std::chrono::milliseconds stall = kStallSilence);

// Whether a comes before b: first approvals and questions by deadline, then by age; then the other kinds, longest wait
// first, but newest failure first.
bool more_urgent(const TaskNeed& a, const TaskNeed& b);

// Whether a person can dismiss this kind of need. It returns when something new happens to the task.
bool can_be_dismissed(NeedKind kind);

}  // namespace shepherd
