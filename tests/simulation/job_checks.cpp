#include "job_checks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <charconv>
#include <set>
#include <utility>

#include "json/scan.h"
#include "model/task_commands.h"
#include "model/wire_json.h"
#include "outbound/callback_reports.h"
#include "outbound/callback_store.h"
#include "sim_consumer.h"
#include "views/needs.h"

namespace shepherd::simulation {
namespace {

std::vector<TaskRow> all_rows(const EventStore& truth) {
  TaskFilter all;
  all.limit = 1'000;
  auto rows = truth.rows(all);
  EXPECT_TRUE(rows.has_value());
  return rows ? *std::move(rows) : std::vector<TaskRow>();
}

// Reads a log as its events say it, without the fold.
class LogReader {
 public:
  explicit LogReader(std::string task) : task_(std::move(task)) {}

  void read(std::string_view json) {
    auto event = parse_event(json);
    ASSERT_TRUE(event.has_value());
    where_ = task_ + " at " + std::to_string(event->sequence) + " (" + event->summary + ")";
    std::string_view data = find_member(json, "data");
    if (event->type == EventType::status) read_status(*event, data);
    if (event->summary.starts_with('@')) check_lease(event->summary);
    if (event->type == EventType::command) {
      EXPECT_TRUE(commands.insert(text(data, "id")).second) << where_ << ": the command is there twice";
    }
    if (event->type == EventType::command_result) read_result(*event, data);
  }

  std::set<std::string> commands;
  bool ended = false;

 private:
  static std::string text(std::string_view data, std::string_view key) {
    return string_value(find_member(data, key)).value_or("");
  }

  void read_status(const EventView& event, std::string_view data) {
    auto state = state_named(text(data, "state"));
    if (!find_member(data, "leaseEpoch").empty()) {
      EXPECT_TRUE(queued_ && !ended) << where_ << ": another runner has it";
      std::uint64_t epoch = count_value(find_member(data, "leaseEpoch")).value_or(0);
      EXPECT_GT(epoch, epoch_) << where_ << ": the lease is not newer than the one before";
      epoch_ = epoch;
      queued_ = false;
    } else if (state == State::queued) {
      queued_ = true;
    }
    if (!state || !is_terminal(*state) || event.late) return;
    EXPECT_FALSE(ended) << where_ << ": it has ended before";
    ended = true;
  }

  // "@r1 7 3": the third event of runner 1 under lease 7.
  void check_lease(std::string_view tag) {
    tag.remove_prefix(std::min(tag.find(' ') + 1, tag.size()));
    std::uint64_t epoch = 0;
    std::from_chars(tag.data(), tag.data() + tag.size(), epoch);
    EXPECT_EQ(epoch, epoch_) << where_ << ": of a lease that is over";
    EXPECT_TRUE(!queued_ || ended) << where_ << ": of no lease";  // after the end its last runner may still tell
  }

  void read_result(const EventView& event, std::string_view data) {
    std::string state = text(data, "state");
    if (state == "accepted" || state == "delivered") return;
    bool first = settled_.insert(text(data, "id")).second;
    // A runner may answer what has expired on the way to it.
    EXPECT_TRUE(first || event.summary.starts_with('@')) << where_ << ": the command has settled before";
  }

  const std::string task_;
  std::string where_;
  std::uint64_t epoch_ = 0;
  bool queued_ = true;
  std::set<std::string> settled_;
};

}  // namespace

void check_job_log(const EventStore& truth, const TaskRow& job, const SimOperator& people) {
  const std::string& id = job.spec.id;
  auto page = truth.read(id, 0, kEverything);
  ASSERT_TRUE(page.has_value());
  LogReader log(id);
  for (const BatchPtr& batch : page->batches) {
    for (std::size_t i = 0; i < batch->size(); ++i) log.read(batch->event(i));
  }
  EXPECT_TRUE(is_terminal(job.state.state) && log.ended) << id << " is " << name(job.state.state);
  EXPECT_TRUE(job.state.approvals.empty()) << id << " waits for an approval";
  for (const TaskCommand& command : job.state.commands) {
    EXPECT_FALSE(is_open(job.state, command)) << id << ": command " << command.id << " is " << name(command.state);
  }
  for (const auto& [place, sent] : people.commands()) {
    if (place.first != id || sent.created_ms != job.created_ms) continue;
    EXPECT_TRUE(log.commands.contains(place.second)) << id << ": acknowledged command " << place.second << " is gone";
  }
}

void check_job_callbacks(const EventStore& truth, const TaskRow& job, const Replica& replica,
                         const SimReceiver& receiver) {
  if (job.spec.callback_url.empty()) return;
  const std::string& id = job.spec.id;
  std::string webhook = id + "." + std::to_string(job.created_ms);
  EXPECT_TRUE(receiver.accepted(webhook)) << webhook << " was not told";
  auto record = replica.steering->callbacks().find(id);
  EXPECT_TRUE(record && record->state == CallbackRecord::State::sent)
      << "a replica does not know that " << id << " was told";
  if (job.spec.callback_events.empty()) return;
  CallbackCursor cursor;
  std::vector<CallbackPlace> reports;
  ASSERT_TRUE(find_reports(truth, job, cursor, reports));
  for (const CallbackPlace& place : reports) {
    EXPECT_TRUE(receiver.accepted(webhook + "." + std::to_string(place.sequence)))
        << webhook << ": report " << place.sequence;
  }
}

void check_deleted_job(const EventStore& truth, const std::string& job, const Replica& replica) {
  EXPECT_FALSE(replica.steering->callbacks().find(job)) << job;
  EXPECT_TRUE(replica.inbox->needs(job).empty()) << job;
  EXPECT_EQ(*truth.record("lease_token", job), "") << job;
}

void check_records(const EventStore& truth) {
  auto leases = truth.leases(LeaseKind::task);
  EXPECT_TRUE(leases && leases->empty()) << "a lease on " << leases->front().key.name << " is left";
  auto records = truth.records(kCallbackRecords);
  for (const auto& [key, text] : *records) {
    auto row = truth.row(callback_place(key).task);
    bool lives = row && decode_callback_record(text).created_ms == row->created_ms;
    EXPECT_TRUE(lives) << "the callback " << key << " has no task";
    EXPECT_NE(decode_callback_record(text).state, CallbackRecord::State::pending) << key;
  }
  auto cursors = truth.records(kCallbackCursors);
  for (const auto& [task, text] : *cursors) {
    ADD_FAILURE() << task << " has ended and keeps the cursor " << text;
  }
}

void check_inbox(const EventStore& truth, const Replica& replica, std::int64_t now_ms) {
  using Entry = std::pair<std::string, NeedKind>;
  std::set<Entry> wanted, listed;
  for (const TaskRow& row : all_rows(truth)) {
    for (const TaskNeed& need : needs_of(row, now_ms)) wanted.insert({need.task, need.kind});
  }
  for (const TaskNeed& need : replica.inbox->needs("")) listed.insert({need.task, need.kind});
  auto is_stalled = [](const Entry& entry) { return entry.second == NeedKind::stalled; };  // found by sweeps alone
  std::erase_if(wanted, is_stalled);
  std::erase_if(listed, is_stalled);
  EXPECT_EQ(listed, wanted) << "the inbox of a replica";
}

void check_nothing_expired(const EventStore& truth, std::int64_t now_ms) {
  for (const TaskRow& row : all_rows(truth)) {
    if (is_terminal(row.state.state)) continue;
    for (const TaskCommand& command : row.state.commands) {
      bool expired = command.state == CommandState::accepted && command.expires_ms != 0 && command.expires_ms <= now_ms;
      EXPECT_FALSE(expired) << row.spec.id << ": a runner would take " << command.id << ", which has expired";
    }
  }
}

}  // namespace shepherd::simulation
