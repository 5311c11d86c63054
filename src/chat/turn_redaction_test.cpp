// What redaction hides in a chat session, and from whom: the log and people see marks, the model and its tools do not.
#include <gtest/gtest.h>

#include "chat/chat_for_test.h"
#include "chat/turn.h"

namespace shepherd {
namespace {

class ChatRedaction : public ::testing::Test {
 protected:
  static constexpr const char* kWrite =
      R"({"path":"a.txt","content":"mail ada@example.org","n":{"by":"bob@example.org"}})";

  std::string logged() {
    std::string all;
    for (const LoggedEvent& event : log_of(store)) all += event.json + "\n";
    return all;
  }
  std::shared_ptr<Asked> ask_to(const char* tool, const std::string& arguments) {
    world->model.script.emplace_back(calls_answer({{"a", tool, arguments}}));
    world->model.script.emplace_back(plain_answer("Done."));
    return world->ask("Mail eve@example.org");
  }
  void approve(const std::string& input = {}) {
    world->command(CommandKind::approve, [&](Command& command) {
      command.approval_id = "a";
      command.input_json = input;
    });
  }
  std::string last_settled(const char* member) {
    std::string settled;
    for (const LoggedEvent& event : log_of(store)) {
      if (event.type == EventType::command_result) settled = text_member(find_member(event.json, "data"), member);
    }
    return settled;
  }

  Redactor redactor = Redactor::create({}).value();
  MemoryStore store;
  std::unique_ptr<ChatWorld> world = std::make_unique<ChatWorld>(store, ChatConfig(), std::nullopt, &redactor);
};

TEST_F(ChatRedaction, AToolGetsItsArgumentsWholeAndTheLogDoesNot) {
  auto asked = ask_to("look", kWrite);
  EXPECT_EQ(asked->response(), "Done.");
  ASSERT_EQ(world->tools.uses.size(), 1U);
  EXPECT_EQ(world->tools.uses[0]->use.arguments, kWrite);
  EXPECT_EQ(logged().find("@example.org"), std::string::npos) << logged();
  EXPECT_NE(logged().find("[redacted:email:15]"), std::string::npos);
  for (const ChatMessage& each : world->view().messages) {
    EXPECT_EQ(each.message.content.find("@example.org"), std::string::npos);
    for (const ToolRequest& call : each.message.tool_calls) {
      EXPECT_EQ(call.arguments.find("@example.org"), std::string::npos);
    }
  }
}

TEST_F(ChatRedaction, TheModelIsToldWholeMessagesWhileTheSessionIsInMemory) {
  ask_to("look", kWrite);
  const auto& sent = world->model.last().request.messages;
  ASSERT_EQ(sent.size(), 3U);
  EXPECT_EQ(sent[0].content, "Mail eve@example.org");
  EXPECT_EQ(sent[1].tool_calls[0].arguments, kWrite);
  world->talk("Next", "Yes.");
  EXPECT_EQ(world->model.last().request.messages[0].content, "Mail eve@example.org");
  world.reset();
  world = std::make_unique<ChatWorld>(store, ChatConfig(), std::nullopt, &redactor);
  world->talk("Next", "Yes.");
  EXPECT_EQ(world->model.last().request.messages[0].content, "Mail [redacted:email:15]") << "the log has no more";
}

TEST_F(ChatRedaction, AnApprovalSaysWhatItHides) {
  auto asked = ask_to("change", kWrite);
  std::string pending;
  for (const LoggedEvent& event : log_of(store)) {
    if (event.type == EventType::approval) pending = event.json;
  }
  EXPECT_EQ(find_member(find_member(pending, "data"), "redacted"), R"(["content","n"])") << pending;
  EXPECT_NE(text_member(pending, "summary").find("hidden text"), std::string::npos) << pending;
  approve();
  EXPECT_EQ(asked->response(), "Done.");
  ASSERT_EQ(world->tools.uses.size(), 1U);
  EXPECT_EQ(world->tools.uses[0]->use.arguments, kWrite);
}

TEST_F(ChatRedaction, AChangedInputKeepsWhatWasHidden) {
  ask_to("change", kWrite);
  std::string shown;
  for (const LoggedEvent& event : log_of(store)) {
    if (event.type == EventType::approval) shown = find_member(find_member(event.json, "data"), "input");
  }
  std::string changed = shown;
  changed.replace(changed.find("a.txt"), 5, "b.txt");
  approve(changed);
  ASSERT_EQ(world->tools.uses.size(), 1U);
  std::string expected = kWrite;
  expected.replace(expected.find("a.txt"), 5, "b.txt");
  EXPECT_EQ(world->tools.uses[0]->use.arguments, expected);
}

TEST_F(ChatRedaction, AChangedInputWithAMarkDoesNotRun) {
  auto asked = ask_to("change", kWrite);
  approve(R"({"path":"a.txt","content":"mail [redacted:email:15] and me"})");
  EXPECT_EQ(last_settled("state"), "refused");
  EXPECT_NE(last_settled("reason").find("content"), std::string::npos);
  EXPECT_TRUE(world->tools.uses.empty());
  EXPECT_FALSE(asked->done()) << "it still waits for a decision";
  approve();
  EXPECT_EQ(asked->response(), "Done.");
}

TEST_F(ChatRedaction, ACallThatARestartInterruptedDoesNotRunWithHiddenText) {
  ask_to("change", kWrite);
  world.reset();  // cancels
  MemoryStore cut;
  for (bool first = true; const LoggedEvent& event : log_of(store)) {
    TaskSpec spec;
    spec.id = "chat";
    spec.agent = kChatAgent;
    if (first) {
      ASSERT_TRUE(cut.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.create_task(spec, 1, "")); }));
    }
    first = false;
    Intake intake;
    intake.now_ms = 1;
    intake.allow_reserved = true;
    AppendRequest request;
    request.task = "chat";
    request.drafts = *decode_events("{" + std::string(body_of(event.json)) + "}", Framing::json, intake);
    ASSERT_TRUE(cut.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.append(request)); }));
    if (event.type == EventType::approval) break;  // the server dies while it waits
  }
  ChatWorld next(cut, {}, std::nullopt, &redactor);
  EXPECT_TRUE(next.tools.uses.empty());
  EXPECT_EQ(spoken(next.view()).back(), "tool(a): Error: not run, because the server ended before.");
}

}  // namespace
}  // namespace shepherd
