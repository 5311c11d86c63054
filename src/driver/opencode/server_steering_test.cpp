#include <gtest/gtest.h>

#include "driver/opencode/opencode_server.h"
#include "driver/recorded_line.h"
#include "driver/test_recording.h"
#include "json/scan.h"

namespace shepherd {
namespace {

constexpr std::string_view kSteering = "opencode-serve-01-steer-abort.jsonl";
constexpr std::string_view kPermissions = "opencode-serve-02-permissions.jsonl";

// The driver between a recording of the service and an operator.
class Between {
 public:
  explicit Between(std::string_view recording, AgentMode mode = AgentMode::interactive) {
    for (const auto& line : lines_of(read_file(golden_folder("opencode") / "recordings" / recording))) {
      if (auto record = recorded_line(line); record && record->from_agent()) records_.push_back(record->text);
    }
    Launch launch;
    launch.id = "launch";
    launch.prompt = "Do it";
    launch.mode = mode;
    launch.deltas = true;
    auto plan = driver.launch(launch);
    EXPECT_TRUE(plan);
    EXPECT_EQ(plan->input, "{\"id\":\"1\",\"method\":\"POST\",\"path\":\"/session\",\"body\":{}}\n");
    EXPECT_TRUE(plan->keep_input_open);
  }

  // Up to and with the next record that has this text in it.
  void until(std::string_view text) {
    while (at_ < records_.size()) {
      const std::string& record = records_[at_++];
      driver.record(record, kRecordingStart, out);
      if (record.find(text) != std::string::npos) return;
    }
    FAIL() << "the recording has no more " << text;
  }
  Command command(CommandKind kind) const {
    Command made;
    made.id = "c-" + std::string(name(kind));
    made.kind = kind;
    made.content = "another word";
    return made;
  }
  void give(const Command& command) { driver.command(command, kRecordingStart, out); }
  CommandState state(std::string_view id) const {
    CommandState state = CommandState::accepted;
    for (const auto& update : out.commands()) {
      if (update.id == id) state = update.state;
    }
    return state;
  }
  // The path and body of the newest request, and its id.
  std::string asked() { return text_member(last(), "path") + " " + std::string(find_member(last(), "body")); }
  std::string last() {
    auto lines = lines_of(out.written());
    return lines.empty() ? "" : lines.back();
  }
  void answer_last(int status) {
    std::string id = text_member(last(), "id");
    driver.record(
        R"({"answer":{"id":")" + id + R"(","request":"x","status":)" + std::to_string(status) + R"(,"body":true}})",
        kRecordingStart, out);
  }

  OpenCodeServer driver;
  Actions out;

 private:
  std::vector<std::string> records_;
  std::size_t at_ = 0;
};

TEST(OpenCodeServer, AWordDuringATurnIsTakenUpAfterTheStep) {
  Between between(kSteering);
  between.until("Run the job");  // our prompt, as the service keeps it
  between.give(between.command(CommandKind::steer));
  EXPECT_EQ(between.asked(),
            "/session/ses_e1f76502bffeSap7syTj9lMdwB/prompt_async "
            R"({"parts":[{"type":"text","text":"another word"}]})");
  EXPECT_EQ(between.state("c-steer"), CommandState::delivered);
  between.until("Queued while busy");
  EXPECT_EQ(between.state("c-steer"), CommandState::delivered) << "the service has it, the model not";
  EXPECT_EQ(between.driver.hints().open_words, 2U);
  between.until("Done with the job.");
  EXPECT_EQ(between.state("c-steer"), CommandState::acknowledged);
  between.until("session.idle");
  EXPECT_EQ(between.driver.hints().open_words, 0U);
  EXPECT_EQ(between.driver.hints().turn, Hints::Turn::idle);
}

TEST(OpenCodeServer, AQueuedWordWaitsForTheTurnsEnd) {
  Between between(kSteering);
  between.until("Run the job");
  Command queue = between.command(CommandKind::queue);
  between.give(queue);
  EXPECT_EQ(between.state(queue.id), CommandState::accepted);
  std::size_t before = lines_of(between.out.written()).size();
  between.until("session.idle");
  EXPECT_EQ(lines_of(between.out.written()).size(), before + 1);
  EXPECT_EQ(between.state(queue.id), CommandState::delivered);
}

TEST(OpenCodeServer, AnInterruptEndsTheTurnAndAResumeBeginsAnother) {
  Between between(kSteering);
  between.until("Long one");
  between.until("step-start");
  Command interrupt = between.command(CommandKind::interrupt);
  between.give(interrupt);
  EXPECT_EQ(between.asked(), "/session/ses_e1f76502bffeSap7syTj9lMdwB/abort ");
  between.until("session.idle");
  EXPECT_TRUE(between.driver.hints().interrupted);
  between.answer_last(200);
  EXPECT_EQ(between.state(interrupt.id), CommandState::acknowledged);
  Command resume = between.command(CommandKind::resume);
  resume.guidance = "without it";
  between.give(resume);
  EXPECT_NE(between.asked().find(R"("text":"without it")"), std::string::npos);
  between.until("After the abort.");
  EXPECT_EQ(between.state(resume.id), CommandState::acknowledged);
  EXPECT_FALSE(between.driver.hints().interrupted);
}

TEST(OpenCodeServer, AStopAbortsAndThenEndsTheService) {
  Between between(kSteering);
  between.until("step-start");
  between.give(between.command(CommandKind::stop));
  EXPECT_TRUE(between.out.of<CloseInput>().empty()) << "first it has to stop what it does";
  between.answer_last(200);
  EXPECT_EQ(between.out.of<CloseInput>().size(), 1U);
  EXPECT_EQ(between.state("c-stop"), CommandState::acknowledged);
}

TEST(OpenCodeServer, ApprovalsAreAnsweredAsAnOperatorDecides) {
  Between between(kPermissions);
  between.until("permission.asked");
  EXPECT_EQ(between.driver.hints().turn, Hints::Turn::waiting);
  Command approve = between.command(CommandKind::approve);
  approve.approval_id = "per_1e089d8bc001ta1SFNb9oy4YR8";
  between.give(approve);
  EXPECT_EQ(between.asked(), R"(/permission/per_1e089d8bc001ta1SFNb9oy4YR8/reply {"reply":"once"})");
  EXPECT_EQ(between.driver.hints().turn, Hints::Turn::running);
  between.until("permission.replied");
  EXPECT_EQ(between.state(approve.id), CommandState::acknowledged);

  between.until("permission.asked");
  Command always = between.command(CommandKind::approve);
  always.id = "always";
  always.approval_id = "per_1e089d9de001mJZHnV4LHFmvuX";
  always.remember = "edit(src/*)";
  between.give(always);
  EXPECT_EQ(between.state("always"), CommandState::refused) << "the service offers to remember something else";
  always.remember = "edit(*)";
  between.give(always);
  EXPECT_EQ(between.asked(), R"(/permission/per_1e089d9de001mJZHnV4LHFmvuX/reply {"reply":"always"})");

  between.until("permission.asked");
  Command deny = between.command(CommandKind::deny);
  deny.approval_id = "per_1e089db20001qSMCQdqeK25b7Y";
  deny.message = "no";
  between.give(deny);
  EXPECT_EQ(between.asked(), R"(/permission/per_1e089db20001qSMCQdqeK25b7Y/reply {"reply":"reject","message":"no"})");
  between.until("permission.replied");
  EXPECT_EQ(between.state(deny.id), CommandState::acknowledged);
  between.give(deny);
  EXPECT_EQ(between.state(deny.id), CommandState::refused) << "it is not open any more";
}

TEST(OpenCodeServer, AloneItAnswersItself) {
  Between between(kPermissions, AgentMode::autonomous);
  between.until("permission.asked");
  EXPECT_EQ(between.asked(), R"(/permission/per_1e089d8bc001ta1SFNb9oy4YR8/reply {"reply":"once"})");
  EXPECT_EQ(between.driver.hints().turn, Hints::Turn::running);
  Command mode = between.command(CommandKind::set_mode);
  mode.mode = AgentMode::interactive;
  between.give(mode);
  EXPECT_EQ(between.state(mode.id), CommandState::refused);
}

TEST(OpenCodeServer, AServiceThatRefusesASessionIsAFailure) {
  Between between(kPermissions);
  between.driver.record(R"({"answer":{"id":"1","request":"POST /session","status":500,"body":{"name":"UnknownError",)"
                        R"("data":{"message":"no room"}}}})",
                        kRecordingStart, between.out);
  EXPECT_EQ(between.out.of<CloseInput>().size(), 1U);
  Verdict verdict = between.driver.finish({}, kRecordingStart, between.out);
  EXPECT_EQ(verdict.state, State::failed);
  EXPECT_EQ(verdict.message, "the service answered 500: no room");
}

TEST(OpenCodeServer, EverythingIsSettledInTheEnd) {
  Between between(kSteering);
  between.until("step-start");
  for (auto kind : {CommandKind::steer, CommandKind::queue, CommandKind::interrupt})
    between.give(between.command(kind));
  between.driver.finish({0, 9}, kRecordingStart, between.out);
  for (auto kind : {CommandKind::steer, CommandKind::queue, CommandKind::interrupt}) {
    EXPECT_EQ(between.state(between.command(kind).id), CommandState::refused) << name(kind);
  }
}

}  // namespace
}  // namespace shepherd
