// Asks a backend the questions of an inquiry, one after the other.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "base/result.h"
#include "llm/backend_core.h"
#include "llm/inquiry.h"
#include "net/http_call.h"

namespace shepherd {

// Calls `done` once, never inside start(), after the last answer or with the reason why there is none:
// model_unreachable, and for the first question also model_key, model_busy and model_failed. Later questions may fail;
// the inquiry knows what that means. Threads: strand.
class InquiryCall final : private net::CallObserver, public std::enable_shared_from_this<InquiryCall> {
 public:
  using Done = std::move_only_function<void(Result<void>)>;

  InquiryCall(std::shared_ptr<BackendCore> core, Inquiry& inquiry, Done done)
      : core_(std::move(core)), inquiry_(inquiry), done_(std::move(done)) {}

  void start();
  void cancel();  // `done` is not called any more

 private:
  void ask();
  void send(const std::string& key);
  void on_head(net::ResponseHead&& head) override;
  void on_body(std::string_view piece) override;
  void on_end(Result<void> result) override;
  void finish(Result<void> result);

  const std::shared_ptr<BackendCore> core_;
  Inquiry& inquiry_;  // alive until cancel() or the end
  Done done_;
  bool active_ = true;
  bool first_ = true;
  bool rekeyed_ = false;
  Question question_;
  int status_ = 0;
  std::string body_;
  net::HttpCall call_;
};

// Finds out about a backend while a call goes on, unless that is under way. A failure changes nothing. Threads: strand.
void probe_beside(const std::shared_ptr<BackendCore>& core);

}  // namespace shepherd
