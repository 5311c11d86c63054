#include "driver/driver.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "json/write.h"

namespace shepherd {
namespace {

void append_kinds(std::string& out, std::uint32_t kinds) {
  char before = '[';
  for (std::size_t i = 0; i < kCommandKinds; ++i) {
    if ((kinds >> i & 1U) == 0) continue;
    out.push_back(before);
    out.append("\"").append(name(static_cast<CommandKind>(i))).append("\"");
    before = ',';
  }
  out.append(before == '[' ? "[]" : "]");
}

}  // namespace

std::vector<std::string> Launch::words(std::string_view usual) const {
  if (!command.empty()) return command;
  return {program.empty() ? std::string(usual) : program};
}

std::string encode_capabilities(const Capabilities& capabilities) {
  std::string out = object_text([&](JsonObject& object) {
    append_kinds(object.member("commands"), capabilities.commands);
    append_kinds(object.member("acknowledges"), capabilities.acknowledges);
    object.flag("approvals", capabilities.approvals);
    object.flag("deltas", capabilities.deltas);
    object.flag("cost", capabilities.cost);
    object.flag("resumesSessions", capabilities.resumes_sessions);
  });
  return out;
}

std::string how_it_ended(const ExitFacts& exit) {
  constexpr std::array kCrashes{SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGSYS, SIGTRAP};
  std::string how = "exit code " + std::to_string(exit.code);
  if (exit.signal != 0) {
    const char* abbreviation = ::sigabbrev_np(exit.signal);
    how = abbreviation != nullptr ? std::string("SIG") + abbreviation : "signal " + std::to_string(exit.signal);
  }
  if (exit.by_runner) return "was ended by the runner (" + how + ")";
  if (exit.signal == 0) return "ended with " + how;
  bool crashed = std::ranges::find(kCrashes, exit.signal) != kCrashes.end();
  return (crashed ? "crashed (" : "was killed from outside (") + how + ")";
}

std::vector<std::string> Driver::version_command(const std::string& /*program*/) const {
  return {};
}

}  // namespace shepherd
