// Tests for the commands of a task as its runner receives them, over a real API on loopback.
#include "runner/command_follower.h"

#include <gtest/gtest.h>

#include <future>
#include <string>

#include "api/api_fixture.h"
#include "model/wire_json.h"
#include "process/test_agents.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

class CommandFeedTest : public ApiFixture {
 protected:
  void SetUp() override {
    ApiFixture::SetUp();
    create("t");
    note_address();
  }
  void TearDown() override {
    feed_.reset();
    ApiFixture::TearDown();
  }

  void open() {
    auto locate = [this]() -> Result<Destination> {
      MutexLock lock(mutex_);
      return Destination{url_, url_, admin_};
    };
    CommandTaker taker{.take = [this](const Command& command) { note("take " + command.id); },
                       .withdraw = [this](const std::string& id) { note("withdraw " + id); },
                       .deleted = [this] { note("deleted"); }};
    feed_ = std::make_unique<CommandFollower>(locate, "t", std::move(taker), clock_, random_);
  }
  void note_address() {
    MutexLock lock(mutex_);
    url_ = internal_->url();
  }

  // Written as steering writes them; the test decides the outcome of a command, not a clock.
  void command(const std::string& id) { append(text_of(id)); }
  void commands(const std::string& prefix, std::size_t count) {
    for (std::size_t i = 0; i < count;) {
      std::string batch = "[";
      do {
        batch.append(batch.size() > 1 ? "," : "").append(text_of(prefix + std::to_string(i++)));
      } while (i < count && i % 1'000 != 0);
      append(batch + "]");
    }
  }
  void result(const std::string& id, const std::string& state) {
    append(R"({"type":"command_result","summary":")" + state + R"(","data":{"id":")" + id + R"(","state":")" + state +
           R"("}})");
  }

  // Returns everything so far once it contains `last`.
  std::string heard_until(const std::string& last) {
    eventually([&] { return heard().find(last) != std::string::npos; });
    return heard();
  }

 private:
  static std::string text_of(const std::string& id) {
    return R"({"type":"command","summary":"queue","data":{"id":")" + id + R"(","kind":"queue","content":"x"}})";
  }
  void append(const std::string& event) {
    auto drafts = decode_events(event, Framing::json, Intake{.now_ms = clock_.wall_ms(), .allow_reserved = true});
    ASSERT_TRUE(drafts) << drafts.error().message;
    std::promise<Result<Appended>> answer;
    journal_.append({"t", {}, std::move(*drafts), clock_.wall_ms(), true},
                    [&](Result<Appended> appended) { answer.set_value(std::move(appended)); });
    auto appended = answer.get_future().get();
    ASSERT_TRUE(appended) << appended.error().message;
  }
  void note(const std::string& what) {
    MutexLock lock(mutex_);
    heard_ += (heard_.empty() ? "" : ", ") + what;
  }
  std::string heard() {
    MutexLock lock(mutex_);
    return heard_;
  }

  Mutex mutex_;
  std::string url_ GUARDED_BY(mutex_), heard_ GUARDED_BY(mutex_);
  std::unique_ptr<CommandFollower> feed_;
};

TEST_F(CommandFeedTest, WhatIsSettledBeforeTheFeedCatchesUpIsPassedOver) {
  command("refused");
  result("refused", "refused");
  command("expired");
  result("expired", "expired");
  command("open");
  open();
  EXPECT_EQ(heard_until("open"), "take open") << "what was never handed out is not taken back either";
}

TEST_F(CommandFeedTest, WhatExpiresAfterItWasHandedOutIsWithdrawn) {
  command("held");
  open();
  EXPECT_EQ(heard_until("take held"), "take held");
  command("held");  // an id is one command, however often the log has it
  command("done");
  result("done", "delivered");
  result("held", "accepted");  // the driver's own report that it holds the command
  result("held", "expired");
  command("last");
  EXPECT_EQ(heard_until("take last"), "take held, take done, withdraw held, take last");
}

// A task that lives for months must not fill the memory of its runner.
TEST_F(CommandFeedTest, OnlyTheNewestIdsAreKept) {
  command("first");
  open();
  heard_until("take first");
  commands("c", kSeenCommands);
  command("first");
  command("last");
  std::string heard = heard_until("take last");
  EXPECT_EQ(heard.rfind("take first"), heard.size() - std::string("take first, take last").size());
}

TEST_F(CommandFeedTest, EverythingIsHandedOutAndWithdrawnOnceOverARestartOfTheServer) {
  command("before");
  command("expires meanwhile");
  open();
  heard_until("take expires meanwhile");
  stop();
  command("came and went");
  result("came and went", "expired");
  result("expires meanwhile", "expired");
  command("meanwhile");
  start();
  note_address();
  EXPECT_EQ(heard_until("take meanwhile"),
            "take before, take expires meanwhile, withdraw expires meanwhile, take meanwhile");
}

TEST_F(CommandFeedTest, ATaskThatIsDeletedIsToldAtOnce) {
  command("first");
  open();
  heard_until("take first");
  EXPECT_EQ(call(*public_, "DELETE", "/api/v1/tasks/t", "", bearer(admin_)).status, 204);
  EXPECT_EQ(heard_until("deleted"), "take first, deleted");
}

}  // namespace
}  // namespace shepherd
