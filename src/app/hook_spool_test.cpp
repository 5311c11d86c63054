#include "app/hook_spool.h"

#include <gtest/gtest.h>

#include <atomic>
#include <filesystem>
#include <thread>

#include "app/whole_file.h"
#include "base/limits.h"
#include "base/mutex.h"

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

// A batch that fails in the middle of a long spool: what went before is not sent again.
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

TEST(HookSpool, IsBounded) {
  std::string directory = fresh_directory("spool-bound");
  HookSpool spool(directory);
  ASSERT_TRUE(replace_file(directory + "/hooks.spool", "x", 0600));
  std::filesystem::resize_file(directory + "/hooks.spool", kHookSpoolBytes);
  Result<void> kept = spool.append("{}");
  ASSERT_FALSE(kept);
  EXPECT_EQ(kept.error().reason, "spool_full");
}

// Many processes append and deliver at once: nothing is left behind when all are done, nothing comes twice.
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
