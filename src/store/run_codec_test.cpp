#include "store/run_codec.h"

#include <gtest/gtest.h>

#include "base/random.h"

namespace shepherd {
namespace {

StoredRun some_run() {
  StoredRun stored;
  stored.run = std::make_shared<EventRun>();
  for (std::size_t size : {2u, 127u, 128u, 20'000u}) {
    stored.run->bytes += '{' + std::string(size - 2, 'x') + '}';
    stored.run->ends.push_back(static_cast<std::uint32_t>(stored.run->bytes.size()));
    stored.run->types.push_back(size == 2 ? EventType::other : EventType::tool_call);
  }
  stored.run->by_server = true;
  return stored;
}

struct Encoded {
  std::string index, events;
};
Encoded encode(const StoredRun& stored) {
  Encoded encoded;
  encode_index(encoded.index, stored);
  encode_events(encoded.events, *stored.run);
  return encoded;
}

TEST(RunCodec, ComesBackAsItWas) {
  StoredRun stored = some_run();
  Encoded encoded = encode(stored);
  EXPECT_EQ(encoded.events.substr(0, 6), "[{},{x");
  EventRun run;
  ASSERT_TRUE(decode_run(encoded.index, encoded.events, run));
  EXPECT_EQ(run.bytes, stored.run->bytes);
  EXPECT_EQ(run.ends, stored.run->ends);
  EXPECT_EQ(run.types, stored.run->types);
  auto summary = read_index(encoded.index);
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->events, 4u);
  EXPECT_EQ(summary->bytes, stored.run->bytes.size());
  EXPECT_TRUE(run.by_server);
  EXPECT_EQ(mask_of(run), mask_of(EventType::other) | mask_of(EventType::tool_call));
}

TEST(RunCodec, UnknownTypesReadAsOther) {
  Encoded encoded = encode(some_run());
  encoded.index.back() = static_cast<char>(200);
  EventRun run;
  ASSERT_TRUE(decode_run(encoded.index, encoded.events, run));
  EXPECT_EQ(run.types.back(), EventType::other);
}

TEST(RunCodec, RefusesWhatDoesNotFit) {
  Encoded encoded = encode(some_run());
  EventRun run;
  auto damaged = [&](std::string index, std::string events) {
    auto decoded = decode_run(index, events, run);
    return !decoded && decoded.error().reason == "corrupt";
  };
  EXPECT_TRUE(damaged("", encoded.events));
  EXPECT_TRUE(damaged(encoded.index, ""));
  EXPECT_TRUE(damaged(encoded.index.substr(0, 2), encoded.events)) << "no events";
  EXPECT_TRUE(damaged(encoded.index.substr(0, encoded.index.size() - 1), encoded.events));
  EXPECT_TRUE(damaged(encoded.index, encoded.events.substr(1)));
  EXPECT_TRUE(damaged(encoded.index, encoded.events + "]"));
  EXPECT_TRUE(damaged('\2' + encoded.index.substr(1), encoded.events)) << "another version";
  EXPECT_TRUE(damaged(encoded.index.substr(0, 2) + std::string(8, '\xff'), encoded.events)) << "endless varint";
}

TEST(RunCodec, SurvivesAnyBytes) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed) {
    SeededRandom random(seed);
    Encoded encoded = encode(some_run());
    for (int i = 0; i < 3; ++i) encoded.index[random.below(encoded.index.size())] = static_cast<char>(random.next());
    EventRun run;
    if (!decode_run(encoded.index, encoded.events, run)) continue;
    for (std::size_t i = 0; i < run.size(); ++i) ASSERT_LE(run.event(i).size(), encoded.events.size()) << seed;
  }
}

}  // namespace
}  // namespace shepherd
