#include "model/command.h"

#include <gtest/gtest.h>

#include "json/request.h"
#include "model/limits.h"

namespace shepherd {
namespace {

TEST(Command, ReadsWhatItWrites) {
  const char* texts[] = {
      R"({"id":"c1","kind":"steer","content":"look at é\n\"src\"","metadata":{"ticket":7},"by":"Ada"})",
      R"({"id":"c2","kind":"queue","content":"then test","expiresSeconds":3600})",
      R"({"id":"c3","kind":"interrupt","reason":"wrong file"})",
      R"({"id":"c4","kind":"resume","guidance":"use main.py"})",
      R"({"id":"c5","kind":"set_mode","mode":"interactive"})",
      R"j({"id":"c6","kind":"approve","approvalID":"a","input":{"command":"ls"},"message":"ok","remember":"Bash(ls)"})j",
      R"({"id":"c7","kind":"deny","approvalID":"a","message":"no network"})",
      R"({"id":"c8","kind":"answer","approvalID":"a","answers":{"Which colour?":"Blue"}})",
      R"({"id":"c9","kind":"stop"})",
  };
  for (const char* text : texts) {
    auto command = decode_command(text);
    ASSERT_TRUE(command) << text << command.error().message;
    EXPECT_EQ(encode_command(*command), text);
  }
}

TEST(Command, WebSocketFormHasItsMembersInData) {
  auto command = decode_command(R"({"type":"deny","id":"x","taskID":"t","data":{"approvalID":"a9","message":"no"}})");
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->kind, CommandKind::deny);
  EXPECT_EQ(command->id, "x");
  EXPECT_EQ(command->approval_id, "a9");
  EXPECT_EQ(command->message, "no");
  EXPECT_EQ(command->expires_seconds, 60);
}

TEST(Command, ErrorsNameTheMember) {
  struct Case {
    const char* json;
    const char* reason;
    const char* word;
  } cases[] = {
      {R"({"kind":"dance"})", "unknown_kind", "dance"},
      {R"({})", "unknown_kind", "kind"},
      {R"({"kind":"steer"})", "bad_member", "content"},
      {R"({"kind":"steer","content":7})", "bad_member", "content"},
      {R"({"kind":"set_mode","mode":"yolo"})", "bad_member", "mode"},
      {R"({"kind":"approve"})", "bad_member", "approvalID"},
      {R"({"kind":"approve","approvalID":"a","input":[]})", "bad_member", "input"},
      {R"({"kind":"answer","approvalID":"a"})", "bad_member", "answers"},
      {R"({"type":"deny","data":{"approvalID":3}})", "bad_member", "data.approvalID"},
      {R"({"kind":"stop","expiresSeconds":0})", "bad_member", "expiresSeconds"},
      {R"([])", "bad_command", "object"},
      {R"({"kind":)", "bad_json", "JSON"},
  };
  for (const auto& [json, reason, word] : cases) {
    auto command = decode_command(json);
    ASSERT_FALSE(command) << json;
    EXPECT_EQ(command.error().reason, reason) << json;
    EXPECT_NE(command.error().message.find(word), std::string::npos) << command.error().message;
  }
  auto huge = decode_command(std::string(kMaxCommandBytes + 1, ' '));
  ASSERT_FALSE(huge);
  EXPECT_EQ(huge.error().code, ErrorCode::too_large);
}

TEST(Command, ResultSaysHowItSettled) {
  EXPECT_EQ(encode_command_result("c1", CommandState::acknowledged, ""), R"({"id":"c1","state":"acknowledged"})");
  EXPECT_EQ(encode_command_result("c1", CommandState::refused, "no \"turn\""),
            R"({"id":"c1","state":"refused","reason":"no \"turn\""})");
  EXPECT_EQ(command_state("expired"), CommandState::expired);
  EXPECT_EQ(command_state("gone"), std::nullopt);
}

}  // namespace
}  // namespace shepherd
