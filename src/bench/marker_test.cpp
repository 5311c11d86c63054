#include "bench/marker.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"
#include "bench/event_text.h"

namespace shepherd::bench {
namespace {

TEST(Marker, RoundTrips) {
  constexpr std::uint64_t kSeed = 11;
  SeededRandom random(kSeed);
  for (int i = 0; i < 1'000; ++i) {
    Marker marker{static_cast<std::uint16_t>(random.next()), static_cast<std::uint16_t>(random.next()),
                  static_cast<std::uint32_t>(random.next()), static_cast<std::uint32_t>(random.next()), random.next()};
    std::string text(kMarkerBytes + 20, '.');
    write_marker(text.data() + 10, marker);
    Marker found;
    ASSERT_TRUE(find_marker(text, found)) << "seed " << kSeed;
    EXPECT_EQ(found, marker) << "seed " << kSeed;
  }
}

TEST(Marker, NeverLooksLikeACardNumber) {
  std::string text(kMarkerBytes, '.');
  write_marker(text.data(), {0x1234, 0x5678, 0x9012'3456, 0x7890'1234, 0x5678'9012'3456'7890});
  EXPECT_EQ(text.find_first_of("0123456789"), std::string::npos);
}

TEST(Marker, SkipsOtherCarets) {
  Marker marker{1, 2, 3, 4, 5};
  std::string text = "x^2 + y^ and then some, so that there is room: ";
  std::size_t at = text.size();
  text.append(kMarkerBytes, ' ');
  write_marker(text.data() + at, marker);
  Marker found;
  ASSERT_TRUE(find_marker(text, found));
  EXPECT_EQ(found, marker);
  EXPECT_FALSE(find_marker(text.substr(0, text.size() - 1), found)) << "a cut marker is none";
  EXPECT_FALSE(find_marker("{\"type\":\"caught_up\"}", found));
}

TEST(EventTexts, HaveOneLengthAndCarryTheMarker) {
  EventTexts texts(600);
  for (std::uint32_t sequence = 0; sequence < 100; ++sequence) {
    std::string text;
    texts.append(text, {1, 2, 3, sequence, 99});
    EXPECT_EQ(text.size(), 600U);
    Marker found;
    ASSERT_TRUE(find_marker(text, found));
    EXPECT_EQ(found, (Marker{1, 2, 3, sequence, 99}));
  }
}

}  // namespace
}  // namespace shepherd::bench
