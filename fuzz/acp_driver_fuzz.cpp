// Feeds the driver any output, cut anywhere, while an operator sends commands and the machine answers. The server
// accepts every event, everything written to the agent is whole lines of JSON, every command is settled in the end, and
// the cuts change nothing.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "driven.h"
#include "driver/acp/acp_agent.h"
#include "driver/line_splitter.h"
#include "given.h"

namespace {

using namespace shepherd;

constexpr std::array kKinds{CommandKind::steer,     CommandKind::queue,  CommandKind::approve,
                            CommandKind::interrupt, CommandKind::resume, CommandKind::set_mode,
                            CommandKind::deny,      CommandKind::answer, CommandKind::stop};

Command command_of(CommandKind kind) {
  Command command;
  command.kind = kind;
  command.id = std::string("asked/") + std::string(name(kind));
  command.content = "also read the notes";
  command.approval_id = "launch/ask-1";
  command.answers_json = R"({"way":"left"})";
  command.mode = AgentMode::autonomous;
  return command;
}

std::string translated(const Given& input, const std::vector<std::uint8_t>& cuts) {
  AcpAgent driver;
  Launch launch;
  launch.id = "launch";
  launch.command = {"agent", "acp"};
  launch.directory = "/workspace";
  launch.prompt = "Do it";
  launch.mode = (input.choice & 1) != 0 ? AgentMode::autonomous : AgentMode::interactive;
  if ((input.choice & 2) != 0) launch.resume_session = "old";
  if ((input.choice & 4) != 0) launch.options = {{"mode", "plan"}, {"effort", "high"}};
  launch.deltas = true;
  SHEPHERD_ASSERT(driver.launch(launch).has_value(), "it can be launched");
  Actions out;
  LineSplitter splitter;
  std::size_t lines = 0, answered = 0;
  auto take = [&](const Line& line) {
    std::int64_t now = kFuzzStart + static_cast<std::int64_t>(lines) * 400;
    driver.record(line.text, now, out);
    // Commands come between lines, so that they are at the same place for every cut.
    if (lines < kKinds.size() && (input.choice & 0x80) != 0) driver.command(command_of(kKinds[lines]), now, out);
    if (lines % 3 == 2) driver.tick(now, out);
    auto calls = out.of<HostCall>();
    while ((input.choice & 8) != 0 && answered < calls.size()) {
      driver.answer({calls[answered++].id, TerminalState{"out", false, false, 3, {}}}, now, out);
      calls = out.of<HostCall>();
    }
    ++lines;
  };
  in_pieces(input.bytes, cuts, [&](std::string_view piece) { splitter.add(piece, take); });
  splitter.finish(take);
  ExitFacts exit;
  exit.code = (input.choice >> 4) % 4;
  Verdict verdict = driver.finish(exit, kFuzzStart + 1'000'000'000, out);

  check_output(out);
  std::string written = out.written();
  std::string_view words = written;
  SHEPHERD_ASSERT(words.empty() || words.ends_with('\n'), "an agent is told whole lines");
  for (std::size_t at = 0; at < words.size(); at = words.find('\n', at) + 1) {
    SHEPHERD_ASSERT(is_json_object(words.substr(at, words.find('\n', at) - at)), "a line to the agent is an object");
  }
  for (std::size_t i = 0; i < std::min(lines, kKinds.size()) && (input.choice & 0x80) != 0; ++i) {
    SHEPHERD_ASSERT(settled(out, command_of(kKinds[i]).id) != CommandState::accepted, "no command stays open");
  }
  return as_text(out, verdict);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Given input = given(data, size);
  SHEPHERD_ASSERT(translated(input, input.cuts) == translated(input, {}), "a cut changes nothing");
  return 0;
}
