#include "follow/bookkeeping.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/clock.h"
#include "follow/limits.h"
#include "json/scan.h"
#include "model/condense.h"
#include "model/task_fold.h"
#include "store/batch_fold.h"

namespace shepherd {
namespace {

constexpr std::int64_t kMinute = 60;

std::int64_t minute_of(std::int64_t wall_ms) {
  std::int64_t seconds = wall_ms / 1'000;
  return seconds - seconds % kMinute;
}

std::string text_of(std::string_view json, std::string_view key) {
  std::string text = string_value(find_member(json, key)).value_or("");
  if (text.size() > kMaxLedgerKeyBytes) text = first_characters(text, kMaxLedgerKeyBytes / 4);
  return text;
}

std::int64_t nano_usd(double usd) {
  return std::llround(usd * 1e9);
}

// The totals of an agent that starts counting anew fall; that never subtracts anything.
std::uint64_t grown(std::uint64_t before, std::uint64_t after) {
  return after > before ? after - before : 0;
}

LedgerAmounts difference(const TaskState& before, const TaskState& after) {
  LedgerAmounts amounts;
  amounts.nano_usd = std::max<std::int64_t>(0, nano_usd(after.usage.cost_usd) - nano_usd(before.usage.cost_usd));
  amounts.input_tokens = grown(before.usage.input_tokens, after.usage.input_tokens);
  amounts.output_tokens = grown(before.usage.output_tokens, after.usage.output_tokens);
  amounts.cache_read_tokens = grown(before.usage.cache_read_tokens, after.usage.cache_read_tokens);
  amounts.cache_write_tokens = grown(before.usage.cache_write_tokens, after.usage.cache_write_tokens);
  amounts.errors = grown(before.errors, after.errors);
  amounts.tool_calls = grown(before.tool_calls, after.tool_calls);
  bool unhappy = after.state == State::failed || after.state == State::timed_out;
  amounts.failed = unhappy && !is_terminal(before.state) ? 1 : 0;
  return amounts;
}

std::string call_key(const EventBatch& stored, std::string_view event) {
  return stored.task + ' ' + text_of(event, "callID");
}

}  // namespace

Result<Bookkeeping::Book*> Bookkeeping::book_of(const EventBatch& stored) {
  auto known = open_.find(stored.task);
  if (known != open_.end()) return &known->second;
  auto task = store_.row(stored.task);
  if (!task) {
    if (task.error().code == ErrorCode::not_found) return nullptr;  // deleted since
    return fail(task.error());
  }
  Book book;
  book.asked = {task->spec.agent, task->spec.model};
  auto fold = ledger_.state(stored.task);
  if (!fold) return fail(fold.error());
  book.unknown = fold->empty();
  if (!book.unknown) {
    book.state = decode_task_state(*fold);
  } else if (stored.first > 1) {
    // The task had already ended, or its beginning is gone: new usage adds to its stored state.
    book.state = task->state;
  }
  return &open_.emplace(stored.task, std::move(book)).first->second;
}

Result<void> Bookkeeping::enter(LedgerBatch& batch, const EventBatch& stored, std::uint64_t after) {
  std::size_t skip = after >= stored.position ? static_cast<std::size_t>(after - stored.position + 1) : 0;
  if (skip >= stored.size()) return {};
  auto found = book_of(stored);
  if (!found) return fail(found.error());
  if (*found == nullptr) return {};
  Book& book = **found;
  TaskState before = book.state;
  // Events that retention deleted were either added when they were read, or never will be.
  if (book.state.last_sequence + 1 != stored.first + skip) book.state.last_sequence = stored.first + skip - 1;
  if (auto folded = fold_batch(book.state, stored); !folded) return folded;
  book.changed = true;

  LedgerWho who = book.asked;
  if (who.model.empty()) who.model = book.state.model.substr(0, kMaxLedgerKeyBytes);
  LedgerAmounts& amounts = batch.amounts[{minute_of(stored.received_ms), who}];
  amounts += difference(before, book.state);
  amounts.events += stored.size() - skip;
  for (std::size_t i = skip; i < stored.size(); ++i) enter_event(batch, stored, i);

  bool begins = std::exchange(book.unknown, false);
  bool renamed = before.model != book.state.model;
  bool ends = is_terminal(book.state.state) && !is_terminal(before.state);
  if (begins || renamed || ends) {
    std::int64_t begun_ms = book.state.started_ms != 0 ? book.state.started_ms : stored.received_ms;
    batch.spans.push_back({stored.task, who, begun_ms, is_terminal(book.state.state) ? stored.received_ms : 0});
    if (ends) batch.ended.push_back({who, std::string(name(book.state.state)), begun_ms, book.state.completed_ms});
  }
  return {};
}

void Bookkeeping::enter_event(LedgerBatch& batch, const EventBatch& stored, std::size_t i) {
  EventType type = stored.types[i];
  std::string_view event = stored.event(i);
  if (type == EventType::finding) {
    std::string severity = text_of(find_member(event, "data"), "severity");
    batch.findings.push_back({stored.position + i, stored.task, stored.first + i, std::move(severity)});
  }
  if (type != EventType::tool_call && type != EventType::tool_result) return;
  std::string tool = text_of(event, "tool");
  if (tool.empty()) return;
  batch.tool_tasks.emplace(tool, stored.task);
  ToolUse& use = batch.tools[{minute_of(stored.received_ms), std::move(tool)}];
  if (type == EventType::tool_result) return enter_result(use, stored, event);
  ++use.calls;
  if (calls_.size() >= kMaxOpenToolCalls) calls_.clear();  // calls that never end; the others lose their start time
  if (auto at = parse_timestamp(text_of(event, "timestamp"))) calls_[call_key(stored, event)] = *at;
}

void Bookkeeping::enter_result(ToolUse& use, const EventBatch& stored, std::string_view event) {
  std::string_view output = find_member(event, "output");
  auto call = calls_.extract(call_key(stored, event));
  if (find_member(output, "denied") == "true") return;  // it never ran: neither a failure nor time of the tool
  if (find_member(output, "success") == "false") ++use.failures;
  if (auto said = number_value(find_member(event, "durationMS"))) {
    ++use.times[time_class(std::llround(*said))];
    return;
  }
  auto at = parse_timestamp(text_of(event, "timestamp"));
  if (!call.empty() && at) ++use.times[time_class(*at - call.mapped())];
}

void Bookkeeping::leave_states(LedgerBatch& batch) {
  for (auto book = open_.begin(); book != open_.end();) {
    bool ended = is_terminal(book->second.state.state);
    if (book->second.changed) {
      batch.states[book->first] = ended ? std::string() : encode_task_state(book->second.state);
      book->second.changed = false;
    }
    book = ended ? open_.erase(book) : std::next(book);
  }
  if (open_.size() > kMaxInboxTasks) open_.clear();  // the ledger has them
}

void Bookkeeping::start_over() {
  open_.clear();
  calls_.clear();
}

}  // namespace shepherd
