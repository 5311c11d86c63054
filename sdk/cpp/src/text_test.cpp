// Tests for outgoing text: valid UTF-8, batches, JSON.
#include <gtest/gtest.h>

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include "output_batch.h"
#include "shepherd/agent/finding.h"
#include "shepherd/agent/log.h"
#include "shepherd/agent/metrics.h"
#include "utf8.h"

namespace shepherd::agent {
namespace {

using namespace std::chrono_literals;

TEST(Utf8, KeepsWhatIsValidAndReplacesTheRest) {
  EXPECT_EQ(valid_utf8("plain, é, €, 🙂"), "plain, é, €, 🙂");
  EXPECT_EQ(valid_utf8("a\xFFz"), "a\xEF\xBF\xBDz");
  EXPECT_EQ(valid_utf8("half \xE2\x82"), "half \xEF\xBF\xBD\xEF\xBF\xBD");
  EXPECT_EQ(valid_utf8("\xC0\xAF"), "\xEF\xBF\xBD\xEF\xBF\xBD") << "an overlong form";
  EXPECT_EQ(valid_utf8("\xED\xA0\x80"), "\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD") << "a surrogate";
}

TEST(Utf8, CutsBetweenCharacters) {
  EXPECT_EQ(whole_characters("abcdef", 4), 4U);
  EXPECT_EQ(whole_characters("abc€", 4), 3U);
  EXPECT_EQ(whole_characters("abc€", 6), 6U);
}

TEST(OutputBatch, JoinsUntilItIsFull) {
  OutputBatch batch(10, 100ms);
  OutputBatch::Time now{};
  batch.add("12345", false, now);
  EXPECT_FALSE(batch.is_full());
  batch.add("67890", false, now);
  EXPECT_TRUE(batch.is_full());
  EXPECT_EQ(batch.take()->content, "1234567890");
  EXPECT_FALSE(batch.take().has_value());
}

TEST(OutputBatch, IsDueByTheAgeOfItsOldestText) {
  OutputBatch batch(1000, 100ms);
  OutputBatch::Time now{};
  EXPECT_FALSE(batch.is_due(now + 1h)) << "nothing waits";
  batch.add("a", false, now);
  batch.add("b", false, now + 90ms);
  EXPECT_FALSE(batch.is_due(now + 99ms));
  EXPECT_TRUE(batch.is_due(now + 100ms));
}

TEST(OutputBatch, KeepsReasoningApart) {
  OutputBatch batch(1000, 100ms);
  batch.add("why", true, {});
  EXPECT_TRUE(batch.accepts(true));
  EXPECT_FALSE(batch.accepts(false));
  EXPECT_TRUE(batch.take()->is_reasoning);
  EXPECT_TRUE(batch.accepts(false));
}

TEST(OutputBatch, CutsLargeTextIntoPieces) {
  OutputBatch batch(1000, 100ms);
  std::string text;
  while (text.size() < 3 * OutputBatch::kMaxChunkBytes) text += "€";
  batch.add(text, false, {});
  std::string joined;
  while (auto chunk = batch.take()) {
    EXPECT_LE(chunk->content.size(), OutputBatch::kMaxChunkBytes);
    joined += chunk->content;
  }
  EXPECT_EQ(joined, text);
}

google::protobuf::Struct parsed(const std::string& json) {
  google::protobuf::Struct object;
  auto status = google::protobuf::util::JsonStringToMessage(json, &object);
  EXPECT_TRUE(status.ok()) << json << ": " << status.ToString();
  return object;
}

TEST(Json, OfAFindingIsReadable) {
  auto object = parsed(to_json({.id = "f-1",
                                .title = "A \"quoted\"\ttitle\x01",
                                .description = "two\nlines",
                                .severity = "high",
                                .confidence = 0.95,
                                .category = "c",
                                .mitre_techniques = {"AML.T0051", "T1552"},
                                .evidence = {{.type = "text", .title = "t", .content = "c\\d"}}}));
  EXPECT_EQ(object.fields().at("title").string_value(), "A \"quoted\"\ttitle\x01");
  EXPECT_DOUBLE_EQ(object.fields().at("confidence").number_value(), 0.95);
  EXPECT_EQ(object.fields().at("mitre_techniques").list_value().values_size(), 2);
  EXPECT_EQ(object.fields().at("evidence").list_value().values(0).struct_value().fields().at("content").string_value(),
            "c\\d");
  parsed(to_json({.id = "empty", .title = "t", .description = {}, .category = {}}));
}

TEST(Log, LineHasTheIdsThatAreKnown) {
  auto line = parsed(to_json_line({.level = LogLevel::warning,
                                   .message = "m",
                                   .task_id = "task-1",
                                   .trace_id = "t",
                                   .span_id = "s",
                                   .steering_id = "steer-1",
                                   .fields = {{"extra", "x"}}}));
  EXPECT_EQ(line.fields().at("level").string_value(), "warning");
  EXPECT_EQ(line.fields().at("steering_id").string_value(), "steer-1");
  EXPECT_EQ(line.fields().at("extra").string_value(), "x");
  auto bare = parsed(to_json_line({.message = "m", .task_id = {}, .trace_id = {}, .span_id = {}}));
  EXPECT_FALSE(bare.fields().contains("trace_id"));
}

TEST(Metrics, AreInThePrometheusFormat) {
  Metrics metrics;
  metrics.messages_sent = 7;
  EXPECT_NE(metrics.prometheus_text().find("# TYPE agent_stream_messages_sent_total counter\n"
                                           "agent_stream_messages_sent_total 7\n"),
            std::string::npos)
      << metrics.prometheus_text();
}

}  // namespace
}  // namespace shepherd::agent
