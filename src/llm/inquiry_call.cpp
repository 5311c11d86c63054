#include "llm/inquiry_call.h"

#include <fmt/format.h>

#include <utility>

#include "llm/backend_fault.h"
#include "llm/limits.h"

namespace shepherd {

void InquiryCall::start() {
  core_->parts.loop.post([self = shared_from_this()] { self->ask(); });
}

void InquiryCall::cancel() {
  active_ = false;
  done_ = nullptr;
  call_.cancel();
}

void InquiryCall::ask() {
  if (!active_) return;
  auto question = inquiry_.next();
  if (!question) return finish({});
  question_ = *std::move(question);
  core_->key.get([weak = weak_from_this()](Result<std::string> key) {
    auto self = weak.lock();
    if (!self || !self->active_) return;
    if (!key) return self->finish(fail(std::move(key.error())));
    self->send(*key);
  });
}

void InquiryCall::send(const std::string& key) {
  status_ = 0;
  body_.clear();
  net::CallRequest request = core_->request(question_, key);
  request.timeouts.first_byte = request.timeouts.idle = kQuestionWait;
  request.timeouts.whole = kQuestionWait;
  call_ = core_->caller.start(std::move(request), *this);
}

void InquiryCall::on_head(net::ResponseHead&& head) {
  status_ = head.status;
}

void InquiryCall::on_body(std::string_view piece) {
  body_.append(piece);
  if (body_.size() <= kMaxReplyBytes) return;
  auto self = shared_from_this();
  call_.cancel();
  on_end(fail(ErrorCode::internal, "bad_response", fmt::format("its reply is longer than {} bytes", kMaxReplyBytes)));
}

void InquiryCall::on_end(Result<void> result) {
  auto self = shared_from_this();
  if (!result) return finish(fail(core_->unreachable(result.error())));
  bool refused = status_ == 401 || status_ == 403;
  if (refused && core_->key.configured() && !std::exchange(rekeyed_, true)) {
    core_->key.forget();
    return ask();
  }
  bool useless = refused || status_ == 429 || (status_ >= 500 && status_ != 501);
  if (std::exchange(first_, false) && useless) {
    return finish(fail(core_->hide(error_of(read_fault(status_, body_), core_->config.name))));
  }
  inquiry_.take(status_, body_);
  ask();
}

void InquiryCall::finish(Result<void> result) {
  if (!std::exchange(active_, false)) return;
  Done done = std::exchange(done_, nullptr);
  call_.cancel();
  done(std::move(result));
}

void probe_beside(const std::shared_ptr<BackendCore>& core) {
  if (core->probing) return;
  core->probe = core->dialect.probe(core->config);
  core->probing = std::make_shared<InquiryCall>(core, *core->probe, [weak = std::weak_ptr(core)](Result<void> asked) {
    auto alive = weak.lock();
    if (!alive) return;
    auto probing = std::move(alive->probing);
    if (asked) alive->learn(*alive->probe);
  });
  core->probing->start();
}

}  // namespace shepherd
