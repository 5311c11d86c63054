// Hooks: reports of a person's own Claude Code session become a task. One transaction finds the session's task, opens
// it if there is none, and appends the report, so that concurrent calls do not create two tasks.
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "api/handlers.h"
#include "api/limits.h"
#include "api/session_append.h"
#include "api/session_task.h"
#include "base/clock.h"
#include "base/limits.h"
#include "driver/claude/hook.h"
#include "driver/event_json.h"
#include "json/slices.h"
#include "json/write.h"
#include "model/limits.h"
#include "model/task_source.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

// One hook call, ready to append. Drafts that only some tasks need are prepared beforehand, because decoding must not
// run on the writer's thread.
struct HookStep {
  ClaudeHook hook;
  DraftBatch drafts;
  DraftBatch joined;   // for a session that had already begun when its first hook arrived
  DraftBatch goes_on;  // for a session that was waiting
  std::string words;   // the prompt, redacted, for title and description
};

struct HookPost {
  std::vector<HookStep> steps;
  std::int64_t now_ms = 0;
};

bool nothing_inside(std::string_view, std::string_view) {
  return false;
}

Result<HookStep> read_step(std::string_view payload, const ApiParts& parts, std::int64_t now_ms) {
  Result<ClaudeHook> hook = read_claude_hook(payload, now_ms);
  if (!hook) return fail(hook.error());
  Intake intake;
  intake.redactor = parts.redaction();
  intake.condense = &parts.condense;
  intake.now_ms = now_ms;
  intake.keep_detail = parts.config.keep_detail;
  HookStep step;
  step.hook = *std::move(hook);
  Result<DraftBatch> drafts = drafts_of(step.hook.events, intake);
  if (!drafts) return fail(drafts.error());
  step.drafts = *std::move(drafts);
  if (step.hook.name != "SessionStart") {
    Result<DraftBatch> joined = drafts_of(std::vector{claude_session_joined(step.hook)}, intake);
    if (!joined) return fail(joined.error());
    step.joined = *std::move(joined);
  }
  if (step.hook.works) {
    Result<DraftBatch> goes_on = drafts_of(std::vector{claude_goes_on(step.hook)}, intake);
    if (!goes_on) return fail(goes_on.error());
    step.goes_on = *std::move(goes_on);
  }
  step.words = step.hook.prompt;
  if (const Redactor* redactor = parts.redaction()) {
    step.words = redactor->redact(step.words);
    for (TextDelta& delta : step.hook.deltas) delta.text = redactor->redact(delta.text);
  }
  return step;
}

// A body is one hook call, or an array of calls that a sender could not deliver before.
Result<std::vector<HookStep>> read_steps(const std::string& body, const ApiParts& parts, std::int64_t now_ms) {
  JsonSlices outer;
  std::vector<std::string> payloads;
  if (outer.parse(body, nothing_inside) && outer.root().kind == JsonKind::array) {
    for (const JsonNode* each = outer.first(outer.root()); each != nullptr; each = outer.after(*each)) {
      payloads.emplace_back(each->slice);
    }
  } else {
    payloads.push_back(body);
  }
  if (payloads.size() > kMaxHookBatch) {
    return fail(ErrorCode::too_large, "too_many_hooks",
                "At most " + std::to_string(kMaxHookBatch) + " hook calls go into one request.");
  }
  std::vector<HookStep> steps;
  for (std::size_t i = 0; i < payloads.size(); ++i) {
    Result<HookStep> step = read_step(payloads[i], parts, now_ms);
    if (!step) return fail(Error(step.error()).with("index", static_cast<std::int64_t>(i)));
    steps.push_back(*std::move(step));
  }
  return steps;
}

TaskSpec spec_of(const HookStep& step, const SessionTask& session) {
  TaskSpec spec;
  spec.id = session.free_id;
  std::string where = step.hook.cwd.empty() ? "" : " in " + step.hook.cwd;
  spec.description = "Claude Code session" + where;
  spec.title = title_of(step.words);
  spec.source_type = "claude";
  spec.source_id = step.hook.session_id;
  if (session.current) spec.resume_of = session.current->spec.id;
  spec.labels = {{"agent", "claude"}, {kSourceLabel, kHookSource}};
  if (!step.hook.cwd.empty() && step.hook.cwd.size() <= kMaxLabelBytes) spec.labels.emplace("cwd", step.hook.cwd);
  return spec;
}

// Whether a call means that the session continues in another task. A repeated call, or a call from before the end that
// arrives after it, must not open one.
bool goes_on_after(const TaskRow& ended, const ClaudeHook& hook) {
  auto label = ended.spec.labels.find(std::string(kEndLabel));
  if (label != ended.spec.labels.end()) {
    Result<std::int64_t> end = parse_timestamp(label->second);
    return hook.opens && !(end && hook.at_ms <= *end);
  }
  // The session did not report its end; the server inferred it from silence, so any later work disproves it.
  bool silent = ended.state.inferred_end;
  return silent ? (hook.opens || hook.works) && hook.at_ms > ended.state.completed_ms : hook.opens;
}

// From now on hooks tell the steps that have no id of the agent's: telemetry has them, too.
bool is_telemetry(const TaskRow& task) {
  auto source = task.spec.labels.find(kSourceLabel);
  return source != task.spec.labels.end() && source->second == kTelemetrySource;
}

Result<void> change_row(WriteTxn& txn, const std::string& id, const HookStep& step, bool takes_over) {
  if (step.words.empty() && !step.hook.ends && !takes_over) return {};
  Result<Task> task = txn.task(id);
  if (!task) return fail(task.error());
  TaskSpec& spec = task->spec;
  bool names = spec.title.empty() && !step.words.empty();
  if (names) spec.title = title_of(step.words);
  if (step.hook.ends) spec.labels.insert_or_assign(std::string(kEndLabel), format_timestamp(step.hook.at_ms));
  if (takes_over) spec.labels.insert_or_assign(kSourceLabel, kHookSource);
  if (!names && !step.hook.ends && !takes_over) return {};
  if (Result<Task> changed = txn.update_task(spec); !changed) return fail(changed.error());
  return {};
}

// Returns the task that received the call.
Result<std::string> take(WriteTxn& txn, const HookStep& step, std::int64_t now_ms) {
  const AgentSession by{"claude", step.hook.session_id};
  Result<SessionTask> session = find_session_task(txn, by);
  if (!session) return fail(session.error());
  std::optional<TaskRow>& current = session->current;
  bool ended = current && is_terminal(current->state.state);
  bool opens = !current || (ended && goes_on_after(*current, step.hook));
  if (opens) {
    Result<Created> created = txn.create_task(spec_of(step, *session), now_ms, "");
    if (!created) return fail(created.error());
    const Task& made = created->task;
    current = TaskRow{info_of(made.spec), made.state, made.created_ms};
    ++session->number;
    Result<std::uint64_t> joined = append_to_session(txn, current->spec.id, step.joined, {now_ms});
    if (!joined) return fail(joined.error());
  }
  if (Result<void> kept = keep_session_task(txn, by, *session); !kept) return fail(kept.error());
  const std::string& id = current->spec.id;
  if (!ended || opens) {
    if (Result<void> changed = change_row(txn, id, step, is_telemetry(*current)); !changed)
      return fail(changed.error());
  }
  Result<std::uint64_t> added = append_to_session(txn, id, step.drafts, {now_ms, step.hook.ends});
  if (added && *added > 0 && step.hook.works && waits(current->state.state)) {
    added = append_to_session(txn, id, step.goes_on, {now_ms});
  }
  if (!added) return fail(added.error());
  return id;
}

void publish_deltas(Journal& journal, const std::string& task, const HookStep& step) {
  for (const TextDelta& delta : step.hook.deltas) {
    std::string data = object_text([&](JsonObject& object) {
      object.text("block", delta.block);
      object.text("text", delta.text);
    });
    journal.publish_delta(task, std::move(data));
  }
}

}  // namespace

void post_claude_hooks(Call call) {
  Call::on_lane(&Lanes::intake, std::move(call), [](Call on_lane) {
    ApiParts& parts = on_lane.parts();
    auto post = std::make_shared<HookPost>();
    post->now_ms = parts.clock.wall_ms();
    Result<std::vector<HookStep>> steps = read_steps(on_lane.request().body, parts, post->now_ms);
    if (!steps) return on_lane.fail(steps.error());
    post->steps = *std::move(steps);
    on_lane.drop_request();
    parts.journal.write(
        [post](WriteTxn& txn) -> Result<std::vector<std::string>> {
          std::vector<std::string> tasks;
          for (const HookStep& step : post->steps) {
            Result<std::string> task = take(txn, step, post->now_ms);
            if (!task) return fail(task.error());
            tasks.push_back(*std::move(task));
          }
          return tasks;
        },
        [call = std::move(on_lane), post](Result<std::vector<std::string>> tasks) mutable {
          if (!tasks) return call.fail(tasks.error());
          for (std::size_t i = 0; i < tasks->size(); ++i) {
            publish_deltas(call.parts().journal, (*tasks)[i], post->steps[i]);
          }
          // The agent treats an answer as a decision about its own work; an empty object decides nothing.
          call.send_json(200, "{}");
        });
  });
}

}  // namespace shepherd
