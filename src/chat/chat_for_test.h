// A server's chat sessions over a memory store, with a scripted model and scripted tools, all stepped by the test.
// Threads: caller.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/manual_executor.h"
#include "bus/bus.h"
#include "chat/chats.h"
#include "journal/journal.h"
#include "json/scan.h"
#include "model/wire_json.h"
#include "store/memory/memory_store.h"

namespace shepherd {

// A queue that the test runs, until `at_once`, for functions that wait for what they post.
class TestLoop final : public Executor {
 public:
  void post(Work work) override {
    if (at_once) return work();
    queue.post(std::move(work));
  }
  ManualExecutor queue;
  bool at_once = false;
};

// What became of a call or a use: it is under way until its handle is destroyed.
struct Underway {
  bool alive = true;
};
template <class Base>
struct ScriptedHandle final : Base {
  ~ScriptedHandle() override { state->alive = false; }
  std::shared_ptr<Underway> state = std::make_shared<Underway>();
};

inline ModelAnswer plain_answer(std::string text) {
  ModelAnswer answer;
  answer.text = std::move(text);
  answer.backend = "backend";
  answer.model = "m";
  return answer;
}
inline ModelAnswer calls_answer(std::vector<ToolRequest> calls, Finish finish = Finish::tool_calls) {
  ModelAnswer answer = plain_answer("");
  answer.tool_calls = std::move(calls);
  answer.finish = finish;
  return answer;
}

class ScriptedModel final : public Model {
 public:
  explicit ScriptedModel(Executor& loop) : loop_(loop) {
    known.model = "m";
    known.context_tokens = 100'000;
  }

  struct Call {
    ModelRequest request;
    ModelObserver* observer;
    std::shared_ptr<Underway> state;
    bool ended = false;
    bool open() const { return state->alive && !ended; }
  };

  const std::string& name() const override { return name_; }
  ModelFacts facts() const override { return known; }
  bool answers() const override { return true; }
  // The next answer of the script comes by itself; without one the test plays the call.
  std::unique_ptr<ModelCall> start(ModelRequest request, ModelObserver& observer) override {
    auto handle = std::make_unique<ScriptedHandle<ModelCall>>();
    calls.push_back(std::make_shared<Call>(Call{std::move(request), &observer, handle->state}));
    if (script.empty() && always) script.emplace_back(plain_answer(*always));
    if (!script.empty()) {
      loop_.post([call = calls.back(), answer = std::move(script.front())]() mutable {
        if (!call->open()) return;
        if (answer && !answer->text.empty()) call->observer->on_text(answer->text);
        call->ended = true;
        call->observer->on_end(std::move(answer));
      });
      script.pop_front();
    }
    return handle;
  }
  std::unique_ptr<ModelCall> count(const ModelRequest& request,
                                   std::move_only_function<void(Result<std::int64_t>)> done) override {
    auto handle = std::make_unique<ScriptedHandle<ModelCall>>();
    ++counts;
    if (!hold_counts) {
      loop_.post([state = handle->state, tokens = tokens_of(request), done = std::move(done)]() mutable {
        if (state->alive) done(tokens);
      });
    }
    return handle;
  }
  std::unique_ptr<ModelCall> probe(std::move_only_function<void(Result<ModelFacts>)>) override {
    return std::make_unique<ScriptedHandle<ModelCall>>();
  }

  // A token for each byte, and ten for each message.
  static std::int64_t tokens_of(const ModelRequest& request) {
    std::int64_t tokens = 0;
    for (const ModelMessage& message : request.messages) {
      tokens += 10 + static_cast<std::int64_t>(message.content.size());
      for (const ToolRequest& call : message.tool_calls) tokens += static_cast<std::int64_t>(call.arguments.size());
    }
    return tokens;
  }
  Call& last() { return *calls.back(); }
  void say(std::string_view text) { last().observer->on_text(text); }
  void end(Result<ModelAnswer> answer) {
    last().ended = true;
    last().observer->on_end(std::move(answer));
  }

  ModelFacts known;
  std::deque<Result<ModelAnswer>> script;
  std::vector<std::shared_ptr<Call>> calls;
  std::optional<std::string> always;  // the answer when the script is empty
  int counts = 0;
  bool hold_counts = false;

 private:
  Executor& loop_;
  const std::string name_ = "backend";
};

class ScriptedTools final : public Toolbox {
 public:
  explicit ScriptedTools(Executor& loop) : loop_(loop) {
    for (const char* name : {"look", "change"}) {
      Tool tool;
      tool.definition = {name, name, R"({"type":"object"})"};
      tool.asks = std::string_view(name) == "change";
      list.push_back(std::move(tool));
    }
  }

  struct Use {
    ToolInvocation use;
    std::move_only_function<void(ToolOutcome)> done;
    std::shared_ptr<Underway> state;
  };

  std::vector<Tool> tools() const override { return list; }
  void on_change(std::function<void()>) override {}
  std::unique_ptr<ToolRun> start(ToolInvocation use, std::move_only_function<void(ToolOutcome)> done,
                                 std::function<void(std::string_view)>) override {
    auto handle = std::make_unique<ScriptedHandle<ToolRun>>();
    auto made = std::make_shared<Use>(Use{std::move(use), std::move(done), handle->state});
    uses.push_back(made);
    if (!hold) {
      loop_.post([this, made] {
        if (made->state->alive) end(*made);
      });
    }
    return handle;
  }
  std::string describe(std::string_view name, std::string_view) const override { return "Uses " + std::string(name); }
  std::string rule_of(std::string_view name, std::string_view) const override { return std::string(name) + "(rule)"; }

  void end(Use& use) const {
    ToolOutcome outcome;
    outcome.images = images;
    outcome.success = true;
    outcome.content = "result of " + use.use.call_id;
    use.done(std::move(outcome));
  }

  std::vector<Tool> list;
  std::vector<std::shared_ptr<Use>> uses;
  std::vector<ModelImage> images;  // of every result
  bool hold = false;

 private:
  Executor& loop_;
};

// A prompt and what became of it.
struct Asked {
  std::uint64_t begun = 0;
  std::optional<Result<std::size_t>> accepted;
  std::vector<TurnEnd> ends;

  bool done() const { return ends.size() == 1; }
  std::string response() const { return !done() ? "(open)" : ends[0].response ? *ends[0].response : "error"; }
  std::string reason() const { return done() && !ends[0].response ? ends[0].response.error().reason : ""; }
};

// One life of a server over a store that outlives it.
class ChatWorld {
 public:
  // `always` answers what the start brings.
  explicit ChatWorld(EventStore& store, ChatConfig config = {}, std::optional<std::string> always = {},
                     const Redactor* redactor = nullptr)
      : store_(store) {
    model.always = std::move(always);
    chats_ = std::make_unique<Chats>(ChatParts{LogParts{journal_, loop_, clock, redactor, &condense_}, workers_,
                                               random_, model, &tools, [this](const std::string&) { return price; }},
                                     std::move(config));
    auto started = chats_->start();
    EXPECT_TRUE(started);
    settle();
  }
  ~ChatWorld() {
    for (const std::string& task : sessions_) {
      while (cancel(task)) {
      }
    }
    loop_.at_once = true;
    chats_->stop();
    loop_.at_once = false;
    settle();
    chats_.reset();
  }

  Chats& chats() { return *chats_; }
  Journal& journal() { return journal_; }
  EventStore& store() { return store_; }

  // Runs everything that is ready.
  void settle() {
    while (step()) {
    }
  }
  // Runs one commit, or one piece of work.
  bool step() { return loop_.queue.run_one() || workers_.run_one() || journal_.step(); }
  // Runs everything but commits.
  void settle_without_commits() {
    while (loop_.queue.run_one() || workers_.run_one()) {
    }
  }

  std::shared_ptr<Asked> ask_later(const std::string& prompt, const std::string& task = "chat",
                                   std::int64_t max_tokens = 0) {
    sessions_.insert(task);
    auto asked = std::make_shared<Asked>();
    ChatRequest request;
    request.prompt = {prompt, max_tokens, "ada", ""};
    request.begun = [asked](std::uint64_t sequence) { asked->begun = sequence; };
    request.done = [asked](TurnEnd end) { asked->ends.push_back(std::move(end)); };
    chats_->request(task, std::move(request), [asked](Result<std::size_t> queued) { asked->accepted = queued; });
    return asked;
  }
  std::shared_ptr<Asked> ask(const std::string& prompt, const std::string& task = "chat", std::int64_t max_tokens = 0) {
    auto asked = ask_later(prompt, task, max_tokens);
    settle();
    return asked;
  }
  // A prompt with a whole answer.
  std::shared_ptr<Asked> talk(const std::string& prompt, const std::string& answer, const std::string& task = "chat") {
    model.script.emplace_back(plain_answer(answer));
    return ask(prompt, task);
  }
  SessionView view(const std::string& task = "chat") {
    std::optional<SessionView> seen;
    chats_->view(task, [&](Result<SessionView> view) {
      EXPECT_TRUE(view);
      if (view) seen = std::move(*view);
    });
    settle();
    return seen.value_or(SessionView());
  }
  bool cancel(const std::string& task = "chat") {
    bool cancelled = false;
    chats_->cancel(task, [&](Result<bool> done) { cancelled = done && *done; });
    settle();
    return cancelled;
  }
  void command(CommandKind kind, const std::function<void(Command&)>& fill = {}, const std::string& task = "chat") {
    Command command;
    command.kind = kind;
    command.id = "c" + std::to_string(++commands_);
    command.by = "ada";
    if (fill) fill(command);
    append(task, R"({"type":"command","summary":"a command","data":)" + encode_command(command) + "}");
    settle();
  }
  void append(const std::string& task, const std::string& event) {
    Intake intake;
    intake.now_ms = clock.wall_ms();
    intake.allow_reserved = true;
    auto drafts = decode_events(event, Framing::json, intake);
    ASSERT_TRUE(drafts) << drafts.error().message << event;
    journal_.append({task, {}, std::move(*drafts), clock.wall_ms(), true}, [](Result<Appended> appended) {
      EXPECT_TRUE(appended) << (appended ? "" : appended.error().message);
    });
  }

  ManualClock clock;
  ScriptedModel model{loop_};
  ScriptedTools tools{loop_};
  ModelPrice price;

 private:
  EventStore& store_;
  MetricRegistry metrics_;
  Hub hub_{clock, metrics_};
  NoBus bus_;
  ManualExecutor workers_;
  TestLoop loop_;
  Journal journal_{store_, hub_, bus_, workers_, clock, metrics_, false};
  SeededRandom random_{7};
  CondenseRules condense_;
  std::unique_ptr<Chats> chats_;
  std::set<std::string> sessions_;
  int commands_ = 0;
};

// --- what a log has ---

struct LoggedEvent {
  EventType type;
  std::string json;
};
inline std::vector<LoggedEvent> log_of(const EventStore& store, const std::string& task = "chat") {
  std::vector<LoggedEvent> events;
  auto page = store.read(task, 0, {100'000, 1 << 30});
  if (!page) return events;
  for (const BatchPtr& batch : page->batches) {
    for (std::size_t i = 0; i < batch->size(); ++i) events.push_back({batch->types[i], std::string(batch->event(i))});
  }
  return events;
}
inline Conversation folded(const std::vector<LoggedEvent>& events) {
  Conversation talk;
  for (std::size_t i = 0; i < events.size(); ++i) talk.apply(i + 1, events[i].type, events[i].json);
  return talk;
}
// "user: Hi", "assistant: -> look(a)", "tool(a): result of a".
inline std::vector<std::string> spoken(const std::vector<ModelMessage>& messages) {
  std::vector<std::string> lines;
  for (const ModelMessage& message : messages) {
    std::string line(name(message.role));
    if (message.role == Role::tool) line += "(" + message.tool_call_id + ")";
    line += ": " + message.content;
    for (const ToolRequest& call : message.tool_calls) line += "-> " + call.name + "(" + call.id + ")";
    lines.push_back(std::move(line));
  }
  return lines;
}
inline std::vector<ModelMessage> messages_of(const std::vector<ChatMessage>& messages) {
  std::vector<ModelMessage> all;
  for (const ChatMessage& each : messages) all.push_back(each.message);
  return all;
}
inline std::vector<std::string> spoken(const SessionView& view) {
  return spoken(messages_of(view.messages));
}
// Why a strict backend would refuse these messages; empty if it would not.
inline std::string wrong_history(const std::vector<ModelMessage>& messages) {
  std::vector<std::string> open;
  for (const ModelMessage& message : messages) {
    if (message.role == Role::tool) {
      auto found = std::find(open.begin(), open.end(), message.tool_call_id);
      if (found == open.end()) return "a result without its call: " + message.tool_call_id;
      open.erase(found);
      continue;
    }
    if (!open.empty()) return "a call without its result: " + open.front();
    for (const ToolRequest& call : message.tool_calls) open.push_back(call.id);
  }
  return open.empty() ? "" : "a call without its result at the end: " + open.front();
}

}  // namespace shepherd
