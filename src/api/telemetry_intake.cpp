#include "api/telemetry_intake.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

#include "api/limits.h"
#include "api/session_append.h"
#include "api/session_task.h"
#include "base/clock.h"
#include "driver/event_json.h"
#include "driver/telemetry_totals.h"
#include "driver/usage_data.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/task_source.h"
#include "model/usage_json.h"
#include "views/session_tasks.h"

namespace shepherd {
namespace {

constexpr const char* kTelemetryRecords = "telemetry";

// A task's record: what is known of each of its sessions, as an object by session.
using SessionRecords = std::map<std::string, std::string>;

SessionRecords session_records(std::string_view record) {
  SessionRecords sessions;
  for (JsonMembers members(record); members.next();) sessions.emplace(members.key(), members.value());
  return sessions;
}

std::string record_text(const SessionRecords& sessions) {
  return object_text([&](JsonObject& object) {
    for (const auto& [session, totals] : sessions) object.json(session, totals);
  });
}

std::string source_of(const TaskRow& task) {
  auto source = task.spec.labels.find(kSourceLabel);
  return source == task.spec.labels.end() ? std::string() : source->second;
}

bool same_cost(double a, double b) {
  return std::abs(a - b) <= 1e-9 * std::max(1.0, std::max(std::abs(a), std::abs(b)));
}
bool same_tokens(const Usage& a, const Usage& b) {
  return a.input_tokens == b.input_tokens && a.output_tokens == b.output_tokens &&
         a.cache_read_tokens == b.cache_read_tokens && a.cache_write_tokens == b.cache_write_tokens;
}

// `data` of the usage event, with what is ours to tell.
std::string figures_of(const UsageData& usage, bool cost, bool tokens) {
  if (!tokens) return object_text([&](JsonObject& object) { object.number("costUSD", usage.total.cost_usd); });
  UsageData told = usage;
  told.cost_known = cost && usage.cost_known;
  return object_text([&](JsonObject& object) {
    if (told.cost_known) object.number("costUSD", told.total.cost_usd);
    object.number("inputTokens", told.total.input_tokens);
    object.number("outputTokens", told.total.output_tokens);
    object.number("cacheReadTokens", told.total.cache_read_tokens);
    object.number("cacheWriteTokens", told.total.cache_write_tokens);
    if (told.total.api_calls > 0) object.number("apiCalls", told.total.api_calls);
    object.json("models", encode_usage_models(told));
    object.text("source", "telemetry");
  });
}

}  // namespace

Result<TelemetryIntake> TelemetryIntake::prepare(SessionTelemetry session, const ApiParts& parts, std::int64_t now_ms) {
  TelemetryIntake made;
  made.session_ = std::move(session);
  made.intake_ = {.redactor = parts.redaction(),
                  .condense = &parts.condense,
                  .now_ms = now_ms,
                  .keep_detail = parts.config.keep_detail};
  std::vector<DriverEvent> all, named, turn_end;
  std::int64_t first = now_ms;
  for (TelemetryStep& step : made.session_.steps) {
    first = std::min(first, step.at_ms);
    if (step.waits) {
      made.turn_end_ms_ = step.at_ms;
      turn_end = {std::move(step.event)};
      continue;
    }
    if (step.named) named.push_back(step.event);
    all.push_back(std::move(step.event));
  }
  made.newest_work_ms_ = made.session_.newest_work_ms();
  auto decode = [&](DraftBatch& into, const std::vector<DriverEvent>& events) -> Result<void> {
    auto drafts = drafts_of(events, made.intake_);
    if (!drafts) return fail(drafts.error());
    into = *std::move(drafts);
    return {};
  };
  std::pair<DraftBatch*, std::vector<DriverEvent>> batches[] = {
      {&made.all_, std::move(all)},
      {&made.named_, std::move(named)},
      {&made.turn_end_, std::move(turn_end)},
      {&made.joined_, {telemetry_joined(made.session_, first)}},
      {&made.goes_on_, {telemetry_goes_on(made.session_, made.newest_work_ms_ > 0 ? made.newest_work_ms_ : now_ms)}},
  };
  for (const auto& [into, events] : batches) {
    if (auto decoded = decode(*into, events); !decoded) return fail(decoded.error());
  }
  made.session_.steps.clear();
  made.words_ = made.session_.prompt;
  if (made.intake_.redactor != nullptr) made.words_ = made.intake_.redactor->redact(made.words_);

  const EventStore& store = parts.journal.store();
  auto own = store.row(made.session_.agent + "-" + made.session_.session_id);
  if (own || !made.session_.task.empty()) return made;
  if (own.error().code != ErrorCode::not_found) return fail(own.error());
  auto tasks = tasks_of_session(store, made.session_.session_id);
  if (tasks) {
    made.watched_task_ = tasks->front().spec.id;
  } else if (tasks.error().code != ErrorCode::not_found) {
    return fail(tasks.error());
  }
  return made;
}

// By the clock of the session's machine where its end is known by that, otherwise by ours.
bool TelemetryIntake::goes_on_after(const TaskRow& ended) const {
  auto label = ended.spec.labels.find(std::string(kEndLabel));
  std::int64_t end = ended.state.completed_ms;
  if (label != ended.spec.labels.end()) end = parse_timestamp(label->second).value_or(end);
  return newest_work_ms_ > end;
}

Result<TaskRow> TelemetryIntake::open(WriteTxn& txn, const std::string& id, const TaskRow* before) const {
  TaskSpec spec;
  spec.id = id;
  spec.description = session_.program + " session";
  spec.title = title_of(words_);
  spec.source_type = session_.agent;
  spec.source_id = session_.session_id;
  if (before != nullptr) spec.resume_of = before->spec.id;
  spec.labels = {{"agent", session_.agent}, {kSourceLabel, kTelemetrySource}};
  Result<Created> created = txn.create_task(spec, intake_.now_ms, "");
  if (!created) return fail(created.error());
  const Task& made = created->task;
  auto joined = append_to_session(txn, id, joined_, {intake_.now_ms});
  if (!joined) return fail(joined.error());
  return TaskRow{info_of(made.spec), made.state, made.created_ms};
}

Result<TaskRow> TelemetryIntake::join(WriteTxn& txn) const {
  if (const std::string& named = session_.task.empty() ? watched_task_ : session_.task; !named.empty()) {
    Result<TaskRow> task = txn.row(named);
    bool gone = !task && task.error().code == ErrorCode::not_found;
    if (!task && !gone) return task;
    // What runs on under the name that its sender gave it is still that task.
    bool over = !gone && session_.task.empty() && is_terminal(task->state.state) && goes_on_after(*task);
    if (!gone && !over) return task;
  }
  const AgentSession by{session_.agent, session_.session_id};
  Result<SessionTask> session = find_session_task(txn, by);
  if (!session) return fail(session.error());
  const std::optional<TaskRow>& current = session->current;
  if (current && !(is_terminal(current->state.state) && goes_on_after(*current))) return *current;
  ++session->number;
  if (Result<void> kept = keep_session_task(txn, by, *session); !kept) return fail(kept.error());
  return open(txn, session->free_id, current ? &*current : nullptr);
}

Result<TelemetryIntake::Told> TelemetryIntake::teller(WriteTxn& txn, const TaskRow& task) const {
  std::string source = source_of(task);
  if (task.state.claims > 0 || !task.spec.agent.empty()) return Told::elsewhere;
  if (source == kHookSource) return Told::by_hooks;
  if (source == kTelemetrySource) return Told::here;
  // A task that its creator meant for this session: it has no events yet.
  if (task.state.last_sequence != 0 || !source.empty()) return Told::elsewhere;
  Result<Task> whole = txn.task(task.spec.id);
  if (!whole) return fail(whole.error());
  whole->spec.labels.insert_or_assign(kSourceLabel, kTelemetrySource);
  if (Result<Task> changed = txn.update_task(whole->spec); !changed) return fail(changed.error());
  auto joined = append_to_session(txn, task.spec.id, joined_, {intake_.now_ms});
  if (!joined) return fail(joined.error());
  return Told::here;
}

Result<void> TelemetryIntake::take_steps(WriteTxn& txn, const TaskRow& task, Told told, TelemetryTotals& totals) const {
  const std::string& id = task.spec.id;
  SessionAppend how{intake_.now_ms};
  if (told == Told::by_hooks) {
    auto added = append_to_session(txn, id, named_, how);
    if (!added) return fail(added.error());
    return {};
  }
  auto added = append_to_session(txn, id, all_, how);
  // Exports overlap: steps of a turn may come after its end.
  bool newer = newest_work_ms_ > totals.turn_end_ms;
  if (added && *added > 0 && newer && waits(task.state.state)) added = append_to_session(txn, id, goes_on_, how);
  totals.newest_work_ms = std::max(totals.newest_work_ms, newest_work_ms_);
  if (added && turn_end_ms_ >= totals.newest_work_ms) {
    totals.turn_end_ms = turn_end_ms_;
    added = append_to_session(txn, id, turn_end_, how);
  }
  if (!added) return fail(added.error());
  if (words_.empty()) return {};
  Result<Task> whole = txn.task(id);
  if (!whole) return fail(whole.error());
  if (!whole->spec.title.empty()) return {};
  whole->spec.title = title_of(words_);
  if (Result<Task> changed = txn.update_task(whole->spec); !changed) return fail(changed.error());
  return {};
}

Result<void> TelemetryIntake::take_figures(WriteTxn& txn, const TaskRow& task, TelemetryTotals& totals) const {
  bool grew = false;
  for (const TelemetryCall& call : session_.calls) grew = totals.add(call) || grew;
  for (const TelemetrySum& sum : session_.sums) grew = totals.add(sum) || grew;
  if (!grew) return {};
  auto known = task.state.usage_by_session.find(session_.session_id);
  Usage shown = known == task.state.usage_by_session.end() ? Usage() : known->second;
  UsageData usage = totals.usage();
  bool cost = usage.cost_known && (shown.cost_usd == 0 || same_cost(shown.cost_usd, totals.told.cost_usd));
  bool tokens = total_tokens(usage.total) > 0 && (total_tokens(shown) == 0 || same_tokens(shown, totals.told));
  bool news = (cost && !same_cost(usage.total.cost_usd, totals.told.cost_usd)) ||
              (tokens && !same_tokens(usage.total, totals.told));
  if (!news) return {};
  std::string data = figures_of(usage, cost, tokens);
  EventParts parts;
  parts.type = EventType::usage;
  parts.timestamp_ms = intake_.now_ms;
  parts.session_id = session_.session_id;
  parts.summary = "Used so far, by its telemetry";
  parts.data = data;
  std::vector<DriverEvent> event{make_event(parts)};
  auto drafts = drafts_of(event, intake_);
  if (!drafts) return fail(drafts.error());
  auto added = append_to_session(txn, task.spec.id, *drafts, {intake_.now_ms});
  if (!added) return fail(added.error());
  if (cost) totals.told.cost_usd = usage.total.cost_usd;
  if (tokens) {
    double told_cost = totals.told.cost_usd;
    totals.told = usage.total;
    totals.told.cost_usd = told_cost;
  }
  return {};
}

Result<void> TelemetryIntake::take(WriteTxn& txn) const {
  Result<TaskRow> task = join(txn);
  if (!task) return fail(task.error());
  Result<Told> told = teller(txn, *task);
  if (!told) return fail(told.error());
  Result<std::string> record = txn.record(kTelemetryRecords, task->spec.id);
  if (!record) return fail(record.error());
  SessionRecords records = session_records(*record);
  if (!records.contains(session_.session_id) && records.size() >= kMaxTelemetrySessions) return {};
  std::string& kept = records[session_.session_id];
  TelemetryTotals totals = TelemetryTotals::decode(kept);
  if (*told != Told::elsewhere) {
    if (auto taken = take_steps(txn, *task, *told, totals); !taken) return taken;
  }
  if (auto taken = take_figures(txn, *task, totals); !taken) return taken;
  std::string changed = totals.encode();
  if (changed == kept) return {};
  kept = std::move(changed);
  return txn.put_record(kTelemetryRecords, task->spec.id, record_text(records));
}

Result<void> forget_telemetry(WriteTxn& txn, const std::string& task) {
  Result<std::string> record = txn.record(kTelemetryRecords, task);
  if (!record) return fail(record.error());
  return record->empty() ? Result<void>() : txn.put_record(kTelemetryRecords, task, "");
}

}  // namespace shepherd
