#include "net/http.h"

#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "net/event_loop.h"
#include "net/response_text.h"
#include "net/server_for_test.h"

namespace shepherd::net {
namespace {

TEST(PercentDecode, DecodesAndRefuses) {
  EXPECT_EQ(percent_decode("a%20b+c", false), "a b+c");
  EXPECT_EQ(percent_decode("a%20b+c", true), "a b c");
  EXPECT_EQ(percent_decode("%c3%BC", false), "\xc3\xbc");
  for (const char* text : {"%", "%2", "%2g", "%00", "a%zz"})
    EXPECT_EQ(percent_decode(text, false), std::nullopt) << text;
}

TEST(QueryValue, FindsTheFirstOne) {
  EXPECT_EQ(query_value("a=1&b=2&a=3", "a"), "1");
  EXPECT_EQ(query_value("a=1&b=2&a=3", "b"), "2");
  EXPECT_EQ(query_value("a&b=", "a"), "");
  EXPECT_EQ(query_value("a&b=", "b"), "");
  EXPECT_EQ(query_value("t%61g=x%26y", "tag"), "x&y");
  EXPECT_EQ(query_value("a=%zz", "a"), std::nullopt);
  EXPECT_EQ(query_value("", "a"), std::nullopt);
  EXPECT_EQ(query_value("ab=1", "a"), std::nullopt);
}

TEST(DateText, IsWhatHttpWants) {
  DateText date;
  EXPECT_EQ(date.at(784'111'777'000), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date.at(784'111'777'999), "Sun, 06 Nov 1994 08:49:37 GMT");
  EXPECT_EQ(date.at(784'111'778'000), "Sun, 06 Nov 1994 08:49:38 GMT");
}

TEST(IoThreads, KeepTheOrderOfEachPoster) {
  IoThreads io(2);
  constexpr int kPosts = 20'000;
  std::atomic<int> broken{0};
  std::atomic<int> ran{0};
  std::vector<std::thread> posters;
  for (int p = 0; p < 4; ++p) {
    posters.emplace_back([&, p] {
      auto expected = std::make_shared<int>(0);
      for (int i = 0; i < kPosts; ++i) {
        io.executor(static_cast<std::size_t>(p) % 2).post([&, expected, i] {
          if ((*expected)++ != i) ++broken;
          ++ran;
        });
      }
    });
  }
  for (auto& poster : posters) poster.join();
  EXPECT_TRUE(eventually([&] { return ran == 4 * kPosts; }));
  EXPECT_EQ(broken, 0);
}

TEST(IoThreads, WorkPostedByWorkRunsLater) {
  IoThreads io(1);
  std::atomic<int> step{0};
  io.executor(0).post([&] {
    io.executor(0).post([&] { step = step == 1 ? 2 : -1; });
    step = 1;
  });
  EXPECT_TRUE(eventually([&] { return step == 2; }));
}

TEST(IoThreads, StopRunsWhatWasPostedAndDropsTheRest) {
  IoThreads io(1);
  std::atomic<int> ran{0};
  for (int i = 0; i < 100; ++i) io.executor(0).post([&] { ++ran; });
  io.stop();
  EXPECT_EQ(ran, 100);
  io.executor(0).post([&] { ++ran; });
  io.stop();
  EXPECT_EQ(ran, 100);
}

}  // namespace
}  // namespace shepherd::net
