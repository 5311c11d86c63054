// Feeds any program's output as lines, on both streams, cut anywhere. The server accepts every event, no printed text
// is lost, and the cuts change nothing.
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/assert.h"
#include "driven.h"
#include "driver/line_splitter.h"
#include "driver/text/plain_text.h"
#include "given.h"
#include "json/scan.h"

namespace {

using namespace shepherd;

// The text of all events of a type; the full text if an event has only its beginning.
std::string text_of(const Actions& out, EventType type, std::string_view member) {
  std::string all;
  for (const auto& event : out.events()) {
    if (event.type != type) continue;
    std::string whole = text_member(event.detail, "text");
    all += whole.empty() ? text_member(find_member(event.json, "data"), member) : whole;
    all += '\n';
  }
  return all;
}

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

// The non-blank lines, in order.
std::string said(std::string_view text) {
  std::string lines;
  while (!text.empty()) {
    std::size_t end = std::min(text.find('\n'), text.size());
    if (!is_blank(text.substr(0, end))) lines.append(text.substr(0, end)).push_back('\n');
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::string translated(const Given& input, const std::vector<std::uint8_t>& cuts) {
  PlainText driver;
  Launch launch;
  launch.command = {"make"};
  SHEPHERD_ASSERT(driver.launch(launch).has_value(), "it can be launched");
  Actions out;
  LineSplitter splitter;
  std::string printed, complained;
  std::int64_t now = kFuzzStart;
  std::size_t number = 0;
  auto take = [&](const Line& line) {
    now += line.text.size() % 300;
    bool error = ++number % 4 == input.choice % 4;
    (error ? complained : printed).append(line.text).push_back('\n');
    error ? driver.stderr_line(line.text, now, out) : driver.record(line.text, now, out);
    if (line.text.size() % 5 == 1) driver.tick(now, out);
  };
  in_pieces(input.bytes, cuts, [&](std::string_view piece) { splitter.add(piece, take); });
  splitter.finish(take);
  ExitFacts exit;
  exit.code = (input.choice >> 4) % 4;
  Verdict verdict = driver.finish(exit, now, out);
  check_output(out);
  SHEPHERD_ASSERT(said(text_of(out, EventType::output, "text")) == said(printed), "all output is in the log");
  SHEPHERD_ASSERT(said(text_of(out, EventType::log, "line")) == said(complained), "and all error output");
  return as_text(out, verdict);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Given input = given(data, size);
  SHEPHERD_ASSERT(translated(input, input.cuts) == translated(input, {}), "a cut changes nothing");
  return 0;
}
