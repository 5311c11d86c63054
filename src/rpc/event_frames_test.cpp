// The encoder writes the bytes of events by hand. They must equal those of the generated code.
#include "rpc/event_frames.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "journal/cursor.h"
#include "rpc/proto_time.h"
#include "shepherd/observability/v1/observability.pb.h"

namespace shepherd {
namespace {

namespace v1 = observability::v1;

EventBatch batch_of(std::vector<std::string> events) {
  EventBatch batch;
  batch.task = "task-1";
  batch.first = 300;
  batch.position = 70'000;
  for (const std::string& event : events) {
    batch.bytes += event;
    batch.ends.push_back(static_cast<std::uint32_t>(batch.bytes.size()));
    batch.types.push_back(EventType::tool_call);
  }
  return batch;
}

std::string event_bytes(const FrameEncoder& encoder, const EventBatch& batch, std::size_t i) {
  std::string out = "before";
  encoder.event(out, batch, i);
  std::optional<Frame> frame = frame_at(out, 6);
  EXPECT_TRUE(frame && frame->kind == FrameKind::event && frame->end == out.size());
  return out.substr(frame->begin, frame->end - frame->begin);
}

v1::AgentEvent expected(const EventBatch& batch, std::size_t i) {
  v1::AgentEvent event;
  event.set_agent_id(batch.task);
  event.set_type(v1::EVENT_TYPE_TOOL_CALL);
  event.set_sequence(static_cast<std::int64_t>(batch.first + i));
  event.set_event_json(std::string(batch.event(i)));
  return event;
}

TEST(EventFrames, AnEventHasTheBytesOfTheGeneratedCode) {
  EventBatch batch =
      batch_of({R"({"sequence":300,"receivedAt":"2026-02-18T14:00:00.999Z","timestamp":"2026-02-18T13:59:59Z",)"
                R"("type":"tool_call","summary":"says \"hi\"\n\u00e9","data":{"summary":"no","sessionID":"no"},)"
                R"("sessionID":"s-\u0031","traceID":"t","version":1})"});
  v1::AgentEvent event = expected(batch, 0);
  event.set_summary("says \"hi\"\n\u00e9");
  event.set_session_id("s-1");
  set_time(*event.mutable_received_at(), *parse_timestamp("2026-02-18T14:00:00.999Z"));
  set_time(*event.mutable_timestamp(), *parse_timestamp("2026-02-18T13:59:59Z"));
  EXPECT_EQ(event_bytes(rpc_task_frames(), batch, 0), event.SerializeAsString());
  append_cursor(*event.mutable_cursor(), 70'000);
  EXPECT_EQ(event_bytes(rpc_all_frames(), batch, 0), event.SerializeAsString());
}

TEST(EventFrames, LongTextsAndOddTimesHaveThemToo) {
  std::string summary(200, 's');
  EventBatch batch =
      batch_of({"{}",
                R"({"timestamp":"1970-01-01T00:00:00Z","receivedAt":"1965-06-01T00:00:00.250Z","summary":")" + summary +
                    R"(","data":")" + std::string(70'000, 'd') + R"("})",
                R"({"timestamp":7,"receivedAt":"never","summary":null,"sessionID":{}})"});
  EXPECT_EQ(event_bytes(rpc_task_frames(), batch, 0), expected(batch, 0).SerializeAsString());
  v1::AgentEvent event = expected(batch, 1);
  event.set_summary(summary);
  set_time(*event.mutable_timestamp(), 0);
  set_time(*event.mutable_received_at(), *parse_timestamp("1965-06-01T00:00:00.250Z"));
  EXPECT_EQ(event_bytes(rpc_task_frames(), batch, 1), event.SerializeAsString());
  EXPECT_EQ(event_bytes(rpc_task_frames(), batch, 2), expected(batch, 2).SerializeAsString())
      << "members of other types are not shown";
}

TEST(EventFrames, ABrokenEventIsStillSent) {
  EventBatch batch = batch_of({R"({"summary":"cut)"});
  EXPECT_EQ(event_bytes(rpc_task_frames(), batch, 0), expected(batch, 0).SerializeAsString());
}

}  // namespace
}  // namespace shepherd
