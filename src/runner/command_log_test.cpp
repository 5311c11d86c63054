#include "runner/command_log.h"

#include <gtest/gtest.h>

#include <string>

namespace shepherd {
namespace {

class CommandLogTest : public testing::Test {
 protected:
  void command(const std::string& id) {
    log_.take_event(R"({"type":"command","data":{"id":")" + id + R"(","kind":"queue","content":"x"}})");
  }
  void result(const std::string& id, const std::string& state) {
    log_.take_event(R"({"type":"command_result","data":{"id":")" + id + R"(","state":")" + state + R"("}})");
  }
  std::string delivered() {
    constexpr const char* kNames[] = {"take", "withdraw", "deleted"};
    std::string all;
    while (!log_.empty()) {
      CommandNotice notice = log_.next();
      all += (all.empty() ? "" : ", ") + std::string(kNames[static_cast<int>(notice.what)]) + " " + notice.command.id;
    }
    return all;
  }

  CommandLog log_;
};

TEST_F(CommandLogTest, NothingIsDeliveredBeforeTheLogIsCaughtUpWith) {
  command("open");
  command("settled");
  result("settled", "refused");
  EXPECT_TRUE(log_.empty());
  log_.go_live();
  EXPECT_EQ(delivered(), "take open");
}

// Commands that come after a lost connection may be settled already.
TEST_F(CommandLogTest, ALostLogIsCaughtUpWithAgain) {
  log_.go_live();
  command("before");
  EXPECT_EQ(delivered(), "take before");
  log_.lose();
  command("before");
  command("settled");
  result("settled", "refused");
  command("open");
  result("before", "expired");
  EXPECT_EQ(delivered(), "withdraw before");
  log_.go_live();
  EXPECT_EQ(delivered(), "take open");
}

TEST_F(CommandLogTest, WhatExpiresBeforeItsDeliveryIsNeitherDeliveredNorWithdrawn) {
  log_.go_live();
  command("late");
  command("next");
  result("late", "expired");
  EXPECT_EQ(delivered(), "take next");
}

TEST_F(CommandLogTest, ADeletionFollowsWhatCameBefore) {
  log_.go_live();
  command("a");
  log_.take_deletion();
  EXPECT_EQ(delivered(), "take a, deleted ");
}

TEST_F(CommandLogTest, WhatCannotBeReadIsPassedOver) {
  log_.go_live();
  log_.take_event(R"({"type":"command","data":{"kind":"dance"}})");
  log_.take_event(R"({"type":"command","data":{"kind":"queue","content":"without an id"}})");
  log_.take_event("{}");
  EXPECT_TRUE(log_.empty());
}

}  // namespace
}  // namespace shepherd
