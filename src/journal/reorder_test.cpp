#include "journal/reorder.h"

#include <gtest/gtest.h>

#include "base/clock.h"
#include "base/limits.h"
#include "journal/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

// Submitted requests as text: a number for an event, "end", "missing A-B".
class ReorderTest : public testing::Test {
 protected:
  void post(std::uint64_t number, std::size_t padding = 0) {
    std::string json = R"({"type":"log","summary":"x","sequence":)" + std::to_string(number) + R"(,"metadata":{"p":")" +
                       std::string(padding, 'p') + R"("}})";
    reorder_.append(request(json, ProducerKind::loose), [](Result<Appended>) {});
  }
  void end(const std::string& state = "completed") {
    reorder_.end(request(R"({"type":"status","summary":")" + state + R"(","data":{"state":")" + state + R"("}})",
                         ProducerKind::none),
                 [](Result<Appended>) {});
  }
  void pass(std::chrono::milliseconds time) {
    clock_.advance_ms(time.count());
    reorder_.tick();
  }
  std::string submitted() { return std::exchange(submitted_, {}); }
  void store_has(std::uint64_t number) { high_ = number; }

 private:
  AppendRequest request(const std::string& json, ProducerKind kind) {
    AppendRequest made;
    made.task = "t";
    made.producer.kind = kind;
    made.received_ms = clock_.wall_ms();
    made.late_within_ms = kind == ProducerKind::loose ? 30'000 : 0;
    auto drafts = decode_events(json, Framing::json, Intake{.now_ms = made.received_ms});
    EXPECT_TRUE(drafts) << json.substr(0, 100);
    if (drafts) made.drafts = std::move(*drafts);
    return made;
  }
  void submit(AppendRequest taken, Reorder::Done done) {
    if (taken.drafts.drafts.empty()) return done(Appended{.producer_sequence = high_});  // which number is due
    for (const Draft& draft : taken.drafts.drafts) {
      if (taken.by_server) {
        EXPECT_EQ(taken.late_within_ms, 30'000) << "a notice is as late as what it speaks of";
        submitted_ += std::string(taken.drafts.summary(draft)) + "; ";
      } else if (draft.producer_sequence != 0) {
        submitted_ += std::to_string(draft.producer_sequence) + " ";
      } else {
        submitted_ += std::string(taken.drafts.summary(draft)) + " ";
      }
    }
    done(Appended{});
  }

  ManualClock clock_;
  std::uint64_t high_ = 0;
  std::string submitted_;
  Reorder reorder_{clock_,
                   [this](AppendRequest taken, Reorder::Done done) { submit(std::move(taken), std::move(done)); }};
};

TEST_F(ReorderTest, AThousandNumbersBackwardsAreInOrderAndNoneIsCalledMissing) {
  std::string wanted;
  for (std::uint64_t number = 1'000; number > 0; --number) post(number);
  for (std::uint64_t number = 1; number <= 1'000; ++number) wanted += std::to_string(number) + " ";
  EXPECT_EQ(submitted(), wanted);
}

TEST_F(ReorderTest, NoMoreThanItsBytesWait) {
  constexpr std::size_t kPadding = 32 * kKiB;
  for (std::uint64_t number = 2; number <= kReorderBytes / kPadding; ++number) post(number, kPadding);
  EXPECT_EQ(submitted(), "");
  post(2'000, kPadding);
  EXPECT_TRUE(submitted().starts_with("Producer numbers 1 have not arrived; 2 3 4 "));
}

TEST_F(ReorderTest, AnEndWaitsForWhatIsMissing) {
  post(1);
  post(3);
  end();
  EXPECT_EQ(submitted(), "1 ");
  pass(kEndQuiet);
  EXPECT_EQ(submitted(), "") << "two is on its way";
  post(2);
  EXPECT_EQ(submitted(), "2 3 ");
  pass(kEndQuiet);
  EXPECT_EQ(submitted(), "completed ");
}

TEST_F(ReorderTest, AnEndWaitsUntilNothingComesAnyMore) {
  post(1);
  end();
  pass(kEndQuiet / 2);
  post(2);
  pass(kEndQuiet / 2);
  EXPECT_EQ(submitted(), "1 2 ");
  pass(kEndQuiet / 2);
  EXPECT_EQ(submitted(), "completed ");
  post(3);
  EXPECT_EQ(submitted(), "3 ") << "late is better than lost";
}

TEST_F(ReorderTest, AnEndDoesNotWaitForEver) {
  post(2);
  end();
  for (int i = 0; i < 40; ++i) {
    pass(kReorderWait / 40);
    post(static_cast<std::uint64_t>(10 + 2 * i));
  }
  EXPECT_NE(submitted().find("completed "), std::string::npos);
}

TEST_F(ReorderTest, WhatAnotherProcessTookIsNotCalledMissing) {
  post(1);
  post(4);
  store_has(3);
  EXPECT_EQ(submitted(), "1 ");
  pass(kReorderWait);
  EXPECT_EQ(submitted(), "4 ");
  post(6);
  pass(kReorderWait);
  EXPECT_EQ(submitted(), "Producer numbers 5 have not arrived; 6 ");
  post(8);
  end();
  store_has(7);
  pass(kReorderWait);
  EXPECT_EQ(submitted(), "8 completed ");
}

TEST_F(ReorderTest, TheFirstEndStaysTheFirst) {
  post(1);
  end("failed");
  end("completed");
  pass(kEndQuiet);
  EXPECT_EQ(submitted(), "1 failed completed ");
  end("cancelled");
  EXPECT_EQ(submitted(), "cancelled ") << "nothing is on its way";
}

}  // namespace
}  // namespace shepherd
