#include "api/frames.h"

#include <gtest/gtest.h>

#include "journal/cursor.h"

namespace shepherd {
namespace {

EventBatch run_of_two() {
  EventBatch batch;
  batch.task = "task-1";
  batch.first = 7;
  batch.position = 100;
  batch.bytes = R"({"sequence":7,"type":"log"}{"sequence":8,"type":"log"})";
  batch.ends = {27, 54};
  batch.types = {EventType::log, EventType::log};
  return batch;
}

// Checks the header of a short text frame and returns its payload.
std::string payload(const std::string& frame) {
  EXPECT_EQ(static_cast<unsigned char>(frame.at(0)), 0x81);
  EXPECT_LT(frame.size(), 128U);
  EXPECT_EQ(static_cast<std::size_t>(frame.at(1)), frame.size() - 2);
  return frame.substr(2);
}

template <class Write>
std::string written(Write write) {
  std::string out;
  write(out);
  return out;
}

TEST(WebSocketFrames, OfOneTask) {
  const FrameEncoder& frames = websocket_task_frames();
  EventBatch batch = run_of_two();
  EXPECT_EQ(payload(written([&](auto& out) { frames.event(out, batch, 1); })),
            R"({"type":"task_event","taskID":"task-1","data":{"sequence":8,"type":"log"}})");
  EXPECT_EQ(payload(written([&](auto& out) { frames.gap(out, "t", 1, 9); })),
            R"({"type":"gap","taskID":"t","data":{"from":1,"to":9}})");
  EXPECT_EQ(payload(written([&](auto& out) { frames.caught_up(out, "t", 9); })),
            R"({"type":"caught_up","taskID":"t","data":{"sequence":9}})");
  EXPECT_EQ(payload(written([&](auto& out) { frames.position(out, "t", 9); })),
            R"({"type":"position","taskID":"t","data":{"sequence":9}})");
  EXPECT_EQ(payload(written([&](auto& out) { frames.delta(out, "t", R"({"block":"b","text":"x"})"); })),
            R"({"type":"delta","taskID":"t","data":{"block":"b","text":"x"}})");
  EXPECT_EQ(payload(written([&](auto& out) { frames.complete(out, "t", R"({"taskID":"t"})", 9); })),
            R"({"type":"task_complete","taskID":"t","data":{"taskID":"t"}})");
}

TEST(WebSocketFrames, OfAllTasksCarryTheCursor) {
  const FrameEncoder& frames = websocket_all_frames();
  EventBatch batch = run_of_two();
  std::string at_101 = encode_cursor(101), at_9 = encode_cursor(9), at_1 = encode_cursor(1);
  EXPECT_EQ(
      payload(written([&](auto& out) { frames.event(out, batch, 1); })),
      R"({"type":"task_event","taskID":"task-1","cursor":")" + at_101 + R"(","data":{"sequence":8,"type":"log"}})");
  EXPECT_EQ(payload(written([&](auto& out) { frames.gap(out, "", 1, 9); })),
            R"({"type":"gap","cursor":")" + at_9 + R"(","data":{"from":")" + at_1 + R"(","to":")" + at_9 + R"("}})");
  EXPECT_EQ(payload(written([&](auto& out) { frames.caught_up(out, "", 9); })),
            R"({"type":"caught_up","cursor":")" + at_9 + R"(","data":{"cursor":")" + at_9 + R"("}})");
  EXPECT_EQ(payload(written([&](auto& out) { frames.complete(out, "t", R"({"taskID":"t"})", 9); })),
            R"({"type":"task_complete","taskID":"t","cursor":")" + at_9 + R"(","data":{"taskID":"t"}})");
}

TEST(WebSocketFrames, LongPayloadsHaveLongHeaders) {
  EventBatch batch;
  batch.task = "t";
  batch.first = 1;
  batch.bytes = "{\"x\":\"" + std::string(70'000, 'y') + "\"}";
  batch.ends = {static_cast<std::uint32_t>(batch.bytes.size())};
  batch.types = {EventType::log};
  std::string frame = written([&](auto& out) { websocket_task_frames().event(out, batch, 0); });
  EXPECT_EQ(frame.substr(0, 2), "\x81\x7f");
  std::uint64_t length = 0;
  for (std::size_t i = 2; i < 10; ++i) length = length << 8 | static_cast<unsigned char>(frame[i]);
  EXPECT_EQ(length, frame.size() - 10);
  EXPECT_EQ(frame.back(), '}');
}

TEST(SseFrames, OfOneTask) {
  const FrameEncoder& frames = sse_task_frames();
  EventBatch batch = run_of_two();
  EXPECT_EQ(written([&](auto& out) { frames.event(out, batch, 0); }),
            "event: task_event\ndata: {\"sequence\":7,\"type\":\"log\"}\nid: 7\n\n");
  EXPECT_EQ(written([&](auto& out) { frames.gap(out, "t", 1, 9); }),
            "event: gap\ndata: {\"from\":1,\"to\":9}\nid: 9\n\n");
  EXPECT_EQ(written([&](auto& out) { frames.position(out, "t", 9); }),
            "event: position\ndata: {\"sequence\":9}\nid: 9\n\n");
  EXPECT_EQ(written([&](auto& out) { frames.delta(out, "t", R"({"text":"x"})"); }),
            "event: delta\ndata: {\"text\":\"x\"}\n\n");
  EXPECT_EQ(written([&](auto& out) { frames.complete(out, "t", R"({"taskID":"t"})", 9); }),
            "event: task_complete\ndata: {\"taskID\":\"t\"}\nid: 9.end\n\n");
  EXPECT_EQ(sse_start("17"), "id: 17\n\n");
}

TEST(SseFrames, OfAllTasksNameTheTaskInside) {
  const FrameEncoder& frames = sse_all_frames();
  EventBatch batch = run_of_two();
  EXPECT_EQ(written([&](auto& out) { frames.event(out, batch, 0); }),
            "event: task_event\ndata: {\"taskID\":\"task-1\",\"sequence\":7,\"type\":\"log\"}\nid: " +
                encode_cursor(100) + "\n\n");
  EXPECT_EQ(written([&](auto& out) { frames.delta(out, "t", "{}"); }), "event: delta\ndata: {\"taskID\":\"t\"}\n\n");
  EXPECT_EQ(written([&](auto& out) { frames.complete(out, "t", R"({"taskID":"t"})", 9); }),
            "event: task_complete\ndata: {\"taskID\":\"t\"}\nid: " + encode_cursor(9) + "\n\n");
}

}  // namespace
}  // namespace shepherd
