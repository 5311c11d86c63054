#include "cli/agent_report.h"

#include <fmt/format.h>

#include <string>

#include "base/whole_file.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

std::string verdict_mark(const Output& out, harness::Verdict verdict) {
  switch (verdict) {
    case harness::Verdict::passed:
      return out.paint(Color::green, "pass");
    case harness::Verdict::failed:
      return out.paint(Color::red, "FAIL");
    case harness::Verdict::not_shown:
      return out.paint(Color::yellow, "warn");
    case harness::Verdict::skipped:
      break;
  }
  return out.paint(Color::dim, "skip");
}

// An agent's text may contain anything, including several lines.
std::string shown(const std::string& text) {
  std::string lines = terminal_text(text, Lines::keep);
  for (std::size_t at = 0; (at = lines.find('\n', at)) != std::string::npos; ++at) {
    lines.replace(at, 1, fmt::format("\n{:<27}", ""));
  }
  return lines;
}

void print(Output& out, const harness::Report& report) {
  for (const harness::CheckResult& check : report.checks()) {
    std::string took = check.took_ms < 0 ? "" : fmt::format(" ({:.1f} s)", static_cast<double>(check.took_ms) / 1000);
    out.line(fmt::format("{}  {:<20} {}{}", verdict_mark(out, check.verdict), check.id, check.title, took));
    for (const harness::Defect& defect : check.defects) {
      out.line(fmt::format("      {:<20} {}", "", out.paint(Color::red, shown(defect.code + ": " + defect.detail))));
    }
    if (check.verdict == harness::Verdict::not_shown)
      out.line(fmt::format("      {:<20} not shown: {}", "", check.note));
    if (check.verdict == harness::Verdict::skipped)
      out.line(fmt::format("      {:<20} not checked: {}", "", check.note));
  }
  out.line(fmt::format("\n{} passed, {} failed, {} not shown, {} not checked; {:.1f} s",
                       report.count(harness::Verdict::passed), report.count(harness::Verdict::failed),
                       report.count(harness::Verdict::not_shown), report.count(harness::Verdict::skipped),
                       static_cast<double>(report.duration_ms) / 1000));
}

}  // namespace

Result<ExitCode> give_report(Context& context, const harness::Report& report, const AgentReportForm& form) {
  if (!form.junit.empty()) {
    constexpr mode_t kReadableByAll = 0644;
    if (auto written = replace_file(form.junit, harness::to_junit(report), kReadableByAll); !written) {
      return fail(written.error());
    }
  }
  if (form.json) {
    context.out.json_line(harness::to_json(report));
  } else {
    print(context.out, report);
  }
  return report.failed() ? ExitCode::failed : ExitCode::ok;
}

}  // namespace shepherd
