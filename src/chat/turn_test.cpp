// Turns of chat sessions over a memory store: their order, their ends, the room they make.
#include "chat/turn.h"

#include <gtest/gtest.h>

#include "chat/chat_for_test.h"
#include "chat/limits.h"

namespace shepherd {
namespace {

using Lines = std::vector<std::string>;

Error model_error(const std::string& reason) {
  return {ErrorCode::unavailable, reason, "because of " + reason, {}};
}

class ChatTurns : public ::testing::Test {
 protected:
  // After whatever happened: the log folds to what the session shows, and a backend would take it.
  void expect_sound(const std::string& task = "chat") {
    Conversation talk = folded(log_of(store, task));
    EXPECT_EQ(spoken(messages_of(talk.messages())), spoken(world.view(task)));
    EXPECT_EQ(wrong_history(messages_of(talk.messages())), "");
    EXPECT_FALSE(talk.turn_open());
    EXPECT_TRUE(talk.open_calls().empty());
    EXPECT_TRUE(talk.open_approvals().empty());
    std::size_t before = world.model.calls.size();
    auto asked = world.talk("And now?", "Well.", task);
    EXPECT_EQ(asked->response(), "Well.");
    ASSERT_EQ(world.model.calls.size(), before + 1);
    EXPECT_EQ(wrong_history(world.model.last().request.messages), "");
    EXPECT_EQ(world.model.last().request.messages.back().content, "And now?");
  }
  void expect_cancelled(const std::shared_ptr<Asked>& asked) {
    EXPECT_EQ(asked->ends.size(), 1U);
    EXPECT_EQ(asked->reason(), "cancelled");
  }
  Lines types() {
    Lines names;
    for (const LoggedEvent& event : log_of(store)) names.emplace_back(name(event.type));
    return names;
  }

  Fault fault = Fault::none;
  MemoryStore store{[this] { return fault; }};
  ChatWorld world{store};
};

TEST_F(ChatTurns, WriteTheirEventsInOrder) {
  auto asked = world.talk("Hi", "Hello");
  EXPECT_EQ(asked->response(), "Hello");
  EXPECT_EQ(types(), (Lines{"status", "session_start", "status", "message", "usage", "message", "status"}));
  EXPECT_EQ(asked->begun, 4U);
  EXPECT_EQ(asked->ends[0].sequence, 6U);
  world.talk("Again", "Yes");
  EXPECT_EQ(types().size(), 12U) << "a session starts once";
  expect_sound();
}

TEST_F(ChatTurns, ShowNothingBeforeThePromptIsCommitted) {
  world.talk("Hi", "Hello");
  auto asked = world.ask_later("Next");
  world.settle_without_commits();
  ASSERT_EQ(world.model.calls.size(), 2U) << "the model begins beside the commit";
  world.model.say("Too early");
  world.model.end(plain_answer("Too early"));
  EXPECT_EQ(asked->begun, 0U);
  EXPECT_FALSE(asked->done());
  world.settle();
  EXPECT_EQ(asked->response(), "Too early");
}

TEST_F(ChatTurns, RunOneAfterTheOther) {
  std::vector<std::shared_ptr<Asked>> asked;
  for (const char* prompt : {"1", "2", "3"}) asked.push_back(world.ask(prompt));
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(asked[i]->accepted->value_or(0), i + 1);
  ASSERT_EQ(world.model.calls.size(), 1U);
  EXPECT_EQ(world.view().queued, 2U);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(world.model.last().request.messages.back().content, std::to_string(i + 1));
    EXPECT_FALSE(asked[i]->done());
    world.model.end(plain_answer("a" + std::to_string(i + 1)));
    world.settle();
    EXPECT_EQ(asked[i]->response(), "a" + std::to_string(i + 1));
  }
  EXPECT_EQ(spoken(world.view()),
            (Lines{"user: 1", "assistant: a1", "user: 2", "assistant: a2", "user: 3", "assistant: a3"}));
  expect_sound();
}

TEST_F(ChatTurns, RefuseMorePromptsThanTheQueueHolds) {
  world.ask("0");
  for (std::size_t i = 0; i < kMaxQueuedPrompts; ++i) world.ask("x");
  auto refused = world.ask("y");
  ASSERT_TRUE(refused->accepted && !*refused->accepted);
  EXPECT_EQ(refused->accepted->error().reason, "queue_full");
}

// --- tools ---

TEST_F(ChatTurns, UseToolsUntilTheModelAnswers) {
  world.model.script.emplace_back(calls_answer({{"a", "look", "{}"}, {"b", "look", R"({"x":1})"}}));
  world.model.script.emplace_back(plain_answer("Done."));
  auto asked = world.ask("Go");
  EXPECT_EQ(asked->response(), "Done.");
  EXPECT_EQ(spoken(world.view()), (Lines{"user: Go", "assistant: -> look(a)-> look(b)", "tool(a): result of a",
                                         "tool(b): result of b", "assistant: Done."}));
  ASSERT_EQ(world.tools.uses.size(), 2U);
  EXPECT_EQ(world.tools.uses[1]->use.arguments, R"({"x":1})");
  EXPECT_EQ(world.tools.uses[1]->use.session, "chat");
  expect_sound();
}

TEST_F(ChatTurns, ShowTheModelTheImagesOfToolsWhileTheyAreInMemory) {
  world.tools.images = {{"image/png", "AAAA"}};
  world.model.script.emplace_back(calls_answer({{"x", "look", "{}"}}));
  world.model.script.emplace_back(plain_answer("A cat."));
  world.ask("What is it?");
  auto sent = [&] { return world.model.last().request.messages; };
  auto result = [&](const std::vector<ModelMessage>& messages) {
    return *std::ranges::find(messages, Role::tool, &ModelMessage::role);
  };
  ASSERT_NE(result(sent()).images, nullptr);
  EXPECT_EQ(result(sent()).images->front().base64, "AAAA");
  world.talk("And its colour?", "Black.");
  EXPECT_NE(result(sent()).images, nullptr) << "later prompts are about it, too";
  std::vector<LoggedEvent> log = log_of(store);
  EXPECT_TRUE(std::ranges::none_of(log, [](const LoggedEvent& each) { return each.json.contains("AAAA"); }));
  ChatMessage read = folded(log).messages().at(2);
  EXPECT_EQ(read.message.image_count, 1U) << "after a restart the model is told that there was one";
  EXPECT_EQ(read.message.images, nullptr);
}

// It can be an image that the backend does not take; with it every later prompt would fail, too.
TEST_F(ChatTurns, AreNotSentImagesAgainWhenTheBackendRefusedTheRequest) {
  world.tools.images = {{"image/png", "AAAA"}};
  world.model.script.emplace_back(calls_answer({{"x", "look", "{}"}}));
  world.model.script.emplace_back(fail(model_error("model_refused")));
  EXPECT_EQ(world.ask("What is it?")->reason(), "model_refused");
  world.talk("Go on", "Yes.");
  for (const ModelMessage& message : world.model.last().request.messages) EXPECT_EQ(message.images, nullptr);
}

TEST_F(ChatTurns, ATroubleWithAToolIsAResultForTheModel) {
  world.model.script.emplace_back(calls_answer({{"a", "nothing", "{}"}, {"b", "look", "{half"}, {"c", "look", "[]"}}));
  world.model.script.emplace_back(plain_answer("Sorry."));
  auto asked = world.ask("Go");
  EXPECT_EQ(asked->response(), "Sorry.");
  EXPECT_TRUE(world.tools.uses.empty());
  Lines said = spoken(world.view());
  EXPECT_EQ(said[2], "tool(a): Error: there is no tool \"nothing\".");
  EXPECT_EQ(said[3], "tool(b): Error: the arguments are not a JSON object.");
  EXPECT_TRUE(world.view().messages[3].message.failed);
  expect_sound();
}

TEST_F(ChatTurns, ACallThatWasCutOffDoesNotRun) {
  world.model.script.emplace_back(calls_answer({{"a", "look", "{}"}}, Finish::length));
  world.model.script.emplace_back(plain_answer("Shorter."));
  auto asked = world.ask("Go");
  EXPECT_EQ(asked->response(), "Shorter.");
  EXPECT_TRUE(world.tools.uses.empty());
  EXPECT_NE(spoken(world.view())[2].find("cut off"), std::string::npos);
  expect_sound();
}

// --- approvals ---

class ChatApprovals : public ChatTurns {
 protected:
  std::shared_ptr<Asked> ask_for_change(const std::string& id = "a") {
    world.model.script.emplace_back(calls_answer({{id, "change", R"({"x":1})"}}));
    world.model.script.emplace_back(plain_answer("Done."));
    return world.ask("Go");
  }
  void decide(CommandKind kind, const std::function<void(Command&)>& fill = {}, const std::string& id = "a") {
    world.command(kind, [&](Command& command) {
      command.approval_id = id;
      if (fill) fill(command);
    });
  }
  std::string last_settled() {
    std::string settled;
    for (const LoggedEvent& event : log_of(store)) {
      if (event.type == EventType::command_result) settled = text_member(find_member(event.json, "data"), "state");
    }
    return settled;
  }
};

TEST_F(ChatApprovals, ATooLWaitsForAPerson) {
  auto asked = ask_for_change();
  EXPECT_TRUE(world.tools.uses.empty());
  EXPECT_EQ(store.row("chat")->state.state, State::waiting_for_input);
  ASSERT_EQ(store.row("chat")->state.approvals.size(), 1U);
  decide(CommandKind::approve, [](Command& command) { command.approval_id = "other"; });
  EXPECT_EQ(last_settled(), "refused");
  EXPECT_TRUE(world.tools.uses.empty());
  decide(CommandKind::approve);
  EXPECT_EQ(last_settled(), "acknowledged");
  ASSERT_EQ(world.tools.uses.size(), 1U);
  EXPECT_EQ(asked->response(), "Done.");
  EXPECT_TRUE(store.row("chat")->state.approvals.empty());
  decide(CommandKind::approve);
  EXPECT_EQ(last_settled(), "refused") << "it is answered";
  expect_sound();
}

TEST_F(ChatApprovals, APersonMayChangeTheInput) {
  ask_for_change();
  decide(CommandKind::approve, [](Command& command) { command.input_json = R"({"x":2})"; });
  ASSERT_EQ(world.tools.uses.size(), 1U);
  EXPECT_EQ(world.tools.uses[0]->use.arguments, R"({"x":2})");
}

TEST_F(ChatApprovals, APersonMayRefuseAndSayWhy) {
  auto asked = ask_for_change();
  decide(CommandKind::deny, [](Command& command) { command.message = "Not on a Friday."; });
  EXPECT_TRUE(world.tools.uses.empty());
  EXPECT_EQ(asked->response(), "Done.");
  EXPECT_EQ(spoken(world.view())[2], "tool(a): Error: a person denied this call. Not on a Friday.");
  expect_sound();
}

TEST_F(ChatApprovals, ARememberedRuleIsNotAskedFor) {
  ask_for_change();
  decide(CommandKind::approve, [](Command& command) { command.remember = "change(rule)"; });
  auto asked = ask_for_change("b");
  EXPECT_EQ(asked->response(), "Done.");
  EXPECT_EQ(world.tools.uses.size(), 2U);
}

TEST_F(ChatApprovals, AnAutonomousSessionAsksNobody) {
  world.talk("Hi", "Hello");
  world.command(CommandKind::set_mode, [](Command& command) { command.mode = AgentMode::autonomous; });
  EXPECT_EQ(ask_for_change()->response(), "Done.");
}

// --- words into a running turn ---

TEST_F(ChatTurns, TakeAWordBeforeTheNextCall) {
  auto asked = world.ask("Go");
  world.command(CommandKind::steer, [](Command& command) { command.content = "And quickly."; });
  world.model.say("Half");
  world.model.end(plain_answer("Half"));
  world.settle();
  EXPECT_FALSE(asked->done()) << "the word is to be answered, too";
  ASSERT_EQ(world.model.calls.size(), 2U);
  EXPECT_EQ(spoken(world.model.last().request.messages), (Lines{"user: Go", "assistant: Half", "user: And quickly."}));
  world.model.end(plain_answer("Whole"));
  world.settle();
  EXPECT_EQ(asked->response(), "Whole");
  expect_sound();
}

TEST_F(ChatTurns, TakeAWordWhileAToolRuns) {
  world.tools.hold = true;
  world.model.script.emplace_back(calls_answer({{"a", "look", "{}"}, {"b", "look", "{}"}}));
  auto asked = world.ask("Go");
  world.command(CommandKind::steer, [](Command& command) { command.content = "And quickly."; });
  world.tools.end(*world.tools.uses[0]);
  world.settle();
  world.tools.end(*world.tools.uses[1]);
  world.model.script.emplace_back(plain_answer("Done."));
  world.settle();
  EXPECT_EQ(asked->response(), "Done.");
  EXPECT_EQ(spoken(world.view())[4], "user: And quickly.") << "behind all results";
  expect_sound();
}

TEST_F(ChatTurns, AWordWithoutATurnIsAPrompt) {
  world.talk("Hi", "Hello");
  world.model.script.emplace_back(plain_answer("Yes."));
  world.command(CommandKind::steer, [](Command& command) { command.content = "Are you there?"; });
  EXPECT_EQ(spoken(world.view()).back(), "assistant: Yes.");
  expect_sound();
}

TEST_F(ChatTurns, AWordThatComesTooLateIsRefused) {
  auto asked = world.ask("Go");
  world.command(CommandKind::steer, [](Command& command) { command.content = "Wait."; });
  world.cancel();
  expect_cancelled(asked);
  std::string state;
  for (const LoggedEvent& event : log_of(store)) {
    if (event.type == EventType::command_result) state = text_member(find_member(event.json, "data"), "state");
  }
  EXPECT_EQ(state, "refused");
  expect_sound();
}

// --- cancelling ---

TEST_F(ChatTurns, CancelWhileTheModelSpeaksKeepsWhatItSaid) {
  auto asked = world.ask("Go");
  world.model.say("Half an");
  EXPECT_TRUE(world.cancel());
  expect_cancelled(asked);
  EXPECT_FALSE(world.model.last().open()) << "its slot is free";
  EXPECT_EQ(spoken(world.view()), (Lines{"user: Go", "assistant: Half an"}));
  EXPECT_FALSE(world.cancel());
  expect_sound();
}

TEST_F(ChatTurns, CancelBeforeTheFirstWord) {
  auto asked = world.ask("Go");
  EXPECT_TRUE(world.cancel());
  expect_cancelled(asked);
  EXPECT_EQ(spoken(world.view()), (Lines{"user: Go"}));
  expect_sound();
}

TEST_F(ChatTurns, CancelWhileTokensAreCounted) {
  world.model.known.counts_exactly = true;
  world.model.hold_counts = true;
  auto asked = world.ask("Go");
  EXPECT_EQ(world.model.counts, 1);
  EXPECT_TRUE(world.cancel());
  expect_cancelled(asked);
  world.model.hold_counts = false;
  expect_sound();
}

TEST_F(ChatTurns, CancelWhileThePromptIsCommitted) {
  world.talk("Hi", "Hello");
  auto asked = world.ask_later("Go");
  world.settle_without_commits();
  EXPECT_EQ(asked->begun, 0U);
  EXPECT_TRUE(world.cancel());
  expect_cancelled(asked);
  expect_sound();
}

TEST_F(ChatTurns, CancelWhileAToolRuns) {
  world.tools.hold = true;
  world.model.script.emplace_back(calls_answer({{"a", "look", "{}"}, {"b", "look", "{}"}}));
  auto asked = world.ask("Go");
  ASSERT_EQ(world.tools.uses.size(), 1U);
  EXPECT_TRUE(world.cancel());
  expect_cancelled(asked);
  EXPECT_FALSE(world.tools.uses[0]->state->alive);
  Lines said = spoken(world.view());
  EXPECT_NE(said[2].find("ended before it answered"), std::string::npos) << said[2];
  EXPECT_NE(said[3].find("not run"), std::string::npos) << said[3];
  expect_sound();
}

TEST_F(ChatTurns, CancelWhileAnApprovalWaits) {
  world.model.script.emplace_back(calls_answer({{"a", "change", "{}"}}));
  auto asked = world.ask("Go");
  EXPECT_TRUE(world.cancel());
  expect_cancelled(asked);
  EXPECT_TRUE(store.row("chat")->state.approvals.empty());
  EXPECT_NE(spoken(world.view())[2].find("not run"), std::string::npos);
  expect_sound();
}

TEST_F(ChatTurns, CancelAtEveryStepOfATurn) {
  for (int stop = 0; stop < 60; ++stop) {
    std::string task = "chat" + std::to_string(stop);
    world.model.script.clear();
    world.model.script.emplace_back(calls_answer({{"a", "look", "{}"}, {"b", "look", "{}"}}));
    world.model.script.emplace_back(plain_answer("Done."));
    auto asked = world.ask_later("Go", task);
    int steps = 0;
    while (steps < stop && world.step()) ++steps;
    bool over = asked->done();
    world.cancel(task);
    world.model.script.clear();
    ASSERT_EQ(asked->ends.size(), 1U) << "after " << stop << " steps";
    ASSERT_NO_FATAL_FAILURE(expect_sound(task)) << "after " << stop << " steps";
    std::map<std::string, int> results;
    for (const LoggedEvent& event : log_of(store, task)) {
      std::string id = text_member(find_member(event.json, "data"), "toolCallID");
      if (event.type == EventType::message && !id.empty()) {
        EXPECT_EQ(++results[id], 1) << id << " after " << stop;
      }
    }
    if (over) return;
  }
  ADD_FAILURE() << "the turn never ended";
}

TEST_F(ChatTurns, CancelIsOnlyForTheTurnThatRuns) {
  auto first = world.ask("1");
  auto second = world.ask("2");
  EXPECT_TRUE(world.cancel());
  expect_cancelled(first);
  EXPECT_FALSE(second->done());
  world.model.end(plain_answer("Two."));
  world.settle();
  EXPECT_EQ(second->response(), "Two.");
  expect_sound();
}

// --- clearing ---

TEST_F(ChatTurns, ClearEndsEverythingAndEmptiesTheConversation) {
  world.talk("Hi", "Hello");
  auto running = world.ask("1");
  auto waiting = world.ask("2");
  world.model.say("Half");
  int cleared = 0;
  for (int i = 0; i < 2; ++i) {
    world.chats().clear("chat", [&](Result<void> done) { cleared += done ? 1 : 0; });
  }
  auto later = world.ask_later("3");
  world.model.script.emplace_back(plain_answer("Three."));
  world.settle();
  EXPECT_EQ(cleared, 2);
  expect_cancelled(running);
  expect_cancelled(waiting);
  EXPECT_EQ(later->response(), "Three.") << "what comes after the clearing is answered";
  EXPECT_EQ(spoken(world.view()), (Lines{"user: 3", "assistant: Three."}));
  expect_sound();
}

// --- failures ---

TEST_F(ChatTurns, AFailedModelEndsTheTurnAndKeepsWhatItSaid) {
  auto asked = world.ask("Go");
  world.model.say("Half");
  world.model.end(fail(model_error("model_broke_off")));
  world.settle();
  EXPECT_EQ(asked->reason(), "model_broke_off");
  EXPECT_EQ(spoken(world.view()), (Lines{"user: Go", "assistant: Half"}));
  expect_sound();
}

TEST_F(ChatTurns, EndlessToolsEnd) {
  for (int i = 0; i <= kMaxTurnSteps; ++i)
    world.model.script.emplace_back(calls_answer({{"a" + std::to_string(i), "look", "{}"}}));
  auto asked = world.ask("Go");
  EXPECT_EQ(asked->reason(), "too_many_steps");
  EXPECT_EQ(world.model.calls.size(), static_cast<std::size_t>(kMaxTurnSteps));
  world.model.script.clear();
  expect_sound();
}

TEST_F(ChatTurns, AStoreThatFailsFailsTheTurnAndNothingElse) {
  world.talk("Hi", "Hello");
  for (int commits = 0; commits < 8; ++commits) {
    world.model.script.clear();
    world.model.script.emplace_back(calls_answer({{"a" + std::to_string(commits), "look", "{}"}}));
    world.model.script.emplace_back(plain_answer("Done."));
    auto asked = world.ask_later("Go " + std::to_string(commits));
    world.settle_without_commits();
    for (int i = 0; i < commits && world.journal().step(); ++i) world.settle_without_commits();
    fault = Fault::fail_before_commit;
    world.settle();
    fault = Fault::none;
    world.settle();
    EXPECT_EQ(asked->ends.size(), 1U) << "after " << commits << " commits";
    // The log may lack the end of the turn, but the next turn works.
    world.model.script.clear();
    EXPECT_EQ(world.talk("And now?", "Well.")->response(), "Well.");
    EXPECT_EQ(spoken(messages_of(folded(log_of(store)).messages())), spoken(world.view()));
  }
}

// --- room in the context ---

class ChatRoom : public ChatTurns {
 protected:
  ChatRoom() {
    world.model.known.counts_exactly = true;
    world.model.known.context_tokens = 1'000;
  }
  ModelAnswer counted_answer(const std::string& text) {
    ModelAnswer answer = plain_answer(text);
    answer.usage.known = true;
    answer.usage.input = world.model.calls.empty() ? 0 : 1;
    return answer;
  }
  // A turn whose answer reports what the model counted.
  std::shared_ptr<Asked> turn(const std::string& prompt, const std::string& text, std::int64_t max_tokens = 100) {
    auto asked = world.ask(prompt, "chat", max_tokens);
    if (asked->done()) return asked;
    ModelAnswer answer = plain_answer(text);
    answer.usage.known = true;
    answer.usage.input = ScriptedModel::tokens_of(world.model.last().request);
    answer.usage.output = static_cast<std::int64_t>(text.size()) + 10;
    world.model.end(std::move(answer));
    world.settle();
    return asked;
  }
  Lines evictions() {
    Lines seen;
    for (const LoggedEvent& event : log_of(store)) {
      if (event.type == EventType::eviction)
        seen.emplace_back(find_member(find_member(event.json, "data"), "messages"));
    }
    return seen;
  }
};

TEST_F(ChatRoom, TheOldestTurnsGoFirst) {
  for (int i = 0; i < 3; ++i) turn(std::string(200, static_cast<char>('a' + i)), "x");
  EXPECT_TRUE(evictions().empty());
  auto asked = turn(std::string(300, 'z'), "y");
  EXPECT_EQ(asked->response(), "y");
  EXPECT_EQ(evictions().size(), 1U);
  const auto& sent = world.model.last().request.messages;
  EXPECT_EQ(sent.front().content, std::string(200, 'b')) << "the first turn is gone, whole";
  EXPECT_EQ(sent.back().content, std::string(300, 'z'));
  EXPECT_LE(ScriptedModel::tokens_of(world.model.last().request) + 100, 1'000);
  EXPECT_EQ(world.view().total_tokens, ScriptedModel::tokens_of(world.model.last().request) + 11);
  expect_sound();
}

TEST_F(ChatRoom, APromptThatCannotFitChangesNothing) {
  turn("Hi", "Hello");
  Lines before = spoken(world.view());
  std::int64_t tokens = world.view().total_tokens;
  auto asked = turn(std::string(990, 'z'), "never");
  EXPECT_EQ(asked->reason(), "context_full");
  EXPECT_EQ(spoken(world.view()), before);
  EXPECT_EQ(world.view().total_tokens, tokens);
  EXPECT_EQ(world.model.calls.size(), 1U) << "the model was not asked";
  EXPECT_TRUE(evictions().empty());
  expect_sound();
}

TEST_F(ChatRoom, ToolGroupsOfTheTurnItselfGoToo) {
  world.model.script.clear();
  auto asked = world.ask("Go", "chat", 100);
  for (int i = 0; i < 5; ++i) {
    std::string id(1, static_cast<char>('a' + i));
    ModelAnswer answer = calls_answer({{id, "look", R"({"x":")" + std::string(180, 'x') + "\"}"}});
    answer.usage.known = true;
    answer.usage.input = ScriptedModel::tokens_of(world.model.last().request);
    answer.usage.output = 200;
    world.model.end(std::move(answer));
    world.settle();
    EXPECT_EQ(wrong_history(world.model.last().request.messages), "");
    EXPECT_EQ(world.model.last().request.messages.front().content, "Go") << "the prompt stays";
    EXPECT_LE(ScriptedModel::tokens_of(world.model.last().request) + 100, 1'000);
  }
  world.model.end(plain_answer("Done."));
  world.settle();
  EXPECT_EQ(asked->response(), "Done.");
  EXPECT_FALSE(evictions().empty());
  expect_sound();
}

// A word into the turn does not make the prompt an old message.
TEST_F(ChatRoom, ThePromptOfASteeredTurnStays) {
  auto asked = world.ask("The prompt", "chat", 100);
  for (int i = 0; i < 5; ++i) {
    world.command(CommandKind::steer, [&](Command& command) { command.content = "word " + std::to_string(i); });
    ModelAnswer answer = calls_answer({{"a" + std::to_string(i), "look", R"({"x":")" + std::string(180, 'x') + "\"}"}});
    world.model.end(std::move(answer));
    world.settle();
    ASSERT_TRUE(world.model.last().open());
    EXPECT_EQ(world.model.last().request.messages.front().content, "The prompt") << i;
    EXPECT_EQ(wrong_history(world.model.last().request.messages), "");
  }
  world.model.end(plain_answer("Done."));
  world.settle();
  EXPECT_EQ(asked->response(), "Done.");
  EXPECT_FALSE(evictions().empty());
}

TEST_F(ChatTurns, AnOverflowOfTheBackendMakesRoomAndTriesAgain) {
  for (int i = 0; i < 6; ++i) world.talk("q" + std::to_string(i) + std::string(9'000, 'x'), "a");
  world.model.script.emplace_back(fail(model_error("context_full")));
  world.model.script.emplace_back(plain_answer("Fits."));
  auto asked = world.ask("Next");
  EXPECT_EQ(asked->response(), "Fits.");
  EXPECT_LT(world.model.last().request.messages.size(),
            world.model.calls[world.model.calls.size() - 2]->request.messages.size());
  expect_sound();
}

TEST_F(ChatTurns, AnOverflowIsTriedAgainOnlySoOften) {
  for (int i = 0; i < 30; ++i) world.talk("q" + std::to_string(i) + std::string(9'000, 'x'), "a");
  std::size_t before = world.model.calls.size();
  for (int i = 0; i < 5; ++i) world.model.script.emplace_back(fail(model_error("context_full")));
  auto asked = world.ask("Next");
  EXPECT_EQ(asked->reason(), "context_full");
  EXPECT_EQ(world.model.calls.size(), before + 1 + kMaxOverflowRetries);
  world.model.script.clear();
  expect_sound();
}

// The prompt that cannot fit must not make the next one fail as well.
TEST_F(ChatTurns, APromptThatTheBackendFindsTooLongIsTakenBack) {
  world.model.script.emplace_back(fail(model_error("context_full")));
  auto asked = world.ask(std::string(5'000, 'z'));
  EXPECT_EQ(asked->reason(), "context_full");
  EXPECT_EQ(spoken(world.view()), Lines{});
  expect_sound();
}

}  // namespace
}  // namespace shepherd
