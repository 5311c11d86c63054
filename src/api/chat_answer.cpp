#include "api/chat_answer.h"

#include <utility>

#include "api/limits.h"
#include "api/problem.h"
#include "api/status_map.h"
#include "chat/limits.h"
#include "json/write.h"

namespace shepherd {
namespace {

std::string answer_json(const TurnEnd& end) {
  return object_text([&](JsonObject& object) {
    object.flag("success", end.response.has_value());
    if (end.response) {
      object.text("response", *end.response);
    } else {
      object.text("error", end.response.error().message);
      object.text("code", end.response.error().reason);
    }
  });
}

// A turn that fails is 500, whatever the model's own failure was. What the server could not begin or finish because it
// stops is 503: the same prompt succeeds after its start.
int status_of(const TurnEnd& end) {
  if (end.response) return 200;
  const Error& error = end.response.error();
  return error.reason == "shutting_down" ? http_status(error.code) : 500;
}

}  // namespace

net::Timers& ChatAnswer::timers() {
  Core& core = call_->core();
  if (core.chat_timers == nullptr) core.chat_timers = std::make_unique<net::Timers>(*core.parts.chat_loop, [] {});
  return *core.chat_timers;
}

void ChatAnswer::wait() {
  self_ = shared_from_this();
  timer_ = std::make_unique<net::Timer>(timers(), [this] { send_head(); });
  timer_->arm(std::chrono::steady_clock::now() + kLateAnswer);
}

void ChatAnswer::send_head() {
  late_ = std::make_shared<LateJson>();
  net::Response head;
  head.content_type = "application/json";
  head.headers.emplace_back("Transfer-Encoding", "chunked");
  head.headers.emplace_back("X-Accel-Buffering", "no");
  call_->stream(std::move(head), late_);
  call_.reset();
  self_.reset();
}

void ChatAnswer::turn_ended(TurnEnd end) {
  if (late_ != nullptr) return late_->finish(answer_json(end));
  self_ = shared_from_this();
  auto kept = std::make_shared<TurnEnd>(std::move(end));
  timer_ = std::make_unique<net::Timer>(timers(), [this, kept] { send(std::move(*kept)); });
  timer_->arm(std::chrono::steady_clock::now() + kAnswerAfterEvents);
}

void ChatAnswer::send(TurnEnd end) {
  auto self = std::move(self_);
  call_->send_json(status_of(end), answer_json(end));
  call_.reset();
}

void ChatAnswer::refuse(const Error& error) {
  call_->send(chat_problem(error, http_status(error.code)));
  call_.reset();
}

}  // namespace shepherd
