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

TEST(Command, BoundsAreInclusive) {
  auto expires = [](std::int64_t seconds) {
    return decode_command(R"({"kind":"stop","expiresSeconds":)" + std::to_string(seconds) + "}");
  };
  EXPECT_EQ(expires(1)->expires_seconds, 1);
  EXPECT_EQ(expires(kMaxCommandExpirySeconds)->expires_seconds, kMaxCommandExpirySeconds);
  EXPECT_FALSE(expires(0));
  EXPECT_FALSE(expires(kMaxCommandExpirySeconds + 1));
  constexpr std::string_view kAround = R"({"kind":"steer","content":""})";
  auto long_one = [&](std::size_t bytes) {
    return decode_command(R"({"kind":"steer","content":")" + std::string(bytes - kAround.size(), 'x') + "\"}");
  };
  EXPECT_TRUE(long_one(kMaxCommandBytes));
  EXPECT_EQ(long_one(kMaxCommandBytes + 1).error().reason, "command_too_large");
}

TEST(Command, NamesOfKindsStatesAndModes) {
  for (std::size_t i = 0; i < kCommandKinds; ++i) {
    auto kind = static_cast<CommandKind>(i);
    EXPECT_EQ(command_kind(name(kind)), kind);
  }
  for (auto state : {CommandState::accepted, CommandState::delivered, CommandState::acknowledged, CommandState::refused,
                     CommandState::expired}) {
    EXPECT_EQ(command_state(name(state)), state);
  }
  EXPECT_EQ(agent_mode("autonomous"), AgentMode::autonomous);
  EXPECT_EQ(agent_mode("interactive"), AgentMode::interactive);
  EXPECT_EQ(agent_mode(""), std::nullopt);
  EXPECT_EQ(command_kind(""), std::nullopt);
}

TEST(Command, TheKindDecidesWhereMembersAre) {
  auto command = decode_command(R"({"kind":"steer","content":"a","data":{"content":"b"}})");
  ASSERT_TRUE(command);
  EXPECT_EQ(command->content, "a") << "`data` is for messages without a kind";
  command = decode_command(R"({"type":"steer","content":"a","by":"out"})");
  ASSERT_TRUE(command) << command.error().message;
  EXPECT_EQ(command->content, "a") << "a message without `data`";
  command = decode_command(R"({"type":"steer","data":{"content":"b","by":"in","expiresSeconds":7}})");
  ASSERT_TRUE(command);
  EXPECT_EQ(command->by, "in");
  EXPECT_EQ(command->expires_seconds, 7);
  EXPECT_NE(decode_command("{}").error().message.find("one of steer, queue, interrupt"), std::string::npos);
  EXPECT_EQ(decode_command("{}").error().message.find("none of them"), std::string::npos);
}

}  // namespace
}  // namespace shepherd
