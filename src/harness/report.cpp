#include "harness/report.h"

#include <algorithm>

#include "base/assert.h"

namespace shepherd::harness {
namespace {

constexpr const char* kNotTried = "not tried";

constexpr CheckTitle kChecks[] = {
    {"alive", "The agent stays up"},
    {"start", "A start is answered with RUNNING"},
    {"completion", "A run ends with one terminal status, and nothing after it"},
    {"payload", "Every message says something"},
    {"sequence", "Sequence numbers are 1, 2, 3, … in each stream"},
    {"trace", "Every message has the stream's trace id and a span id"},
    {"trace_continued", "The caller's traceparent is continued"},
    {"timestamps", "Every message has its time in milliseconds"},
    {"output", "Output is streamed"},
    {"reasoning", "Reasoning is marked as such"},
    {"batching", "Small pieces of output are joined"},
    {"tool_calls", "Tool calls and results belong together"},
    {"findings", "Findings are JSON objects with a title and a severity"},
    {"errors", "A non-fatal error does not end the stream, a fatal one fails it"},
    {"steering", "Every steering message is acknowledged once"},
    {"interrupt", "An interrupt is answered with INTERRUPTED, then the resume is waited for"},
    {"resume", "A resume lets the work go on"},
    {"close", "A stream closed while interrupted ends"},
    {"mode", "A mode switch keeps the stream going"},
    {"waiting", "An interactive agent waits for input, and only then"},
    {"bad_first_message", "A stream without a start is refused, best with INVALID_ARGUMENT"},
    {"bad_task", "A broken task_json is refused, best with INVALID_ARGUMENT"},
    {"cancel", "A cancelled stream's work ends"},
    {"shutdown", "SIGTERM: running streams get INTERRUPTED, the agent ends"},
    {"health", "gRPC health answers SERVING"},
    {"reflection", "gRPC reflection lists the service"},
};

}  // namespace

std::string_view name(Verdict verdict) {
  switch (verdict) {
    case Verdict::skipped:
      return "skipped";
    case Verdict::passed:
      return "passed";
    case Verdict::not_shown:
      return "not_shown";
    case Verdict::failed:
      return "failed";
  }
  return "skipped";
}

std::span<const CheckTitle> streaming_checks() {
  return kChecks;
}

Report::Report(std::span<const CheckTitle> checks) {
  for (const CheckTitle& check : checks) {
    checks_.push_back({.id = check.id, .title = check.title, .note = kNotTried, .defects = {}, .took_ms = -1});
  }
}

CheckResult& Report::of(std::string_view check) {
  auto found = std::find_if(checks_.begin(), checks_.end(), [&](const CheckResult& each) { return each.id == check; });
  SHEPHERD_ASSERT(found != checks_.end(), "a check is noted under its name in the list");
  return *found;
}

void Report::pass(std::string_view check) {
  CheckResult& result = of(check);
  if (result.verdict == Verdict::failed) return;
  result.verdict = Verdict::passed;  // one success is enough
  result.note.clear();
}

void Report::fail(std::string_view check, std::string_view defect, const std::string& detail) {
  CheckResult& result = of(check);
  result.verdict = Verdict::failed;
  result.note.clear();
  auto same = [&](const Defect& each) { return each.code == defect; };
  if (std::none_of(result.defects.begin(), result.defects.end(), same)) {
    result.defects.push_back({std::string(defect), readable(detail)});
  }
}

void Report::not_shown(std::string_view check, std::string note) {
  CheckResult& result = of(check);
  if (result.verdict != Verdict::skipped) return;
  result.verdict = Verdict::not_shown;
  result.note = std::move(note);
}

void Report::skip(std::string_view check, std::string note) {
  CheckResult& result = of(check);
  if (result.verdict == Verdict::skipped) result.note = std::move(note);
}

void Report::took(std::string_view check, std::int64_t ms) {
  of(check).took_ms = ms;
}

void Report::skip_rest(const std::string& note) {
  for (CheckResult& check : checks_) {
    if (check.verdict == Verdict::skipped && check.note == kNotTried) check.note = note;
  }
}

bool Report::has(std::string_view check, std::string_view defect) const {
  return std::any_of(checks_.begin(), checks_.end(), [&](const CheckResult& each) {
    return each.id == check && std::any_of(each.defects.begin(), each.defects.end(),
                                           [&](const Defect& known) { return known.code == defect; });
  });
}

std::size_t Report::count(Verdict verdict) const {
  return static_cast<std::size_t>(
      std::count_if(checks_.begin(), checks_.end(), [&](const CheckResult& each) { return each.verdict == verdict; }));
}

}  // namespace shepherd::harness
