#include <gtest/gtest.h>

#include <functional>

#include "driver/codex/test_recording.h"
#include "json/scan.h"

namespace shepherd {
namespace {

// The driver beside a recording: what the real program said, up to a place, and what the driver then writes.
class Beside {
 public:
  explicit Beside(std::string_view recording, AgentMode mode = AgentMode::interactive)
      : lines_(lines_of(codex_recording(recording).out)) {
    Launch launch = codex_launch();
    launch.mode = mode;
    EXPECT_TRUE(driver.launch(launch).has_value());
  }

  // Plays lines up to the first, from here, that has all of these words.
  std::string until(std::initializer_list<std::string_view> words) {
    for (; at_ < lines_.size(); ++at_) {
      const std::string& line = lines_[at_];
      driver.record(line, kRecordingStart, out);
      auto has = [&](std::string_view word) { return line.find(word) != std::string::npos; };
      if (std::ranges::all_of(words, has)) return lines_[at_++];
    }
    ADD_FAILURE() << "the recording does not say " << *words.begin();
    return {};
  }
  void to_end() {
    while (at_ < lines_.size()) driver.record(lines_[at_++], kRecordingStart, out);
  }

  void command(CommandKind kind, std::string id, const std::function<void(Command&)>& fill = {}) {
    Command command;
    command.kind = kind;
    command.id = std::move(id);
    if (fill) fill(command);
    driver.command(command, kRecordingStart, out);
  }

  // The newest line that was written, or what it says under a path of members.
  std::string written() const {
    auto lines = lines_of(out.written());
    return lines.empty() ? "" : lines.back();
  }
  std::vector<std::string> states(std::string_view id) const {
    std::vector<std::string> states;
    for (const CommandUpdate& update : out.commands()) {
      if (update.id == id) states.emplace_back(name(update.state));
    }
    return states;
  }
  std::string reason(std::string_view id) const {
    std::string reason;
    for (const CommandUpdate& update : out.commands()) {
      if (update.id == id) reason = update.reason;
    }
    return reason;
  }
  std::string open_approval() const {
    std::string id;
    for (const DriverEvent& event : out.events()) {
      std::string_view data = find_member(event.json, "data");
      if (event.type == EventType::approval && text_member(data, "state") == "pending")
        id = text_member(data, "approvalID");
    }
    return id;
  }

  Codex driver;
  Actions out;

 private:
  std::vector<std::string> lines_;
  std::size_t at_ = 0;
};

std::string_view params_of(std::string_view line) {
  return find_member(line, "params");
}

using States = std::vector<std::string>;

TEST(CodexSteering, BeginsASessionAndAFirstTurn) {
  Beside run("codex-app-02-approvals");
  run.until({"\"userAgent\""});
  auto said = lines_of(run.out.written());
  ASSERT_EQ(said.size(), 2U);
  EXPECT_EQ(said[0], R"({"method":"initialized"})");
  EXPECT_EQ(text_member(said[1], "method"), "thread/start");
  EXPECT_EQ(text_member(params_of(said[1]), "approvalPolicy"), "untrusted");
  EXPECT_EQ(text_member(params_of(said[1]), "sandbox"), "workspace-write");
  run.until({"\"result\":{\"thread\""});
  EXPECT_EQ(text_member(run.written(), "method"), "turn/start");
  EXPECT_EQ(text_member(params_of(run.written()), "threadId"), run.driver.hints().session_id);
  EXPECT_EQ(find_member(params_of(run.written()), "input"), R"([{"type":"text","text":"Do it","text_elements":[]}])");
  EXPECT_EQ(run.driver.hints().turn, Hints::Turn::none);
  run.until({"\"turn/started\""});
  EXPECT_EQ(run.driver.hints().turn, Hints::Turn::running);
}

TEST(CodexSteering, WorkingAloneItNeverAsks) {
  Beside run("codex-app-02-approvals", AgentMode::autonomous);
  run.until({"\"userAgent\""});
  EXPECT_EQ(text_member(params_of(run.written()), "approvalPolicy"), "never");
  run.until({"requestApproval"});
  EXPECT_EQ(run.written(), R"({"id":0,"result":{"decision":"accept"}})");
}

TEST(CodexSteering, ASteerIsAcknowledgedByTheMessageThatTheServerShows) {
  Beside run("codex-app-03-interrupt-in-approval");
  run.until({"\"turn/started\""});
  run.command(CommandKind::steer, "word-1", [](Command& c) { c.content = "Also this"; });
  EXPECT_EQ(text_member(run.written(), "method"), "turn/steer");
  EXPECT_EQ(text_member(params_of(run.written()), "clientUserMessageId"), "word-1");
  EXPECT_NE(text_member(params_of(run.written()), "expectedTurnId"), "");
  EXPECT_EQ(run.states("word-1"), (States{"delivered"}));
  run.until({"item/started", "userMessage"});
  EXPECT_EQ(run.states("word-1"), (States{"delivered", "acknowledged"}));
}

// The recorded answer to request 5, "no active turn to steer", is one to a steer that came too late.
TEST(CodexSteering, ASteerThatComesTooLateBeginsATurn) {
  Beside run("codex-app-01-steer-interrupt");
  run.until({"\"item/agentMessage/delta\"", "I saw your"});
  run.command(CommandKind::steer, "a", [](Command& c) { c.content = "first"; });   // request 4
  run.command(CommandKind::steer, "b", [](Command& c) { c.content = "second"; });  // request 5
  run.until({"\"turn/completed\""});
  run.until({"no active turn to steer"});
  EXPECT_EQ(text_member(run.written(), "method"), "turn/start");
  EXPECT_EQ(text_member(params_of(run.written()), "clientUserMessageId"), "b");
}

TEST(CodexSteering, AQueuedMessageIsTheNextTurn) {
  Beside run("codex-app-01-steer-interrupt");
  run.until({"\"turn/started\""});
  std::string before = run.out.written();
  run.command(CommandKind::queue, "q", [](Command& c) { c.content = "Then this"; });
  EXPECT_EQ(run.out.written(), before);
  EXPECT_EQ(run.states("q"), (States{"accepted"}));
  EXPECT_EQ(run.driver.hints().queued_words, 1U);
  run.until({"\"turn/completed\""});
  EXPECT_EQ(text_member(run.written(), "method"), "turn/start");
  EXPECT_EQ(find_member(params_of(run.written()), "input"),
            R"([{"type":"text","text":"Then this","text_elements":[]}])");
  EXPECT_EQ(run.states("q"), (States{"accepted", "delivered"}));
}

TEST(CodexSteering, AnInterruptClosesTheCommandThatRan) {
  Beside run("codex-app-01-steer-interrupt");
  run.until({"item/started", "sleep 20"});
  // The recording's own interrupt is request 7.
  for (int i = 4; i < 7; ++i) {
    run.command(CommandKind::steer, "filler" + std::to_string(i), [](Command& c) { c.content = "x"; });
  }
  run.command(CommandKind::interrupt, "i");
  EXPECT_EQ(text_member(run.written(), "method"), "turn/interrupt");
  EXPECT_EQ(find_member(run.written(), "id"), "7");
  run.until({"\"id\":7"});
  EXPECT_EQ(run.states("i"), (States{"delivered", "acknowledged"}));
  run.until({"\"turn/completed\"", "interrupted"});
  auto events = run.out.events();
  auto result = std::ranges::find_if(events, [](const DriverEvent& event) {
    return event.type == EventType::tool_result && text_member(event.json, "summary") == "Interrupted";
  });
  ASSERT_NE(result, events.end());
  EXPECT_TRUE(run.driver.hints().interrupted);
  EXPECT_EQ(run.reason("filler4"), "the turn was interrupted before the agent took it up");
  run.command(CommandKind::resume, "r", [](Command& c) { c.guidance = "Go on"; });
  EXPECT_EQ(text_member(run.written(), "method"), "turn/start");
}

TEST(CodexSteering, AnInterruptWithdrawsWhatIsAsked) {
  Beside run("codex-app-03-interrupt-in-approval");
  run.until({"requestApproval"});
  EXPECT_EQ(run.driver.hints().turn, Hints::Turn::waiting);
  run.command(CommandKind::interrupt, "i");
  EXPECT_EQ(run.written(), codex_recording("codex-app-03-interrupt-in-approval").in[4]);
  run.until({"serverRequest/resolved"});
  EXPECT_EQ(run.states("i"), (States{"delivered", "acknowledged"}));
  run.command(CommandKind::approve, "late", [&](Command& c) { c.approval_id = run.open_approval(); });
  EXPECT_EQ(run.reason("late"), "this approval is not open");
}

TEST(CodexSteering, ApprovesAndDenies) {
  Beside run("codex-app-02-approvals");
  run.until({"requestApproval"});
  std::string asked = run.open_approval();
  run.command(CommandKind::approve, "yes", [&](Command& c) { c.approval_id = asked; });
  EXPECT_EQ(run.written(), R"({"id":0,"result":{"decision":"accept"}})");
  run.until({"serverRequest/resolved"});
  EXPECT_EQ(run.states("yes"), (States{"delivered", "acknowledged"}));

  run.until({"requestApproval"});
  EXPECT_NE(run.open_approval(), asked);
  run.command(CommandKind::deny, "no", [&](Command& c) {
    c.approval_id = run.open_approval();
    c.message = "Keep the notes";
  });
  auto said = lines_of(run.out.written());
  EXPECT_EQ(said.back(), R"({"id":1,"result":{"decision":"decline"}})");
  const std::string& why = said[said.size() - 2];
  EXPECT_EQ(text_member(why, "method"), "turn/steer") << "the model is told why, before it is asked again";
  EXPECT_NE(why.find("Keep the notes"), std::string::npos);
  run.until({"item/completed", "declined"});
  EXPECT_EQ(text_member(run.out.events().back().json, "summary"), "Denied");
}

TEST(CodexSteering, RemembersWhatItOffersAndNothingElse) {
  Beside run("codex-app-10-for-the-session");
  run.until({"requestApproval"});
  auto approve = [&](std::string id, std::string rule) {
    run.command(CommandKind::approve, std::move(id), [&](Command& c) {
      c.approval_id = run.open_approval();
      c.remember = rule;
    });
  };
  approve("wide", "Bash");
  EXPECT_EQ(run.reason("wide"), "this agent can remember Bash(touch one.txt)");
  approve("exact", "Bash(touch one.txt)");
  EXPECT_EQ(run.written(), codex_recording("codex-app-10-for-the-session").in[4]);
}

TEST(CodexSteering, AToolOfAServerIsApprovedAndItsQuestionAnswered) {
  Beside run("codex-app-04-mcp");
  auto recorded = codex_recording("codex-app-04-mcp").in;
  run.until({"elicitation/request"});
  run.command(CommandKind::approve, "a", [&](Command& c) {
    c.approval_id = run.open_approval();
    c.remember = "mcp__notes__add_note";
  });
  EXPECT_EQ(run.written(), recorded[4]);
  run.until({"elicitation/request"});
  run.command(CommandKind::approve, "b", [&](Command& c) { c.approval_id = run.open_approval(); });
  EXPECT_EQ(run.written(), recorded[5]);
  run.until({"elicitation/request"});
  run.command(CommandKind::approve, "c", [&](Command& c) { c.approval_id = run.open_approval(); });
  EXPECT_EQ(run.reason("c"), "this is a question; answer it");
  run.command(CommandKind::answer, "d", [&](Command& c) {
    c.approval_id = run.open_approval();
    c.answers_json = R"({"colour":"blue"})";
  });
  EXPECT_EQ(run.written(), recorded[6]);
}

TEST(CodexSteering, ANewModeIsPartOfTheNextTurn) {
  Beside run("codex-app-03-interrupt-in-approval");
  run.until({"requestApproval"});
  run.command(CommandKind::set_mode, "m", [](Command& c) { c.mode = AgentMode::autonomous; });
  EXPECT_EQ(run.states("m"), (States{"delivered"}));
  EXPECT_EQ(run.written(), R"({"id":0,"result":{"decision":"accept"}})") << "what is open is decided by the new mode";
  run.until({"\"turn/completed\""});
  run.command(CommandKind::resume, "r");
  EXPECT_EQ(text_member(params_of(run.written()), "approvalPolicy"), "never");
}

TEST(CodexSteering, AnUnknownRequestGetsAnError) {
  Beside run("codex-app-02-approvals");
  run.until({"\"turn/started\""});
  run.driver.record(R"({"id":7,"method":"attestation/generate","params":{}})", kRecordingStart, run.out);
  EXPECT_EQ(run.written(), R"({"id":7,"error":{"code":-32601,"message":"not supported"}})");
}

TEST(CodexSteering, ASessionThatIsNotThereIsOneClearError) {
  Codex driver;
  Actions out;
  Launch launch = codex_launch();
  launch.resume_session = "01a1e084-b979-7111-97be-ceea4e5ba252";
  ASSERT_TRUE(driver.launch(launch).has_value());
  Recording recording = codex_recording("codex-app-09-resume-unknown");
  for (const auto& line : lines_of(recording.out)) driver.record(line, kRecordingStart, out);
  EXPECT_EQ(lines_of(out.written()).back().find(R"({"id":2,"method":"thread/resume")"), 0U);
  EXPECT_EQ(out.of<CloseInput>().size(), 1U);
  Verdict verdict = driver.finish({}, kRecordingStart, out);
  EXPECT_EQ(verdict.state, State::failed);
  EXPECT_EQ(verdict.message,
            "The session cannot be resumed: no rollout found for session ID: 01a1e084-b979-7111-97be-ceea4e5ba252");
}

TEST(CodexSteering, AStopInterruptsAndClosesTheInput) {
  Beside run("codex-app-03-interrupt-in-approval");
  run.until({"requestApproval"});
  run.command(CommandKind::stop, "s");
  EXPECT_TRUE(run.out.of<CloseInput>().empty());
  run.until({"\"id\":4"});
  EXPECT_EQ(run.states("s"), (States{"delivered", "acknowledged"}));
  EXPECT_EQ(run.out.of<CloseInput>().size(), 1U);
}

TEST(CodexSteering, NothingStaysOpenAtTheEnd) {
  Beside run("codex-app-02-approvals");
  run.until({"requestApproval"});
  run.command(CommandKind::steer, "s", [](Command& c) { c.content = "x"; });
  run.command(CommandKind::queue, "q", [](Command& c) { c.content = "y"; });
  run.command(CommandKind::interrupt, "i");
  ExitFacts exit;
  exit.signal = 9;
  Verdict verdict = run.driver.finish(exit, kRecordingStart, run.out);
  EXPECT_EQ(verdict.state, State::failed);
  for (std::string_view id : {"s", "q", "i"}) EXPECT_EQ(run.states(id).back(), "refused") << id;
  EXPECT_EQ(run.driver.hints().open_words, 0U);
}

TEST(CodexSteering, TheOneWayFormatDoesNotListen) {
  Codex driver;
  Actions out;
  ASSERT_TRUE(driver.launch(codex_launch(CodexFormat::exec)).has_value());
  Command steer;
  steer.id = "s";
  driver.command(steer, kRecordingStart, out);
  EXPECT_EQ(out.commands().front().state, CommandState::refused);
}

// As `codex app-server generate-ts` describes the notification; no recording has one.
TEST(CodexPlan, IsToldInTheShapeOfAllAgents) {
  Codex driver;
  Actions out;
  EXPECT_TRUE(driver.launch(codex_launch()).has_value());
  driver.record(
      R"({"method":"turn/plan/updated","params":{"threadId":"t","turnId":"u","explanation":null,"plan":[)"
      R"({"step":"Read it","status":"completed"},{"step":"Change it","status":"inProgress"},{"step":"Test it","status":"pending"}]}})",
      kRecordingStart, out);
  ASSERT_EQ(out.events().size(), 1U);
  const std::string& plan = out.events().front().json;
  EXPECT_EQ(text_member(plan, "summary"), "Plan: 1 of 3 done; now: Change it");
  EXPECT_EQ(find_member(plan, "data"),
            R"({"event":"progress","details":{"plan":[{"content":"Read it","status":"completed","state":"done"},)"
            R"({"content":"Change it","status":"in_progress","state":"doing"},)"
            R"({"content":"Test it","status":"pending","state":"to do"}]}})");
}

}  // namespace
}  // namespace shepherd
