// Tests for spools whose task does not exist on the server.
#include "outbox/deliver_spool.h"

#include <fcntl.h>
#include <sys/file.h>

#include <filesystem>
#include <thread>

#include "api/api_fixture.h"
#include "base/descriptor.h"
#include "outbox/limits.h"
#include "outbox/outbox.h"
#include "outbox/spool_courier.h"

namespace shepherd {
namespace {

class DeliverSpoolTest : public ApiFixture {
 protected:
  void SetUp() override {
    ApiFixture::SetUp();
    directory_ = testing::TempDir() + "deliver_" + testing::UnitTest::GetInstance()->current_test_info()->name();
    std::filesystem::remove_all(directory_);
  }
  void TearDown() override {
    ApiFixture::TearDown();
    std::filesystem::remove_all(directory_);
  }

  PendingSpool left_behind(const std::string& task, const std::string& destination) {
    auto spool = Spool::create(directory_, {task, "runner-1", destination});
    EXPECT_TRUE(spool) << spool.error().message;
    EXPECT_TRUE((*spool)->append({R"({"type":"output","summary":"one"})"}));
    spool->reset();
    return Spool::pending(directory_).at(0);
  }
  Delivered deliver(const PendingSpool& spool) {
    auto locate = [this]() -> Result<Destination> { return Destination{public_->url(), internal_->url(), admin_}; };
    std::int64_t began_ms = clock_.steady_ms();
    auto delivered = deliver_spool(spool, locate, {}, clock_);
    EXPECT_TRUE(delivered) << delivered.error().message;
    EXPECT_LT(clock_.steady_ms() - began_ms, kPendingDrain.count()) << "it must not wait for what never comes";
    return delivered.value_or(Delivered{});
  }

  std::string directory_;
};

// Without this, every run was five seconds late, because it retried the spools of all deleted tasks.
TEST_F(DeliverSpoolTest, TheSpoolOfADeletedTaskIsSetAsideAndNotTriedAgain) {
  PendingSpool spool = left_behind("deleted", internal_->url());
  Delivered delivered = deliver(spool);
  EXPECT_EQ(delivered.left, 1u);
  EXPECT_FALSE(delivered.stuck);
  EXPECT_TRUE(Spool::pending(directory_).empty());
  EXPECT_TRUE(std::filesystem::exists(delivered.set_aside)) << "somebody may want it";
  EXPECT_FALSE(std::filesystem::exists(spool.path));
}

TEST_F(DeliverSpoolTest, TheServerOfADataDirectoryMayHaveAnotherPort) {
  EXPECT_FALSE(deliver(left_behind("deleted", "http://localhost:1")).set_aside.empty());
}

TEST_F(DeliverSpoolTest, AnotherMachinesServerMayStillKnowTheTask) {
  EXPECT_EQ(deliver(left_behind("theirs", "https://tower.example.org:8081")).set_aside, "");
  EXPECT_EQ(Spool::pending(directory_).size(), 1u);
}

TEST_F(DeliverSpoolTest, AKnownTaskGetsItsEvents) {
  create("t");
  EXPECT_EQ(deliver(left_behind("t", internal_->url())).events, 1u);
  EXPECT_TRUE(Spool::pending(directory_).empty());
}

// A process that only looks at a spool locks it for a moment. The courier met that lock and never looked again.
TEST_F(DeliverSpoolTest, ASpoolThatWasLockedWhenTheCourierLookedIsDeliveredLater) {
  create("locked");
  create("other");
  std::string path = left_behind("locked", internal_->url()).path;
  Descriptor lock(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  ASSERT_EQ(::flock(lock.get(), LOCK_EX | LOCK_NB), 0);
  auto pending_is = [&](std::size_t count) {
    for (int i = 0; i < 2'000; ++i) {
      auto spools = std::filesystem::directory_iterator(directory_);
      if (static_cast<std::size_t>(std::distance(begin(spools), end(spools))) == count) return true;
      std::this_thread::sleep_for(10ms);
    }
    return false;
  };
  auto locate = [this]() -> Result<Destination> { return Destination{public_->url(), internal_->url(), admin_}; };
  SpoolCourier courier(directory_, locate, {}, clock_, 50ms);
  // A delivered spool shows that the courier has looked since.
  for (int look = 0; look < 2; ++look) {
    auto other = Spool::create(directory_, {"other", "runner-" + std::to_string(look), internal_->url()});
    ASSERT_TRUE(other) << other.error().message;
    ASSERT_TRUE((*other)->append({R"({"type":"output","summary":"two"})"}));
    other->reset();
    courier.look_again(path);
    ASSERT_TRUE(pending_is(1)) << "the one that is locked";
  }
  lock.reset();
  EXPECT_TRUE(pending_is(0));
  EXPECT_EQ(parsed(get("/api/v1/tasks/locked")).at("lastSequence").as_int64(), 1);
}

}  // namespace
}  // namespace shepherd
