// Sessions by name, their lives and what a restart makes of them.
#include "chat/chats.h"

#include <gtest/gtest.h>

#include "chat/chat_for_test.h"
#include "chat/limits.h"

namespace shepherd {
namespace {

using Said = std::vector<std::string>;

class ChatSessions : public ::testing::Test {
 protected:
  void open(ChatConfig config = {}) {
    world.reset();
    world = std::make_unique<ChatWorld>(store, std::move(config));
  }
  void SetUp() override { open(); }

  MemoryStore store;
  std::unique_ptr<ChatWorld> world;
};

TEST_F(ChatSessions, AreCreatedByTheirFirstUse) {
  EXPECT_TRUE(spoken(world->view("mine")).empty());
  EXPECT_EQ(store.row("mine")->spec.agent, kChatAgent);
  auto bad = world->ask("Hi", "no/name");
  ASSERT_TRUE(bad->accepted && !*bad->accepted);
  EXPECT_EQ(bad->accepted->error().reason, "bad_session_name");
}

TEST_F(ChatSessions, AreNotOtherTasks) {
  TaskSpec spec;
  spec.id = "other";
  spec.agent = "claude";
  world->journal().create_task(spec, "", [](Result<Created>) {});
  auto bad = world->ask("Hi", "other");
  ASSERT_TRUE(bad->accepted && !*bad->accepted);
  EXPECT_EQ(bad->accepted->error().reason, "not_a_chat");
}

TEST_F(ChatSessions, TheDefaultOneIsReplacedWhenItHasEnded) {
  world->talk("Hi", "Hello", "");
  std::string first = world->view("").task;
  EXPECT_EQ(world->view("").task, first);
  open();
  EXPECT_EQ(world->view("").task, first) << "after a restart";
  EXPECT_EQ(spoken(world->view("")), (Said{"user: Hi", "assistant: Hello"}));
  world->command(CommandKind::stop, {}, first);
  EXPECT_TRUE(is_terminal(store.row(first)->state.state));
  auto refused = world->ask("Hi", first);
  ASSERT_TRUE(refused->accepted && !*refused->accepted);
  EXPECT_EQ(refused->accepted->error().reason, "session_ended");
  EXPECT_NE(world->view("").task, first);
}

TEST_F(ChatSessions, RunInParallelUpToABound) {
  ChatConfig config;
  config.parallel_turns = 2;
  open(config);
  std::vector<std::shared_ptr<Asked>> asked;
  for (const char* task : {"a", "b", "c", "d"}) asked.push_back(world->ask("Hi", task));
  EXPECT_EQ(world->model.calls.size(), 2U);
  for (std::size_t i = 0; i < 4; ++i) {
    world->model.calls[i]->ended = true;
    world->model.calls[i]->observer->on_end(plain_answer("Yes."));
    world->settle();
  }
  for (const auto& each : asked) EXPECT_EQ(each->response(), "Yes.");
}

TEST_F(ChatSessions, AnApprovalThatWaitsTakesNoPlace) {
  ChatConfig config;
  config.parallel_turns = 1;
  open(config);
  world->model.script.emplace_back(calls_answer({{"x", "change", "{}"}}));
  auto asks = world->ask("Change it", "a");
  EXPECT_FALSE(asks->done());
  EXPECT_EQ(world->talk("Hi", "Yes.", "b")->response(), "Yes.") << "others go on while a person thinks";
  world->model.script.emplace_back(plain_answer("Changed."));
  world->command(CommandKind::approve, [](Command& command) { command.approval_id = "x"; }, "a");
  EXPECT_EQ(asks->response(), "Changed.");
  // Its place is counted again: cancelling one that waits gives nothing back twice.
  world->model.script.emplace_back(calls_answer({{"y", "change", "{}"}}));
  auto cancelled = world->ask("Again", "a");
  EXPECT_TRUE(world->cancel("a"));
  EXPECT_EQ(cancelled->reason(), "cancelled");
  auto first = world->ask("One", "b"), second = world->ask("Two", "c");
  EXPECT_EQ(std::ranges::count_if(world->model.calls, [](const auto& call) { return call->open(); }), 1);
  world->model.end(plain_answer("1"));
  world->settle();
  world->model.end(plain_answer("2"));
  world->settle();
  EXPECT_TRUE(first->done() && second->done());
}

TEST_F(ChatSessions, ADeletedSessionGivesItsPlaceBack) {
  ChatConfig config;
  config.parallel_turns = 1;
  open(config);
  auto lost = world->ask("Hi", "a");
  auto next = world->ask("Hi", "b");
  EXPECT_EQ(world->model.calls.size(), 1U);
  world->journal().delete_task("a", [](Result<void> done) { EXPECT_TRUE(done); });
  world->settle();
  EXPECT_EQ(lost->ends.size(), 1U) << "the one who asked is told";
  EXPECT_FALSE(world->model.calls[0]->open());
  ASSERT_EQ(world->model.calls.size(), 2U) << "its place is free";
  world->model.end(plain_answer("Yes."));
  world->settle();
  EXPECT_EQ(next->response(), "Yes.");
}

TEST_F(ChatSessions, ComeBackFromTheLogAfterTheyWereIdle) {
  world->model.script.emplace_back(calls_answer({{"a", "look", R"({"x":1})"}}));
  world->talk("Go", "Done.");
  std::string text(kInlineMessageBytes + 5'000, 'x');
  world->talk(text, text + "y");
  SessionView before = world->view();
  world->clock.advance_ms(kIdleSession.count() + 1);
  world->chats().tick();
  world->settle();
  SessionView after = world->view();
  EXPECT_EQ(spoken(after), spoken(before));
  EXPECT_EQ(after.messages.back().message.content.size(), text.size() + 1) << "long messages are whole";
  EXPECT_EQ(after.total_tokens, before.total_tokens);
  EXPECT_EQ(after.exact, before.exact);
  open();
  EXPECT_EQ(spoken(world->view()), spoken(before)) << "also after a restart";
  EXPECT_EQ(world->talk("Next", "Yes")->response(), "Yes");
  EXPECT_EQ(world->model.last().request.messages.size(), before.messages.size() + 1);
}

TEST_F(ChatSessions, ATaskWithAPromptIsAnswered) {
  world->model.script.emplace_back(plain_answer("Yes."));
  TaskSpec spec;
  spec.id = "asked";
  spec.agent = kChatAgent;
  spec.description = "Are you there?";
  world->journal().create_task(spec, "", [](Result<Created>) {});
  world->settle();
  EXPECT_EQ(spoken(world->view("asked")), (Said{"user: Are you there?", "assistant: Yes."}));
}

TEST_F(ChatSessions, OnlyItsToolsAreOffered) {
  TaskSpec spec;
  spec.id = "few";
  spec.agent = kChatAgent;
  spec.allowed_tools = {"look"};
  world->journal().create_task(spec, "", [](Result<Created>) {});
  world->settle();
  world->model.script.emplace_back(calls_answer({{"a", "change", "{}"}}));
  world->talk("Go", "Sorry.", "few");
  ASSERT_EQ(world->model.last().request.tools.size(), 1U);
  EXPECT_TRUE(world->tools.uses.empty());
  EXPECT_NE(spoken(world->view("few"))[2].find("there is no tool"), std::string::npos);
}

TEST_F(ChatSessions, ForkAtAMessage) {
  world->talk("1", "a");
  world->talk("2", "b");
  std::uint64_t first_answer = world->view().messages[1].sequence;
  std::optional<Result<std::string>> made;
  world->chats().fork("chat", first_answer, "copy", [&](Result<std::string> id) { made = std::move(id); });
  world->settle();
  ASSERT_TRUE(made && *made);
  EXPECT_EQ(spoken(world->view("copy")), (Said{"user: 1", "assistant: a"}));
  EXPECT_EQ(world->talk("3", "c", "copy")->response(), "c");
  EXPECT_EQ(spoken(world->view()), (Said{"user: 1", "assistant: a", "user: 2", "assistant: b"}));
  world->chats().fork("chat", 0, "copy", [&](Result<std::string> id) { made = std::move(id); });
  world->settle();
  ASSERT_FALSE(*made);
  EXPECT_EQ(made->error().reason, "task_exists");
}

TEST_F(ChatSessions, AForkHasTheToolsAndTheTotalOfItsSession) {
  ChatConfig config;
  config.system = "Be brief, and say only what you know.";
  open(config);
  TaskSpec spec;
  spec.id = "few";
  spec.agent = kChatAgent;
  spec.allowed_tools = {"look"};
  world->journal().create_task(spec, "", [](Result<Created>) {});
  world->settle();
  ModelAnswer counted = plain_answer("a");
  counted.usage.known = true;
  counted.usage.input = 50;
  counted.usage.output = 5;
  world->model.script.emplace_back(counted);
  world->ask("1", "few");
  auto fork = [&](std::uint64_t through, const std::string& id) {
    world->chats().fork("few", through, id, [](Result<std::string> made) { EXPECT_TRUE(made); });
    world->settle();
    return world->view(id);
  };
  SessionView whole = fork(0, "whole");
  ASSERT_EQ(whole.tools.size(), 1U) << "/session lists what it may use";
  EXPECT_EQ(whole.tools[0].definition.name, "look");
  EXPECT_EQ(store.task("whole")->spec.allowed_tools, (Said{"look"}));
  EXPECT_EQ(whole.total_tokens, 55);
  EXPECT_TRUE(whole.exact);
  for (const LoggedEvent& event : log_of(store, "whole")) {
    if (event.type != EventType::session_start) continue;
    EXPECT_EQ(find_member(find_member(event.json, "data"), "tools"), R"(["look"])");
  }
  world->talk("2", "b", "few");
  SessionView part = fork(whole.messages.back().sequence, "part");
  EXPECT_FALSE(part.exact) << "the total of a part is a sum";
  world->chats().clear("part", [](Result<void> done) { EXPECT_TRUE(done); });
  world->settle();
  EXPECT_EQ(world->view("part").total_tokens, estimated_tokens(config.system)) << "the system prompt stays";
}

TEST_F(ChatSessions, ATaskThatResumesASessionBeginsAsItsFork) {
  world->talk("1", "a");
  world->model.script.emplace_back(plain_answer("b"));
  TaskSpec spec;
  spec.id = "next";
  spec.agent = kChatAgent;
  spec.description = "2";
  spec.resume_of = "chat";
  world->journal().create_task(spec, "", [](Result<Created>) {});
  world->settle();
  EXPECT_EQ(spoken(world->view("next")), (Said{"user: 1", "assistant: a", "user: 2", "assistant: b"}));
  EXPECT_EQ(spoken(world->view()), (Said{"user: 1", "assistant: a"}));
  std::size_t size = log_of(store, "next").size();
  open();
  EXPECT_EQ(spoken(world->view("next")).size(), 4U);
  EXPECT_EQ(log_of(store, "next").size(), size) << "it is asked once";
  // A server that dies between the messages of the fork and the prompt.
  std::vector<LoggedEvent> events = log_of(store, "next");
  MemoryStore cut;
  ASSERT_TRUE(cut.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.create_task(spec, 1, "")); }));
  for (const LoggedEvent& event : events) {
    Intake intake;
    intake.now_ms = 1;
    AppendRequest request;
    request.task = "next";
    request.drafts = *decode_events("{" + std::string(body_of(event.json)) + "}", Framing::json, intake);
    ASSERT_TRUE(cut.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.append(request)); }));
    if (cut.row("next")->state.message == "forked from chat") break;
  }
  ChatWorld after(cut, {}, "b");
  EXPECT_EQ(spoken(after.view("next")), (Said{"user: 1", "assistant: a", "user: 2", "assistant: b"}));
}

TEST_F(ChatSessions, ATaskThatResumesAnotherAgentsTaskFails) {
  TaskSpec other;
  other.id = "other";
  other.agent = "claude";
  world->journal().create_task(other, "", [](Result<Created>) {});
  TaskSpec spec;
  spec.id = "next";
  spec.agent = kChatAgent;
  spec.description = "2";
  spec.resume_of = "other";
  world->journal().create_task(spec, "", [](Result<Created>) {});
  world->settle();
  EXPECT_EQ(store.row("next")->state.state, State::failed);
  EXPECT_NE(store.row("next")->state.message.find("other"), std::string::npos);
  EXPECT_TRUE(world->model.calls.empty());
}

TEST_F(ChatSessions, AYoungTurnIsShownToALateObserver) {
  world->talk("Hi", "Hello");
  std::optional<Chats::Place> place;
  auto look = [&] {
    world->chats().observe("chat", [&](Result<Chats::Place> found) { place = *found; });
    world->settle();
  };
  look();
  std::vector<EventType> types;
  for (const SessionLog::Recent& event : place->missed) types.push_back(event.type);
  EXPECT_EQ(types, (std::vector{EventType::message, EventType::usage, EventType::message, EventType::status}));
  EXPECT_EQ(place->after, 7U);
  world->clock.advance_ms(kTurnReplay.count() + 1);
  look();
  EXPECT_TRUE(place->missed.empty());
  world->ask("Next");
  world->model.say("Half");
  look();
  EXPECT_EQ(place->said, "Half");
}

TEST_F(ChatSessions, StopEndsTurnsAndRefusesMore) {
  auto asked = world->ask("Hi");
  // stop() waits for the loop, so the turn is ended first, as the destructor of the world does it.
  world.reset();
  EXPECT_EQ(asked->ends.size(), 1U);
  EXPECT_FALSE(folded(log_of(store)).turn_open());
}

// --- restarts ---

// A server whose log ends after its first `count` events, as if it was killed there.
void copy_log(const std::vector<LoggedEvent>& events, std::size_t count, EventStore& to) {
  TaskSpec spec;
  spec.id = "chat";
  spec.agent = kChatAgent;
  ASSERT_TRUE(to.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.create_task(spec, 1, "")); }));
  for (std::size_t i = 0; i < count; ++i) {
    Intake intake;
    intake.now_ms = 1;
    intake.allow_reserved = true;
    intake.keep_detail = true;
    auto drafts = decode_events("{" + std::string(body_of(events[i].json)) + "}", Framing::json, intake);
    ASSERT_TRUE(drafts) << drafts.error().message << events[i].json;
    AppendRequest request;
    request.task = "chat";
    request.drafts = std::move(*drafts);
    request.received_ms = 1;
    request.by_server = true;
    ASSERT_TRUE(to.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.append(request)); }));
  }
}

TEST_F(ChatSessions, RecoverFromADeathAtEveryEvent) {
  // A turn with everything: a word, tools of both kinds, an approval, several calls; then another.
  world->model.script.emplace_back(calls_answer({{"a", "look", "{}"}, {"b", "change", "{}"}}));
  world->model.script.emplace_back(calls_answer({{"c", "look", "{}"}}));
  world->ask("Go");
  world->command(CommandKind::steer, [](Command& command) { command.content = "And quickly."; });
  world->model.script.emplace_back(plain_answer("Done."));
  world->command(CommandKind::approve, [](Command& command) { command.approval_id = "b"; });
  world->talk("Next", "Yes.");
  std::vector<LoggedEvent> events = log_of(store);
  ASSERT_GT(events.size(), 25U);
  std::size_t messages = folded(events).messages().size();
  ASSERT_EQ(messages, 10U);

  for (std::size_t count = 0; count <= events.size(); ++count) {
    SCOPED_TRACE("the log ends after event " + std::to_string(count) + ": " +
                 (count == 0 ? "" : events[count - 1].json));
    MemoryStore cut;
    ASSERT_NO_FATAL_FAILURE(copy_log(events, count, cut));
    std::vector<ModelMessage> before = messages_of(folded(log_of(cut)).messages());
    ChatWorld next(cut, {}, "Of an open command.");
    EXPECT_TRUE(next.tools.uses.empty()) << "no tool runs again by itself";

    std::vector<ModelMessage> after = messages_of(next.view().messages);
    Conversation talk = folded(log_of(cut));
    EXPECT_EQ(spoken(messages_of(talk.messages())), spoken(after)) << "the session is the fold of its log";
    EXPECT_EQ(wrong_history(after), "");
    EXPECT_FALSE(talk.turn_open());
    EXPECT_TRUE(talk.open_calls().empty());
    EXPECT_TRUE(talk.open_approvals().empty());
    ASSERT_GE(after.size(), before.size());
    for (std::size_t i = 0; i < before.size(); ++i)
      EXPECT_EQ(after[i].content, before[i].content) << "no message is lost";
    std::map<std::string, int> answers;
    for (const ModelMessage& message : after) {
      if (message.role == Role::tool) {
        EXPECT_EQ(++answers[message.tool_call_id], 1);
      }
    }
    int prompts = 0;
    for (const ModelMessage& message : after) prompts += message.content == "Go" ? 1 : 0;
    EXPECT_LE(prompts, 1) << "no prompt twice";
    TaskRow row = *cut.row("chat");
    for (const TaskCommand& command : row.state.commands) {
      EXPECT_NE(command.state, CommandState::accepted) << "the command " << command.id << " is open";
    }
    auto asked = next.talk("And now?", "Well.");
    EXPECT_EQ(asked->response(), "Well.");
    EXPECT_EQ(wrong_history(next.model.last().request.messages), "");
    // A second start finds nothing to do.
    std::size_t size = log_of(cut).size();
    ChatWorld third(cut);
    EXPECT_EQ(log_of(cut).size(), size);
  }
}

TEST_F(ChatSessions, AnOldTurnIsClosedBehindAnyNumberOfIdleSessions) {
  world->ask("Go");
  std::vector<LoggedEvent> events = log_of(store);
  MemoryStore cut;
  copy_log(events, events.size(), cut);
  ASSERT_EQ(cut.row("chat")->state.state, State::running);
  for (std::size_t i = 0; i <= kMaxTaskPage; ++i) {
    TaskSpec spec;
    spec.id = "idle" + std::to_string(i);
    spec.agent = kChatAgent;
    AppendRequest request;
    request.task = spec.id;
    Intake intake;
    intake.now_ms = 2;
    request.drafts =
        *decode_events(R"({"type":"status","summary":"x","data":{"state":"paused"}})", Framing::json, intake);
    ASSERT_TRUE(cut.write([&](WriteTxn& txn) {
      ASSERT_TRUE(txn.create_task(spec, 2, ""));
      ASSERT_TRUE(txn.append(request));
    }));
  }
  ChatWorld next(cut);
  EXPECT_EQ(cut.row("chat")->state.state, State::paused) << "without anyone opening it";
}

// --- retention ---

ChatConfig told(const std::string& system) {
  ChatConfig config;
  config.system = system;
  return config;
}

// What retention does to a session that goes on: its oldest batches go, whatever is in them.
void drop_through(EventStore& store, std::uint64_t through) {
  ASSERT_TRUE(store.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.drop_through("chat", through)); }));
}

class ChatRetention : public ChatSessions {
 protected:
  // A log with everything: a system prompt, a mode, a remembered rule, tools, an approval, two turns.
  std::vector<LoggedEvent> whole_log() {
    open(told("Be brief."));
    world->model.script.emplace_back(calls_answer({{"a", "look", "{}"}, {"b", "change", "{}"}}));
    world->model.script.emplace_back(calls_answer({{"c", "look", "{}"}}));
    world->ask("Go");
    world->model.script.emplace_back(plain_answer("Done."));
    world->command(CommandKind::approve, [](Command& command) {
      command.approval_id = "b";
      command.remember = "change(rule)";
    });
    world->talk("Next", "Yes.");
    return log_of(store);
  }
  void expect_usable(EventStore& cut, ChatWorld& next) {
    std::vector<ModelMessage> after = messages_of(next.view().messages);
    EXPECT_EQ(wrong_history(after), "");
    EXPECT_TRUE(after.empty() || after.front().role == Role::user) << spoken(after).front();
    TaskRow row = *cut.row("chat");
    EXPECT_EQ(row.state.state, State::paused);
    EXPECT_TRUE(row.state.approvals.empty());
    EXPECT_EQ(next.talk("And now?", "Well.")->response(), "Well.");
    EXPECT_EQ(wrong_history(next.model.last().request.messages), "");
  }
};

TEST_F(ChatRetention, LeavesASessionThatABackendTakes) {
  std::vector<LoggedEvent> events = whole_log();
  for (std::size_t through = 1; through < events.size(); ++through) {
    SCOPED_TRACE("the log begins after event " + std::to_string(through) + ": " + events[through - 1].json);
    MemoryStore cut;
    ASSERT_NO_FATAL_FAILURE(copy_log(events, events.size(), cut));
    std::int64_t whole = ChatWorld(cut, told("Be brief.")).view().total_tokens;
    ASSERT_NO_FATAL_FAILURE(drop_through(cut, through));
    ChatWorld next(cut, told("Another one."));
    EXPECT_EQ(next.view().system, "Be brief.") << "not today's configuration";
    EXPECT_LE(next.view().total_tokens, whole);
    EXPECT_GE(next.view().total_tokens, estimated_tokens("Be brief."));
    next.model.script.emplace_back(calls_answer({{"d", "change", "{}"}}));
    EXPECT_EQ(next.talk("Change it", "Changed.")->response(), "Changed.") << "the rule is remembered";
    EXPECT_EQ(next.model.last().request.messages.front().content, "Be brief.");
    expect_usable(cut, next);
  }
}

TEST_F(ChatRetention, LeavesATurnThatARestartCanClose) {
  std::vector<LoggedEvent> events = whole_log();
  for (std::size_t count = 3; count <= events.size(); ++count) {
    SCOPED_TRACE("the newest event is " + events[count - 1].json);
    MemoryStore cut;
    ASSERT_NO_FATAL_FAILURE(copy_log(events, count, cut));
    ASSERT_NO_FATAL_FAILURE(drop_through(cut, count - 1));
    ChatWorld next(cut, {}, "Of an open command.");
    TaskRow row = *cut.row("chat");
    for (const TaskCommand& command : row.state.commands) {
      EXPECT_NE(command.state, CommandState::accepted) << "the command " << command.id << " is open";
    }
    expect_usable(cut, next);
  }
}

TEST_F(ChatRetention, RefusesAQueuedPromptThatItDropped) {
  world->talk("Hi", "Hello");
  std::vector<LoggedEvent> events = log_of(store);
  MemoryStore cut;
  ASSERT_NO_FATAL_FAILURE(copy_log(events, events.size(), cut));
  Command command;
  command.kind = CommandKind::queue;
  command.id = "c9";
  command.content = "Later";
  for (const std::string& event : {R"({"type":"command","summary":"x","data":)" + encode_command(command) + "}",
                                   std::string(R"({"type":"log","summary":"after it"})")}) {
    Intake intake;
    intake.now_ms = 1;
    intake.allow_reserved = true;
    AppendRequest request;
    request.task = "chat";
    request.drafts = *decode_events(event, Framing::json, intake);
    ASSERT_TRUE(cut.write([&](WriteTxn& txn) { ASSERT_TRUE(txn.append(request)); }));
  }
  ASSERT_NO_FATAL_FAILURE(drop_through(cut, cut.row("chat")->state.last_sequence - 1));
  ChatWorld next(cut);
  ASSERT_EQ(cut.row("chat")->state.commands.size(), 1U);
  EXPECT_EQ(cut.row("chat")->state.commands[0].state, CommandState::refused);
  EXPECT_TRUE(next.model.calls.empty());
}

TEST_F(ChatRetention, ARecordGoesWithItsSession) {
  open(told("Be brief."));
  world->talk("Hi", "Hello");
  EXPECT_FALSE(store.record(std::string(kBasisRecords), "chat")->empty());
  world->journal().delete_task("chat", [](Result<void> done) { EXPECT_TRUE(done); });
  world->settle();
  EXPECT_TRUE(store.record(std::string(kBasisRecords), "chat")->empty());
  EXPECT_FALSE(decode_basis(encode_basis({}, 5), 6)) << "a record of an earlier task with the same id";
}

TEST_F(ChatSessions, SayWhetherACallMayHaveHadAnEffect) {
  world->model.script.emplace_back(calls_answer({{"a", "look", "{}"}, {"b", "look", "{}"}}));
  world->tools.hold = true;
  world->ask("Go");
  std::vector<LoggedEvent> events = log_of(store);
  MemoryStore cut;
  copy_log(events, events.size(), cut);
  ChatWorld next(cut);
  Said said = spoken(next.view());
  ASSERT_EQ(said.size(), 4U);
  EXPECT_NE(said[2].find("Whether it had an effect is not known"), std::string::npos) << said[2];
  EXPECT_NE(said[3].find("not run"), std::string::npos) << said[3];
}

}  // namespace
}  // namespace shepherd
