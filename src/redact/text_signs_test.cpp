#include "redact/text_signs.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "redact/personal_data.h"
#include "redact/spelled_text.h"

namespace shepherd {
namespace {

// Blocks of bytes meet at other places of the text each time.
constexpr std::size_t kMostBefore = 70;

TEST(TextSigns, SeeEveryWayToWriteACardNumber) {
  for (const char* number : {"4222222222222", "378282246310005", "3782 822463 10005", "4111111111111111",
                             "4111 1111 1111 1111", "4111-1111-1111-1111", "6011000000000000001"}) {
    for (std::size_t before = 0; before < kMostBefore; ++before) {
      std::string text = std::string(before, ' ') + number;
      ASSERT_TRUE(card_at(text, before).has_value()) << number;
      EXPECT_TRUE(signs_of(text).card) << text;
      EXPECT_TRUE(signs_of(text + " was charged").card) << text;
    }
  }
}

TEST(TextSigns, TakeOrdinaryNumbersForNoCard) {
  EXPECT_FALSE(signs_of("2026-02-18T14:00:00.123Z 127.0.0.1:8080 1 234 567 890 12 345").card);
  EXPECT_FALSE(signs_of("550e8400-e29b-41d4-a716-446655440000").card);
  EXPECT_FALSE(signs_of("").card);
}

TEST(TextSigns, SeeEveryJointOfLines) {
  constexpr std::uint64_t kSeed = 20260218;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  SeededRandom random(kSeed);
  constexpr std::string_view kBytes = "\\\\\\\n\rnra ";
  int joints = 0;
  for (int i = 0; i < 20'000; ++i) {
    std::string text(random.below(kMostBefore), 'x');
    for (std::uint64_t n = random.below(6); n > 0; --n) text.push_back(kBytes[random.below(kBytes.size())]);
    bool joined = next_joined_lines(text, 0).begin < text.size();
    joints += joined ? 1 : 0;
    ASSERT_LE(joined, signs_of(text).joint) << text;
  }
  EXPECT_GT(joints, 1'000);
  EXPECT_FALSE(signs_of(R"({"a":"line\nline \"quoted\" C:\\dir"})").joint);
}

}  // namespace
}  // namespace shepherd
