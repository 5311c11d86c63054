// tests/conformance tests the rules on whole stores; this file tests what only the plan shows.
#include "store/append_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "model/limits.h"
#include "store/limits.h"
#include "store/numbered_request_fixture.h"

namespace shepherd {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// Knows the body of each number and every event id that it is given.
class Known final : public KnownEvents {
 public:
  Result<std::optional<std::string>> body_of_number(const std::string& producer, std::uint64_t number) override {
    if (broken) return fail(ErrorCode::unavailable, "io_error", "");
    auto found = bodies.find({producer, number});
    return found == bodies.end() ? std::nullopt : std::optional(found->second);
  }
  Result<bool> has_event_id(std::string_view id) override { return id == event_id; }
  std::map<std::pair<std::string, std::uint64_t>, std::string> bodies;
  std::string event_id;
  bool broken = false;
};

std::vector<std::string> fields_of(const Error& error) {
  std::vector<std::string> fields{error.reason};
  for (const ErrorField& field : error.fields) {
    const auto* number = std::get_if<std::int64_t>(&field.value);
    fields.push_back(field.name + "=" + (number ? std::to_string(*number) : std::get<std::string>(field.value)));
  }
  return fields;
}

// The drafts that are new, with a star when their number is stored.
std::vector<std::string> fresh_of(const Result<AppendPlan>& plan) {
  std::vector<std::string> fresh;
  if (!plan) return {plan.error().reason};
  for (const auto& each : plan->fresh) fresh.push_back(std::to_string(each.draft) + (each.keyed ? "*" : ""));
  return fresh;
}

// A head after this end, at 1000 ms.
TaskHead ended(bool inferred) {
  TaskHead head;
  head.state.state = State::failed;
  head.state.inferred_end = inferred;
  head.state.completed_ms = 1000;
  return head;
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

TEST(AppendPlan, FailedLookupsOfNumbersFailTheAppend) {
  TaskHead head;
  head.producers["p"].use(1);
  head.producers[""].use(1);
  Known known;
  known.broken = true;
  EXPECT_THAT(fresh_of(plan_append(head, numbered(ProducerKind::strict, {1}), known)), ElementsAre("io_error"));
  EXPECT_THAT(fresh_of(plan_append(head, numbered(ProducerKind::loose, {1}), known)), ElementsAre("io_error"));
}

TEST(AppendPlan, StrictErrorsNameTheDraftAndWhatIsWanted) {
  TaskHead head;
  head.producers["p"].use(1, 4);
  Known known;
  known.bodies[{"p", 3}] = "\"n\":3";
  auto error = [&](std::initializer_list<std::uint64_t> numbers) {
    return fields_of(plan_append(head, numbered(ProducerKind::strict, numbers), known).error());
  };
  EXPECT_THAT(error({5, 7}), ElementsAre("sequence_hole", "expectedSequence=5", "index=1"));
  EXPECT_THAT(error({3, 0}), ElementsAre("sequence_required", "index=1"));
  EXPECT_THAT(error({5, (std::uint64_t{1} << 53) + 1}), ElementsAre("sequence_out_of_range", "index=1"));
  EXPECT_THAT(error({std::uint64_t{1} << 53}), ElementsAre("sequence_hole", "expectedSequence=5", "index=0"));
  known.bodies[{"p", 3}] = "\"n\":33";
  EXPECT_THAT(error({4, 3}), ElementsAre("sequence_reused", "sequence=3", "index=1"));
  AppendRequest nameless = numbered(ProducerKind::strict, {1});
  nameless.producer.id = "";
  EXPECT_EQ(plan_append(head, nameless, known).error().reason, "producer_required");
  EXPECT_THAT(plan_append(head, numbered(ProducerKind::strict, {9}), known).error().message, HasSubstr("Send from 5."));
}

TEST(AppendPlan, RepeatsWithinOneRequestAreFoundInIt) {
  TaskHead head;
  Known known;
  EXPECT_THAT(fresh_of(plan_append(head, numbered(ProducerKind::strict, {1, 2, 1, 2, 3}), known)),
              ElementsAre("0*", "1*", "4*"));
  AppendRequest other = numbered(ProducerKind::strict, {1, 2, 1});
  other.drafts.drafts[2].body_size -= 1;
  EXPECT_THAT(fields_of(plan_append(head, other, known).error()),
              ElementsAre("sequence_reused", "sequence=1", "index=2"));
  other = numbered(ProducerKind::loose, {7, 7, 0, 7, 7});
  other.drafts.drafts[3].body_size -= 1;
  EXPECT_THAT(fresh_of(plan_append(head, other, known)), ElementsAre("0*", "2", "3"))
      << "the first one with a number is the one that repeats are compared with";
}

TEST(AppendPlan, LooseNumbersAreKeptUnlessTheyAreRepeats) {
  TaskHead head;
  head.producers[""].use(1, 3);
  Known known;
  known.bodies[{"", 1}] = "\"n\":1";
  known.bodies[{"", 2}] = "something else";
  EXPECT_THAT(fresh_of(plan_append(head, numbered(ProducerKind::loose, {1, 2, 3, 4}), known)),
              ElementsAre("1", "2*", "3*"))
      << "a repeat; another event; one whose number was forgotten; a new one";
}

TEST(AppendPlan, NumbersOfNoProducerAreIgnoredAndIdsCount) {
  TaskHead head;
  head.producers[""].use(1, 9);
  Known known;
  known.event_id = "seen";
  AppendRequest request = numbered(ProducerKind::none, {5, 5, 5, 5, 5});
  const char* ids[] = {"", "a", "a", "seen", "b"};
  for (std::size_t i = 0; i < 5; ++i) request.drafts.drafts[i].event_id = ids[i];
  EXPECT_THAT(fresh_of(plan_append(head, request, known)), ElementsAre("0", "1", "4"));
}

TEST(AppendPlan, AnOwnEndIsOpenForLateDraftsWhileTheTimeLasts) {
  Known known;
  auto planned = [&](ProducerKind kind, std::int64_t received_ms, std::int64_t within_ms) {
    AppendRequest request = numbered(kind, {kind == ProducerKind::none ? 0U : 1U});
    request.received_ms = received_ms;
    request.late_within_ms = within_ms;
    auto plan = plan_append(ended(false), request, known);
    return plan ? std::string(plan->late ? "late" : "in time") : plan.error().reason;
  };
  EXPECT_EQ(planned(ProducerKind::none, 1500, 500), "late");
  EXPECT_EQ(planned(ProducerKind::loose, 1500, 500), "late");
  EXPECT_EQ(planned(ProducerKind::none, 1501, 500), "task_ended");
  EXPECT_EQ(planned(ProducerKind::strict, 1001, 500), "task_ended");
  EXPECT_EQ(planned(ProducerKind::none, 1000, 0), "task_ended");
  EXPECT_EQ(planned(ProducerKind::none, 1000, 1), "late");
}

TEST(AppendPlan, AnInferredEndIsOpenForEverybody) {
  Known known;
  auto plan = plan_append(ended(true), numbered(ProducerKind::strict, {1}), known);
  ASSERT_TRUE(plan);
  EXPECT_TRUE(plan->late);
  plan = plan_append(TaskHead{}, numbered(ProducerKind::strict, {1}), known);
  ASSERT_TRUE(plan);
  EXPECT_FALSE(plan->late);
}

TEST(AppendPlan, NothingNewFollowsAnEnd) {
  Known known;
  EXPECT_THAT(fields_of(plan_append(ended(false), numbered(ProducerKind::none, {0}), known).error()),
              ElementsAre("task_ended", "currentState=failed", "index=0"));
  AppendRequest request = numbered(ProducerKind::none, {0, 0, 0});
  add_draft(request, EventType::status, R"("data":{"state":"completed"})");
  ASSERT_TRUE(plan_append(TaskHead{}, request, known));
  add_draft(request, EventType::log, "");
  EXPECT_THAT(fields_of(plan_append(TaskHead{}, request, known).error()),
              ElementsAre("task_ended", "currentState=completed", "index=4"));
  EXPECT_EQ(fresh_of(plan_append(ended(true), request, known)).size(), 5U) << "late drafts end nothing";
}

TEST(AppendPlan, DetailsHaveABound) {
  Known known;
  AppendRequest request = numbered(ProducerKind::none, {0, 0});
  request.drafts.drafts[1].detail.assign(kMaxDetailBytes, 'x');
  EXPECT_TRUE(plan_append(TaskHead{}, request, known));
  request.drafts.drafts[1].detail += 'x';
  EXPECT_THAT(fields_of(plan_append(TaskHead{}, request, known).error()), ElementsAre("detail_too_large", "index=1"));
}

TEST(AppendPlan, ALeaseThatIsLostWritesNothing) {
  Known known;
  auto admitted = [&](State state, LeaseFence fence) {
    TaskHead head;
    head.state.state = state;
    head.state.inferred_end = true;  // so that nothing but the lease refuses
    head.state.lease_epoch = 7;
    AppendRequest request = numbered(ProducerKind::none, {0});
    request.fence = fence;
    auto plan = plan_append(head, request, known);
    EXPECT_TRUE(plan || plan.error().reason == "lease_lost");
    EXPECT_TRUE(plan || plan.error().code == ErrorCode::conflict);
    return plan.has_value();
  };
  EXPECT_TRUE(admitted(State::running, {.epoch = 7}));
  EXPECT_FALSE(admitted(State::running, {.epoch = 6}));
  EXPECT_FALSE(admitted(State::running, {.epoch = 8}));
  EXPECT_FALSE(admitted(State::queued, {.epoch = 7})) << "between two runners";
  EXPECT_TRUE(admitted(State::completed, {.epoch = 7})) << "what it did before the end is kept";
  EXPECT_FALSE(admitted(State::completed, {.epoch = 6}));
}

// An event without a time of its own was stamped when it came: a repeat has another stamp.
TEST(AppendPlan, StampsDoNotCountForRepeats) {
  const std::string first = R"("timestamp":"2026-02-18T14:00:00.123Z",)",
                    later = R"("timestamp":"2026-02-18T15:00:00.123Z",)";
  TaskHead head;
  head.producers["p"].use(1);
  Known known;
  auto planned = [&](const std::string& body, bool stamped) {
    AppendRequest request = numbered(ProducerKind::strict, {});
    Draft& draft = add_draft(request, EventType::log, body);
    draft.producer_sequence = 1;
    draft.stamped = stamped;
    auto plan = plan_append(head, request, known);
    return plan ? std::string("repeat") : plan.error().reason;
  };
  known.bodies[{"p", 1}] = first + "\"n\":1";
  EXPECT_EQ(planned(first + "\"n\":1", true), "repeat");
  EXPECT_EQ(planned(later + "\"n\":1", true), "repeat");
  EXPECT_EQ(planned(later + "\"n\":1", false), "sequence_reused") << "the producer's own time is content";
  EXPECT_EQ(planned(later + "\"n\":2", true), "sequence_reused");
  known.bodies[{"p", 1}] = "";
  EXPECT_EQ(planned(later, true), "sequence_reused") << "what is stored is too short for a stamp";
  known.bodies[{"p", 1}] = first;
  EXPECT_EQ(planned(later, true), "repeat") << "nothing but a stamp";
}

}  // namespace
}  // namespace shepherd
