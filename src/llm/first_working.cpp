#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/assert.h"
#include "llm/model_config.h"

namespace shepherd {
namespace {

// Another backend may do better, unless the conversation itself is the trouble.
bool goes_on_elsewhere(const Error& error) {
  if (error.reason == "context_full" || error.reason == "answer_too_long") return false;
  if (error.reason != "model_refused") return true;
  return std::ranges::any_of(error.fields, [](const ErrorField& field) {
    return field.name == "status" && field.value == std::variant<std::int64_t, std::string>(std::int64_t{404});
  });
}

// The models of a list, and which of them worked last.
struct ModelList {
  std::vector<std::unique_ptr<Model>> models;
  std::size_t current = 0;
};

// Calls one model after the other. Each call's end comes on the loop, so the next one is started there.
class ListedCall final : public ModelCall, private ModelObserver {
 public:
  ListedCall(std::shared_ptr<ModelList> list, ModelRequest request, ModelObserver& observer)
      : list_(std::move(list)), request_(std::move(request)), observer_(observer) {
    begin();
  }

 private:
  bool last() const { return at_ + 1 == list_->models.size(); }
  void begin() { call_ = list_->models[at_]->start(last() ? std::move(request_) : request_, *this); }

  void on_text(std::string_view piece) override {
    passed_ = true;
    observer_.on_text(piece);
  }
  void on_reasoning(std::string_view piece) override {
    passed_ = true;
    observer_.on_reasoning(piece);
  }
  void on_retry(std::string_view why) override { observer_.on_retry(why); }
  void on_end(Result<ModelAnswer> answer) override {
    // A model that finds the conversation too long works, and the next plan must be for its context.
    bool works = answer || !goes_on_elsewhere(answer.error());
    if (works) list_->current = at_;
    if (works || passed_ || last()) {
      return observer_.on_end(std::move(answer));
    }
    ++at_;
    begin();  // before the observer, which may end this call
    observer_.on_retry(answer.error().message);
  }

  const std::shared_ptr<ModelList> list_;
  ModelRequest request_;
  ModelObserver& observer_;
  std::size_t at_ = 0;
  bool passed_ = false;
  std::unique_ptr<ModelCall> call_;
};

// Probes all models at once, so that the context of a fall-back is known when it is needed. The answer is that of the
// first one that works, or the last error.
class ListedProbe final : public ModelCall {
 public:
  using Done = std::move_only_function<void(Result<ModelFacts>)>;

  ListedProbe(std::shared_ptr<ModelList> list, Done done)
      : list_(std::move(list)), done_(std::move(done)), found_(list_->models.size()), left_(found_.size()) {
    for (std::size_t at = 0; at < found_.size(); ++at) {
      calls_.push_back(list_->models[at]->probe([this, at](Result<ModelFacts> facts) { take(at, std::move(facts)); }));
    }
  }

 private:
  void take(std::size_t at, Result<ModelFacts> facts) {
    found_[at] = std::move(facts);
    if (--left_ > 0) return;
    for (std::size_t each = 0; each < found_.size(); ++each) {
      if (!*found_[each]) continue;
      list_->current = each;
      return std::exchange(done_, nullptr)(*std::move(found_[each]));
    }
    std::exchange(done_, nullptr)(*std::move(found_.back()));
  }

  const std::shared_ptr<ModelList> list_;
  Done done_;
  std::vector<std::optional<Result<ModelFacts>>> found_;
  std::size_t left_;
  std::vector<std::unique_ptr<ModelCall>> calls_;
};

// Its name, its facts and its count are those of the model that worked last.
class FirstWorking final : public Model {
 public:
  explicit FirstWorking(std::vector<std::unique_ptr<Model>> models)
      : list_(std::make_shared<ModelList>(ModelList{std::move(models), 0})) {}

  const std::string& name() const override { return current().name(); }
  std::unique_ptr<ModelCall> start(ModelRequest request, ModelObserver& observer) override {
    return std::make_unique<ListedCall>(list_, std::move(request), observer);
  }
  std::unique_ptr<ModelCall> count(const ModelRequest& request,
                                   std::move_only_function<void(Result<std::int64_t>)> done) override {
    return current().count(request, std::move(done));
  }
  std::unique_ptr<ModelCall> probe(std::move_only_function<void(Result<ModelFacts>)> done) override {
    return std::make_unique<ListedProbe>(list_, std::move(done));
  }
  ModelFacts facts() const override { return current().facts(); }
  bool answers() const override {
    return std::ranges::any_of(list_->models, [](const auto& each) { return each->answers(); });
  }

 private:
  Model& current() const { return *list_->models[list_->current]; }

  const std::shared_ptr<ModelList> list_;
};

}  // namespace

std::unique_ptr<Model> first_working(std::vector<std::unique_ptr<Model>> models) {
  SHEPHERD_ASSERT(!models.empty(), "a list of models has at least one");
  if (models.size() == 1) return std::move(models.front());
  return std::make_unique<FirstWorking>(std::move(models));
}

}  // namespace shepherd
