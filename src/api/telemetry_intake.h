// A session's telemetry on its way into a task: prepared outside the transaction, then joined and appended inside.
//
// Telemetry is the only source of some tasks; others are told by a stream or by hooks. Then only the steps that have
// the same id there are appended, which the store recognises, or none; figures are told as long as no other source
// tells them. Threads: value; take() and forget_telemetry() inside a transaction.
#pragma once

#include <cstdint>
#include <string>

#include "api/core.h"
#include "base/result.h"
#include "driver/telemetry.h"
#include "model/draft.h"
#include "model/wire_json.h"
#include "store/event_store.h"

namespace shepherd {

class TelemetryIntake {
 public:
  // Decodes its events, and looks for the task of a runner that has the session. Blocking.
  static Result<TelemetryIntake> prepare(SessionTelemetry session, const ApiParts& parts, std::int64_t now_ms);

  Result<void> take(WriteTxn& txn) const;

 private:
  enum class Told : std::uint8_t { here, by_hooks, elsewhere };  // who tells the task's steps

  Result<TaskRow> join(WriteTxn& txn) const;
  Result<TaskRow> open(WriteTxn& txn, const std::string& id, const TaskRow* before) const;
  Result<Told> teller(WriteTxn& txn, const TaskRow& task) const;
  Result<void> take_steps(WriteTxn& txn, const TaskRow& task, Told told, class TelemetryTotals& totals) const;
  Result<void> take_figures(WriteTxn& txn, const TaskRow& task, TelemetryTotals& totals) const;
  bool goes_on_after(const TaskRow& ended) const;

  SessionTelemetry session_;
  Intake intake_;
  std::string words_;         // the prompt, redacted, for the title
  std::string watched_task_;  // a task with another name than the session's that has it; usually empty
  std::int64_t newest_work_ms_ = 0, turn_end_ms_ = 0;
  DraftBatch all_, named_, turn_end_, joined_, goes_on_;
};

// What is kept of a task's telemetry goes with the task.
Result<void> forget_telemetry(WriteTxn& txn, const std::string& task);

}  // namespace shepherd
