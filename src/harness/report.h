// The results of an agent's checks. Every check has one verdict: the worst one recorded for it.
//
//   passed      shown, and correct
//   not_shown   the agent had no occasion or does not support it, and nothing requires it: a warning
//   skipped     could not be tried; the note says why
//   failed      breaks the protocol; `defect` is a stable name for what is wrong
//
// Threads: caller.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd::harness {

enum class Verdict { skipped, passed, not_shown, failed };
std::string_view name(Verdict verdict);

struct Defect {
  std::string code;    // "no_ack"
  std::string detail;  // for a person: what was seen and what was expected
};

struct CheckResult {
  std::string_view id, title;
  Verdict verdict = Verdict::skipped;
  std::string note;             // why it was not shown or was skipped
  std::vector<Defect> defects;  // of a failed check; each code once
  std::int64_t took_ms = -1;    // -1: it has no time of its own
};

// A check that a report has: its stable name and what it says about an agent that passes.
struct CheckTitle {
  std::string_view id, title;
};

std::span<const CheckTitle> streaming_checks();  // of the protocol of streaming agents, in report order

class Report {
 public:
  explicit Report(std::span<const CheckTitle> checks = streaming_checks());

  void pass(std::string_view check);
  void fail(std::string_view check, std::string_view defect, const std::string& detail);
  void not_shown(std::string_view check, std::string note);
  void skip(std::string_view check, std::string note);
  void took(std::string_view check, std::int64_t ms);
  void skip_rest(const std::string& note);  // skips every check without a result or a note

  const std::vector<CheckResult>& checks() const { return checks_; }
  std::size_t count(Verdict verdict) const;
  bool has(std::string_view check, std::string_view defect) const;
  bool failed() const { return count(Verdict::failed) > 0; }

  std::string agent;  // the agent that was tested
  std::int64_t duration_ms = 0;

 private:
  CheckResult& of(std::string_view check);
  std::vector<CheckResult> checks_;
};

// An agent's text made safe for any reader of the report: lines and printable UTF-8 characters; every other byte
// becomes a question mark.
std::string readable(std::string_view text);

// One line with one object, for programs.
std::string to_json(const Report& report);
// A test suite with one case per check, for continuous integration. A check that was not shown is a skipped case.
std::string to_junit(const Report& report);

}  // namespace shepherd::harness
