// Tests for the commands of a runner's tasks as it receives them, over a real API on loopback.
#include "runner/command_reader.h"

#include <gtest/gtest.h>

#include <future>
#include <map>
#include <memory>
#include <string>

#include "api/api_fixture.h"
#include "model/wire_json.h"
#include "process/test_agents.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

class CommandReaderTest : public ApiFixture {
 protected:
  void SetUp() override {
    ApiFixture::SetUp();
    create("t");
    note_address();
  }
  void TearDown() override {
    followed_.clear();
    reader_.reset();
    ApiFixture::TearDown();
  }

  // Notes what comes for the task; names it if it is not "t".
  void open(const std::string& task = "t") {
    std::string of = task == "t" ? "" : task + ": ";
    follow(task, {.take = [this, of](const Command& command) { note(of + "take " + command.id); },
                  .withdraw = [this, of](const std::string& id) { note(of + "withdraw " + id); },
                  .deleted = [this, of] { note(of + "deleted"); }});
  }
  void follow(const std::string& task, CommandTaker taker) {
    if (!reader_) {
      auto locate = [this]() -> Result<Destination> {
        MutexLock lock(mutex_);
        return Destination{"http://127.0.0.1:1", url_, admin_};
      };
      reader_ = std::make_unique<CommandReader>(locate, net::ClientTls{}, clock_, random_);
    }
    followed_[task] = std::make_unique<FollowedCommands>(*reader_, task, std::move(taker));
  }
  void leave(const std::string& task) { followed_.erase(task); }
  std::int64_t streams_open() { return metrics_.gauge("shepherd_live_streams", "").value(); }
  void note_address() {
    MutexLock lock(mutex_);
    url_ = internal_->url();
  }

  // Written as steering writes them; the test decides the outcome of a command, not a clock.
  void command(const std::string& id, const std::string& task = "t") { append(text_of(id), task); }
  void commands(const std::string& prefix, std::size_t count) {
    for (std::size_t i = 0; i < count;) {
      std::string batch = "[";
      do {
        batch.append(batch.size() > 1 ? "," : "").append(text_of(prefix + std::to_string(i++)));
      } while (i < count && i % 1'000 != 0);
      append(batch + "]");
    }
  }
  void result(const std::string& id, const std::string& state, const std::string& task = "t") {
    append(R"({"type":"command_result","summary":")" + state + R"(","data":{"id":")" + id + R"(","state":")" + state +
               R"("}})",
           task);
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
  void append(const std::string& event, const std::string& task = "t") {
    auto drafts = decode_events(event, Framing::json, Intake{.now_ms = clock_.wall_ms(), .allow_reserved = true});
    ASSERT_TRUE(drafts) << drafts.error().message;
    std::promise<Result<Appended>> answer;
    journal_.append({task, {}, std::move(*drafts), clock_.wall_ms(), true},
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
  std::unique_ptr<CommandReader> reader_;
  std::map<std::string, std::unique_ptr<FollowedCommands>> followed_;
};

TEST_F(CommandReaderTest, WhatIsSettledBeforeTheFeedCatchesUpIsPassedOver) {
  command("refused");
  result("refused", "refused");
  command("expired");
  result("expired", "expired");
  command("open");
  open();
  EXPECT_EQ(heard_until("open"), "take open") << "what was never handed out is not taken back either";
}

TEST_F(CommandReaderTest, WhatExpiresAfterItWasHandedOutIsWithdrawn) {
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
TEST_F(CommandReaderTest, OnlyTheNewestIdsAreKept) {
  command("first");
  open();
  heard_until("take first");
  commands("c", kSeenCommands);
  command("first");
  command("last");
  std::string heard = heard_until("take last");
  EXPECT_EQ(heard.rfind("take first"), heard.size() - std::string("take first, take last").size());
}

TEST_F(CommandReaderTest, EverythingIsHandedOutAndWithdrawnOnceOverARestartOfTheServer) {
  command("before");
  command("expires meanwhile");
  open();
  heard_until("take expires meanwhile");
  stop();
  command("came and went");
  result("came and went", "refused");
  result("expires meanwhile", "expired");
  command("meanwhile");
  start();
  note_address();
  EXPECT_EQ(heard_until("take meanwhile"),
            "take before, take expires meanwhile, withdraw expires meanwhile, take meanwhile");
}

TEST_F(CommandReaderTest, ATaskThatIsDeletedIsToldAtOnce) {
  command("first");
  open();
  heard_until("take first");
  EXPECT_EQ(call(*public_, "DELETE", "/api/v1/tasks/t", "", bearer(admin_)).status, 204);
  EXPECT_EQ(heard_until("deleted"), "take first, deleted");
}

TEST_F(CommandReaderTest, ATaskThatIsDeletedWhileTheServerIsAwayIsToldAfterwards) {
  create("u");
  command("first");
  open();
  open("u");
  heard_until("take first");
  stop();
  std::promise<void> deleted;
  journal_.delete_task("t", [&](Result<void>) { deleted.set_value(); });
  deleted.get_future().get();
  command("other", "u");
  start();
  note_address();
  std::string heard = heard_until("deleted");
  EXPECT_NE(heard_until("u: take other").find("u: take other"), std::string::npos) << heard;
}

TEST_F(CommandReaderTest, TasksShareAConnectionAndComeAndGo) {
  create("u");
  command("before", "u");
  command("refused", "u");
  result("refused", "refused", "u");
  open();
  command("one");
  heard_until("take one");
  std::int64_t streams = streams_open();
  open("u");
  EXPECT_EQ(heard_until("u: take before"), "take one, u: take before") << "from the beginning of its own log";
  EXPECT_EQ(streams_open(), streams);
  EXPECT_EQ(streams, 1);
  EXPECT_TRUE(steering_->command_takers().is_open("t") && steering_->command_takers().is_open("u"));
  leave("t");
  command("two");
  command("three", "u");
  heard_until("u: take three");
  EXPECT_TRUE(eventually([&] { return !steering_->command_takers().is_open("t"); }));
  open();
  EXPECT_EQ(heard_until(", take two"), "take one, u: take before, u: take three, take one, take two")
      << "followed again, and nothing of it is settled";
}

// A step that does not return from a command delays only its own task.
TEST_F(CommandReaderTest, ATakerThatHangsDelaysNoOtherTask) {
  create("u");
  create("v");
  std::promise<void> release;
  std::promise<void> hanging;
  follow("t", {.take =
                   [&](const Command&) {
                     hanging.set_value();
                     release.get_future().wait();
                   },
               .withdraw = [](const std::string&) { ADD_FAILURE() << "it was not delivered"; },
               .deleted = [] {}});
  open("u");
  command("hangs");
  hanging.get_future().get();
  command("expires before it is delivered");
  result("expires before it is delivered", "expired");
  command("one", "u");
  EXPECT_EQ(heard_until("u: take one"), "u: take one");
  open("v");
  command("two", "v");
  EXPECT_EQ(heard_until("v: take two"), "u: take one, v: take two");
  release.set_value();
  leave("t");
}

// The runner may be started before the task is on this server, or with a wrong address.
TEST_F(CommandReaderTest, ATaskThatTheServerDoesNotHaveYetIsAskedForAgain) {
  open("late");
  open();
  command("one");
  heard_until("take one");
  create("late");
  command("two", "late");
  EXPECT_EQ(heard_until("late: take two"), "take one, late: take two");
}

}  // namespace
}  // namespace shepherd
