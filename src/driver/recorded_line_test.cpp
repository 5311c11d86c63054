#include "driver/recorded_line.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

TEST(RecordedLine, OnlyWhatTheAgentSaidIsARecord) {
  EXPECT_EQ(recorded_line(R"({"dir":"out","t_ms":3,"line":"{\"a\":1}"})"), R"({"a":1})");
  EXPECT_EQ(recorded_line(R"({"dir":"in","t_ms":3,"line":"{\"a\":1}"})"), "");
  EXPECT_EQ(recorded_line(R"({"dir":"note","t_ms":3,"line":"stdin closed"})"), "");
}

TEST(RecordedLine, EventsAndAnswersOfAServiceAreInTheirEnvelope) {
  EXPECT_EQ(recorded_line(R"({"dir":"sse","t_ms":3,"line":"data: {\"type\":\"x\"}"})"), R"({"event":{"type":"x"}})");
  EXPECT_EQ(recorded_line(R"({"dir":"sse","t_ms":3,"line":": a comment"})"), "");
  EXPECT_EQ(recorded_line(R"({"dir":"out","t_ms":3,"line":"HTTP 200 for POST /session","body":{"id":"s"}})"),
            R"({"answer":{"request":"POST /session","status":200,"body":{"id":"s"}}})");
  EXPECT_EQ(recorded_line(R"({"dir":"out","t_ms":3,"line":"HTTP 204 for POST /x","body":""})"),
            R"({"answer":{"request":"POST /x","status":204,"body":""}})");
}

TEST(RecordedLine, AnAgentsOwnLineIsNoRecording) {
  EXPECT_EQ(recorded_line(R"({"type":"init"})"), std::nullopt);
  EXPECT_EQ(recorded_line(R"({"dir":"out"})"), std::nullopt);
  EXPECT_EQ(recorded_line("plain text"), std::nullopt);
}

}  // namespace
}  // namespace shepherd
