#include "driver/recorded_line.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

using Side = RecordedLine::Side;

// The agent's record; empty when the line is not the agent's.
std::string record_of(std::string_view line) {
  auto recorded = recorded_line(line);
  return recorded && recorded->from_agent() ? recorded->text : std::string();
}

TEST(RecordedLine, SaysWhoSaidItAndWhen) {
  EXPECT_EQ(record_of(R"({"dir":"out","t_ms":3,"line":"{\"a\":1}"})"), R"({"a":1})");
  auto said = recorded_line(R"({"dir":"in","t_ms":3,"line":"{\"a\":1}"})");
  ASSERT_TRUE(said);
  EXPECT_EQ(said->side, Side::client);
  EXPECT_EQ(said->at_ms, 3);
  EXPECT_EQ(said->text, R"({"a":1})");
  EXPECT_EQ(recorded_line(R"({"dir":"note","t_ms":3,"line":"stdin closed"})")->side, Side::note);
}

TEST(RecordedLine, EventsAndAnswersOfAServiceAreInTheirEnvelope) {
  EXPECT_EQ(record_of(R"({"dir":"sse","t_ms":3,"line":"data: {\"type\":\"x\"}"})"), R"({"event":{"type":"x"}})");
  EXPECT_EQ(recorded_line(R"({"dir":"sse","t_ms":3,"line":": a comment"})")->side, Side::note);
  EXPECT_EQ(record_of(R"({"dir":"out","t_ms":3,"line":"HTTP 200 for POST /session","body":{"id":"s"}})"),
            R"({"answer":{"request":"POST /session","status":200,"body":{"id":"s"}}})");
  EXPECT_EQ(record_of(R"({"dir":"out","t_ms":3,"line":"HTTP 204 for POST /x","body":""})"),
            R"({"answer":{"request":"POST /x","status":204,"body":""}})");
}

TEST(RecordedLine, AnAgentsOwnLineIsNoRecording) {
  EXPECT_FALSE(recorded_line(R"({"type":"init"})"));
  EXPECT_FALSE(recorded_line(R"({"dir":"out"})"));
  EXPECT_FALSE(recorded_line("plain text"));
}

}  // namespace
}  // namespace shepherd
