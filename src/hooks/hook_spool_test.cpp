#include "hooks/hook_spool.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <thread>

#include "base/limits.h"
#include "base/mutex.h"
#include "base/whole_file.h"
#include "hooks/hook_loss.h"
#include "hooks/limits.h"

namespace shepherd {
namespace {

std::string fresh_directory(const char* name) {
  std::string path = testing::TempDir() + name;
  std::filesystem::remove_all(path);
  std::filesystem::create_directories(path);
  return path;
}

TEST(HookSpool, DeliversInOrderAndOnce) {
  HookSpool spool(fresh_directory("spool-order"));
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(spool.append("{\n\"n\": " + std::to_string(i) + "}"));
  std::vector<std::string> got;
  auto take = [&](const std::vector<std::string>& calls) -> Result<void> {
    got.insert(got.end(), calls.begin(), calls.end());
    return {};
  };
  ASSERT_TRUE(spool.deliver(take));
  EXPECT_EQ(got, (std::vector<std::string>{"{ \"n\": 0}", "{ \"n\": 1}", "{ \"n\": 2}"}));
  ASSERT_TRUE(spool.deliver(take));
  EXPECT_EQ(got.size(), 3u);
  EXPECT_EQ(spool.waiting_bytes(), 0u);
}

TEST(HookSpool, WhatCannotBeDeliveredStays) {
  HookSpool spool(fresh_directory("spool-keeps"));
  ASSERT_TRUE(spool.append("{\"n\":1}"));
  auto refuse = [](const std::vector<std::string>&) -> Result<void> {
    return fail(ErrorCode::unavailable, "unreachable", "no");
  };
  EXPECT_FALSE(spool.deliver(refuse));
  ASSERT_TRUE(spool.append("{\"n\":2}"));
  std::string got;
  ASSERT_TRUE(spool.deliver([&](const std::vector<std::string>& calls) -> Result<void> {
    for (const std::string& call : calls) got += call;
    return {};
  }));
  EXPECT_EQ(got, "{\"n\":1}{\"n\":2}");
}

// If a batch fails in the middle of a long spool, the batches before it are not sent again.
TEST(HookSpool, DeliveredBatchesAreNotSentAgain) {
  HookSpool spool(fresh_directory("spool-batches"));
  std::size_t calls_made = kMaxHookBatch + 10;
  for (std::size_t i = 0; i < calls_made; ++i) ASSERT_TRUE(spool.append("{\"n\":" + std::to_string(i) + "}"));
  int batches = 0;
  std::vector<std::string> got;
  auto fail_second = [&](const std::vector<std::string>& calls) -> Result<void> {
    if (++batches == 2) return fail(ErrorCode::unavailable, "unreachable", "no");
    got.insert(got.end(), calls.begin(), calls.end());
    return {};
  };
  EXPECT_FALSE(spool.deliver(fail_second));
  EXPECT_EQ(got.size(), kMaxHookBatch);
  ASSERT_TRUE(spool.deliver(fail_second));
  ASSERT_EQ(got.size(), calls_made);
  for (std::size_t i = 0; i < calls_made; ++i) EXPECT_EQ(got[i], "{\"n\":" + std::to_string(i) + "}");
}

// Fills the spool with one valid line, so that it has no room for another call.
void fill(const std::string& directory) {
  std::string call = "{\"n\":0}\n" + std::string(kHookSpoolBytes - 8, ' ');
  ASSERT_TRUE(replace_file(directory + "/hooks.spool", call, 0600));
}
std::string call_of(const std::string& session, int second) {
  return R"({"session_id":")" + session + R"(","hook_event_name":"Stop","timestamp":"2026-02-18T14:00:0)" +
         std::to_string(second) + R"(.000Z"})";
}

TEST(HookSpool, WhatDoesNotFitIsCountedAndTold) {
  std::string directory = fresh_directory("spool-bound");
  HookSpool spool(directory);
  fill(directory);
  for (const std::string& call : {call_of("s1", 1), call_of("s2", 2), call_of("s1", 3)}) {
    Result<void> kept = spool.append(call);
    ASSERT_FALSE(kept);
    EXPECT_EQ(kept.error().reason, "spool_full");
  }
  std::vector<std::string> got;
  auto take = [&](const std::vector<std::string>& calls) -> Result<void> {
    got.insert(got.end(), calls.begin(), calls.end());
    return {};
  };
  ASSERT_TRUE(spool.deliver(take));
  ASSERT_EQ(got.size(), 4U) << "what was kept, a line of blanks, and one call for each session";
  EXPECT_EQ(got[0], "{\"n\":0}");
  EXPECT_EQ(got[2],
            R"({"session_id":"s1","hook_event_name":"HooksLost","timestamp":"2026-02-18T14:00:03.000Z","lost":2})");
  EXPECT_EQ(got[3],
            R"({"session_id":"s2","hook_event_name":"HooksLost","timestamp":"2026-02-18T14:00:02.000Z","lost":1})");
  EXPECT_TRUE(spool.empty());
  ASSERT_TRUE(spool.append(call_of("s1", 4)));
  ASSERT_TRUE(spool.deliver(take));
  EXPECT_EQ(got.size(), 5U) << "a loss is told once";
}

TEST(HookSpool, LossesOfManySessionsAreBounded) {
  std::string lines;
  for (std::size_t i = 0; i < kMaxLostSessions + 2; ++i)
    lines = with_lost_call(lines, call_of("s" + std::to_string(i), 1));
  EXPECT_EQ(static_cast<std::size_t>(std::ranges::count(lines, '\n')), kMaxLostSessions);
  EXPECT_NE(lines.find(R"("lost":1,"elsewhere":2})"), std::string::npos);
}

// Calls for a server named by the hooks are kept apart from the data directory's own.
TEST(HookSpool, NamedServersHaveTheirOwn) {
  std::string directory = fresh_directory("spool-named");
  ASSERT_TRUE(HookSpool(directory, HookSpool::For::named_server).append("{}"));
  EXPECT_TRUE(HookSpool(directory).empty());
  EXPECT_FALSE(HookSpool(directory, HookSpool::For::named_server).empty());
}

// Many processes append and deliver concurrently: no call is left behind and none is delivered twice.
TEST(HookSpool, NobodyIsLeftBehind) {
  std::string directory = fresh_directory("spool-race");
  Mutex mutex;
  std::vector<std::string> got;
  std::vector<std::thread> senders;
  for (int thread = 0; thread < 4; ++thread) {
    senders.emplace_back([&, thread] {
      for (int i = 0; i < 50; ++i) {
        HookSpool spool(directory);
        ASSERT_TRUE(spool.append("{\"t\":" + std::to_string(thread) + ",\"n\":" + std::to_string(i) + "}"));
        ASSERT_TRUE(spool.deliver([&](const std::vector<std::string>& calls) -> Result<void> {
          MutexLock lock(mutex);
          got.insert(got.end(), calls.begin(), calls.end());
          return {};
        }));
      }
    });
  }
  for (std::thread& sender : senders) sender.join();
  EXPECT_EQ(got.size(), 200u);
  EXPECT_EQ(HookSpool(directory).waiting_bytes(), 0u);
}

TEST(WholeFile, KeepsModeAndSymbolicLink) {
  std::string directory = fresh_directory("whole-file");
  ASSERT_TRUE(replace_file(directory + "/real", "one", 0640));
  std::filesystem::create_symlink("real", directory + "/link");
  ASSERT_TRUE(replace_file(directory + "/link", "two", 0600));
  EXPECT_TRUE(std::filesystem::is_symlink(directory + "/link"));
  EXPECT_EQ(read_whole_file(directory + "/real", 100).value(), "two");
  EXPECT_EQ(std::filesystem::status(directory + "/real").permissions(), std::filesystem::perms(0640));
  EXPECT_EQ(read_whole_file(directory + "/none", 100).value(), std::nullopt);
  EXPECT_FALSE(read_whole_file(directory + "/real", 2));
}

}  // namespace
}  // namespace shepherd
