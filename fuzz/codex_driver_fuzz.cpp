// Feeds the driver any output, cut anywhere, while an operator sends commands. The server accepts every event,
// everything written to the agent is whole lines of JSON, every command is settled in the end, and the cuts change
// nothing.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "driven.h"
#include "driver/codex/codex.h"
#include "driver/line_splitter.h"
#include "given.h"

namespace {

using namespace shepherd;

constexpr std::array kFormats{CodexFormat::app_server, CodexFormat::exec};
constexpr std::array kKinds{CommandKind::steer, CommandKind::queue, CommandKind::interrupt, CommandKind::resume,
                            CommandKind::stop};

Command command_of(CommandKind kind) {
  Command command;
  command.kind = kind;
  command.id = std::string("asked/") + std::string(name(kind));
  command.content = "also read the notes";
  return command;
}

std::string translated(const Given& input, const std::vector<std::uint8_t>& cuts) {
  Codex driver;
  Launch launch;
  launch.id = "launch";
  launch.prompt = "Do it";
  launch.options.emplace(kCodexFormatOption, name(kFormats[input.choice % kFormats.size()]));
  launch.deltas = true;
  SHEPHERD_ASSERT(driver.launch(launch).has_value(), "it can be launched in every format");
  Actions out;
  LineSplitter splitter;
  std::size_t lines = 0;
  auto take = [&](const Line& line) {
    std::int64_t now = kFuzzStart + static_cast<std::int64_t>(lines) * 40;
    driver.record(line.text, now, out);
    // Commands come between lines, so that they are at the same place for every cut.
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
