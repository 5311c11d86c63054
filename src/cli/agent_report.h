// The report of `shepherd agent test`, for people or programs. Threads: caller.
#pragma once

#include <string>

#include "base/result.h"
#include "cli/context.h"
#include "harness/report.h"

namespace shepherd {

struct AgentReportForm {
  bool json = false;
  std::string junit;  // also written to this file
};

// Prints it. The exit code says whether a check failed. Fails if the file cannot be written.
Result<ExitCode> give_report(Context& context, const harness::Report& report, const AgentReportForm& form);

}  // namespace shepherd
