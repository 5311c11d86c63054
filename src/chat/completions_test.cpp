#include "chat/completions.h"

#include <gtest/gtest.h>

#include "base/random.h"
#include "chat/completion_fixture.h"
#include "chat/limits.h"
#include "journal/journal_fixture.h"
#include "redact/redact.h"

namespace shepherd {
namespace {

class CompletionsTest : public JournalFixture {
 protected:
  void open(bool logs = false, Toolbox* tools = nullptr) {
    config_.log_api_calls = logs;
    LogParts log{journal_, io_, clock_, &*redactor_, &condense_};
    CompletionsParts parts{
        log, random_, {&first_, &second_}, {&first_, &second_}, first_, tools, [](const std::string&) {
          return ModelPrice{1.0, 1.0, {}, {}, "2026-11-01"};
        }};
    completions_.emplace(std::move(parts), config_);
  }
  std::shared_ptr<KeptCompletion> ask(const std::string& model, const std::string& words = "hello") {
    CompletionRequest request;
    request.id = completions_->new_id();
    request.model = model;
    request.by = "ada";
    request.labels["openwebui-chat"] = "c-1";
    request.request.messages = {message(Role::user, "an older question"), message(Role::assistant, "an older answer"),
                                message(Role::user, words)};
    id_ = request.id;
    auto seen = std::make_shared<KeptCompletion>();
    completions_->begin(std::move(request), seen);
    return seen;
  }
  static ModelMessage message(Role role, std::string content) {
    ModelMessage made;
    made.role = role;
    made.content = std::move(content);
    return made;
  }
  std::vector<std::string> ids() const {
    std::vector<std::string> all;
    for (const CompletionModel& each : completions_->models()) all.push_back(each.id);
    return all;
  }
  std::string log_text(const std::string& task) {
    settle();
    std::string all;
    auto page = store_.read(task, 0, {1'000, 1 << 20});
    for (const BatchPtr& batch : page->batches) {
      for (std::size_t i = 0; i < batch->size(); ++i) all += std::string(batch->event(i)) + "\n";
    }
    return all;
  }

  SeededRandom random_{1};
  CondenseRules condense_;
  Result<Redactor> redactor_ = Redactor::create({});
  ChatConfig config_;
  HeldModel first_{"local", "org/qwen"}, second_{"other"};
  HeldTools tools_;
  std::optional<Completions> completions_;
  std::string id_;
};

TEST_F(CompletionsTest, ListsConfiguredNamesAndTheChatsModel) {
  open();
  EXPECT_EQ(ids(), (std::vector<std::string>{"org/qwen", "local", "other"}));
  first_.facts_.model = "other";
  EXPECT_EQ(ids(), (std::vector<std::string>{"local", "other"})) << "a configured name wins";
}

TEST_F(CompletionsTest, ListsModelsWithToolsIfSomeNeedNoApproval) {
  tools_.offer("run_command", true);
  open(false, &tools_);
  EXPECT_EQ(ids().size(), 3u);
  EXPECT_EQ(completions_->model("local+tools").error().reason, "model_not_found");
  config_.allow = {"run_command(git)"};
  open(false, &tools_);
  EXPECT_EQ(ids(),
            (std::vector<std::string>{"org/qwen", "local", "other", "org/qwen+tools", "local+tools", "other+tools"}));
  EXPECT_TRUE(completions_->model("org/qwen+tools"));
}

TEST_F(CompletionsTest, FindsModelsById) {
  open();
  ask("other");
  EXPECT_EQ(second_.requests.size(), 1u);
  ask("local");
  ask("org/qwen");
  EXPECT_EQ(first_.requests.size(), 2u);
  second_.facts_.model = "claude";
  ask("claude");
  EXPECT_EQ(first_.requests.size(), 3u) << "any name of the list's backends is the list";
  auto seen = ask("gpt");
  ASSERT_TRUE(seen->end && !*seen->end);
  EXPECT_EQ(seen->end->error().reason, "model_not_found");
}

TEST_F(CompletionsTest, CancellingEndsTheCallWithoutAWord) {
  open();
  auto seen = ask("local");
  EXPECT_EQ(first_.open, 1);
  completions_->cancel(id_);
  EXPECT_EQ(first_.open, 0);
  EXPECT_FALSE(seen->end);
  EXPECT_EQ(seen.use_count(), 1);
}

TEST_F(CompletionsTest, TakesNoMoreThanItCanHold) {
  open();
  CompletionRequest large;
  large.id = "large";
  large.model = "local";
  large.bytes = kMaxHeldRequestBytes;
  auto seen = std::make_shared<KeptCompletion>();
  completions_->begin(large, seen);
  EXPECT_FALSE(seen->end);
  large.id = "another";
  large.bytes = 1;
  auto refused = std::make_shared<KeptCompletion>();
  completions_->begin(large, refused);
  ASSERT_TRUE(refused->end && !*refused->end);
  EXPECT_EQ(refused->end->error().reason, "too_many_calls");
  completions_->cancel("large");
  auto taken = std::make_shared<KeptCompletion>();
  completions_->begin(large, taken);
  EXPECT_FALSE(taken->end);
}

TEST_F(CompletionsTest, StoppingEndsEveryCallWithAnError) {
  open();
  auto one = ask("local"), two = ask("other");
  stop_now(*completions_);
  for (const auto& seen : {one, two, ask("local")}) {
    ASSERT_TRUE(seen->end && !*seen->end);
    EXPECT_EQ(seen->end->error().reason, "shutting_down");
  }
}

TEST_F(CompletionsTest, LeavesNothingBehindUnlessCallsAreLogged) {
  open();
  ask("local");
  first_.answer("Hi");
  settle();
  EXPECT_TRUE(store_.rows({})->empty());
}

TEST_F(CompletionsTest, LogsACallAsATask) {
  open(true);
  auto seen = ask("local",
                  "Tell me\nmore: sk-ant-"
                  "api03-abcdefghijklmnopqrstuvwxyz0123456789");
  first_.answer("An answer");
  std::string log = log_text(id_);
  auto rows = store_.rows({});
  ASSERT_EQ(rows->size(), 1u);
  const TaskRow& row = rows->front();
  EXPECT_EQ(row.spec.agent, "api-call");
  EXPECT_EQ(row.spec.title, "Tell me");
  EXPECT_EQ(row.spec.model, "local");
  EXPECT_EQ(row.spec.labels.at("openwebui-chat"), "c-1");
  EXPECT_EQ(row.state.state, State::completed);
  EXPECT_EQ(row.state.usage.input_tokens, 10u);
  EXPECT_DOUBLE_EQ(row.state.usage.cost_usd, 12 / 1e6);
  EXPECT_NE(log.find("An answer"), std::string::npos);
  EXPECT_NE(log.find("Tell me"), std::string::npos);
  EXPECT_EQ(log.find("an older question"), std::string::npos) << "earlier calls have it";
  EXPECT_NE(log.find("2 earlier messages"), std::string::npos);
  EXPECT_EQ(log.find("api03-abc"), std::string::npos) << "secrets are redacted";
  EXPECT_NE(first_.requests[0].messages.back().content.find("api03-abc"), std::string::npos)
      << "a relay changes nothing";
}

TEST_F(CompletionsTest, LogsFailuresCancellationsAndTools) {
  tools_.offer("read_file", false);
  open(true, &tools_);
  ask("local");
  std::string failed = id_;
  first_.fails({ErrorCode::invalid_argument, "model_refused", "The model has no idea", {}});
  EXPECT_NE(log_text(failed).find("The model has no idea"), std::string::npos);
  EXPECT_EQ(store_.row(failed)->state.state, State::failed);
  ask("local+tools");
  first_.answer("", {{"c1", "read_file", R"({"path":"a"})"}});
  tools_.returns("the content");
  completions_->cancel(id_);
  std::string log = log_text(id_);
  EXPECT_NE(log.find("tool_call"), std::string::npos);
  EXPECT_NE(log.find("the content"), std::string::npos);
  EXPECT_EQ(store_.row(id_)->state.state, State::cancelled);
}

TEST_F(CompletionsTest, EndsTheTasksThatAKilledServerLeftOpen) {
  open(true);
  ask("local");
  settle();
  EXPECT_EQ(store_.row(id_)->state.state, State::running);
  ASSERT_TRUE(end_open_api_calls({journal_, io_, clock_, nullptr, &condense_}));
  settle();
  EXPECT_EQ(store_.row(id_)->state.state, State::failed);
}

}  // namespace
}  // namespace shepherd
