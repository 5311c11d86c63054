#include <gtest/gtest.h>

#include "driver/acp/test_play.h"
#include "driver/test_review.h"
#include "json/scan.h"

namespace shepherd {
namespace {

using Turn = Hints::Turn;

AcpPlay playing(std::string_view file, AgentMode mode = AgentMode::interactive) {
  return AcpPlay(read_recording("acp", file), mode);
}

// The session of Claude's recordings; a line that an agent says in it.
constexpr std::string_view kSession = "3d96f227-551b-40f4-ac5c-d260d42e96ab";
constexpr std::string_view kLongCommand = "echo go; sleep 20; echo end";

TEST(AcpStart, SaysWhatWasSaidThen) {
  for (const char* file :
       {"acp-claude-01-permissions.jsonl", "acp-gemini-01-permissions.jsonl", "acp-opencode-01-permissions.jsonl"}) {
    SCOPED_TRACE(file);
    AcpPlay play = playing(file);
    play.start();
    EXPECT_EQ(find_member(play.said, "method"), "\"initialize\"");
    EXPECT_EQ(find_member(find_member(play.said, "params"), "protocolVersion"), "1");
    play.to_end();
    auto written = lines_of(play.out.written());
    // Everything that was said then but the first line, which promises more now.
    std::vector<std::string> then(play.recording().in.begin() + 1, play.recording().in.end());
    ASSERT_EQ(written.size(), then.size());
    for (std::size_t i = 0; i < then.size(); ++i) {
      // The answer to a written file has an object today.
      if (find_member(then[i], "result") == "null") continue;
      EXPECT_EQ(written[i], then[i]);
    }
    EXPECT_EQ(play.finish().state, State::completed);
  }
}

TEST(AcpStart, TheFirstPromptBringsRulesAndContext) {
  AcpPlay play = playing("acp-opencode-01-permissions.jsonl");
  play.launch.rules = "- Be brief";
  play.launch.context = "The repository is small.";
  play.start();
  play.until("\"configOptions\"");
  std::string written = play.out.written();
  EXPECT_NE(written.find(R"({"type":"text","text":"# Rules\n\n- Be brief"},{"type":"text","text":"Change files"},)"
                         R"({"type":"text","text":"Context:\n\nThe repository is small."})"),
            std::string::npos)
      << written;
}

TEST(AcpStart, ItsCapabilitiesAreCorrectedByItsOwnWords) {
  AcpPlay play = playing("acp-claude-02-cancel.jsonl");
  play.start();
  EXPECT_FALSE(play.driver.capabilities().cost) << "it has not said what it costs";
  play.until("\"cost\"");
  EXPECT_TRUE(play.driver.capabilities().cost);
  EXPECT_TRUE(play.driver.capabilities().resumes_sessions);
  EXPECT_NE(play.out.events().back().json.find(R"("cost":true,"resumesSessions":true)"), std::string::npos);

  AcpPlay other = playing("acp-claude-02-cancel.jsonl");
  other.start();
  EXPECT_TRUE(other.driver.capabilities().resumes_sessions) << "the protocol has it";
  other.driver.record(R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":1,"agentCapabilities":{}}})", other.now,
                      other.out);
  EXPECT_FALSE(other.driver.capabilities().resumes_sessions);
  ASSERT_FALSE(other.out.events().empty());
  EXPECT_NE(other.out.events().back().json.find(R"("resumesSessions":false)"), std::string::npos);
}

TEST(AcpStart, ServersAreListedAsTheAgentTakesThem) {
  AcpPlay play = playing("acp-gemini-01-permissions.jsonl");
  play.launch.mcp_servers_json =
      R"({"mcpServers":{"files":{"command":"mcp-files","args":["--ro"],"env":{"ROOT":"/workspace"}},)"
      R"("issues":{"type":"http","url":"https://issues.example/mcp","headers":{"X-Team":"a"}},)"
      R"("old":{"type":"websocket","url":"wss://old.example"}}})";
  play.start();
  play.until("\"authMethods\"");
  std::string written = play.out.written();
  EXPECT_NE(
      written.find(
          R"({"name":"files","command":"mcp-files","args":["--ro"],"env":[{"name":"ROOT","value":"/workspace"}]})"),
      std::string::npos)
      << written;
  EXPECT_NE(
      written.find(
          R"({"type":"http","name":"issues","url":"https://issues.example/mcp","headers":[{"name":"X-Team","value":"a"}]})"),
      std::string::npos)
      << written;
  EXPECT_EQ(written.find("websocket"), std::string::npos);
  ASSERT_EQ(play.out.events().size(), 1U);
  EXPECT_NE(summary_of(play.out.events().front()).find("old (websocket)"), std::string::npos);
}

TEST(AcpStart, AModelAndAModeAreSetBeforeThePrompt) {
  AcpPlay play = playing("acp-claude-01-permissions.jsonl");
  play.launch.model = "opus";
  play.launch.options = {{"mode", "plan"}, {"effort", "high"}, {"colour", "blue"}};
  play.start();
  play.until("\"configOptions\"");
  EXPECT_EQ(
      lines_of(play.out.written()).back(),
      R"({"jsonrpc":"2.0","id":2,"method":"session/set_config_option","params":{"sessionId":"3fd30dd1-3daf-4595-853b-8241eb46c65f","configId":"model","value":"opus"}})");
  play.driver.record(R"({"jsonrpc":"2.0","id":2,"result":{"configOptions":[]}})", play.now, play.out);
  play.driver.record(R"({"jsonrpc":"2.0","id":3,"error":{"code":-32603,"message":"no effort"}})", play.now, play.out);
  auto lines = lines_of(play.out.written());
  EXPECT_EQ(text_member(lines[lines.size() - 2], "method"), "session/set_config_option");
  EXPECT_EQ(text_member(lines.back(), "method"), "session/set_mode");
  play.driver.record(R"({"jsonrpc":"2.0","id":4,"result":{}})", play.now, play.out);
  EXPECT_EQ(text_member(lines_of(play.out.written()).back(), "method"), "session/prompt");
  std::string notes;
  for (const auto& event : play.out.events()) notes += summary_of(event) + "\n";
  EXPECT_NE(notes.find("no option \"colour\""), std::string::npos);
  EXPECT_NE(notes.find("refused to set effort to high: no effort"), std::string::npos);
}

// Codes and words as claude-agent-acp, Cline and Auggie use them.
TEST(AcpStart, ALoginThatIsMissingIsOneClearError) {
  AcpPlay play = playing("acp-gemini-01-permissions.jsonl");
  play.start();
  play.until("\"authMethods\"");
  play.driver.record(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"Authentication required"}})",
                     play.now, play.out);
  EXPECT_EQ(play.out.of<CloseInput>().size(), 1U);
  ASSERT_EQ(play.out.events().size(), 1U);
  const DriverEvent& error = play.out.events().front();
  EXPECT_TRUE(is_fatal(error));
  EXPECT_EQ(text_member(data_of(error), "code"), "login_required");
  std::string message = text_member(data_of(error), "message");
  EXPECT_NE(message.find("Sign in with the agent's own program"), std::string::npos) << message;
  EXPECT_NE(message.find("Log in with Google (Log in with your Google account)"), std::string::npos) << message;
  EXPECT_NE(message.find("Gemini API key"), std::string::npos) << message;
  Verdict verdict = play.driver.finish({}, play.now, play.out);
  EXPECT_EQ(verdict.state, State::failed);
  EXPECT_EQ(play.out.events().size(), 1U) << "it is said once";
}

TEST(AcpStart, ANewVersionOfTheProtocolIsRefused) {
  AcpPlay play = playing("acp-gemini-01-permissions.jsonl");
  play.start();
  play.driver.record(R"({"jsonrpc":"2.0","id":0,"result":{"protocolVersion":2}})", play.now, play.out);
  EXPECT_EQ(text_member(data_of(play.out.events().front()), "code"), "wrong_protocol");
  EXPECT_EQ(play.out.written(), "");
}

TEST(AcpResume, AnOldSessionIsOpenedAgain) {
  AcpPlay play = playing("acp-opencode-01-permissions.jsonl");
  play.launch.resume_session = "ses_1";
  play.start();
  play.until("\"agentCapabilities\"");
  EXPECT_EQ(
      lines_of(play.out.written()).back(),
      R"({"jsonrpc":"2.0","id":1,"method":"session/resume","params":{"sessionId":"ses_1","cwd":"/workspace","mcpServers":[]}})");
  play.driver.record(R"({"jsonrpc":"2.0","id":1,"result":{}})", play.now, play.out);
  EXPECT_EQ(text_member(lines_of(play.out.written()).back(), "method"), "session/prompt");
  EXPECT_EQ(play.driver.hints().session_id, "ses_1");
}

// Gemini loads sessions and repeats what was said in them.
TEST(AcpResume, WhatALoadRepeatsIsNotSaidAgain) {
  AcpPlay play = playing("acp-gemini-01-permissions.jsonl");
  play.launch.resume_session = "old";
  play.start();
  play.until("\"authMethods\"");
  EXPECT_EQ(text_member(lines_of(play.out.written()).back(), "method"), "session/load");
  for (const auto& line : play.recording().lines) {
    if (line.from_agent() && text_member(line.text, "method") == "session/update" &&
        line.text.find("available_commands") == std::string::npos) {
      play.driver.record(line.text, play.now, play.out);
    }
  }
  EXPECT_EQ(play.out.events().size(), 0U);
  play.driver.record(R"({"jsonrpc":"2.0","id":1,"result":{}})", play.now, play.out);
  ASSERT_EQ(play.out.events().size(), 1U);
  EXPECT_EQ(play.out.events().front().type, EventType::session_start);
}

TEST(AcpResume, AnUnknownSessionIsAClearError) {
  AcpPlay play = playing("acp-claude-02-cancel.jsonl");
  play.launch.resume_session = "unknown-session";
  play.start();
  play.until("\"agentCapabilities\"");
  play.out.take_events();
  play.driver.record(
      R"({"jsonrpc":"2.0","id":1,"error":{"code":-32002,"message":"Resource not found","data":{"sessionId":"unknown-session"}}})",
      play.now, play.out);
  ASSERT_EQ(play.out.events().size(), 1U);
  EXPECT_EQ(text_member(data_of(play.out.events().front()), "code"), "unknown_session");
  EXPECT_EQ(play.driver.finish({}, play.now, play.out).state, State::failed);
}

TEST(AcpSteering, InterruptsAreAcknowledgedByTheCancelledTurn) {
  for (const char* file :
       {"acp-claude-02-cancel.jsonl", "acp-opencode-02-cancel.jsonl", "acp-gemini-02-cancel.jsonl"}) {
    SCOPED_TRACE(file);
    AcpPlay play = playing(file);
    play.start();
    play.until("Starting.");
    EXPECT_EQ(play.driver.hints().turn, Turn::running);
    EXPECT_EQ(find_member(play.say(R"({"id":"i1","kind":"interrupt"})"), "method"), "\"session/cancel\"");
    EXPECT_EQ(play.settled("i1"), "delivered");
    play.say(R"({"id":"i2","kind":"interrupt"})");
    EXPECT_EQ(play.settled("i2"), "refused");
    play.agent_until("\"stopReason\":\"cancelled\"");
    EXPECT_EQ(play.settled("i1"), "delivered acknowledged");
    EXPECT_TRUE(play.driver.hints().interrupted);
    EXPECT_EQ(play.driver.hints().turn, Turn::idle);
    play.say(R"({"id":"i3","kind":"interrupt"})");
    EXPECT_EQ(play.settled("i3"), "refused");
    EXPECT_EQ(play.driver.hints().open_words, 0U);
  }
}

TEST(AcpSteering, AnInterruptAnswersWhatTheAgentAsked) {
  AcpPlay play = playing("acp-gemini-02-cancel.jsonl");
  play.start();
  play.agent_until("session/request_permission");
  EXPECT_EQ(play.driver.hints().turn, Turn::waiting);
  auto lines = lines_of(play.say(R"({"id":"i1","kind":"interrupt"})"));
  ASSERT_EQ(lines.size(), 2U);
  EXPECT_EQ(lines[1], R"({"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"cancelled"}}})");
}

TEST(AcpSteering, WordsForTheNextTurnWaitForIt) {
  AcpPlay play = playing("acp-opencode-02-cancel.jsonl");
  play.start();
  play.until("Starting.");
  EXPECT_EQ(play.say(R"({"id":"q1","kind":"queue","content":"And then?"})"), "");
  EXPECT_EQ(play.settled("q1"), "accepted");
  // OpenCode cannot be steered: the words wait, too.
  EXPECT_FALSE(play.driver.capabilities().can(CommandKind::steer));
  EXPECT_EQ(play.say(R"({"id":"s1","kind":"steer","content":"Be quick"})"), "");
  EXPECT_EQ(play.settled("s1"), "accepted");
  EXPECT_EQ(play.why("s1"), "this agent cannot be steered in its turn; held for the next one");
  EXPECT_EQ(play.driver.hints().open_words, 3U);
  play.say(R"({"id":"i1","kind":"interrupt"})");
  play.agent_until("\"stopReason\":\"cancelled\"");
  EXPECT_EQ(play.settled("q1"), "accepted delivered");
  EXPECT_EQ(play.driver.hints().turn, Turn::running);
  std::string last = lines_of(play.out.written()).back();
  EXPECT_NE(last.find("And then?"), std::string::npos) << last;
  play.agent_until("Second prompt answered.");
  EXPECT_EQ(play.settled("q1"), "accepted delivered acknowledged");
  play.agent_until("\"stopReason\"");
  EXPECT_EQ(play.settled("s1"), "accepted delivered") << "the next one's turn";
  play.driver.finish({}, play.now, play.out);
  EXPECT_EQ(play.settled("s1"), "accepted delivered refused");
}

// claude-agent-acp and codex-acp take words up in a turn, by an extension that both describe.
TEST(AcpSteering, AnAgentThatTakesWordsInATurnIsGivenThem) {
  AcpPlay play = playing("acp-claude-02-cancel.jsonl");
  play.start();
  EXPECT_FALSE(play.driver.capabilities().can(CommandKind::steer));
  play.until("Starting.");
  EXPECT_TRUE(play.driver.capabilities().can(CommandKind::steer));
  std::string line = play.say(R"({"id":"s1","kind":"steer","content":"Be quick"})");
  EXPECT_EQ(
      line,
      R"({"jsonrpc":"2.0","id":3,"method":"_session/steering","params":{"sessionId":")" + std::string(kSession) +
          R"(","prompt":[{"type":"text","text":"Be quick"}],"_meta":{"steering":{"idleBehavior":"promptRequired"}}}})" +
          "\n");
  EXPECT_EQ(play.settled("s1"), "delivered");
  play.driver.record(R"({"jsonrpc":"2.0","id":3,"result":{"outcome":"injected"}})", play.now, play.out);
  EXPECT_EQ(play.settled("s1"), "delivered acknowledged");

  play.say(R"({"id":"s2","kind":"steer","content":"Too late"})");
  play.say(R"({"id":"i1","kind":"interrupt"})");
  play.agent_until("\"stopReason\":\"cancelled\"");
  play.driver.record(R"({"jsonrpc":"2.0","id":4,"result":{"outcome":"promptRequired","reason":"noRunningTurn"}})",
                     play.now, play.out);
  EXPECT_EQ(text_member(lines_of(play.out.written()).back(), "method"), "session/prompt");
  EXPECT_EQ(play.driver.hints().turn, Turn::running);
}

TEST(AcpSteering, AStopEndsTheTurnAndTheInput) {
  AcpPlay play = playing("acp-claude-02-cancel.jsonl");
  play.start();
  play.until("Starting.");
  play.say(R"({"id":"q1","kind":"queue","content":"And then?"})");
  EXPECT_EQ(find_member(play.say(R"({"id":"x","kind":"stop"})"), "method"), "\"session/cancel\"");
  EXPECT_EQ(play.settled("q1"), "accepted refused");
  EXPECT_EQ(play.out.of<CloseInput>().size(), 0U);
  play.agent_until("\"stopReason\":\"cancelled\"");
  EXPECT_EQ(play.settled("x"), "delivered acknowledged");
  EXPECT_EQ(play.out.of<CloseInput>().size(), 1U);
}

TEST(AcpApprovals, OptionsAreChosenByTheirKind) {
  AcpPlay play = playing("acp-gemini-02-cancel.jsonl");
  play.start();
  play.agent_until("session/request_permission");
  std::string id = play.last_approval();
  EXPECT_EQ(play.say(R"({"id":"a1","kind":"approve","approvalID":"nothing"})"), "");
  EXPECT_EQ(play.settled("a1"), "refused");
  EXPECT_EQ(play.say(R"({"id":"a2","kind":"approve","approvalID":")" + id + R"(","input":{"command":"ls"}})"), "");
  EXPECT_EQ(play.settled("a2"), "refused") << "it takes no changed input";
  EXPECT_EQ(play.say(R"({"id":"a3","kind":"deny","approvalID":")" + id + R"(","remember":"always"})"), "");
  EXPECT_EQ(play.settled("a3"), "refused") << "it offers no such thing";
  // Gemini lists what it remembers first.
  EXPECT_EQ(
      play.say(R"({"id":"a4","kind":"approve","approvalID":")" + id + R"(","remember":"Allow for this session"})"),
      "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"outcome\":{\"outcome\":\"selected\",\"optionId\":\"proceed_always\"}"
      "}}\n");
  EXPECT_EQ(play.settled("a4"), "delivered");
  play.agent_until("\"status\":\"completed\"");
  EXPECT_EQ(play.settled("a4"), "delivered acknowledged");
}

TEST(AcpApprovals, AloneTheDriverAllowsAndSaysSo) {
  AcpPlay play = playing("acp-opencode-02-cancel.jsonl", AgentMode::autonomous);
  play.start();
  play.agent_until("session/request_permission");
  EXPECT_EQ(play.driver.hints().turn, Turn::running);
  EXPECT_EQ(lines_of(play.out.written()).back(),
            R"({"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"once"}}})");
  EXPECT_EQ(summary_of(play.out.events().back()), "Approved: Running " + std::string(kLongCommand));
  EXPECT_EQ(text_member(data_of(play.out.events().back()), "message"), "autonomous");
}

TEST(AcpApprovals, AloneOnlyTheTasksToolsAreAllowed) {
  AcpPlay play = playing("acp-opencode-02-cancel.jsonl", AgentMode::autonomous);
  play.launch.allowed_tools = {"read", "edit"};
  play.start();
  play.agent_until("session/request_permission");
  EXPECT_EQ(lines_of(play.out.written()).back(),
            R"({"jsonrpc":"2.0","id":0,"result":{"outcome":{"outcome":"selected","optionId":"reject"}}})");
}

TEST(AcpApprovals, AChangeOfModeAnswersWhatIsOpen) {
  AcpPlay play = playing("acp-opencode-02-cancel.jsonl");
  play.start();
  play.agent_until("session/request_permission");
  EXPECT_EQ(play.driver.hints().turn, Turn::waiting);
  EXPECT_NE(play.say(R"({"id":"m","kind":"set_mode","mode":"autonomous"})").find("\"once\""), std::string::npos);
  EXPECT_EQ(play.settled("m"), "delivered acknowledged");
  EXPECT_EQ(play.driver.hints().turn, Turn::running);
}

// As the protocol's schema has it; no recorded agent asks so.
TEST(AcpApprovals, AFormIsAQuestion) {
  AcpPlay play = playing("acp-claude-02-cancel.jsonl");
  play.start();
  play.until("Starting.");
  play.driver.record(
      R"({"jsonrpc":"2.0","id":"e-1","method":"elicitation/create","params":{"sessionId":"s","mode":"form","message":"Which way?",)"
      R"("requestedSchema":{"type":"object","properties":{"way":{"type":"string","title":"The way","oneOf":[{"const":"l","title":"Left"},{"const":"r","title":"Right"}]},)"
      R"("steps":{"type":"integer","description":"How many steps"},"sure":{"type":"boolean"}},"required":["way"]}}})",
      play.now, play.out);
  EXPECT_EQ(play.driver.hints().turn, Turn::waiting);
  std::string id = play.last_approval();
  EXPECT_EQ(play.say(R"({"id":"a","kind":"approve","approvalID":")" + id + "\"}"), "");
  EXPECT_EQ(play.settled("a"), "refused");
  EXPECT_EQ(play.say(R"({"id":"b","kind":"answer","approvalID":")" + id +
                     R"(","answers":{"The way":"Right","steps":"3","sure":"yes"}})"),
            "{\"jsonrpc\":\"2.0\",\"id\":\"e-1\",\"result\":{\"action\":\"accept\",\"content\":{\"way\":\"r\","
            "\"steps\":3,\"sure\":true}}}\n");
  play.driver.record(
      R"({"jsonrpc":"2.0","id":"e-2","method":"elicitation/create","params":{"sessionId":"s","mode":"url","elicitationId":"1","url":"https://a.example/","message":"Look here"}})",
      play.now, play.out);
  EXPECT_EQ(play.say(R"({"id":"c","kind":"deny","approvalID":")" + play.last_approval() + "\"}"),
            "{\"jsonrpc\":\"2.0\",\"id\":\"e-2\",\"result\":{\"action\":\"decline\"}}\n");
}

TEST(AcpApprovals, TheAgentMayTakeAQuestionBack) {
  AcpPlay play = playing("acp-opencode-02-cancel.jsonl");
  play.start();
  play.agent_until("session/request_permission");
  play.driver.record(R"({"jsonrpc":"2.0","method":"$/cancel_request","params":{"requestId":0}})", play.now, play.out);
  EXPECT_EQ(lines_of(play.out.written()).back(),
            R"({"jsonrpc":"2.0","id":0,"error":{"code":-32800,"message":"cancelled"}})");
  EXPECT_EQ(play.driver.hints().turn, Turn::running);
}

// Requests as the protocol's schema has them.
TEST(AcpHost, WhatTheAgentAsksOfItsMachine) {
  AcpPlay play = playing("acp-opencode-02-cancel.jsonl");
  play.start();
  play.until("Starting.");
  auto asked = [&](std::string_view method, std::string_view params) {
    play.driver.record(
        R"({"jsonrpc":"2.0","id":9,"method":")" + std::string(method) + R"(","params":)" + std::string(params) + "}",
        play.now, play.out);
    return play.out.of<HostCall>().empty() ? HostCall{} : play.out.of<HostCall>().back();
  };
  auto answered = [&](const HostCall& call, auto result) {
    play.driver.answer({call.id, std::move(result)}, play.now, play.out);
    return std::string(find_member(lines_of(play.out.written()).back(), "result"));
  };
  HostCall call = asked("fs/read_text_file", R"({"sessionId":"s","path":"/workspace/a","line":3,"limit":2})");
  const auto& read = std::get<ReadFile>(call.request);
  EXPECT_EQ(read.path, "/workspace/a");
  EXPECT_EQ(read.line, 3U);
  EXPECT_EQ(read.limit, 2U);
  EXPECT_EQ(answered(call, FileText{"x\n"}), R"({"content":"x\n"})");

  call = asked(
      "terminal/create",
      R"({"sessionId":"s","command":"make","args":["test"],"env":[{"name":"A","value":"b"}],"cwd":"/workspace/x","outputByteLimit":100})");
  const auto& start = std::get<StartTerminal>(call.request);
  EXPECT_EQ(start.command, (std::vector<std::string>{"make", "test"}));
  EXPECT_EQ(start.environment, std::vector<std::string>{"A=b"});
  EXPECT_EQ(start.directory, "/workspace/x");
  EXPECT_EQ(start.keep_bytes, 100U);
  EXPECT_EQ(answered(call, TerminalStarted{"t1"}), R"({"terminalId":"t1"})");

  call = asked("terminal/output", R"({"sessionId":"s","terminalId":"t1"})");
  EXPECT_EQ(std::get<LookAtTerminal>(call.request).terminal, "t1");
  EXPECT_EQ(answered(call, TerminalState{"out", false, true, {}, {}}), R"({"output":"out","truncated":false})");
  call = asked("terminal/wait_for_exit", R"({"sessionId":"s","terminalId":"t1"})");
  EXPECT_EQ(answered(call, TerminalState{"out", true, false, 3, {}}), R"({"exitCode":3,"signal":null})");
  call = asked("terminal/kill", R"({"sessionId":"s","terminalId":"t1"})");
  EXPECT_EQ(answered(call, HostDone{}), "{}");
  call = asked("terminal/release", R"({"sessionId":"s","terminalId":"t1"})");
  play.driver.answer({call.id, fail(ErrorCode::not_found, "no_terminal", "no such terminal")}, play.now, play.out);
  EXPECT_EQ(lines_of(play.out.written()).back(),
            R"({"jsonrpc":"2.0","id":9,"error":{"code":-32002,"message":"no such terminal"}})");

  std::size_t calls = play.out.of<HostCall>().size();
  asked("fs/write_text_file", R"({"sessionId":"s","path":"/workspace/a"})");
  EXPECT_EQ(lines_of(play.out.written()).back(),
            R"({"jsonrpc":"2.0","id":9,"error":{"code":-32602,"message":"a parameter is missing"}})");
  // Qwen asks so.
  asked("craft/drainMidTurnQueue", R"({"sessionId":"s"})");
  EXPECT_EQ(lines_of(play.out.written()).back(),
            R"({"jsonrpc":"2.0","id":9,"error":{"code":-32601,"message":"not supported"}})");
  EXPECT_EQ(play.out.of<HostCall>().size(), calls);
}

// Some agents number their calls anew with every turn, or never end them.
TEST(AcpCalls, AnIdMayBeUsedAgain) {
  AcpPlay play = playing("acp-opencode-01-permissions.jsonl");
  play.start();
  play.until("\"configOptions\"");
  auto say = [&](std::string_view update) {
    play.driver.record(R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":)" +
                           std::string(update) + "}}",
                       play.now, play.out);
  };
  play.out.take_events();
  say(R"({"sessionUpdate":"tool_call","toolCallId":"1","title":"ls","kind":"execute","status":"in_progress","rawInput":{"command":"ls"}})");
  say(R"({"sessionUpdate":"tool_call_update","toolCallId":"1","status":"completed"})");
  say(R"({"sessionUpdate":"tool_call_update","toolCallId":"1","title":"a late word"})");
  say(R"({"sessionUpdate":"tool_call","toolCallId":"1","title":"pwd","kind":"execute","rawInput":{"command":"pwd"}})");
  play.driver.record(R"({"jsonrpc":"2.0","id":2,"result":{"stopReason":"end_turn"}})", play.now, play.out);
  std::vector<std::string> seen;
  for (const auto& event : play.out.events()) {
    if (!text_member(event.json, "callID").empty())
      seen.push_back(text_member(event.json, "callID") + " " + summary_of(event));
  }
  EXPECT_EQ(seen, (std::vector<std::string>{"1 Running ls", "1 Done, no output", "1/2 Running pwd",
                                            "1/2 Ended; the agent did not say how"}));
}

TEST(AcpFinish, TheLastStopReasonIsTheVerdict) {
  struct Case {
    const char *answer, *code;
  };
  for (const Case& each :
       {Case{R"("result":{"stopReason":"refusal"})", "refusal"},
        Case{R"("result":{"stopReason":"max_tokens"})", "max_tokens"},
        Case{R"("result":{"stopReason":"max_turn_requests"})", "max_turn_requests"},
        Case{R"("error":{"code":-32603,"message":"Internal error","data":{"details":"API 500"}})", "prompt_failed"}}) {
    SCOPED_TRACE(each.code);
    AcpPlay play = playing("acp-opencode-01-permissions.jsonl");
    play.start();
    play.until("\"configOptions\"");
    play.driver.record(R"({"jsonrpc":"2.0","id":2,)" + std::string(each.answer) + "}", play.now, play.out);
    Translation all;
    all.verdict = play.driver.finish({}, play.now, play.out);
    all.out = std::move(play.out);
    EXPECT_EQ(all.verdict.state, State::failed);
    expect_one_fatal_error(all, {0, "failed", each.code, ""});
  }
}

TEST(AcpFinish, AnAgentThatDiesSaysWhy) {
  AcpPlay play = playing("acp-opencode-01-permissions.jsonl");
  play.start();
  play.driver.stderr_line("opencode: no such model", play.now, play.out);
  Translation all;
  all.verdict = play.driver.finish({1, 0, false, ""}, play.now, play.out);
  all.out = std::move(play.out);
  EXPECT_EQ(all.verdict.message,
            "The agent ended with exit code 1 before its session was open: opencode: no such model");
  expect_one_fatal_error(all, {0, "failed", "agent_failed", ""});
}

// Hermes prints words for people, Grok has updates of its own.
TEST(AcpStream, WhatIsNotTheProtocolsIsKept) {
  AcpPlay play = playing("acp-opencode-01-permissions.jsonl");
  play.start();
  play.driver.record("Loading tools ...", play.now, play.out);
  play.driver.record(R"({"jsonrpc":"2.0","method":"_x.ai/session/notice","params":{}})", play.now, play.out);
  play.driver.record(
      R"({"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"s","update":{"sessionUpdate":"retry_state"}}})",
      play.now, play.out);
  ASSERT_EQ(play.out.events().size(), 3U);
  for (const auto& event : play.out.events()) {
    EXPECT_EQ(event.type, EventType::log);
    EXPECT_FALSE(find_member(event.detail, "raw").empty());
  }
  play.to_end();
  EXPECT_EQ(play.finish().state, State::completed);
}

TEST(AcpLaunch, HomesOfKnownPrograms) {
  AcpAgent driver;
  Launch launch;
  launch.command = {"/usr/bin/codex-acp"};
  launch.prompt = "Do it";
  ASSERT_TRUE(driver.launch(launch).has_value());
  auto variable = [](std::string_view name) { return name == "HOME" ? std::string("/home/a") : std::string(); };
  EXPECT_EQ(driver.state_paths(variable), std::vector<std::string>{"/home/a/.codex"});
  auto own = [](std::string_view name) {
    return name == "CODEX_HOME" ? std::string("/srv/codex") : std::string("/home/a");
  };
  EXPECT_EQ(driver.state_paths(own), std::vector<std::string>{"/srv/codex"});
  EXPECT_FALSE(AcpAgent().launch({}).has_value());
}

}  // namespace
}  // namespace shepherd
