#include "chat/conversation.h"

#include <gtest/gtest.h>

#include "chat/chat_events.h"
#include "chat/context_plan.h"
#include "chat/limits.h"
#include "chat/tool_images.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

// A log of chat events, folded as it grows.
class ConversationFold : public ::testing::Test {
 protected:
  void add(const ChatEvent& event) {
    talk.apply(++sequence, event.type, event.json);
    // As a store gives it back.
    static const CondenseRules kRules;
    Intake intake;
    intake.condense = &kRules;
    intake.keep_detail = true;
    intake.allow_reserved = true;
    auto drafts = decode_events(event.json, Framing::json, intake);
    ASSERT_TRUE(drafts) << drafts.error().message;
    std::string stored;
    append_event(stored, sequence, 1, "", false, drafts->body(drafts->drafts[0]));
    reloaded.apply(sequence, drafts->drafts[0].type, stored);
    expect_same();
  }
  void expect_same() {
    ASSERT_EQ(talk.messages().size(), reloaded.messages().size());
    for (std::size_t i = 0; i < talk.messages().size(); ++i) {
      const ChatMessage &a = talk.messages()[i], &b = reloaded.messages()[i];
      EXPECT_EQ(a.sequence, b.sequence);
      EXPECT_EQ(a.message.role, b.message.role);
      EXPECT_EQ(a.message.content, b.message.content);
      EXPECT_EQ(a.message.tool_calls, b.message.tool_calls);
      EXPECT_EQ(a.message.tool_call_id, b.message.tool_call_id);
      EXPECT_EQ(a.message.tool_name, b.message.tool_name);
      EXPECT_EQ(a.message.image_count, b.message.image_count);
      EXPECT_EQ(a.message.failed, b.message.failed);
      EXPECT_EQ(a.message.reasoning, b.message.reasoning);
      EXPECT_EQ(a.message.reasoning_state, b.message.reasoning_state);
      EXPECT_EQ(a.tokens, b.tokens);
      EXPECT_EQ(a.exact, b.exact);
    }
    EXPECT_EQ(talk.total_tokens(), reloaded.total_tokens());
    EXPECT_EQ(talk.turn_open(), reloaded.turn_open());
    EXPECT_EQ(talk.unanswered(), reloaded.unanswered());
    EXPECT_EQ(talk.open_calls(), reloaded.open_calls());
    EXPECT_EQ(talk.open_approvals(), reloaded.open_approvals());
    EXPECT_EQ(talk.cut(), reloaded.cut());
  }
  void say(Role role, std::string content, MessageFacts facts = {}) {
    ModelMessage message;
    message.role = role;
    message.content = std::move(content);
    add(message_event(message, facts));
  }
  void ask_for(std::vector<ToolRequest> calls) {
    ModelMessage message;
    message.role = Role::assistant;
    message.tool_calls = std::move(calls);
    message.reasoning = "because";
    message.reasoning_state = R"({"backend":"b","blocks":[{"type":"thinking","signature":"S"}]})";
    add(message_event(message, {}));
  }
  void result(const std::string& id) {
    ModelMessage message;
    message.role = Role::tool;
    message.content = "Error: no";
    message.tool_call_id = id;
    message.tool_name = "look";
    message.failed = true;
    add(message_event(message, {}));
  }

  Conversation talk, reloaded;
  std::uint64_t sequence = 0;
};

MessageFacts final_facts() {
  MessageFacts facts;
  facts.tokens = 5;
  facts.exact = true;
  facts.total_tokens = 40;
  facts.final = true;
  return facts;
}

TEST_F(ConversationFold, FoldsATurn) {
  SessionFacts start;
  start.system = "Be kind.";
  add(session_start_event(start));
  EXPECT_TRUE(talk.started());
  EXPECT_EQ(talk.system(), "Be kind.");
  EXPECT_EQ(talk.turn_begin(), 0U);
  MessageFacts facts;
  facts.tokens = 7;
  facts.by = "ada";
  say(Role::user, "Hi \"there\"\n\u00e9", facts);
  EXPECT_TRUE(talk.turn_open());
  EXPECT_EQ(talk.total_tokens(), 7 + estimated_tokens("Be kind.")) << "older logs do not count the system prompt";
  say(Role::assistant, "Hello", final_facts());
  EXPECT_FALSE(talk.turn_open());
  EXPECT_EQ(talk.total_tokens(), 40);
  EXPECT_TRUE(talk.exact());
  EXPECT_EQ(talk.turn_begin(), 0U);
  EXPECT_EQ(talk.last_sequence(), 3U);
}

TEST_F(ConversationFold, KnowsWhatIsOpen) {
  say(Role::user, "Go");
  ToolRequest a{"a", "look", "{}"}, b{"b", "change", "{half"};
  ask_for({a, b});
  EXPECT_EQ(talk.unanswered(), (std::vector<ToolRequest>{a, b}));
  add(tool_call_event(a, "Looks"));
  EXPECT_EQ(talk.open_calls(), (std::set<std::string>{"a"}));
  add(tool_result_event(a, {true, "fine", 3}));
  result("a");
  EXPECT_EQ(talk.unanswered(), (std::vector<ToolRequest>{b}));
  EXPECT_TRUE(talk.open_calls().empty());
  add(tool_call_event(b, "Changes"));
  add(approval_event(b, "pending", "Changes", "", "change(rule)"));
  EXPECT_EQ(talk.open_approvals(), (std::set<std::string>{"b"}));
  EXPECT_FALSE(talk.remembers("change(rule)"));
  add(approval_event(b, "approved", "Changes", "", "change(rule)"));
  EXPECT_TRUE(talk.open_approvals().empty());
  EXPECT_TRUE(talk.remembers("change(rule)"));
  result("b");
  EXPECT_TRUE(talk.unanswered().empty());
  EXPECT_TRUE(talk.turn_open());
  add(error_event("cancelled", "The turn was cancelled.", true));
  EXPECT_FALSE(talk.turn_open());
}

TEST_F(ConversationFold, RemembersOnlyWhatWasApproved) {
  ToolRequest call{"a", "change", "{}"};
  add(approval_event(call, "pending", "x", "", "rule"));
  add(approval_event(call, "denied", "x", "", "rule"));
  EXPECT_FALSE(talk.remembers("rule"));
  for (std::size_t i = 0; i <= kMaxRememberedRules; ++i)
    add(approval_event(call, "approved", "x", "", "r" + std::to_string(i)));
  EXPECT_TRUE(talk.remembers("r0"));
  EXPECT_FALSE(talk.remembers("r" + std::to_string(kMaxRememberedRules)));
}

TEST_F(ConversationFold, AnErrorThatIsNotTheEndKeepsTheTurnOpen) {
  say(Role::user, "Go");
  add(error_event("x", "Not fatal", false));
  EXPECT_TRUE(talk.turn_open());
}

TEST_F(ConversationFold, EvictsAndClears) {
  for (int i = 0; i < 3; ++i) {
    say(Role::user, "q" + std::to_string(i));
    say(Role::assistant, "a" + std::to_string(i), final_facts());
  }
  add(eviction_event({1, 2}, 20, 30, EvictionReason::context, false));
  ASSERT_EQ(talk.messages().size(), 4U);
  EXPECT_EQ(talk.messages()[0].message.content, "q1");
  EXPECT_EQ(talk.total_tokens(), 30);
  add(eviction_event({3, 4, 5, 6}, 30, 0, EvictionReason::cleared, true));
  EXPECT_TRUE(talk.messages().empty());
  EXPECT_EQ(talk.total_tokens(), 0);
  EXPECT_EQ(talk.turn_begin(), 0U);
}

TEST_F(ConversationFold, CountsUsageAndMode) {
  Usage usage;
  usage.cost_usd = 0.25;
  usage.input_tokens = 7;
  usage.turns = 2;
  add(usage_event(usage, true, "m", "s"));
  EXPECT_DOUBLE_EQ(talk.usage().cost_usd, 0.25);
  EXPECT_EQ(talk.usage().input_tokens, 7U);
  EXPECT_EQ(talk.usage().turns, 2U);
  EXPECT_TRUE(talk.priced());
  add(usage_event(usage, false, "m", "s"));
  EXPECT_FALSE(talk.priced());
  EXPECT_EQ(talk.mode(), AgentMode::interactive);
  add(state_event(State::paused, "mode", R"("mode":"autonomous")"));
  EXPECT_EQ(talk.mode(), AgentMode::autonomous);
}

TEST_F(ConversationFold, ALongMessageIsCutInItsEventAndRestored) {
  std::string text(kInlineMessageBytes - 1, 'x');
  text += "\u00e9 and more";
  ModelMessage message;
  message.content = text;
  message.role = Role::assistant;
  message.tool_calls = {{"call", "write_file", std::string(2 * kInlineArgumentBytes, 'y')}};
  ChatEvent event = message_event(message, {});
  add(event);
  ASSERT_EQ(talk.cut(), (std::vector<std::uint64_t>{1}));
  EXPECT_EQ(talk.messages()[0].message.content, std::string(kInlineMessageBytes - 1, 'x')) << "not inside a character";
  EXPECT_LT(talk.messages()[0].message.tool_calls[0].arguments.size(), 2 * kInlineArgumentBytes);
  talk.restore(1, event.whole);
  EXPECT_EQ(talk.messages()[0].message.content, text);
  EXPECT_EQ(talk.messages()[0].message.tool_calls, message.tool_calls);
  EXPECT_TRUE(talk.cut().empty());
}

TEST_F(ConversationFold, EventsOfAnythingAModelSaysAreTaken) {
  std::string worst(2 * kInlineMessageBytes, '\x01');  // six bytes each, escaped
  ModelMessage message;
  message.role = Role::assistant;
  message.content = worst;
  message.reasoning = worst;
  message.reasoning_state = worst;
  for (int i = 0; i < 128; ++i) message.tool_calls.push_back({"id" + std::to_string(i), "n", worst});
  add(message_event(message, {}));
  EXPECT_EQ(talk.messages()[0].message.tool_calls.size(), 128U);
  add(tool_call_event({"a", "n", worst}, worst));
  add(tool_result_event({"a", "n", worst}, {true, worst, 1}));
  add(approval_event({"a", "n", worst}, "pending", worst, worst, worst));
  add(error_event("x", worst, true));
  add(remark_event(worst));
  add(message_event({Role::tool, worst, {}, {}, std::string(256, 'i'), std::string(256, 'n'), true, {}, {}}, {}));
}

TEST_F(ConversationFold, ImagesOfOlderMessagesGoFirst) {
  ModelMessage result;
  result.role = Role::tool;
  for (int i = 0; i < 3; ++i) {
    attach_images(result, {{"image/png", std::string(kMaxShownImageBytes / 2, 'A')}});
    ChatEvent event = message_event(result, {});
    add(event);
    talk.show(sequence, event.images);
  }
  auto shown = [&](std::size_t at) { return talk.messages()[at].message.images != nullptr; };
  EXPECT_FALSE(shown(0));
  EXPECT_TRUE(shown(1) && shown(2));
  EXPECT_EQ(talk.messages()[0].message.image_count, 1U);
  talk.forget_images();
  EXPECT_FALSE(shown(1) || shown(2));
}

TEST_F(ConversationFold, AnyJsonIsFolded) {
  for (const char* json : {"", "{}", "[]", R"({"data":1})", R"({"data":{"role":7,"content":null,"toolCalls":[1,{}]}})",
                           R"({"data":{"messages":[-1,"x",1e99],"totalTokens":"x"}})", "{\"data\":{\"role"}) {
    for (EventType type : {EventType::message, EventType::eviction, EventType::approval, EventType::usage,
                           EventType::error, EventType::tool_call, EventType::status, EventType::session_start}) {
      talk.apply(++sequence, type, json);
    }
  }
  EXPECT_EQ(talk.last_sequence(), sequence);
}

TEST(ToolInput, IsAlwaysAnObject) {
  EXPECT_EQ(tool_input(R"({ "a" : 1 })"), R"({"a":1})");
  EXPECT_EQ(tool_input("[1]"), R"({"arguments":"[1]"})");
  EXPECT_EQ(tool_input("{half"), R"({"arguments":"{half"})");
  EXPECT_EQ(tool_input(""), R"({"arguments":""})");
}

}  // namespace
}  // namespace shepherd
