#include <gtest/gtest.h>

#include <deque>
#include <map>

#include "base/manual_executor.h"
#include "llm/backend_for_test.h"
#include "llm/model_config.h"

namespace shepherd {
namespace {

// A model whose ends are scripted; each comes from the executor.
class OneModel final : public Model {
 public:
  OneModel(std::string name, ManualExecutor& executor) : name_(std::move(name)), executor_(executor) {
    facts_.model = name_;
  }
  const std::string& name() const override { return name_; }
  std::unique_ptr<ModelCall> start(ModelRequest request, ModelObserver& observer) override {
    ++started;
    prompt = request.messages.front().content;
    auto call = std::make_unique<Call>();
    executor_.post([this, &observer, alive = call->alive] {
      if (!*alive) return;
      if (!says.empty()) observer.on_text(says);
      if (!*alive) return;
      Result<ModelAnswer> end = std::move(ends.front());
      ends.pop_front();
      observer.on_end(std::move(end));
    });
    return call;
  }
  std::unique_ptr<ModelCall> count(const ModelRequest&,
                                   std::move_only_function<void(Result<std::int64_t>)> done) override {
    ++counted;
    done(1);
    return std::make_unique<Call>();
  }
  std::unique_ptr<ModelCall> probe(std::move_only_function<void(Result<ModelFacts>)> done) override {
    auto call = std::make_unique<Call>();
    executor_.post([this, done = std::move(done), alive = call->alive]() mutable {
      if (!*alive) return;
      facts_.context_tokens = context;
      done(context > 0 ? Result<ModelFacts>(facts_) : fail(ErrorCode::unavailable, "model_unreachable", name_));
    });
    return call;
  }
  ModelFacts facts() const override { return facts_; }
  bool answers() const override { return true; }

  struct Call final : ModelCall {
    ~Call() override { *alive = false; }
    std::shared_ptr<bool> alive = std::make_shared<bool>(true);
  };
  std::deque<Result<ModelAnswer>> ends;
  std::string says, prompt;
  int started = 0, counted = 0;
  std::int64_t context = 0;

 private:
  const std::string name_;
  ManualExecutor& executor_;
  ModelFacts facts_;
};

class FirstWorkingTest : public ::testing::Test {
 protected:
  FirstWorkingTest() {
    std::vector<std::unique_ptr<Model>> models;
    for (OneModel** each : {&a, &b, &c}) {
      auto made = std::make_unique<OneModel>(std::string(1, static_cast<char>('a' + models.size())), executor);
      *each = made.get();
      models.push_back(std::move(made));
    }
    model = first_working(std::move(models));
  }
  void ask() {
    seen = AnswerRecorder();
    call = model->start(small_request(), seen);
    executor.run_all();
  }
  static Result<ModelAnswer> good(const std::string& backend) {
    ModelAnswer answer;
    answer.backend = backend;
    return answer;
  }
  static Result<ModelAnswer> bad(const std::string& reason, std::int64_t status = 0) {
    Error error{ErrorCode::unavailable, reason, "because of " + reason, {}};
    if (status != 0) error.fields.push_back({"status", status});
    return fail(std::move(error));
  }

  ManualExecutor executor;
  OneModel *a = nullptr, *b = nullptr, *c = nullptr;
  std::unique_ptr<Model> model;
  AnswerRecorder seen;
  std::unique_ptr<ModelCall> call;
};

TEST_F(FirstWorkingTest, MovesOnUntilOneAnswers) {
  a->ends.push_back(bad("model_unreachable"));
  b->ends.push_back(bad("model_refused", 404));
  c->ends.push_back(good("c"));
  ask();
  ASSERT_TRUE(seen.end) << seen.message();
  EXPECT_EQ(seen.end->backend, "c");
  EXPECT_EQ(seen.retries, (std::vector<std::string>{"because of model_unreachable", "because of model_refused"}));
  EXPECT_EQ(c->prompt, "Hi") << "each gets the whole request";
  EXPECT_EQ(model->name(), "c") << "its facts are those of the one that worked";
  a->ends.push_back(good("a"));
  ask();
  EXPECT_EQ(seen.end->backend, "a") << "the first is preferred again";
  EXPECT_EQ(model->name(), "a");
}

TEST_F(FirstWorkingTest, EveryFailureOfABackendMovesOn) {
  for (const char* reason : {"model_key", "model_busy", "model_unreachable", "model_failed", "model_broke_off"}) {
    a->ends.push_back(bad(reason));
    b->ends.push_back(good("b"));
    ask();
    EXPECT_TRUE(seen.end) << reason;
  }
}

TEST_F(FirstWorkingTest, ATroubleOfTheConversationStays) {
  for (const char* reason : {"context_full", "answer_too_long", "model_refused"}) {
    a->ends.push_back(bad(reason, 400));
    ask();
    EXPECT_EQ(seen.reason(), reason);
    EXPECT_EQ(b->started, 0);
  }
}

TEST_F(FirstWorkingTest, NothingMovesOnAfterTheFirstToken) {
  a->says = "Hel";
  a->ends.push_back(bad("model_broke_off"));
  ask();
  EXPECT_EQ(seen.reason(), "model_broke_off");
  EXPECT_EQ(b->started, 0);
}

TEST_F(FirstWorkingTest, TheLastErrorIsTheError) {
  a->ends.push_back(bad("model_unreachable"));
  b->ends.push_back(bad("model_unreachable"));
  c->ends.push_back(bad("model_key"));
  ask();
  EXPECT_EQ(seen.reason(), "model_key");
}

// The next plan must be for the context that was too small, or the same happens again.
TEST_F(FirstWorkingTest, TheOneWhoseContextIsFullIsTheCurrentOne) {
  a->ends.push_back(bad("model_unreachable"));
  b->ends.push_back(good("b"));
  ask();
  EXPECT_EQ(model->name(), "b");
  a->ends.push_back(bad("context_full"));
  ask();
  EXPECT_EQ(model->name(), "a");
}

TEST_F(FirstWorkingTest, AnObserverMayDropTheCall) {
  a->ends.push_back(bad("model_unreachable"));
  call = model->start(small_request(), seen);
  executor.run_one();
  EXPECT_EQ(seen.retries.size(), 1U);
  call.reset();
  executor.run_all();
  EXPECT_EQ(seen.ends, 0);
}

TEST_F(FirstWorkingTest, ProbesAllAndTakesTheFirstThatWorks) {
  b->context = 100;
  c->context = 200;
  std::optional<Result<ModelFacts>> found;
  auto probing = model->probe([&](Result<ModelFacts> facts) { found = std::move(facts); });
  executor.run_all();
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->context_tokens, 100);
  EXPECT_EQ(model->name(), "b");
  EXPECT_EQ(c->facts().context_tokens, 200) << "known before it is needed";
  static_cast<void>(model->count(small_request(), [](Result<std::int64_t>) {}));
  EXPECT_EQ(b->counted, 1);
  b->context = c->context = 0;
  probing = model->probe([&](Result<ModelFacts> facts) { found = std::move(facts); });
  executor.run_all();
  EXPECT_FALSE(*found);
}

}  // namespace
}  // namespace shepherd
