#include "steering/steering.h"

#include <gtest/gtest.h>

#include "steering/steering_fixture.h"
#include "store/limits.h"

namespace shepherd {
namespace {

// A server that starts again, or follows another process, behind more changes than the store keeps.
class LostChangesTest : public SteeringFixture {
 protected:
  // As another process writes it: nothing of it is offered to this one's followers.
  void write_elsewhere(const std::function<void(WriteTxn&)>& operations) { ASSERT_TRUE(store_.write(operations)); }
  void change_more_than_is_kept() {
    write_elsewhere([](WriteTxn& txn) {
      for (std::uint64_t i = 0; i <= kKeptChanges; ++i) ASSERT_TRUE(txn.put_record("k", "x", std::to_string(i)));
    });
  }
  void end_elsewhere(const std::string& id) {
    write_elsewhere([&](WriteTxn& txn) {
      auto drafts = decode_events(R"({"type":"status","summary":"done","data":{"state":"completed"}})", Framing::json,
                                  Intake{.now_ms = clock_.wall_ms()});
      ASSERT_TRUE(drafts);
      ASSERT_TRUE(txn.append({id, {}, std::move(*drafts), clock_.wall_ms()}));
    });
  }
};

const std::string kWithCallback = R"(,"callbackURL":"http://receiver.test/hook")";

TEST_F(LostChangesTest, ATaskThatEndedMeanwhileHasItsCallbackAfterAStart) {
  create("before", kWithCallback);
  create("behind", kWithCallback);
  ASSERT_TRUE(post("before", R"({"type":"log","summary":"x"})"));
  stop();
  end_elsewhere("before");
  change_more_than_is_kept();
  end_elsewhere("behind");
  restart();
  EXPECT_TRUE(steering_->callbacks().find("before"));
  EXPECT_TRUE(steering_->callbacks().find("behind"));
}

TEST_F(LostChangesTest, ATaskThatEndedMeanwhileHasItsCallbackWhileAServerRuns) {
  create("t", kWithCallback);
  end_elsewhere("t");
  change_more_than_is_kept();
  create("later", R"(,"agent":"claude")");
  EXPECT_TRUE(steering_->callbacks().find("t"));
  auto given = claim(runner("r1"));
  ASSERT_TRUE(given && *given);
  EXPECT_EQ((*given)->task, "later");
}

}  // namespace
}  // namespace shepherd
