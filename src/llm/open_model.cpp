#include <fmt/format.h>

#include <utility>

#include "llm/answer_call.h"
#include "llm/backend_core.h"
#include "llm/inquiry_call.h"
#include "llm/model_config.h"

namespace shepherd {
namespace {

class StartedAnswer final : public ModelCall {
 public:
  explicit StartedAnswer(std::shared_ptr<AnswerCall> call) : call_(std::move(call)) { call_->start(); }
  ~StartedAnswer() override { call_->cancel(); }

 private:
  const std::shared_ptr<AnswerCall> call_;
};

// Probing, and counting, which may have to probe first.
class StartedInquiry final : public ModelCall, public std::enable_shared_from_this<StartedInquiry> {
 public:
  explicit StartedInquiry(std::shared_ptr<BackendCore> core) : core_(std::move(core)) {}
  ~StartedInquiry() override {
    if (call_) call_->cancel();
  }

  using Probed = std::move_only_function<void(Result<ModelFacts>)>;
  using Counted = std::move_only_function<void(Result<std::int64_t>)>;

  void probe(Probed done) {
    probe_ = core_->dialect.probe(core_->config);
    auto take = [this, done = std::move(done)](Result<void> asked) mutable {
      core_->answers = asked.has_value();
      if (!asked) return done(fail(std::move(asked.error())));
      core_->learn(*probe_);
      done(core_->findings.facts);
    };
    call_ = std::make_shared<InquiryCall>(core_, *probe_, std::move(take));
    call_->start();
  }
  void count(ModelRequest request, Counted done) {
    if (core_->probed) return ask_count(request, std::move(done));
    probe([this, request = std::move(request), done = std::move(done)](Result<ModelFacts> facts) mutable {
      if (!facts) return done(fail(std::move(facts.error())));
      // The function that runs belongs to the call that ask_count() replaces.
      core_->parts.loop.post([weak = weak_from_this(), request = std::move(request), done = std::move(done)]() mutable {
        if (auto self = weak.lock()) self->ask_count(request, std::move(done));
      });
    });
  }

 private:
  void ask_count(const ModelRequest& request, Counted done) {
    CountWay way = core_->findings.count;
    std::string body = way == CountWay::none ? "" : core_->dialect.body(core_->plan(RequestUse::count), request);
    counting_ = count_tokens(way, std::move(body), core_->config.name);
    auto take = [this, done = std::move(done)](Result<void> asked) mutable {
      if (!asked) return done(fail(std::move(asked.error())));
      auto tokens = counting_->tokens();
      if (!tokens) return done(fail(core_->hide(std::move(tokens.error()))));
      done(*tokens);
    };
    call_ = std::make_shared<InquiryCall>(core_, *counting_, std::move(take));
    call_->start();
  }

  const std::shared_ptr<BackendCore> core_;
  std::unique_ptr<Probe> probe_;
  std::unique_ptr<Counting> counting_;
  std::shared_ptr<InquiryCall> call_;
};

// The handle of a StartedInquiry, which is shared because work posted to the loop looks for it.
class InquiryHandle final : public ModelCall {
 public:
  explicit InquiryHandle(std::shared_ptr<StartedInquiry> inquiry) : inquiry_(std::move(inquiry)) {}

 private:
  const std::shared_ptr<StartedInquiry> inquiry_;
};

class Backend final : public Model {
 public:
  explicit Backend(std::shared_ptr<BackendCore> core) : core_(std::move(core)) {}
  ~Backend() override {
    if (auto probing = std::exchange(core_->probing, nullptr)) probing->cancel();
  }

  const std::string& name() const override { return core_->config.name; }
  std::unique_ptr<ModelCall> start(ModelRequest request, ModelObserver& observer) override {
    return std::make_unique<StartedAnswer>(std::make_shared<AnswerCall>(core_, std::move(request), observer));
  }
  std::unique_ptr<ModelCall> count(const ModelRequest& request,
                                   std::move_only_function<void(Result<std::int64_t>)> done) override {
    auto inquiry = std::make_shared<StartedInquiry>(core_);
    inquiry->count(request, std::move(done));
    return std::make_unique<InquiryHandle>(std::move(inquiry));
  }
  std::unique_ptr<ModelCall> probe(std::move_only_function<void(Result<ModelFacts>)> done) override {
    auto inquiry = std::make_shared<StartedInquiry>(core_);
    inquiry->probe(std::move(done));
    return std::make_unique<InquiryHandle>(std::move(inquiry));
  }
  ModelFacts facts() const override { return core_->findings.facts; }
  bool answers() const override { return core_->answers; }

 private:
  const std::shared_ptr<BackendCore> core_;
};

}  // namespace

Result<std::unique_ptr<Model>> open_model(const ModelConfig& config, ModelParts parts) {
  auto url = net::parse_url(config.url);
  if (!url || !(config.url.starts_with("http://") || config.url.starts_with("https://"))) {
    return fail(ErrorCode::invalid_argument, "bad_model_url",
                fmt::format("the url of model \"{}\" must be like http://127.0.0.1:8000/v1", config.name));
  }
  return std::make_unique<Backend>(std::make_shared<BackendCore>(config, parts, *std::move(url)));
}

}  // namespace shepherd
