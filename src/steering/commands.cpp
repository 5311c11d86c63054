#include "steering/commands.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "base/ids.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/condense.h"
#include "model/limits.h"
#include "model/task_commands.h"
#include "steering/limits.h"

namespace shepherd {
namespace {

bool is_command_id(std::string_view id) {
  return !id.empty() && id.size() <= kMaxCommandIdBytes && std::ranges::all_of(id, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' ||
           c == '-' || c == ':';
  });
}

Submitted as_submitted(const TaskCommand& command) {
  return {command.id, command.kind, command.state, command.reason, command.sequence};
}

Error task_ended(const TaskRow& task) {
  return Error{ErrorCode::conflict, "task_ended", "The task has ended; no agent is left to take a command.", {}}.with(
      "currentState", std::string(name(task.state.state)));
}

struct Outcome {
  Submitted submitted;
  bool repeated = false;  // the log already has a command with this id
};

// The command in an event's `data`, without its sender.
std::optional<std::string> words_in(std::string_view event) {
  auto command = decode_command(find_member(event, "data"));
  if (!command) return std::nullopt;
  command->by.clear();
  return encode_command(*command);
}

// Whether the command at that number of the log has the same content, as far as can be determined: retention may have
// deleted it.
bool is_same_command(const EventStore& store, const std::string& task, std::uint64_t sequence,
                     const PreparedCommand& prepared) {
  auto page = store.read(task, sequence - 1, {1, 1});
  if (!page || page->batches.empty() || page->batches.front()->first > sequence) return true;
  const EventBatch& batch = *page->batches.front();
  auto there = words_in(batch.event(static_cast<std::size_t>(sequence - batch.first)));
  auto here = words_in(prepared.event.drafts.body(prepared.event.drafts.drafts.front()));
  return !there || there == here;
}

Error command_id_reused(const std::string& id) {
  return {ErrorCode::conflict,
          "command_id_reused",
          "The task has another command with the id " + id + ". Use a new id for a new command.",
          {}};
}

Result<Outcome> submit_in(WriteTxn& txn, const std::string& id, const PreparedCommand& prepared, std::int64_t now_ms) {
  const Command& command = prepared.command;
  auto task = txn.row(id);
  if (!task) return fail(task.error());
  if (const TaskCommand* known = find_command(task->state, command.id)) return Outcome{as_submitted(*known), true};
  if (is_terminal(task->state.state)) return fail(task_ended(*task));
  auto open = std::ranges::count_if(task->state.commands, [&](const auto& each) { return is_open(task->state, each); });
  if (static_cast<std::size_t>(open) >= kMaxTaskCommands) {
    return fail(ErrorCode::rate_limited, "too_many_commands",
                std::to_string(kMaxTaskCommands) + " commands of this task are still open. Wait for one to settle.");
  }
  auto taken = has_taker(txn, *task);
  if (!taken) return fail(std::move(taken.error()));
  auto submitted = append_command(txn, *task, prepared, *taken, now_ms);
  if (!submitted) return fail(std::move(submitted.error()));
  return Outcome{std::move(*submitted), false};
}

}  // namespace

std::string encode_submitted(const std::string& task, const Submitted& submitted) {
  std::string out = object_text([&](JsonObject& object) {
    object.text("taskID", task);
    object.text("id", submitted.id);
    object.text("kind", name(submitted.kind));
    object.text("state", name(submitted.state));
    object.text_unless_empty("reason", submitted.reason);
    object.number("sequence", submitted.sequence);
  });
  return out;
}

CommandOutcome outcome_of(const TaskRow& task, const Command& command, bool taken) {
  bool begun = task.state.state != State::queued && task.state.state != State::starting;
  if (!taken) {
    if (command.kind == CommandKind::stop && !begun) return {CommandState::acknowledged, "", true};
    return {CommandState::refused, "no_runner", false};
  }
  if (!takes_command(task.state, command.kind)) return {CommandState::refused, "unsupported", false};
  if (!command.approval_id.empty()) {
    if (answer_to(task.state, command.approval_id) != nullptr) {
      return {CommandState::refused, "already_answered", false};
    }
    if (find_approval(task.state, command.approval_id) == nullptr) {
      return {CommandState::refused, "approval_not_open", false};
    }
  }
  return {};
}

Result<Submitted> append_command(WriteTxn& txn, const TaskRow& task, const PreparedCommand& prepared, bool taken,
                                 std::int64_t now_ms) {
  const std::string& id = task.spec.id;
  const Command& command = prepared.command;
  auto appended = txn.append(prepared.event);
  if (!appended) return fail(appended.error());
  if (appended->added == 0) {
    return fail(ErrorCode::conflict, "command_id_used", "A command with this id has settled long ago. Use a new id.");
  }
  Submitted submitted{command.id, command.kind, CommandState::accepted, "", appended->last_sequence};
  CommandOutcome outcome = outcome_of(task, command, taken);
  if (outcome.state == CommandState::accepted) return submitted;
  submitted.state = outcome.state;
  submitted.reason = outcome.reason;
  auto told = txn.append(command_result_event(id, command.id, outcome.state, outcome.reason, {}, now_ms));
  if (!told) return fail(told.error());
  if (!outcome.cancels) return submitted;
  std::string message = "stopped before it began";
  if (!prepared.reason.empty()) message.append(": ").append(truncated(prepared.reason, kMaxSummaryCharacters));
  auto ended = txn.append(status_event(id, State::cancelled, message, {}, {}, now_ms));
  if (!ended) return fail(ended.error());
  return submitted;
}

void Commands::submit(std::string task, Command command, Done<Submitted> done) {
  std::int64_t now_ms = clock_.wall_ms();
  if (command.id.empty()) command.id = "cmd-" + make_sortable_id(now_ms, random_);
  if (!is_command_id(command.id)) {
    return done(fail(ErrorCode::invalid_argument, "bad_command_id",
                     "A command's \"id\" has 1 to " + std::to_string(kMaxCommandIdBytes) +
                         " characters of A-Z, a-z, 0-9, dot, colon, underscore and dash."));
  }
  auto made = prepare_command(task, std::move(command), redactor_, now_ms);
  if (!made) return done(fail(std::move(made.error())));
  auto prepared = std::make_shared<const PreparedCommand>(std::move(*made));
  journal_.write(
      [task, prepared, now_ms](WriteTxn& txn) { return submit_in(txn, task, *prepared, now_ms); },
      [this, task, prepared, done = std::move(done)](Result<Outcome> outcome) mutable {
        if (!outcome) return done(fail(outcome.error()));
        if (!outcome->repeated) return done(std::move(outcome->submitted));
        // A repeat is rare. Its first event is certainly committed now; a worker reads it back, not the
        // writer.
        workers_.post([this, task, prepared, answer = std::move(outcome->submitted), done = std::move(done)]() mutable {
          if (is_same_command(journal_.store(), task, answer.sequence, *prepared)) return done(std::move(answer));
          done(fail(command_id_reused(prepared->command.id)));
        });
      });
}

}  // namespace shepherd
