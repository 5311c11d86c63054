// Feeds the driver of Gemini CLI any output, cut anywhere. The server accepts every event, every command is settled,
// and the cuts change nothing.
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "driven.h"
#include "driver/gemini/gemini_stream.h"
#include "driver/line_splitter.h"
#include "given.h"

namespace {

using namespace shepherd;

std::string translated(const Given& input, const std::vector<std::uint8_t>& cuts) {
  GeminiStream driver;
  Launch launch;
  launch.id = "launch";
  launch.prompt = "Do it";
  launch.deltas = true;
  SHEPHERD_ASSERT(driver.launch(launch).has_value(), "it can be launched");
  Actions out;
  LineSplitter splitter;
  std::int64_t lines = 0;
  auto take = [&](const Line& line) {
    std::int64_t now = kFuzzStart + lines * 40;
    bool error = ++lines % 5 == input.choice % 5;
    error ? driver.stderr_line(line.text, now, out) : driver.record(line.text, now, out);
    if (lines % 3 == 2) driver.tick(now, out);
  };
  in_pieces(input.bytes, cuts, [&](std::string_view piece) { splitter.add(piece, take); });
  splitter.finish(take);
  Command stop;
  stop.id = "asked";
  stop.kind = (input.choice & 0x80) != 0 ? CommandKind::stop : CommandKind::steer;
  driver.command(stop, kFuzzStart, out);
  ExitFacts exit;
  exit.code = (input.choice >> 4) % 4 * 48;
  Verdict verdict = driver.finish(exit, kFuzzStart + 1'000'000, out);
  check_output(out);
  SHEPHERD_ASSERT(settled(out, "asked") != CommandState::accepted, "no command stays open");
  return as_text(out, verdict);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Given input = given(data, size);
  SHEPHERD_ASSERT(translated(input, input.cuts) == translated(input, {}), "a cut changes nothing");
  return 0;
}
