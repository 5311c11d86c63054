#include "driver/line_splitter.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

#include "driver/limits.h"

namespace shepherd {
namespace {

struct Got {
  std::string text;
  std::size_t cut;
  bool operator==(const Got&) const = default;
};

std::vector<Got> split(const std::vector<std::string>& pieces, std::size_t most = kMaxAgentLineBytes) {
  std::vector<Got> lines;
  LineSplitter splitter(most);
  auto sink = [&](const Line& line) { lines.push_back({std::string(line.text), line.cut_bytes}); };
  for (const auto& piece : pieces) splitter.add(piece, sink);
  splitter.finish(sink);
  return lines;
}

TEST(LineSplitter, EndsOfLines) {
  using namespace std::string_literals;
  EXPECT_EQ(split({""}), std::vector<Got>{});
  EXPECT_EQ(split({"a\nb\n"}), (std::vector<Got>{{"a", 0}, {"b", 0}}));
  EXPECT_EQ(split({"a\r\n\r\nb"}), (std::vector<Got>{{"a", 0}, {"", 0}, {"b", 0}}));
  EXPECT_EQ(split({"a\r", "\nb\rc\n"}), (std::vector<Got>{{"a", 0}, {"b\rc", 0}}));
  EXPECT_EQ(split({"last line"}), (std::vector<Got>{{"last line", 0}}));
}

TEST(LineSplitter, WhatIsNotTextIsReplaced) {
  using namespace std::string_literals;
  EXPECT_EQ(split({"a\0b\n"s}), (std::vector<Got>{{"a\uFFFDb", 0}}));
  EXPECT_EQ(split({"\xC3", "\xA9\n"}), (std::vector<Got>{{"é", 0}}));
  EXPECT_EQ(split({"\xC3\n\xA9"}), (std::vector<Got>{{"\uFFFD", 0}, {"\uFFFD", 0}}));
  EXPECT_EQ(split({"\xED\xA0\x80|\xC0\x80|\xF5\n"}), (std::vector<Got>{{"\uFFFD\uFFFD\uFFFD|\uFFFD\uFFFD|\uFFFD", 0}}));
  EXPECT_EQ(split({"\xF0\x9F\x98\x80\n"}), (std::vector<Got>{{"😀", 0}}));
}

TEST(LineSplitter, LongLinesAreCutWithANote) {
  EXPECT_EQ(split({"12345\n123456\n123456789\nx\n"}, 5),
            (std::vector<Got>{{"12345", 0}, {"12345", 1}, {"12345", 4}, {"x", 0}}));
  EXPECT_EQ(split({"123", "456", "789"}, 5), (std::vector<Got>{{"12345", 4}}));
  // Cut inside a character: the piece of it is replaced.
  EXPECT_EQ(split({"1234é\n"}, 5), (std::vector<Got>{{"1234\uFFFD", 1}}));
}

TEST(LineSplitter, AnySplitOfAnyBytesGivesTheSameLines) {
  const char* given = std::getenv("SHEPHERD_SEED");
  std::uint64_t seed = given != nullptr ? std::strtoull(given, nullptr, 10) : std::random_device{}();
  std::printf("SHEPHERD_SEED=%llu\n", static_cast<unsigned long long>(seed));
  std::mt19937_64 random(seed);
  constexpr std::string_view kAlphabet = std::string_view("ab\n\r\0\xC3\xA9\xF0\x9F\x98\x80{\"}", 14);
  for (int round = 0; round < 500; ++round) {
    std::string bytes;
    for (std::size_t i = random() % 200; i > 0; --i) bytes.push_back(kAlphabet[random() % kAlphabet.size()]);
    std::size_t most = 1 + random() % 60;
    std::vector<std::string> pieces;
    for (std::size_t at = 0; at < bytes.size();) {
      std::size_t size = 1 + random() % 9;
      pieces.push_back(bytes.substr(at, size));
      at += size;
    }
    ASSERT_EQ(split(pieces, most), split({bytes}, most));
  }
}

}  // namespace
}  // namespace shepherd
