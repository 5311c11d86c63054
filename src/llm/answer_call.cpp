#include "llm/answer_call.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "llm/limits.h"

namespace shepherd {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

// Seconds; a date, which no backend of these sends, counts as nothing. Anthropic's and OpenAI's servers have a
// fraction.
std::optional<std::int64_t> retry_after(const net::ResponseHead& head) {
  std::string_view text = head.header("retry-after-ms");
  double factor = 1;
  if (text.empty()) {
    text = head.header("retry-after");
    factor = 1'000;
  }
  double value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !(value >= 0 && value < 1e9)) return std::nullopt;
  return static_cast<std::int64_t>(value * factor);
}

}  // namespace

AnswerCall::AnswerCall(std::shared_ptr<BackendCore> core, ModelRequest request, ModelObserver& observer)
    : core_(std::move(core)),
      request_(std::move(request)),
      observer_(&observer),
      deadline_(core_->timers, [this] { on_time(); }),
      pause_(core_->timers, [this] { attempt(); }),
      end_wait_(core_->timers, [this] { conclude(); }) {}

void AnswerCall::start() {
  core_->parts.loop.post([self = shared_from_this()] { self->begin(); });
}

void AnswerCall::cancel() {
  observer_ = nullptr;
  release();
}

void AnswerCall::release() {
  if (probing_) probing_->cancel();
  call_.cancel();
  deadline_.disarm();
  pause_.disarm();
  end_wait_.disarm();
}

void AnswerCall::begin() {
  if (observer_ == nullptr) return;
  std::int64_t now = core_->parts.clock.steady_ms();
  if (!core_->breaker.may_try(now)) {
    std::int64_t seconds = (core_->breaker.rests_until_ms() - now + 999) / 1'000;
    return finish(
        fail(ErrorCode::unavailable, "model_unreachable",
             fmt::format("model \"{}\" failed several times and is not tried for {} s", core_->config.name, seconds)));
  }
  core_->breaker.trying(now);
  attempt();
}

void AnswerCall::attempt() {
  ++attempts_;
  if (core_->model().empty()) return find_model();
  if (!core_->probed) probe_beside(core_);
  ask();
}

// The name of the model is not configured and not known yet.
void AnswerCall::find_model() {
  probe_ = core_->dialect.probe(core_->config);
  probing_ = std::make_shared<InquiryCall>(core_, *probe_, [this](Result<void> asked) {
    auto self = shared_from_this();
    if (!asked) {
      const Error& why = asked.error();
      bool soon = why.reason == "model_unreachable" || why.reason == "model_busy";
      if (soon && may_try_again()) return try_again(why, std::nullopt);
      if (why.reason != "model_key") note_failure();
      return finish(fail(std::move(asked.error())));
    }
    core_->learn(*probe_);
    if (!core_->model().empty()) return ask();
    finish(fail(ErrorCode::invalid_argument, "model_refused",
                fmt::format("model \"{}\": the server lists no model; set \"model\"", core_->config.name)));
  });
  probing_->start();
}

void AnswerCall::ask() {
  core_->key.get([weak = weak_from_this()](Result<std::string> key) {
    auto self = weak.lock();
    if (!self || self->observer_ == nullptr) return;
    if (!key) return self->finish(fail(std::move(key.error())));
    self->send(*key);
  });
}

void AnswerCall::send(const std::string& key) {
  std::uint64_t mark = core_->parts.random.next();
  stream_ = core_->dialect.answer(fmt::format("call_{:012x}_", mark & 0xFFFFFFFFFFFFU), core_->config.name);
  status_ = 0;
  retry_after_ms_.reset();
  fault_body_.clear();
  Question question{false, std::string(core_->dialect.chat_path()),
                    core_->dialect.body(core_->plan(RequestUse::answer), request_)};
  net::CallRequest made = core_->request(question, key);
  made.timeouts.first_byte = made.timeouts.idle = milliseconds(0);  // on_time() knows more about the answer
  first_until_ = steady_clock::now() + core_->waits.first_token;
  deadline_.arm(first_until_);
  call_ = core_->caller.start(std::move(made), *this);
}

void AnswerCall::on_head(net::ResponseHead&& head) {
  status_ = head.status;
  retry_after_ms_ = retry_after(head);
}

void AnswerCall::on_body(std::string_view piece) {
  auto self = shared_from_this();
  if (status_ != 200) {
    fault_body_.append(piece.substr(0, kMaxFaultBytes - fault_body_.size()));
    if (fault_body_.size() < kMaxFaultBytes) return;
    call_.cancel();
    return on_end({});
  }
  if (stream_->over()) return;
  last_bytes_ = steady_clock::now();
  stream_->take(piece);
  pass_on();
  if (observer_ == nullptr) return;
  // Some servers never send an end mark, and keep the connection open.
  if (stream_->answer().finished()) deadline_.arm(last_bytes_ + core_->waits.usage);
  if (!stream_->over()) return;
  // The end of the response usually follows at once, and then the connection can be used again.
  if (stream_->fault() || stream_->answer().error()) return conclude();
  end_wait_.arm(steady_clock::now() + core_->waits.stream_end);
}

void AnswerCall::on_end(Result<void> result) {
  auto self = shared_from_this();
  if (!result && status_ == 0) {
    Error error = core_->unreachable(result.error());
    if (result.error().reason == "unreachable" && may_try_again()) return try_again(error, std::nullopt);
    note_failure();
    return finish(fail(std::move(error)));
  }
  if (status_ != 200) {
    BackendFault fault = read_fault(status_, fault_body_);
    fault.retry_after_ms = retry_after_ms_;
    return take_failure(fault);
  }
  conclude();
}

void AnswerCall::on_time() {
  auto self = shared_from_this();
  if (stream_->answer().finished()) return conclude();
  // A chunk without a token, like Anthropic's message_start, is not the first token.
  bool first = !stream_->answer().begun();
  net::TimePoint until = first ? first_until_ : last_bytes_ + core_->waits.next_token;
  if (steady_clock::now() < until) return deadline_.arm(until);
  auto limit = first ? core_->waits.first_token : core_->waits.next_token;
  note_failure();
  finish(fail(Error{
      ErrorCode::unavailable,
      "model_unreachable",
      fmt::format("model \"{}\" was silent for {} s: no {} token", core_->config.name, limit.count() / 1'000,
                  first ? "first" : "next"),
      {}}.with("phase", std::string(first ? "first_token" : "next_token"))));
}

// The observer may end this call at any piece.
void AnswerCall::pass_on() {
  AnswerBuilder& answer = stream_->answer();
  for (const AnswerRun& run : answer.fresh()) {
    if (observer_ == nullptr) return;
    if (run.reasoning) {
      observer_->on_reasoning(answer.text_of(run));
    } else {
      observer_->on_text(answer.text_of(run));
    }
  }
  answer.forget_fresh();
}

void AnswerCall::conclude() {
  auto self = shared_from_this();
  call_.cancel();
  stream_->finish();
  pass_on();
  if (observer_ == nullptr) return;
  if (stream_->fault()) return take_failure(*stream_->fault());
  Result<ModelAnswer> answer = stream_->conclude(core_->config.name);
  if (answer) {
    core_->breaker.succeeded();
    core_->answers = true;
    if (answer->model.empty()) answer->model = core_->model();
  } else if (answer.error().reason == "model_broke_off") {
    if (may_try_again()) return try_again(answer.error(), std::nullopt);
    note_failure();
  }
  finish(std::move(answer));
}

void AnswerCall::take_failure(const BackendFault& fault) {
  Error error = core_->hide(error_of(fault, core_->config.name));
  if (error.reason == "model_key" && core_->key.configured() && !std::exchange(rekeyed_, true) && may_try_again()) {
    core_->key.forget();
    return attempt();
  }
  if (core_->config.dialect == ModelDialect::openai && may_try_again() && learn_habit(fault, core_->habits)) {
    return attempt();
  }
  bool soon = fault.retry_after_ms.value_or(0) <= kMostRetryAfter.count();
  bool again = may_pass(fault) || (is_parser_fault(fault) && attempts_ == 1);
  if (again && soon && may_try_again()) return try_again(error, fault.retry_after_ms);
  core_->learn_context(error);
  if (error.reason == "model_failed" || fault.status >= 500) {
    note_failure();
  } else if (fault.status < 500) {
    core_->breaker.succeeded();
    core_->answers = error.reason != "model_key";
  }
  finish(fail(std::move(error)));
}

bool AnswerCall::may_try_again() const {
  return attempts_ < kModelAttempts && (stream_ == nullptr || !stream_->answer().begun());
}

// What was found out may be wrong when the backend is back.
void AnswerCall::note_failure() {
  core_->breaker.failed(core_->parts.clock.steady_ms());
  core_->probed = core_->answers = false;
}

void AnswerCall::try_again(const Error& why, std::optional<std::int64_t> after_ms) {
  milliseconds most = std::min(core_->waits.first_pause * (1 << (attempts_ - 1)), kMostModelPause);
  auto half = static_cast<std::uint64_t>(most.count() / 2);
  milliseconds wait(static_cast<std::int64_t>(half + core_->parts.random.below(half)));
  if (after_ms) wait = std::max(wait, milliseconds(*after_ms));
  call_.cancel();
  deadline_.disarm();
  end_wait_.disarm();
  pause_.arm(steady_clock::now() + wait);
  observer_->on_retry(why.message);
}

void AnswerCall::finish(Result<ModelAnswer> result) {
  auto self = shared_from_this();
  ModelObserver* listener = std::exchange(observer_, nullptr);
  release();
  if (listener != nullptr) listener->on_end(std::move(result));
}

}  // namespace shepherd
