// One answer of one backend: its attempts, its time-outs, its end.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "llm/answer_stream.h"
#include "llm/backend_core.h"
#include "llm/inquiry_call.h"
#include "llm/model.h"
#include "net/http_call.h"
#include "net/timers.h"

namespace shepherd {

// Before the first token it tries again: what may pass after jittered pauses that double, or as long as the backend
// asks; a refused key once, after reading it again; words that the backend itself could not parse once. Nothing is
// repeated after the first token.
// Threads: strand.
class AnswerCall final : private net::CallObserver, public std::enable_shared_from_this<AnswerCall> {
 public:
  AnswerCall(std::shared_ptr<BackendCore> core, ModelRequest request, ModelObserver& observer);

  void start();
  void cancel();  // closes the connection; the observer is not called any more

 private:
  void begin();
  void attempt();
  void find_model();
  void ask();
  void send(const std::string& key);
  void on_head(net::ResponseHead&& head) override;
  void on_body(std::string_view piece) override;
  void on_end(Result<void> result) override;
  void on_time();
  void pass_on();
  void take_failure(const BackendFault& fault);
  void conclude();
  void try_again(const Error& why, std::optional<std::int64_t> after_ms);
  bool may_try_again() const;
  void note_failure();
  void finish(Result<ModelAnswer> result);
  void release();

  const std::shared_ptr<BackendCore> core_;
  const ModelRequest request_;
  ModelObserver* observer_;  // null after the end
  std::unique_ptr<Probe> probe_;
  std::shared_ptr<InquiryCall> probing_;
  int attempts_ = 0;
  bool rekeyed_ = false;
  std::unique_ptr<AnswerStream> stream_;
  int status_ = 0;
  std::optional<std::int64_t> retry_after_ms_;
  std::string fault_body_;
  net::TimePoint first_until_, last_bytes_;
  net::HttpCall call_;
  net::Timer deadline_, pause_, end_wait_;
};

}  // namespace shepherd
