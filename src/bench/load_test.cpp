#include "bench/load.h"

#include <gtest/gtest.h>

#include <thread>

#include "bench/bare_server.h"

namespace shepherd::bench {
namespace {

// Runs the bare server on its own thread.
class LoadTest : public ::testing::Test {
 protected:
  void SetUp() override {
    Result<BareServer> made = BareServer::listen();
    ASSERT_TRUE(made) << made.error().message;
    server_.emplace(std::move(*made));
    thread_ = std::thread([this] { server_->run(); });
  }
  void TearDown() override {
    if (server_) server_->stop();
    if (thread_.joinable()) thread_.join();
  }

  LoadPlan plan(std::size_t channels, std::size_t subscribers, std::size_t publishers, std::size_t batch) {
    Address at{.port = server_->port()};
    LoadPlan made;
    std::vector<std::string> targets;
    for (std::size_t i = 0; i < channels; ++i) targets.push_back("/channel-" + std::to_string(i));
    wire_ = std::make_unique<HttpWire>(at, targets, "");
    made.subscribe = {.at = at, .count = subscribers, .targets = targets, .headers = ""};
    made.publish = {.at = at, .count = publishers, .channels = channels, .batch = batch};
    made.wire = wire_.get();
    made.warmup_seconds = 0.05;
    made.seconds = 0.2;
    return made;
  }

  std::optional<BareServer> server_;
  std::unique_ptr<HttpWire> wire_;
  std::thread thread_;
};

TEST_F(LoadTest, OneChannelManyPublishers) {
  Result<LoadResult> result = run_load(plan(1, 20, 8, 1));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->clean());
  EXPECT_GT(result->sent_events, 0U);
  EXPECT_EQ(result->received, result->sent_events * 20);
  EXPECT_EQ(result->sent.at(0).size(), 8U) << "every publisher is a stream of the channel";
  EXPECT_GT(result->delivered_per_second, 0);
  EXPECT_GT(result->latency.count(), 0U);
  EXPECT_LE(result->latency.quantile_ns(0.5), result->latency.max_ns());
}

TEST_F(LoadTest, ManyChannelsInBatches) {
  Result<LoadResult> result = run_load(plan(10, 20, 4, 16));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->clean());
  EXPECT_EQ(result->received, result->sent_events * 2);
  for (const std::vector<std::uint32_t>& streams : result->sent) {
    EXPECT_GT(streams.at(0), 0U) << "publishers serve all their channels";
  }
}

TEST_F(LoadTest, AtARate) {
  LoadPlan paced = plan(5, 5, 2, 1);
  paced.rate = 200;
  paced.max_events = 50;
  paced.seconds = 10;
  paced.warmup_seconds = 0;
  Result<LoadResult> result = run_load(paced);
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->clean());
  EXPECT_EQ(result->sent_events, 50U);
  EXPECT_GE(result->seconds, 49.0 / 200) << "the last one is due no earlier";
}

TEST_F(LoadTest, ARefusalIsAnErrorWithItsReason) {
  LoadPlan refused = plan(1, 1, 1, 1);
  refused.subscribe.transport = Transport::sse;  // the bare server answers every GET with an upgrade
  Result<LoadResult> result = run_load(refused);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("101"), std::string::npos) << result.error().message;
}

TEST_F(LoadTest, ADeadAddressIsAnError) {
  LoadPlan dead = plan(1, 1, 1, 1);
  server_->stop();
  thread_.join();
  server_.reset();
  EXPECT_FALSE(run_load(dead));
}

}  // namespace
}  // namespace shepherd::bench
