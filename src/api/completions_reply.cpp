#include "api/completions_reply.h"

#include <utility>

#include "api/limits.h"
#include "api/live_sse.h"
#include "api/status_map.h"

namespace shepherd {
namespace {

constexpr int kClientLeftStatus = 499;  // for metrics and audit; the client does not read it

}  // namespace

// --- both kinds ---

CompletionReply::CompletionReply(Call call, CompletionShape shape)
    : shape_(std::move(shape)), call_(std::move(call)), core_(call_->core()), client_gone_(call_->peer_watch()) {}

void CompletionReply::begin(CompletionRequest request) {
  if (core_.chat_timers == nullptr) {
    core_.chat_timers = std::make_unique<net::Timers>(*core_.parts.chat_loop, [] {});
  }
  began_ms_ = core_.parts.clock.steady_ms();
  timer_ = std::make_unique<net::Timer>(*core_.chat_timers, [this] { look(); });
  timer_->arm(std::chrono::steady_clock::now() + kPeerLook);
  core_.parts.completions->begin(std::move(request), shared_from_this());
}

void CompletionReply::look() {
  auto self = shared_from_this();
  if (client_gone_()) {
    if (unanswered()) {
      refuse({ErrorCode::unavailable, "client_gone", "The client closed its side before its answer came.", {}});
    }
    return abandon();
  }
  timer_->arm(std::chrono::steady_clock::now() + kPeerLook);
  waited(core_.parts.clock.steady_ms() - began_ms_);
}

void CompletionReply::abandon() {
  timer_.reset();
  core_.parts.completions->cancel(shape_.id);
}

void CompletionReply::on_tool(std::string_view) {
  used_tools_ = true;
}

void CompletionReply::on_end(Result<CompletionEnd> end) {
  timer_.reset();
  answer(std::move(end));
}

void CompletionReply::refuse(const Error& error) {
  int status = error.reason == "client_gone" ? kClientLeftStatus : completion_status(error);
  if (used_tools_) {
    // Common clients repeat a request that fails, and its tools would do their work twice.
    net::Response response = completion_problem(error, status);
    response.headers.emplace_back("X-Should-Retry", "false");
    call_->send(std::move(response));
  } else {
    call_->fail(error, status);
  }
  call_.reset();
}

// --- whole ---

void WholeCompletion::answer(Result<CompletionEnd> end) {
  if (!end) return refuse(end.error());
  call_->send_json(200, completion_json(shape_, *end));
  call_.reset();
}

// --- a stream: the side of the model ---

StreamedCompletion::StreamedCompletion(Call call, CompletionShape shape)
    : CompletionReply(std::move(call), std::move(shape)),
      chunks_(shape_),
      trail_(call_->audit_record()),
      begun_ms_(core().parts.clock.steady_ms()) {}

void StreamedCompletion::send_head() {
  if (!unanswered()) return;
  call_->stream(LiveSse::head(), self());
  call_.reset();
}

void StreamedCompletion::add(bool reasoning, std::string_view piece) {
  bool too_slow = false;
  {
    MutexLock lock(mutex_);
    unsent_ += piece.size();
    too_slow = unsent_ > kMaxUnsentCompletionBytes;
    if (!pieces_.empty() && pieces_.back().reasoning == reasoning) {
      pieces_.back().text += piece;
    } else {
      pieces_.push_back({reasoning, std::string(piece)});
    }
    wake();
  }
  send_head();
  if (!too_slow) return;
  auto kept = self();
  abandon();
  answer(fail(ErrorCode::unavailable, "client_too_slow", "The client read its answer too slowly."));
}

void StreamedCompletion::on_tool(std::string_view name) {
  CompletionReply::on_tool(name);
  send_head();
}

void StreamedCompletion::waited(std::int64_t ms) {
  if (ms >= kLateCompletion.count()) send_head();
}

void StreamedCompletion::answer(Result<CompletionEnd> end) {
  if (unanswered() && !end) return refuse(end.error());
  {
    MutexLock lock(mutex_);
    end_ = std::move(end);
    wake();
  }
  send_head();
}

void StreamedCompletion::wake() {
  if (home_ == nullptr || std::exchange(woken_, true)) return;
  home_->post([kept = self()] { kept->flush(); });
}

// --- a stream: the side of the client ---

void StreamedCompletion::on_open(net::StreamConnection& connection) {
  connection_ = &connection;
  {
    MutexLock lock(mutex_);
    home_ = &connection.executor();
  }
  flush();
}

void StreamedCompletion::flush() {
  std::vector<Piece> pieces;
  std::optional<Result<CompletionEnd>> end;
  {
    MutexLock lock(mutex_);
    woken_ = false;
    if (connection_ == nullptr || draining_ || finished_) return;
    pieces.swap(pieces_);
    unsent_ = 0;
    end.swap(end_);
  }
  std::string frames;
  if (!std::exchange(begun_, true)) chunks_.role(frames);
  for (const Piece& piece : pieces) {
    if (piece.reasoning) {
      chunks_.reasoning(frames, piece.text);
    } else {
      chunks_.text(frames, piece.text);
    }
  }
  if (end && *end) chunks_.end(frames, **end);
  if (end && !*end) chunks_.error(frames, end->error());
  if (frames.empty()) return;
  wrote_ = true;
  ByteSpan bytes = own_bytes(std::move(frames));
  draining_ = !connection_->write(std::span(&bytes, 1));
  if (!end) return;
  finished_ = true;
  connection_->finish(kCloseDone, "");
}

void StreamedCompletion::on_drained() {
  draining_ = false;
  flush();
}

void StreamedCompletion::on_tick(std::int64_t steady_ms) {
  if (std::exchange(wrote_, false)) quiet_since_ms_ = steady_ms;
  if (draining_ || finished_ || steady_ms - quiet_since_ms_ < kCompletionQuiet.count()) return;
  quiet_since_ms_ = steady_ms;
  ByteSpan comment{nullptr, kCompletionComment};
  draining_ = !connection_->write(std::span(&comment, 1));
}

void StreamedCompletion::on_shutdown() {
  flush();
  if (finished_) return;
  finished_ = true;
  connection_->finish(kCloseShutdown, "");
}

void StreamedCompletion::on_close(net::CloseCause) {
  connection_ = nullptr;
  bool whole = finished_;
  {
    MutexLock lock(mutex_);
    home_ = nullptr;
  }
  trail_.duration_ms = core().parts.clock.steady_ms() - begun_ms_;
  if (!whole) trail_.reason = "client_gone";
  core().parts.audit.record(std::move(trail_));
  if (whole) return;
  // The core must not go before that.
  core().parts.chat_loop->post([kept = self(), active = InFlight(core())] { kept->abandon(); });
}

}  // namespace shepherd
