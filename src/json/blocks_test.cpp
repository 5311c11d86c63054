#include "json/blocks.h"

#include <gtest/gtest.h>

#include <string>

#include "base/random.h"

namespace shepherd {
namespace {

bool is_quote_or_escape(char c) {
  return c == '"' || c == '\\';
}
bool is_not_plain(char c) {
  return is_quote_or_escape(c) || static_cast<unsigned char>(c) < 0x20;
}

std::size_t first_by_bytes(const std::string& bytes, std::size_t size, bool (*matches)(char)) {
  std::size_t at = 0;
  while (at < size && !matches(bytes[at])) ++at;
  return at;
}

template <class AnyBlock>
void expect_the_same(const std::string& bytes) {
  EXPECT_EQ(first_quote_or_escape<AnyBlock>(bytes.data()), first_by_bytes(bytes, AnyBlock::kBytes, is_quote_or_escape))
      << testing::PrintToString(bytes);
  EXPECT_EQ(first_not_plain<AnyBlock>(bytes.data()), first_by_bytes(bytes, AnyBlock::kBytes, is_not_plain))
      << testing::PrintToString(bytes);
}

// This covers the block of other machines, too. The bytes are those next to the ones that matter, where a borrow or a
// sign makes a difference.
TEST(JsonBlocks, FindWhatALookAtEachByteFinds) {
  constexpr std::uint64_t kSeed = 11;
  SeededRandom random(kSeed);
  const std::string near(std::string("\"\\\x00\x1f !#[]\x7f\x80\x9f\xa0\xa2\xdc\xff", 17));
  for (int round = 0; round < 20'000; ++round) {
    std::string bytes(16, 'x');
    for (std::uint64_t change = random.below(6); change > 0; --change) {
      bytes[random.below(bytes.size())] = near[random.below(near.size())];
    }
    expect_the_same<WordBlock>(bytes);
    expect_the_same<Block>(bytes);
    ASSERT_FALSE(HasFailure());
  }
}

}  // namespace
}  // namespace shepherd
