#include "cli/transcript_import.h"

#include <fmt/format.h>

#include <boost/json.hpp>

#include "api/limits.h"
#include "base/clock.h"
#include "base/ids.h"
#include "driver/event_json.h"
#include "driver/registry/known_agent.h"
#include "json/scan.h"
#include "model/limits.h"
#include "outbox/limits.h"

namespace shepherd {
namespace {

namespace json = boost::json;

constexpr std::size_t kTitleCharacters = 120;
constexpr std::size_t kListPage = 500;

std::string title_of(const ImportedSession& session) {
  const KnownAgent* known = known_agent(session.agent);
  return std::string(known != nullptr ? known->title : std::string_view(session.agent));
}

// The label of tasks that an import made.
std::string source_of(const ImportedSession& session) {
  return session.agent + "-import";
}

std::string task_id(const ImportedSession& session, int number) {
  return session.agent + "-" + session.session_id + (number <= 1 ? "" : "-" + std::to_string(number));
}

// The next task id for the same session.
std::string next_task_id(const ImportedSession& session, const std::string& known) {
  int number = 1;
  while (number < kMaxSessionTasks && task_id(session, number) != known) ++number;
  return task_id(session, number + 1);
}

std::string session_body(const std::string& id, const ImportedSession& session, const std::string& resume_of) {
  std::string description = session.prompt;
  if (description.empty()) description = title_of(session) + " session";
  json::object labels{{"agent", session.agent}, {"source", source_of(session)}};
  if (!session.cwd.empty() && session.cwd.size() <= kMaxLabelBytes) labels["cwd"] = session.cwd;
  json::object body{
      {"id", id},
      {"title", one_line(description, kTitleCharacters)},
      {"task",
       json::object{{"description", description}, {"sourceType", session.agent}, {"sourceID", session.session_id}}},
      {"labels", std::move(labels)}};
  if (!resume_of.empty()) body["resumeOf"] = resume_of;
  return json::serialize(body);
}

}  // namespace

// Reads all tasks that belong to a session, once. A task created by a runner does not have the session's name.
Result<void> TranscriptImport::learn() {
  if (learned_) return {};
  Result<TaskList> page = client_.tasks({{"limit", std::to_string(kListPage)}});
  while (true) {
    if (!page) return fail(page.error());
    for (const TaskView& task : page->tasks) {
      std::string session = text_member(task.json, "sessionID");
      std::string_view work = find_member(task.json, "task");
      std::string type = text_member(work, "sourceType");
      if (session.empty() && (type == "claude" || type == "codex")) session = text_member(work, "sourceID");
      // Newest first, so the first one found is the current one.
      if (session.empty() || sessions_.contains(session)) continue;
      sessions_[session] = {task.id, text_member(find_member(task.json, "labels"), "source"), task.ended()};
    }
    if (page->next.empty()) break;
    page = client_.next_tasks(page->next);
  }
  learned_ = true;
  return {};
}

Result<TranscriptImport::Done> TranscriptImport::session(const ImportedSession& session, bool ended) {
  if (session.events.empty()) return Done{};
  if (!is_task_id(task_id(session, kMaxSessionTasks))) {
    return fail(ErrorCode::invalid_argument, "bad_session", "the session has no id that a task could have");
  }
  if (Result<void> learned = learn(); !learned) return fail(learned.error());
  auto found = sessions_.find(session.session_id);
  std::int64_t after_ms = -1;
  std::string id = task_id(session, 1);
  std::string resume_of;
  if (found != sessions_.end()) {
    const Known& known = found->second;
    if (known.source != source_of(session)) return add_totals(known, session);
    id = known.task;
    if (known.ended) {
      Result<std::int64_t> last = last_time(known.task);
      if (!last) return fail(last.error());
      if (session.last_ms <= *last) return Done{Outcome::unchanged, known.task, 0};
      after_ms = *last;
      resume_of = known.task;
      id = next_task_id(session, known.task);
    }
  }
  if (found == sessions_.end() || !resume_of.empty()) {
    Result<CreatedTask> created = client_.create_task(session_body(id, session, resume_of));
    if (!created && created.error().reason != "task_exists") return fail(created.error());
  }
  return add_events(id, session, after_ms, ended);
}

Result<TranscriptImport::Done> TranscriptImport::add_totals(const Known& known, const ImportedSession& session) {
  std::size_t usage = newest_usage(session);
  Done done{Outcome::totals, known.task, 0};
  if (usage == session.events.size()) return done;
  Result<std::uint64_t> added = post(known.task, {&session.events[usage].event});
  // A log that its runner closed already has the totals, because they came with the last turn.
  if (!added && added.error().code == ErrorCode::gone) return done;
  if (!added) return fail(added.error());
  done.added = *added;
  return done;
}

Result<std::int64_t> TranscriptImport::last_time(const std::string& task) {
  Result<LogPage> page = client_.events(task, {{"tail", "1"}});
  if (!page) return fail(page.error());
  if (page->events.empty()) return 0;
  return parse_timestamp(text_member(page->events.front(), "timestamp"));
}

Result<TranscriptImport::Done> TranscriptImport::add_events(const std::string& task, const ImportedSession& session,
                                                            std::int64_t after_ms, bool ended) {
  std::vector<const DriverEvent*> events;
  // The first event names the session, so another task of the session needs it too.
  for (const TranscriptEvent& each : session.events) {
    if (each.at_ms > after_ms || each.event.type == EventType::session_start) events.push_back(&each.event);
  }
  DriverEvent end = session_end(session);
  if (ended) events.push_back(&end);
  Result<std::uint64_t> added = post(task, events);
  if (!added) return fail(added.error());
  sessions_.insert_or_assign(session.session_id, Known{task, source_of(session), ended});
  return Done{*added > 0 ? Outcome::imported : Outcome::unchanged, task, *added};
}

Result<std::uint64_t> TranscriptImport::post(const std::string& task, const std::vector<const DriverEvent*>& events) {
  Result<TaskView> before = client_.task(task);
  if (!before) return fail(before.error());
  std::uint64_t last = before->last_sequence;
  std::string batch;
  std::size_t count = 0;
  auto flush = [&]() -> Result<void> {
    if (count == 0) return {};
    Result<Posted> posted = client_.post_events(task, batch);
    if (!posted) return fail(posted.error());
    last = std::max(last, posted->sequence);
    batch.clear();
    count = 0;
    return {};
  };
  for (const DriverEvent* event : events) {
    append_posted(batch, *event, 0);
    batch.push_back('\n');
    if (++count < kPostLines && batch.size() < kPostBytes) continue;
    if (Result<void> flushed = flush(); !flushed) return fail(flushed.error());
  }
  if (Result<void> flushed = flush(); !flushed) return fail(flushed.error());
  return last - before->last_sequence;
}

}  // namespace shepherd
