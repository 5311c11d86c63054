#include "driver/driver.h"

#include <algorithm>
#include <array>
#include <csignal>
#include <cstring>

#include "json/write.h"

namespace shepherd {
namespace {

constexpr std::array<std::string_view, 4> kFormats{"stream-json", "stream-json-one-way", "json", "text"};

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

std::string_view name(OutputFormat format) {
  return kFormats[static_cast<std::size_t>(format)];
}

std::optional<OutputFormat> output_format(std::string_view name) {
  for (std::size_t i = 0; i < kFormats.size(); ++i) {
    if (kFormats[i] == name) return static_cast<OutputFormat>(i);
  }
  return std::nullopt;
}

void append_posted(std::string& out, const DriverEvent& event, std::uint64_t sequence, bool with_detail) {
  out.push_back('{');
  if (sequence != 0) {
    out.append("\"sequence\":");
    append_number(out, sequence);
    out.push_back(',');
  }
  out.append(event.json, 1, event.json.size() - 2);
  if (with_detail && !event.detail.empty()) out.append(",\"detail\":").append(event.detail);
  out.push_back('}');
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

void DriverOutput::clear() {
  events.clear();
  deltas.clear();
  to_agent.clear();
  close_input = false;
  signals.clear();
  commands.clear();
}

}  // namespace shepherd
