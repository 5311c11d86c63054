#include "store/batch_codec.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "store/checksum.h"

namespace shepherd {
namespace {

EventBatch some_batch() {
  EventBatch batch;
  for (std::size_t size : {2u, 127u, 128u, 20'000u}) {
    batch.bytes += '{' + std::string(size - 2, 'x') + '}';
    batch.ends.push_back(static_cast<std::uint32_t>(batch.bytes.size()));
    batch.types.push_back(size == 2 ? EventType::other : EventType::tool_call);
  }
  batch.by_server = true;
  batch.task = "task-1";
  batch.first = 7;
  batch.position = 100;
  batch.received_ms = 1'771'423'200'123;
  return batch;
}

struct Encoded {
  std::string index, events;
};
Encoded encode(const EventBatch& batch) {
  Encoded encoded;
  encode_batch(batch, encoded.index, encoded.events);
  return encoded;
}

// A batch with only the members that a row's columns provide.
EventBatch some_row() {
  EventBatch batch = some_batch();
  batch.bytes.clear();
  batch.ends.clear();
  batch.types.clear();
  batch.by_server = false;
  return batch;
}

// An index in the format of servers before checksums existed.
std::string without_checksum(std::string index) {
  index[0] = '\1';
  return index.erase(2, 4);
}

TEST(BatchCodec, ComesBackAsItWas) {
  EventBatch written = some_batch();
  Encoded encoded = encode(written);
  EXPECT_EQ(encoded.events.substr(0, 6), "[{},{x");
  EventBatch batch = some_row();
  ASSERT_TRUE(decode_batch(encoded.index, encoded.events, batch));
  EXPECT_EQ(batch.bytes, written.bytes);
  EXPECT_EQ(batch.ends, written.ends);
  EXPECT_EQ(batch.types, written.types);
  auto summary = read_index(encoded.index);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->events, 4u);
  EXPECT_EQ(summary->bytes, written.bytes.size());
  EXPECT_TRUE(batch.by_server);
  EXPECT_EQ(mask_of(batch), mask_of(EventType::other) | mask_of(EventType::tool_call));
}

TEST(BatchCodec, UnknownTypesReadAsOther) {
  EventBatch written = some_batch();
  written.types.back() = static_cast<EventType>(200);
  Encoded encoded = encode(written);
  EventBatch batch = some_row();
  ASSERT_TRUE(decode_batch(encoded.index, encoded.events, batch));
  EXPECT_EQ(batch.types.back(), EventType::other);
}

TEST(BatchCodec, AnyChangedByteIsNoticed) {
  const EventBatch written = some_batch();
  const Encoded encoded = encode(written);
  SeededRandom random(20261117);
  for (int i = 0; i < 20'000; ++i) {
    Encoded damaged = encoded;
    EventBatch row = some_row();
    for (std::uint64_t flips = 1 + random.below(3); flips > 0; --flips) {
      std::string& bytes = random.below(4) == 0 ? damaged.index : damaged.events;
      bytes[random.below(bytes.size())] ^= static_cast<char>(1 + random.below(255));
    }
    if (damaged.index == encoded.index && damaged.events == encoded.events) continue;
    auto decoded = decode_batch(damaged.index, damaged.events, row);
    if (damaged.index[0] == '\1') continue;  // the index now claims to have no checksum
    ASSERT_FALSE(decoded);
    ASSERT_EQ(decoded.error().reason, "corrupt");
  }
  for (auto change : {&EventBatch::first, &EventBatch::position}) {
    EventBatch row = some_row();
    ++(row.*change);
    EXPECT_FALSE(decode_batch(encoded.index, encoded.events, row)) << "a row that says it is another";
  }
  std::string events = encoded.events;
  events[50] = 'y';
  EventBatch row = some_row();
  std::string message = decode_batch(encoded.index, events, row).error().message;
  EXPECT_NE(message.find("Events 7 to 10 of task-1 are damaged"), std::string::npos) << message;
  EXPECT_NE(message.find("go on after 10"), std::string::npos) << message;
}

TEST(BatchCodec, RunsOfEarlierServersAreRead) {
  EventBatch written = some_batch();
  Encoded encoded = encode(written);
  EventBatch batch = some_row();
  std::string index = without_checksum(encoded.index);
  ASSERT_TRUE(decode_batch(index, encoded.events, batch));
  EXPECT_EQ(batch.bytes, written.bytes);
  EXPECT_TRUE(batch.by_server);
  EXPECT_EQ(read_index(index)->events, 4u);
}

TEST(Checksum, IsCrc32c) {
  EXPECT_EQ(checksum("123456789"), 0xE3069283U);
  EXPECT_EQ(checksum("56789", checksum("1234")), 0xE3069283U);
  EXPECT_EQ(checksum(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(checksum(""), 0U);
}

TEST(BatchCodec, RefusesWhatDoesNotFit) {
  Encoded encoded = encode(some_batch());
  EventBatch batch;
  auto damaged = [&](std::string index, std::string events) {
    auto decoded = decode_batch(index, events, batch);
    return !decoded && decoded.error().reason == "corrupt";
  };
  EXPECT_TRUE(damaged("", encoded.events));
  EXPECT_TRUE(damaged(encoded.index, ""));
  encoded.index = without_checksum(encoded.index);  // so that the checksum does not detect the damage first
  EXPECT_TRUE(damaged(encoded.index.substr(0, 2), encoded.events)) << "no events";
  EXPECT_TRUE(damaged(encoded.index.substr(0, encoded.index.size() - 1), encoded.events));
  EXPECT_TRUE(damaged(encoded.index, encoded.events.substr(1)));
  EXPECT_TRUE(damaged(encoded.index, encoded.events + "]"));
  EXPECT_TRUE(damaged('\3' + encoded.index.substr(1), encoded.events)) << "another version";
  EXPECT_TRUE(damaged(encoded.index.substr(0, 2) + std::string(8, '\xff'), encoded.events)) << "endless varint";
}

TEST(BatchCodec, SurvivesAnyBytes) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random(seed);
    Encoded encoded = encode(some_batch());
    for (int i = 0; i < 3; ++i) encoded.index[random.below(encoded.index.size())] = static_cast<char>(random.next());
    EventBatch batch;
    if (!decode_batch(encoded.index, encoded.events, batch)) continue;
    for (std::size_t i = 0; i < batch.size(); ++i) ASSERT_LE(batch.event(i).size(), encoded.events.size()) << seed;
  }
}

}  // namespace
}  // namespace shepherd
