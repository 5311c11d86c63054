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

// Compares the members that `expect` names. A missing text equals an empty one, a missing number equals 0.
void compare(const json::object& expect, const json::object& found, const std::string& where) {
  for (const auto& [key, value] : expect) {
    std::string name = where + std::string(key);
    const json::value* actual = found.if_contains(key);
    if (value.is_object()) {
      compare(value.get_object(), actual != nullptr ? actual->as_object() : json::object(), name + ".");
    } else if (value.is_string()) {
      EXPECT_EQ(actual != nullptr ? actual->as_string() : json::string(), value.as_string()) << name;
    } else if (value.is_bool()) {
      EXPECT_EQ(actual != nullptr && actual->as_bool(), value.as_bool()) << name;
    } else {
      EXPECT_DOUBLE_EQ(actual != nullptr ? actual->to_number<double>() : 0.0, value.to_number<double>()) << name;
    }
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
    compare(golden.at("expect").as_object(), parse_tree(encode_task_state(state))->as_object(), "");
  }
  EXPECT_GE(cases, 15);
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

}  // namespace
}  // namespace shepherd
