#include "cli/exit_code.h"

namespace shepherd {

ExitCode exit_code_of(const Error& error) {
  switch (error.code) {
    case ErrorCode::invalid_argument:
    case ErrorCode::unsupported_media_type:
      return ExitCode::usage;
    case ErrorCode::unauthenticated:
    case ErrorCode::permission_denied:
      return ExitCode::refused;
    case ErrorCode::not_found:
      return ExitCode::not_found;
    case ErrorCode::conflict:
    case ErrorCode::gone:
      return ExitCode::conflict;
    case ErrorCode::rate_limited:
    case ErrorCode::unavailable:
      return ExitCode::unreachable;
    case ErrorCode::too_large:
    case ErrorCode::storage_full:
    case ErrorCode::internal:
      return ExitCode::failed;
  }
  return ExitCode::failed;
}

std::string exit_code_help() {
  return "Exit codes:\n"
         "  0 done  1 failed  2 wrong usage or configuration  3 server unreachable  4 refused\n"
         "  5 not found  6 conflict, or already ended  7 run, watch: the task did not complete\n"
         "  8 run: it timed out  9 run: it was stopped\n"
         "  10 the command was refused  11 the command expired before a runner took it\n";
}

}  // namespace shepherd
