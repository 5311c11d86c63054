// Feeds both drivers of OpenCode any output, cut anywhere, while an operator sends commands: lines of `opencode run`,
// or records of its server. The server accepts every event, what is written to the agent is whole requests, every
// command is settled in the end, and the cuts change nothing.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "driven.h"
#include "driver/http_envelope.h"
#include "driver/line_splitter.h"
#include "driver/opencode/opencode_run.h"
#include "driver/opencode/opencode_server.h"
#include "given.h"

namespace {

using namespace shepherd;

constexpr std::array kKinds{CommandKind::steer,  CommandKind::queue, CommandKind::interrupt,
                            CommandKind::resume, CommandKind::deny,  CommandKind::stop};

Command command_of(CommandKind kind) {
  Command command;
  command.kind = kind;
  command.id = std::string("asked/") + std::string(name(kind));
  command.content = "also read the notes";
  command.approval_id = "per_1";
  return command;
}

template <class D>
std::string translated(const Given& input, const std::vector<std::uint8_t>& cuts) {
  D driver;
  Launch launch;
  launch.id = "launch";
  launch.prompt = "Do it";
  launch.deltas = true;
  launch.mode = (input.choice & 0x02) != 0 ? AgentMode::interactive : AgentMode::autonomous;
  SHEPHERD_ASSERT(driver.launch(launch).has_value(), "it can be launched");
  Actions out;
  LineSplitter splitter;
  std::size_t lines = 0;
  auto take = [&](const Line& line) {
    std::int64_t now = kFuzzStart + static_cast<std::int64_t>(lines) * 40;
    driver.record(line.text, now, out);
    if (lines < kKinds.size() && (input.choice & 0x80) != 0) driver.command(command_of(kKinds[lines]), now, out);
    if (lines % 3 == 2) driver.tick(now, out);
    ++lines;
  };
  in_pieces(input.bytes, cuts, [&](std::string_view piece) { splitter.add(piece, take); });
  splitter.finish(take);
  ExitFacts exit;
  exit.code = (input.choice >> 4) % 4;
  Verdict verdict = driver.finish(exit, kFuzzStart + 1'000'000, out);

  check_output(out);
  std::string written = out.written();
  std::string_view words = written;
  SHEPHERD_ASSERT(words.empty() || words.ends_with('\n'), "an agent is told whole lines");
  for (std::size_t at = 0; at < words.size(); at = words.find('\n', at) + 1) {
    std::string_view line = words.substr(at, words.find('\n', at) - at);
    SHEPHERD_ASSERT(is_json_object(line) && read_http_request(line), "a line to the service is a request");
  }
  for (std::size_t i = 0; i < std::min(lines, kKinds.size()) && (input.choice & 0x80) != 0; ++i) {
    SHEPHERD_ASSERT(settled(out, command_of(kKinds[i]).id) != CommandState::accepted, "no command stays open");
  }
  return as_text(out, verdict);
}

template <class D>
void check(const Given& input) {
  SHEPHERD_ASSERT(translated<D>(input, input.cuts) == translated<D>(input, {}), "a cut changes nothing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Given input = given(data, size);
  (input.choice & 0x01) != 0 ? check<OpenCodeServer>(input) : check<OpenCodeRun>(input);
  return 0;
}
