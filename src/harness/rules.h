// Rules that every stream must follow, whatever the harness did to it. Each rule checks one transcript and reports its
// findings.
// Threads: caller.
#pragma once

#include "harness/report.h"
#include "harness/transcript.h"

namespace shepherd::harness {

void check_rules(const Transcript& transcript, Report& report);

// The single rules.
void check_sequence(const Transcript& transcript, Report& report);
void check_trace(const Transcript& transcript, Report& report);
void check_timestamps(const Transcript& transcript, Report& report);
void check_output(const Transcript& transcript, Report& report);
void check_tools(const Transcript& transcript, Report& report);
void check_payloads(const Transcript& transcript, Report& report);
void check_findings(const Transcript& transcript, Report& report);
void check_acks(const Transcript& transcript, Report& report);
void check_end(const Transcript& transcript, Report& report);  // completion and errors

}  // namespace shepherd::harness
