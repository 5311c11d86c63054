#include "model/task_fold.h"

#include <gtest/gtest.h>

#include <boost/json.hpp>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "json/tree.h"
#include "json/write.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

namespace json = boost::json;
namespace fs = std::filesystem;

json::value read_json(const fs::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return parse_tree(text.str()).value();
}

// Folds one entry of a golden log, with the event's text in the form that a store uses.
void fold_entry(TaskState& state, const json::object& entry) {
  std::string event = tree_text(entry.at("event"));
  auto view = parse_event(event).value();
  auto body = body_of(event);
  ASSERT_FALSE(body.empty()) << event;
  std::string summary;
  append_json_string(summary, view.summary);
  FoldEvent next;
  next.sequence = view.sequence;
  next.type = view.type;
  next.received_ms = view.received_ms;
  next.summary = std::string_view(summary).substr(1, summary.size() - 2);
  next.body = body;
  next.late = view.late;
  next.by_server = entry.contains("byServer");
  fold(state, next);
}

// Compares the members that `expect` names, and lists element by element. A missing text equals an empty one, a missing
// number equals 0, a missing list has no elements.
void compare(const json::value& expect, const json::value* found, const std::string& name) {
  if (expect.is_object()) {
    for (const auto& [key, value] : expect.get_object()) {
      compare(value, found != nullptr ? found->as_object().if_contains(key) : nullptr, name + "." + std::string(key));
    }
  } else if (expect.is_array()) {
    const json::array& wanted = expect.get_array();
    json::array actual = found != nullptr ? found->as_array() : json::array();
    ASSERT_EQ(actual.size(), wanted.size()) << name << ": " << json::serialize(actual);
    for (std::size_t i = 0; i < wanted.size(); ++i) compare(wanted[i], &actual[i], name + "." + std::to_string(i));
  } else if (expect.is_string()) {
    EXPECT_EQ(found != nullptr ? found->as_string() : json::string(), expect.as_string()) << name;
  } else if (expect.is_bool()) {
    EXPECT_EQ(found != nullptr && found->as_bool(), expect.as_bool()) << name;
  } else {
    EXPECT_DOUBLE_EQ(found != nullptr ? found->to_number<double>() : 0.0, expect.to_number<double>()) << name;
  }
}

TEST(TaskFold, GoldenLogs) {
  int cases = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(SHEPHERD_GOLDEN_DIR) / "fold")) {
    if (entry.path().extension() != ".json") continue;
    SCOPED_TRACE(entry.path().filename().string());
    ++cases;
    json::value golden = read_json(entry.path());
    TaskState state;
    for (const auto& event : golden.at("log").as_array()) {
      fold_entry(state, event.as_object());
      // Storing and reloading the state after every event must not change the result.
      std::string stored = encode_task_state(state);
      state = decode_task_state(stored);
      EXPECT_EQ(encode_task_state(state), stored);
    }
    json::value folded = parse_tree(encode_task_state(state)).value();
    compare(golden.at("expect"), &folded, "");
  }
  EXPECT_GE(cases, 24);
}

TEST(TaskFold, EndStates) {
  auto end = [](EventType type, std::string_view body) { return end_state_of(type, body); };
  EXPECT_EQ(end(EventType::status, R"("type":"status","data":{"state":"timed_out"})"), State::timed_out);
  EXPECT_EQ(end(EventType::status, R"("type":"status","data":{"state":"paused"})"), State::running);
  EXPECT_EQ(end(EventType::status, R"("type":"status")"), State::running);
  EXPECT_EQ(end(EventType::result, R"("type":"result","data":{"state":"completed"})"), State::running)
      << "an agent's own last word is not the end";
}

TEST(TaskFold, SessionsAreBounded) {
  TaskState state;
  for (std::uint64_t i = 1; i <= kMaxUsageSessions + 50; ++i) {
    std::string body = R"("type":"usage","sessionID":"s)" + std::to_string(i) + R"(","data":{"turns":1})";
    FoldEvent event;
    event.sequence = i;
    event.type = EventType::usage;
    event.body = body;
    fold(state, event);
  }
  EXPECT_LE(state.usage_by_session.size(), kMaxUsageSessions + 1);
  EXPECT_EQ(state.usage.turns, kMaxUsageSessions + 50);
}

TEST(TaskFold, DamagedStateReadsAsNew) {
  EXPECT_EQ(decode_task_state("").state, State::queued);
  EXPECT_EQ(decode_task_state("{").state, State::queued);
  EXPECT_EQ(decode_task_state(R"({"state":"later_version","lastSequence":7,"new":1})").last_sequence, 7U);
}

TEST(States, NamesAndPhases) {
  for (int i = 0; i < 10; ++i) {
    auto state = static_cast<State>(i);
    EXPECT_EQ(state_named(name(state)), state);
  }
  EXPECT_FALSE(state_named("").has_value());
  EXPECT_EQ(phase(State::starting), "Pending");
  EXPECT_EQ(phase(State::interrupted), "Running");
  EXPECT_EQ(phase(State::completed), "Succeeded");
  EXPECT_EQ(phase(State::timed_out), "TimedOut");
  EXPECT_TRUE(is_terminal(State::cancelled));
  EXPECT_FALSE(is_terminal(State::interrupted));
}

TEST(EventTypes, NamesAndMasks) {
  for (std::size_t i = 1; i < kEventTypes; ++i) {
    auto type = static_cast<EventType>(i);
    EXPECT_EQ(event_type(name(type)), type);
  }
  EXPECT_EQ(event_type("telepathy"), EventType::other);
  EXPECT_EQ(event_type(""), EventType::other);
  EXPECT_EQ(name(EventType::other), "");
}

class FoldTest : public ::testing::Test {
 protected:
  void event(EventType type, std::string_view body, std::string_view summary = "", bool by_server = false) {
    std::uint64_t sequence = state_.last_sequence + 1;
    fold(state_, {.sequence = sequence,
                  .type = type,
                  .received_ms = static_cast<std::int64_t>(sequence) * 1000,
                  .summary = summary,
                  .body = body,
                  .by_server = by_server});
  }
  TaskState state_;
};

TEST_F(FoldTest, TimesAndNumbersAreThoseOfTheEvents) {
  event(EventType::status, R"("data":{"state":"starting"})");
  event(EventType::status, R"("data":{"state":"running"})");
  event(EventType::status, R"("data":{"state":"paused"})");
  event(EventType::tool_call, "");
  event(EventType::error, "");
  EXPECT_EQ(state_.end_sequence, 0U);
  event(EventType::status, R"("data":{"state":"completed"})");
  event(EventType::tool_call, "");
  EXPECT_EQ(state_.started_ms, 2000);
  EXPECT_EQ(state_.completed_ms, 6000);
  EXPECT_EQ(state_.last_event_ms, 7000);
  EXPECT_EQ(state_.end_sequence, 6U);
  EXPECT_EQ(state_.first_sequence, 1U);
  EXPECT_EQ(state_.last_sequence, 7U);
  EXPECT_EQ(state_.tool_calls, 2U);
  EXPECT_EQ(state_.errors, 1U);
  EXPECT_FALSE(state_.inferred_end);
}

TEST_F(FoldTest, TheServerPutsATaskBackIntoTheQueueBeforeItRuns) {
  event(EventType::status, R"("data":{"state":"starting"})", "", true);
  event(EventType::status, R"("data":{"state":"queued"})");
  EXPECT_EQ(state_.state, State::starting);
  event(EventType::status, R"("data":{"state":"queued"})", "", true);
  EXPECT_EQ(state_.state, State::queued);
  event(EventType::status, R"("data":{"state":"running"})");
  event(EventType::status, R"("data":{"state":"queued"})", "", true);
  EXPECT_EQ(state_.state, State::running);
}

TEST_F(FoldTest, OnlySomeEventsSayWhatTheAgentDoes) {
  for (EventType type : {EventType::tool_call, EventType::thinking, EventType::output, EventType::status}) {
    event(type, "", name(type));
    EXPECT_EQ(state_.activity, name(type));
    event(type, "", "");
    EXPECT_EQ(state_.activity, name(type)) << "an empty one says nothing";
  }
  for (EventType type : {EventType::log, EventType::usage, EventType::command, EventType::message}) {
    event(type, "", name(type));
    EXPECT_EQ(state_.activity, "status");
  }
}

TEST_F(FoldTest, OnlyTheAgentsOwnEventsStartATask) {
  for (EventType type : {EventType::command, EventType::command_result, EventType::message, EventType::eviction}) {
    event(type, "");
    EXPECT_EQ(state_.state, State::queued) << name(type);
  }
  event(EventType::log, "", "", true);
  event(EventType::status, R"("data":{"message":"waits"})", "", true);
  EXPECT_EQ(state_.state, State::queued) << "the server's own do not either";
  EXPECT_EQ(state_.message, "waits");
  event(EventType::log, "");
  EXPECT_EQ(state_.state, State::running);
}

TEST_F(FoldTest, MembersOfAStatusAreKeptUntilTheNextOneHasThem) {
  event(EventType::status, R"("data":{"state":"running","message":"m","prURL":"p","error":"e"})", "s");
  event(EventType::status, R"("data":{"state":"running"})", "only\\nwords");
  EXPECT_EQ(state_.message, "only\nwords");
  EXPECT_EQ(state_.pr_url, "p");
  EXPECT_EQ(state_.error, "e");
  event(EventType::status, R"("data":{"state":"failed","message":"broke"})");
  EXPECT_EQ(state_.error, "e") << "it has one";
  EXPECT_EQ(state_.message, "broke");
}

TEST_F(FoldTest, AFailureWithoutAnErrorHasItsMessageAsOne) {
  for (auto [end, error] : {std::pair{"failed", "m"}, {"timed_out", "m"}, {"cancelled", ""}, {"completed", ""}}) {
    state_ = {};
    event(EventType::status, R"("data":{"message":"m","state":")" + std::string(end) + "\"}");
    EXPECT_EQ(state_.error, error) << end;
  }
}

TEST_F(FoldTest, SessionsResultsAndFigures) {
  event(EventType::session_start, R"("sessionID":"s1","data":{"model":"opus"})");
  EXPECT_EQ(state_.session_id, "s1");
  EXPECT_EQ(state_.model, "opus");
  event(EventType::usage, R"("data":{"costUSD":1.5,"inputTokens":1,"outputTokens":2,"cacheReadTokens":3,)"
                          R"("cacheWriteTokens":4,"apiCalls":5,"toolUses":6,"turns":7})");
  event(EventType::usage, R"("data":{"costUSD":-1,"inputTokens":-1})");
  EXPECT_EQ(state_.usage_by_session.at("s1").cost_usd, 1.5);
  EXPECT_EQ(state_.usage.input_tokens, 1U);
  EXPECT_EQ(state_.usage.output_tokens, 2U);
  EXPECT_EQ(state_.usage.cache_read_tokens, 3U);
  EXPECT_EQ(state_.usage.cache_write_tokens, 4U);
  EXPECT_EQ(state_.usage.api_calls, 5U);
  EXPECT_EQ(state_.usage.tool_uses, 6U);
  EXPECT_EQ(state_.usage.turns, 7U);
  event(EventType::usage, R"("data":{"costUSD":0})");
  EXPECT_EQ(state_.usage.cost_usd, 0);
  event(EventType::result, R"("data":{"prURL":"https://example.org/1"})");
  EXPECT_EQ(state_.pr_url, "https://example.org/1");
  event(EventType::status, R"("data":{"state":"completed"})");
  event(EventType::result, R"("data":{"prURL":"https://example.org/2"})");
  EXPECT_EQ(state_.pr_url, "https://example.org/1") << "nothing changes after the end";
}

TEST_F(FoldTest, TheOldestSessionIsJoinedToTheNamelessOne) {
  for (std::size_t i = 0; i < kMaxUsageSessions; ++i) {
    event(EventType::usage, R"("sessionID":"s)" + std::to_string(1000 + i) + R"(","data":{"turns":1})");
  }
  EXPECT_EQ(state_.usage_by_session.size(), kMaxUsageSessions);
  EXPECT_FALSE(state_.usage_by_session.contains(""));
  event(EventType::usage, R"("sessionID":"s1000","data":{"turns":2})");
  EXPECT_FALSE(state_.usage_by_session.contains("")) << "a known one needs no room";
  event(EventType::usage, R"("sessionID":"t","data":{"turns":1})");
  EXPECT_EQ(state_.usage_by_session.at("").turns, 2U);
  EXPECT_FALSE(state_.usage_by_session.contains("s1000"));
  event(EventType::usage, R"("sessionID":"u","data":{"turns":1})");
  EXPECT_EQ(state_.usage_by_session.at("").turns, 3U);
  EXPECT_FALSE(state_.usage_by_session.contains("s1001"));
  EXPECT_EQ(state_.usage.turns, kMaxUsageSessions + 3);
}

TEST(States, PhasesOfAll) {
  const char* phases[] = {"Pending", "Pending",   "Running", "Running",  "Running",
                          "Running", "Succeeded", "Failed",  "TimedOut", "Cancelled"};
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(phase(static_cast<State>(i)), phases[i]);
    EXPECT_EQ(is_terminal(static_cast<State>(i)), i >= 6);
  }
}

}  // namespace
}  // namespace shepherd
