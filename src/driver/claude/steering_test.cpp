#include <gtest/gtest.h>

#include "driver/claude/test_recording.h"
#include "json/scan.h"

namespace shepherd {
namespace {

constexpr std::int64_t kNow = kRecordingStart;

Command make(std::string_view json) {
  auto command = decode_command(json);
  EXPECT_TRUE(command) << json;
  return command.value_or(Command{});
}

std::string replaced(std::string text, std::string_view from, std::string_view to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// A driver that talks to a recording: what it says is compared with what was said then, and what the agent answered is
// played back with the ids of now.
class Talk {
 public:
  Talk(std::string_view file, Launch launch = launch_as(OutputFormat::bidirectional)) {
    recording_ = claude_recording(file);
    lines_ = lines_of(recording_.out);
    EXPECT_TRUE(driver.launch(launch).has_value());
  }

  // Plays the next line and returns it as it was recorded; empty: there is none.
  std::string next() {
    if (next_ == lines_.size()) return "";
    std::string recorded = lines_[next_++];
    std::string line = recorded;
    for (const auto& [then, now_id] : ids_) line = replaced(line, then, now_id);
    driver.record(our_clock ? replaced(line, "\"timestamp\":", "\"at\":") : line, now, out);
    return recorded;
  }
  // Plays lines up to and including the next that contains `mark`.
  void until(std::string_view mark) {
    for (std::string line = next(); !line.empty(); line = next()) {
      if (line.find(mark) != std::string::npos) return;
    }
    ADD_FAILURE() << "the recording has no more " << mark;
  }
  void to_end() {
    while (!next().empty()) {
    }
  }

  std::string say(std::string_view json) {
    out.take_written();
    driver.command(make(json), now, out);
    return out.written();
  }

  void same_id(std::string then, std::string now) { ids_.emplace_back(std::move(then), std::move(now)); }

  // How a command has settled so far.
  std::string settled(std::string_view id) const {
    std::string states;
    for (const auto& update : out.commands()) {
      if (update.id == id) states.append(states.empty() ? "" : " ").append(name(update.state));
    }
    return states;
  }
  std::string why(std::string_view id) const {
    for (const auto& update : out.commands()) {
      if (update.id == id && update.state == CommandState::refused) return update.reason;
    }
    return "";
  }
  // Approval events as "tool state".
  std::vector<std::string> approvals() const {
    std::vector<std::string> found;
    for (const auto& event : out.events()) {
      if (event.type != EventType::approval) continue;
      std::string_view data = find_member(event.json, "data");
      found.push_back(string_value(find_member(data, "tool")).value_or("") + " " +
                      string_value(find_member(data, "state")).value_or(""));
    }
    return found;
  }
  std::string last_state() const {
    std::string state;
    for (const auto& event : out.events()) {
      if (event.type != EventType::status) continue;
      if (auto said = string_value(find_member(find_member(event.json, "data"), "state"))) state = *said;
    }
    return state;
  }
  const std::vector<std::string>& in() const { return recording_.in; }

  ClaudeCode driver;
  Actions out;
  std::int64_t now = kNow;
  bool our_clock = false;  // lines lose the agent's own times

 private:
  ClaudeRecording recording_;
  std::vector<std::string> lines_;
  std::size_t next_ = 0;
  std::vector<std::pair<std::string, std::string>> ids_;
};

TEST(ClaudeSteering, SteersAndInterruptsAsRecorded) {
  for (const char* file : {"claude-bidi-01-steering.jsonl", "claude-v2.1.197-bidi-01-steering.jsonl"}) {
    SCOPED_TRACE(file);
    Talk talk(file);
    std::string uuid = message_uuid("launch", "s1");
    talk.until("\"Long job\"");
    EXPECT_EQ(talk.driver.hints().turn, Hints::Turn::running);

    std::string line = talk.say(R"({"id":"s1","kind":"steer","content":"ASK2: also read the notes, please"})");
    EXPECT_EQ(replaced(line, uuid, "22222222-2222-4222-8222-222222222222"), talk.in()[2] + "\n");
    EXPECT_EQ(talk.settled("s1"), "delivered");
    talk.same_id("22222222-2222-4222-8222-222222222222", uuid);
    talk.until("\"Both done.\"");
    EXPECT_EQ(talk.settled("s1"), "delivered acknowledged");

    talk.until("\"type\":\"result\"");
    EXPECT_EQ(talk.driver.hints().turn, Hints::Turn::idle);
    EXPECT_EQ(talk.say(R"({"id":"i0","kind":"interrupt"})"), "");
    EXPECT_EQ(talk.settled("i0"), "refused");

    line = talk.say(R"({"id":"m1","kind":"set_mode","mode":"autonomous"})");
    EXPECT_EQ(replaced(line, "shepherd-1", "req-2"), talk.in()[3] + "\n");
    talk.same_id("req-2", "shepherd-1");
    talk.until("\"permissionMode\":\"acceptEdits\"");
    EXPECT_EQ(talk.settled("m1"), "delivered acknowledged");

    talk.until("\"Very long\"");
    line = talk.say(R"({"id":"i1","kind":"interrupt","reason":"wrong way"})");
    EXPECT_EQ(replaced(line, "shepherd-2", "req-3"), talk.in()[5] + "\n");
    talk.same_id("req-3", "shepherd-2");
    EXPECT_EQ(talk.say(R"({"id":"r0","kind":"resume","guidance":"go"})"), "");
    EXPECT_EQ(talk.settled("r0"), "refused");
    talk.until("\"error_during_execution\"");
    EXPECT_EQ(talk.settled("i1"), "delivered acknowledged");
    EXPECT_EQ(talk.last_state(), "interrupted");
    EXPECT_TRUE(talk.driver.hints().interrupted);

    line = talk.say(R"({"id":"r1","kind":"resume","guidance":"ASK4: say hello"})");
    std::string resumed = message_uuid("launch", "r1");
    EXPECT_EQ(replaced(line, ",\"uuid\":\"" + resumed + "\"", ""), talk.in()[6] + "\n");
    EXPECT_EQ(talk.settled("r1"), "delivered");
  }
}

TEST(ClaudeSteering, AQueuedMessageWaitsForTheNextTurn) {
  Talk talk("claude-bidi-17-priority.jsonl");
  talk.until("sleep 8");
  std::string uuid = message_uuid("launch", "q1");
  std::string line = talk.say(R"({"id":"q1","kind":"queue","content":"Later one"})");
  EXPECT_EQ(replaced(line, uuid, "22222222-2222-4222-8222-222222222222"), talk.in()[2] + "\n");
  talk.same_id("22222222-2222-4222-8222-222222222222", uuid);
  EXPECT_EQ(talk.driver.hints().open_words, 2U);  // the prompt of this launch is not in the recording
  talk.until("\"Reply 2\"");
  EXPECT_EQ(talk.settled("q1"), "delivered");
  talk.to_end();
  EXPECT_EQ(talk.settled("q1"), "delivered acknowledged");
}

// A runner closes the input of an agent that is idle and has no word of ours. Between the end of one turn and the first
// line of the next the agent only says that it took the queued word up: it must not lose its input there.
TEST(ClaudeSteering, AWordIsOpenUntilItsOwnTurnIsOver) {
  Talk talk("claude-bidi-17-priority.jsonl");
  const std::string first = "11111111-1111-4111-8111-111111111111", later = "22222222-2222-4222-8222-222222222222";
  talk.same_id(first, message_uuid("launch", "prompt"));
  talk.same_id(later, message_uuid("launch", "q1"));
  talk.until("sleep 8");
  talk.say(R"({"id":"q1","kind":"queue","content":"Later one"})");
  EXPECT_EQ(talk.driver.hints().queued_words, 0U) << "it has not said yet that it has it";
  talk.until(later);
  EXPECT_EQ(talk.driver.hints().queued_words, 1U);
  std::size_t idle = 0;
  for (std::string line = talk.next(); line.find("\"Reply 3\"") == std::string::npos; line = talk.next()) {
    ASSERT_FALSE(line.empty());
    Hints hints = talk.driver.hints();
    EXPECT_GT(hints.open_words, 0U) << line;
    if (line.find("\"started\"") != std::string::npos && line.find(later) != std::string::npos) {
      EXPECT_EQ(hints.turn, Hints::Turn::running) << "there is a turn before its first line comes";
    }
    idle += hints.turn == Hints::Turn::idle ? 1 : 0;
  }
  EXPECT_GT(idle, 2U) << "three turns ended before";
  talk.until("\"type\":\"result\"");
  EXPECT_EQ(talk.driver.hints().turn, Hints::Turn::idle);
  talk.until("\"completed\"");
  EXPECT_EQ(talk.driver.hints().open_words, 0U);
  EXPECT_EQ(talk.driver.hints().turn, Hints::Turn::idle);
}

// A word that is taken up and through without a turn leaves the agent as idle as before.
TEST(ClaudeSteering, ATurnThatWasOnlyAnnouncedIsOver) {
  Talk talk("claude-bidi-01-steering.jsonl");
  talk.until("\"type\":\"result\"");
  talk.say(R"({"id":"s9","kind":"steer","content":"/nothing"})");
  auto said = [&](std::string_view state) {
    talk.driver.record(R"({"type":"command_lifecycle","command_uuid":")" + message_uuid("launch", "s9") +
                           R"(","state":")" + std::string(state) + "\"}",
                       kNow, talk.out);
  };
  said("started");
  talk.driver.record(R"({"type":"system","subtype":"session_state_changed","state":"idle"})", kNow, talk.out);
  EXPECT_EQ(talk.driver.hints().turn, Hints::Turn::running);
  said("completed");
  EXPECT_EQ(talk.driver.hints().turn, Hints::Turn::idle);
  EXPECT_EQ(talk.settled("s9"), "delivered acknowledged");
}

TEST(ClaudeSteering, AnOldAgentIsGivenItWhenTheTurnEnds) {
  Talk talk("claude-v2.1.197-bidi-01-steering.jsonl");
  talk.until("\"Long job\"");
  EXPECT_EQ(talk.say(R"({"id":"q1","kind":"queue","content":"next"})"), "");
  EXPECT_EQ(talk.settled("q1"), "accepted") << "it is held, so it must not expire";
  talk.until("\"type\":\"result\"");
  EXPECT_EQ(talk.out.written(), user_line("next", message_uuid("launch", "q1"), ""));
  EXPECT_EQ(talk.settled("q1"), "accepted delivered");
}

// The log said that it has expired before it said that it is held: then the driver may not give it to the agent.
TEST(ClaudeSteering, WhatIsWithdrawnIsNeverGiven) {
  Talk talk("claude-v2.1.197-bidi-01-steering.jsonl");
  talk.until("\"Long job\"");
  talk.say(R"({"id":"q1","kind":"queue","content":"too late"})");
  talk.say(R"({"id":"q2","kind":"queue","content":"next"})");
  talk.driver.withdraw("q1");
  talk.until("\"type\":\"result\"");
  EXPECT_EQ(talk.out.written(), user_line("next", message_uuid("launch", "q2"), ""));
  EXPECT_EQ(talk.settled("q1"), "accepted");
}

TEST(ClaudeSteering, ACancelledMessageIsRefused) {
  Talk talk("claude-bidi-04-queue-cancel.jsonl");
  talk.until("sleep 6");
  std::string uuid = message_uuid("launch", "s1");
  talk.say(R"({"id":"s1","kind":"steer","content":"Second"})");
  talk.same_id("22222222-2222-4222-8222-222222222222", uuid);
  talk.until("\"cancelled\"");
  EXPECT_EQ(talk.settled("s1"), "delivered refused");
}

TEST(ClaudeSteering, ApprovesAndDeniesAsRecorded) {
  Talk talk("claude-bidi-02-permissions.jsonl");
  talk.until("\"can_use_tool\"");
  EXPECT_EQ(talk.approvals(), std::vector<std::string>{"Write pending"});
  EXPECT_EQ(talk.last_state(), "waiting_for_input");
  EXPECT_EQ(talk.driver.hints().turn, Hints::Turn::waiting);
  std::string_view data = find_member(talk.out.events()[talk.out.events().size() - 2].json, "data");
  EXPECT_EQ(find_member(data, "input"), R"({"file_path":"/workspace/one.txt","content":"one\n"})");

  std::string line = talk.say(R"({"id":"a1","kind":"approve","approvalID":"458851e4-d493-4fb0-a9a9-6f8cee71b304"})");
  EXPECT_EQ(line, talk.in()[2] + "\n");
  EXPECT_EQ(talk.settled("a1"), "delivered");
  EXPECT_EQ(talk.last_state(), "running");
  // The first answer wins.
  EXPECT_EQ(talk.say(R"({"id":"a2","kind":"deny","approvalID":"458851e4-d493-4fb0-a9a9-6f8cee71b304"})"), "");
  EXPECT_EQ(talk.settled("a2"), "refused");
  talk.until("\"can_use_tool\"");
  EXPECT_EQ(talk.settled("a1"), "delivered acknowledged");

  line = talk.say(R"({"id":"d1","kind":"deny","approvalID":"4cf380f9-930a-4e9f-8911-213414010e14",)"
                  R"("message":"Operator says: keep notes.txt"})");
  EXPECT_EQ(line, talk.in()[3] + "\n");
  talk.until("\"can_use_tool\"");
  EXPECT_EQ(talk.settled("d1"), "delivered acknowledged");

  // The rule is offered by itself, and remembered for this session only.
  const auto& asked = talk.out.events()[talk.out.events().size() - 2];
  EXPECT_EQ(find_member(find_member(asked.json, "data"), "remember"), R"j(["Bash(touch two.txt)"])j");
  line = talk.say(R"j({"id":"a3","kind":"approve","approvalID":"4e1ddb84-d088-466f-9e6d-38b48374b17d",)j"
                  R"j("remember":"Bash(touch two.txt)",)j"
                  R"("input":{"command":"touch renamed-by-operator.txt","description":"Create two.txt"}})");
  EXPECT_EQ(line,
            R"({"type":"control_response","response":{"subtype":"success",)"
            R"("request_id":"4e1ddb84-d088-466f-9e6d-38b48374b17d","response":{"behavior":"allow",)"
            R"("updatedInput":{"command":"touch renamed-by-operator.txt","description":"Create two.txt"},)"
            R"("updatedPermissions":[{"type":"addRules","rules":[{"toolName":"Bash","ruleContent":"touch two.txt"}],)"
            R"("behavior":"allow","destination":"session"}]}}})"
            "\n");
  talk.to_end();
  EXPECT_EQ(talk.settled("a3"), "delivered acknowledged");
}

// The newest result: how long it took, and its output.
std::pair<double, std::string> last_result(const Actions& out) {
  std::pair<double, std::string> found{-1, ""};
  for (const auto& event : out.events()) {
    if (event.type != EventType::tool_result) continue;
    found = {number_value(find_member(event.json, "durationMS")).value_or(-1),
             std::string(find_member(event.json, "output"))};
  }
  return found;
}

// What a person took to decide is not the tool's time, and a call that was denied did not fail.
TEST(ClaudeSteering, AToolsTimeBeginsWhenItIsAllowed) {
  Talk talk("claude-bidi-02-permissions.jsonl");
  talk.our_clock = true;
  talk.until("\"can_use_tool\"");
  talk.now += 60'000;
  talk.say(R"({"id":"a1","kind":"approve","approvalID":"458851e4-d493-4fb0-a9a9-6f8cee71b304"})");
  talk.now += 70;
  talk.until("\"tool_result\"");
  EXPECT_EQ(last_result(talk.out).first, 70);
  EXPECT_TRUE(last_result(talk.out).second.starts_with(R"({"success":true,"summary":)"))
      << last_result(talk.out).second;

  talk.until("\"can_use_tool\"");
  talk.now += 60'000;
  talk.say(R"({"id":"d1","kind":"deny","approvalID":"4cf380f9-930a-4e9f-8911-213414010e14",)"
           R"("message":"Operator says: keep notes.txt"})");
  talk.now += 5;
  talk.until("\"tool_result\"");
  EXPECT_EQ(last_result(talk.out).first, 5);
  EXPECT_EQ(last_result(talk.out).second,
            R"({"success":false,"denied":true,"summary":"Operator says: keep notes.txt"})");
}

TEST(ClaudeSteering, AnswersAQuestionAsRecorded) {
  Talk talk("claude-bidi-09-ask-user-question.jsonl");
  talk.until("\"can_use_tool\"");
  std::string id = R"("approvalID":"ab8b43b1-5818-4f6e-a493-77a5a22411b1")";
  EXPECT_EQ(talk.say(R"({"id":"a1","kind":"approve",)" + id + "}"), "");
  EXPECT_EQ(talk.settled("a1"), "refused");
  std::string line = talk.say(R"({"id":"a2","kind":"answer","answers":{"Which colour?":"Blue"},)" + id + "}");
  EXPECT_EQ(line, talk.in()[2] + "\n");
  talk.to_end();
  EXPECT_EQ(talk.settled("a2"), "delivered acknowledged");
  EXPECT_EQ(talk.approvals(), (std::vector<std::string>{"AskUserQuestion pending", "AskUserQuestion answered"}));
}

TEST(ClaudeSteering, APlanIsShownAndApproved) {
  Talk talk("claude-bidi-10-plan-mode.jsonl");
  talk.until("\"display_name\":\"ExitPlanMode\"");
  const auto& asked = talk.out.events()[talk.out.events().size() - 2];
  EXPECT_EQ(find_member(find_member(asked.json, "data"), "input"), R"({"plan":"1. create x.txt"})");
  EXPECT_EQ(find_member(find_member(asked.json, "data"), "kind"), R"("plan")");
  std::string line = talk.say(R"({"id":"a","kind":"approve","approvalID":"a735eb05-d95b-4291-8b63-c0b9ee88f400"})");
  EXPECT_EQ(line, talk.in()[3] + "\n");
}

TEST(ClaudeSteering, AWithdrawnQuestionTakesNoAnswer) {
  for (const char* file :
       {"claude-bidi-03-permission-cancelled.jsonl", "claude-v2.1.197-bidi-03-permission-cancelled.jsonl"}) {
    SCOPED_TRACE(file);
    Talk talk(file);
    talk.until("\"control_cancel_request\"");
    EXPECT_EQ(talk.approvals(), (std::vector<std::string>{"Write pending", "Write expired"}));
    EXPECT_EQ(talk.say(R"({"id":"a","kind":"approve","approvalID":"d7e2ec95-d017-49f6-90a3-74f0cf920f2d"})"), "");
    EXPECT_EQ(talk.why("a"), "this approval is not open");
  }
}

TEST(ClaudeSteering, StopInterruptsAndThenClosesTheInput) {
  Talk talk("claude-bidi-16-interrupt-cancel-queued.jsonl");
  talk.until("sleep 6");
  std::string line = talk.say(R"({"id":"x","kind":"stop"})");
  EXPECT_EQ(replaced(line, "shepherd-1", "req-4"), talk.in()[3] + "\n");
  EXPECT_FALSE(!talk.out.of<CloseInput>().empty());
  talk.same_id("req-4", "shepherd-1");
  talk.until("\"still_queued\"");
  EXPECT_EQ(talk.settled("x"), "delivered acknowledged");
  EXPECT_TRUE(!talk.out.of<CloseInput>().empty());
  talk.until("\"error_during_execution\"");
  EXPECT_EQ(talk.driver.finish({}, kNow, talk.out).state, State::cancelled);
}

TEST(ClaudeSteering, AutonomousAnswersByItself) {
  Launch launch = launch_as(OutputFormat::bidirectional);
  launch.mode = AgentMode::autonomous;
  Talk free("claude-bidi-02-permissions.jsonl", launch);
  free.until("\"can_use_tool\"");
  EXPECT_EQ(free.out.written(), free.in()[2] + "\n");
  EXPECT_EQ(free.approvals(), (std::vector<std::string>{"Write pending", "Write approved"}));
  EXPECT_EQ(free.driver.hints().turn, Hints::Turn::running);

  launch.allowed_tools = {"Read"};
  Talk bound("claude-bidi-02-permissions.jsonl", launch);
  bound.until("\"can_use_tool\"");
  EXPECT_NE(bound.out.written().find(R"("behavior":"deny")"), std::string::npos);

  // Asking operators starts at once; the agent need not confirm it.
  Talk changed("claude-bidi-02-permissions.jsonl", launch);
  changed.say(R"({"id":"m","kind":"set_mode","mode":"interactive"})");
  changed.out.clear();
  changed.until("\"can_use_tool\"");
  EXPECT_EQ(changed.out.written(), "");
  EXPECT_EQ(changed.approvals(), std::vector<std::string>{"Write pending"});
}

TEST(ClaudeSteering, WhatTheFormatCannotDoIsRefusedBeforehand) {
  for (auto format : {OutputFormat::stream, OutputFormat::batch, OutputFormat::text}) {
    ClaudeCode driver;
    ASSERT_TRUE(driver.launch(launch_as(format)).has_value());
    for (std::size_t i = 0; i < kCommandKinds; ++i) {
      Command command;
      command.id = "c";
      command.kind = static_cast<CommandKind>(i);
      Actions out;
      driver.command(command, kNow, out);
      ASSERT_EQ(out.commands().size(), 1U);
      bool refused = out.commands()[0].state == CommandState::refused;
      EXPECT_EQ(refused, !driver.capabilities().can(command.kind)) << name(command.kind);
      if (command.kind == CommandKind::stop) {
        EXPECT_EQ(out.size(), 1U) << "it does not listen: the ladder ends it";
      }
    }
  }
}

TEST(ClaudeSteering, WhatIsOpenWhenTheAgentEndsIsSettled) {
  Talk talk("claude-bidi-02-permissions.jsonl");
  talk.until("\"can_use_tool\"");
  talk.say(R"({"id":"s","kind":"steer","content":"hello"})");
  talk.say(R"({"id":"i","kind":"interrupt"})");
  auto verdict = talk.driver.finish({0, SIGKILL}, kNow, talk.out);
  EXPECT_EQ(verdict.state, State::failed);
  EXPECT_EQ(talk.settled("s"), "delivered refused");
  EXPECT_EQ(talk.settled("i"), "delivered refused");
  EXPECT_EQ(talk.approvals(), (std::vector<std::string>{"Write pending", "Write expired"}));
}

TEST(ClaudeSteering, AnUnknownRequestOfTheAgentIsAnswered) {
  ClaudeCode driver;
  ASSERT_TRUE(driver.launch(launch_as(OutputFormat::bidirectional)).has_value());
  Actions out;
  driver.record(R"({"type":"control_request","request_id":"z","request":{"subtype":"elicitation"}})", kNow, out);
  EXPECT_EQ(out.written(),
            R"({"type":"control_response","response":{"subtype":"error","request_id":"z","error":"not supported"}})"
            "\n");
  ASSERT_EQ(out.events().size(), 1U);
  EXPECT_EQ(out.events()[0].type, EventType::log);
}

TEST(ClaudeTalk, RulesAndIds) {
  EXPECT_EQ(permission_rule("Read"), R"({"toolName":"Read"})");
  EXPECT_EQ(permission_rule("Bash(a (b) \"c\")"), R"({"toolName":"Bash","ruleContent":"a (b) \"c\""})");
  for (const char* bad : {"", "(x)", "Bash(", "Bash()", "Bash(x", "two words", "a,b"}) {
    EXPECT_EQ(permission_rule(bad), std::nullopt) << bad;
  }
  std::string uuid = message_uuid("launch", "c1");
  ASSERT_EQ(uuid.size(), 36U);
  EXPECT_EQ(uuid[14], '4');
  EXPECT_NE(std::string_view("89ab").find(uuid[19]), std::string_view::npos);
  EXPECT_EQ(uuid, message_uuid("launch", "c1"));
  EXPECT_NE(uuid, message_uuid("launch", "c2"));
  EXPECT_NE(uuid, message_uuid("other", "c1"));
}

}  // namespace
}  // namespace shepherd
