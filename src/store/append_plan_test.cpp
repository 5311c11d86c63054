// tests/conformance tests the rules on whole stores; this file tests what only the plan shows.
#include "store/append_plan.h"

#include <gtest/gtest.h>

#include "model/wire_json.h"
#include "store/batch_builder.h"

namespace shepherd {
namespace {

class NothingKnown final : public KnownEvents {
 public:
  Result<std::optional<std::string>> body_of_number(const std::string&, std::uint64_t) override {
    ++asked;
    return std::nullopt;
  }
  Result<bool> has_event_id(std::string_view) override {
    ++asked;
    if (broken) return fail(ErrorCode::unavailable, "io_error", "");
    return false;
  }
  int asked = 0;
  bool broken = false;
};

AppendRequest numbered(ProducerKind kind, std::initializer_list<std::uint64_t> numbers) {
  AppendRequest request;
  request.task = "t";
  request.producer = {kind, kind == ProducerKind::strict ? "p" : ""};
  for (std::uint64_t number : numbers) {
    Draft draft;
    draft.type = EventType::log;
    draft.producer_sequence = number;
    draft.body_offset = static_cast<std::uint32_t>(request.drafts.bytes.size());
    request.drafts.bytes += "\"n\":" + std::to_string(number);
    draft.body_size = static_cast<std::uint32_t>(request.drafts.bytes.size()) - draft.body_offset;
    request.drafts.drafts.push_back(draft);
  }
  return request;
}

TEST(AppendPlan, NewNumbersAskTheStoreNothing) {
  TaskHead head;
  NothingKnown known;
  auto plan = plan_append(head, numbered(ProducerKind::strict, {1, 2, 3}), known);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->fresh.size(), 3u);
  EXPECT_TRUE(plan->fresh[2].keyed);
  plan = plan_append(head, numbered(ProducerKind::loose, {7, 3, 4}), known);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->fresh.size(), 3u);
  EXPECT_EQ(known.asked, 0);
}

TEST(AppendPlan, WhatRetentionDroppedCountsAsRepeat) {
  TaskHead head;
  head.producers["p"].use(1, 5);
  NothingKnown known;
  auto plan = plan_append(head, numbered(ProducerKind::strict, {4, 5, 6}), known);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->fresh.size(), 1u);
  EXPECT_EQ(plan->fresh[0].draft, 2u);
  EXPECT_EQ(known.asked, 2);
}

TEST(AppendPlan, FailedLookupsFailTheAppend) {
  TaskHead head;
  NothingKnown known;
  known.broken = true;
  AppendRequest request = numbered(ProducerKind::none, {0});
  request.drafts.drafts[0].event_id = "x";
  auto plan = plan_append(head, request, known);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().code, ErrorCode::unavailable);
}

TEST(BatchBuilder, OneRunForPostsThatMeetInOneCommit) {
  TaskHead head;
  NothingKnown known;
  BatchBuilder builder;
  auto add = [&](const AppendRequest& request) {
    auto plan = plan_append(head, request, known);
    ASSERT_TRUE(plan);
    builder.add(head, request, *plan);
  };
  add(numbered(ProducerKind::strict, {1}));
  add(numbered(ProducerKind::strict, {2, 3}));
  EXPECT_EQ(*builder.body_of_number("t", "p", 3), "\"n\":3");
  EXPECT_FALSE(builder.body_of_number("t", "p", 4));
  EXPECT_FALSE(builder.body_of_number("t", "q", 3));
  add(numbered(ProducerKind::none, {0}));
  add(numbered(ProducerKind::loose, {1, 3, 4}));
  AppendRequest server = numbered(ProducerKind::none, {0});
  server.by_server = true;
  add(server);

  std::uint64_t position = 100;
  auto batches = builder.take(position);
  ASSERT_EQ(batches.size(), 5u) << "strict 1-3, none, loose 1, loose 3-4, by the server";
  EXPECT_TRUE(builder.empty());
  EXPECT_EQ(position, 108u);
  EXPECT_EQ(batches[0].batch->size(), 3u);
  EXPECT_EQ(batches[0].batch->position, 101u);
  EXPECT_EQ(batches[0].producer_first, 1u);
  EXPECT_EQ(batches[3].producer_first, 3u);
  EXPECT_FALSE(batches[1].producer);
  EXPECT_TRUE(batches[4].batch->by_server);
  EXPECT_EQ(batches[4].batch->first, 8u);
}

}  // namespace
}  // namespace shepherd
