// What the checks of an agent have found. Every check has one verdict: the worst of what was noted for it.
//
//   passed      shown, and right
//   not_shown   the agent had no occasion, or does not do it, and nothing demands it: a warning
//   skipped     could not be tried (says why)
//   failed      breaks the protocol; `defect` is a stable word for what is wrong
//
// Threads: caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace shepherd::harness {

enum class Verdict { skipped, passed, not_shown, failed };
std::string_view name(Verdict verdict);

struct Defect {
  std::string code;    // "no_ack"
  std::string detail;  // for a person: what was seen, what was expected
};

struct CheckResult {
  std::string_view id, title;
  Verdict verdict = Verdict::skipped;
  std::string note;             // why it is not shown or was skipped
  std::vector<Defect> defects;  // of a failed one; each code once
};

class Report {
 public:
  Report();

  void pass(std::string_view check);
  void fail(std::string_view check, std::string_view defect, const std::string& detail);
  void not_shown(std::string_view check, std::string note);
  void skip(std::string_view check, std::string note);
  void skip_rest(const std::string& note);  // every check that nothing was noted for

  const std::vector<CheckResult>& checks() const { return checks_; }
  std::size_t count(Verdict verdict) const;
  bool has(std::string_view check, std::string_view defect) const;
  bool failed() const { return count(Verdict::failed) > 0; }

  std::string agent;  // what was tested
  std::int64_t duration_ms = 0;

 private:
  CheckResult& of(std::string_view check);
  std::vector<CheckResult> checks_;
};

// Text of an agent as any reader of the report can take it: lines and printable characters of UTF-8; each other byte
// becomes a question mark.
std::string readable(std::string_view text);

// For a program: one object, one line.
std::string to_json(const Report& report);
// For continuous integration: a test suite with a case per check. A check that is not shown is a skipped case.
std::string to_junit(const Report& report);

}  // namespace shepherd::harness
