#include "llm/stream_lines.h"

#include <gtest/gtest.h>

#include <vector>

namespace shepherd {
namespace {

// "name|data" of each event, with the bytes cut after every `size`.
std::vector<std::string> events_of(std::string_view bytes, std::size_t size) {
  EventLines lines;
  std::vector<std::string> seen;
  auto take = [&](std::string_view name, std::string_view data) {
    seen.push_back(std::string(name) + "|" + std::string(data));
    return true;
  };
  while (!bytes.empty()) {
    std::string piece(bytes.substr(0, size));
    bytes.remove_prefix(piece.size());
    EXPECT_TRUE(lines.cut(piece, take));
  }
  lines.finish(take);
  return seen;
}

void expect_events(std::string_view bytes, const std::vector<std::string>& wanted) {
  for (std::size_t size = 1; size <= bytes.size(); ++size) EXPECT_EQ(events_of(bytes, size), wanted) << size;
}

TEST(EventLines, ReadsEventsWithAndWithoutNames) {
  expect_events("data: one\n\nevent: error\ndata: two\n\ndata: three\n\n", {"|one", "error|two", "|three"});
}

TEST(EventLines, DropsCommentsAndOtherFields) {
  expect_events(": ping\n\n:\nid: 7\nretry: 5\ndata: one\n: inside\n\nwords without a colon\n\n", {"|one"});
}

TEST(EventLines, TakesEveryLineEndAndNoBlankBehindTheColon) {
  expect_events("data:one\r\n\r\ndata: two\r\n\n", {"|one", "|two"});
}

TEST(EventLines, JoinsTheDataLinesOfOneEvent) {
  expect_events("data: {\ndata: }\n\n", {"|{\n}"});
}

TEST(EventLines, TakesABareDocumentAsAnEvent) {
  expect_events("data: one\n\n{\"error\":1}\n", {"|one", "|{\"error\":1}"});
}

TEST(EventLines, GivesTheLastEventAlsoWithoutItsEmptyLine) {
  expect_events("data: one\n\ndata: two\n", {"|one", "|two"});
  expect_events("data: one\n\ndata: two", {"|one", "|two"});
  expect_events("data: one\n\n{\"a\":1}", {"|one", "|{\"a\":1}"});
}

TEST(EventLines, RefusesWhatIsTooLong) {
  auto ignore = [](std::string_view, std::string_view) { return true; };
  EventLines whole;
  std::string most(kMaxStreamLineBytes, 'x');
  EXPECT_TRUE(whole.cut(most, ignore)) << "a line of the greatest length";
  EXPECT_FALSE(whole.cut("x", ignore));
  // Many lines of one event may not be more together, either.
  EventLines joined;
  std::string line = "data: " + std::string(kMaxStreamLineBytes / 2, 'x') + "\n";
  EXPECT_TRUE(joined.cut(line, ignore));
  EXPECT_FALSE(joined.cut(line, ignore));
}

TEST(StreamLines, StopsWhenItIsTold) {
  StreamLines lines;
  std::vector<std::string> seen;
  EXPECT_TRUE(lines.cut("a\nb\nc\n", [&](std::string_view line) {
    seen.emplace_back(line);
    return line != "b";
  }));
  EXPECT_EQ(seen, (std::vector<std::string>{"a", "b"}));
}

}  // namespace
}  // namespace shepherd
