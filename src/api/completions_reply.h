// The answer to POST /v1/chat/completions: whole, or as a stream. A client that goes away cancels its call.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/call.h"
#include "api/completions_json.h"
#include "base/mutex.h"
#include "chat/completion.h"
#include "net/http.h"
#include "net/timers.h"

namespace shepherd {

// What both kinds share: the call until it is answered, and the look at the client meanwhile.
// Threads: strand (the chat's loop).
class CompletionReply : public CompletionObserver, public std::enable_shared_from_this<CompletionReply> {
 public:
  CompletionReply(Call call, CompletionShape shape);

  void begin(CompletionRequest request);
  void on_tool(std::string_view name) override;
  void on_end(Result<CompletionEnd> end) final;

 protected:
  virtual void answer(Result<CompletionEnd> end) = 0;  // the last call
  virtual void waited(std::int64_t /*ms*/) {}          // about every kPeerLook, since begin()

  bool unanswered() const { return call_.has_value(); }
  void refuse(const Error& error);  // answers the call
  void abandon();                   // ends the model's call and everything here
  Core& core() { return core_; }

  const CompletionShape shape_;
  std::optional<Call> call_;  // until it is answered

 private:
  void look();

  Core& core_;
  const std::function<bool()> client_gone_;
  std::unique_ptr<net::Timer> timer_;  // made and destroyed on the loop
  std::int64_t began_ms_ = 0;
  bool used_tools_ = false;
};

class WholeCompletion final : public CompletionReply {
 public:
  using CompletionReply::CompletionReply;
  void on_text(std::string_view) override {}
  void on_reasoning(std::string_view) override {}

 private:
  void answer(Result<CompletionEnd> end) override;
};

// Pieces cross from the chat's loop to the connection's io thread with one wake-up for all that came meanwhile. While
// the client does not read, they wait as plain text, so that memory is bounded by the model's answer, not by its
// frames. Threads: strand (the chat's loop) as an observer, strand (the connection's io thread) as a stream handler.
class StreamedCompletion final : public CompletionReply, public net::StreamHandler {
 public:
  StreamedCompletion(Call call, CompletionShape shape);

  void on_text(std::string_view piece) override { add(false, piece); }
  void on_reasoning(std::string_view piece) override { add(true, piece); }
  void on_tool(std::string_view name) override;

  void on_open(net::StreamConnection& connection) override EXCLUDES(mutex_);
  void on_drained() override EXCLUDES(mutex_);
  void on_tick(std::int64_t steady_ms) override;
  void on_message(std::string_view) override {}
  void on_shutdown() override;
  void on_close(net::CloseCause cause) override EXCLUDES(mutex_);

 private:
  struct Piece {
    bool reasoning;
    std::string text;
  };

  void answer(Result<CompletionEnd> end) override EXCLUDES(mutex_);
  void waited(std::int64_t ms) override;
  void add(bool reasoning, std::string_view piece) EXCLUDES(mutex_);
  void send_head();
  void wake() REQUIRES(mutex_);
  void flush() EXCLUDES(mutex_);
  std::shared_ptr<StreamedCompletion> self() {
    return std::static_pointer_cast<StreamedCompletion>(shared_from_this());
  }

  const CompletionChunks chunks_;
  AuditRecord trail_;
  const std::int64_t begun_ms_;  // steady

  Mutex mutex_;
  std::vector<Piece> pieces_ GUARDED_BY(mutex_);
  std::size_t unsent_ GUARDED_BY(mutex_) = 0;  // bytes of the pieces
  std::optional<Result<CompletionEnd>> end_ GUARDED_BY(mutex_);
  Executor* home_ GUARDED_BY(mutex_) = nullptr;
  bool woken_ GUARDED_BY(mutex_) = false;

  // Of the io thread.
  net::StreamConnection* connection_ = nullptr;
  bool begun_ = false;
  bool draining_ = false;
  bool finished_ = false;
  bool wrote_ = true;  // since the last tick
  std::int64_t quiet_since_ms_ = 0;
};

}  // namespace shepherd
