// Rules that everything an agent prints must follow, whatever the client did to it. Each rule judges one transcript.
// A check that had no occasion stays without a result, so that the report does not call it passed.
// Threads: caller.
#pragma once

#include "harness/acp/acp_transcript.h"
#include "harness/report.h"

namespace shepherd::harness {

void check_acp_rules(const AcpTranscript& transcript, Report& report);

// The single rules.
void check_acp_stdout(const AcpTranscript& transcript, Report& report);    // only JSON on standard output
void check_acp_messages(const AcpTranscript& transcript, Report& report);  // JSON-RPC: ids, answers, errors
void check_acp_updates(const AcpTranscript& transcript, Report& report);   // their form and their session
void check_acp_turns(const AcpTranscript& transcript, Report& report);     // no work after the end of a turn
void check_acp_stop_reasons(const AcpTranscript& transcript, Report& report);
void check_acp_tools(const AcpTranscript& transcript, Report& report);        // calls and their updates
void check_acp_permissions(const AcpTranscript& transcript, Report& report);  // the form of the requests
void check_acp_methods(const AcpTranscript& transcript, Report& report);      // calls only what the client offers

}  // namespace shepherd::harness
