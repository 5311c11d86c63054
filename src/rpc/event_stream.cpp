#include "rpc/event_stream.h"

#include <grpcpp/support/slice.h>

#include <utility>

#include "rpc/event_streams.h"
#include "rpc/status_map.h"

namespace shepherd {
namespace {

// A slice of bytes that the hub or a store page keeps alive.
grpc::Slice shared_slice(const ByteSpan& span) {
  auto owner = std::make_unique<std::shared_ptr<const void>>(span.owner);
  return {const_cast<char*>(span.bytes.data()), span.bytes.size(),
          [](void* kept) { delete static_cast<std::shared_ptr<const void>*>(kept); }, owner.release()};
}

std::string_view session_of(std::string_view message) {
  thread_local observability::v1::AgentEvent event;
  event.ParseFromArray(message.data(), static_cast<int>(message.size()));
  return event.session_id();
}

}  // namespace

void EventStream::Source::on_frames(FrameBatch&& batch) {
  if (stream != nullptr) stream->offer({shared_from_this(), std::move(batch.spans), batch.end});
}

void EventStream::Source::on_feed_error(const Error& error) {
  if (stream != nullptr) stream->end({grpc::StatusCode::UNAVAILABLE, error.message + "; call again"});
}

EventStream::EventStream(EventStreams& streams, grpc::CallbackServerContext& context, CallTrail trail)
    : streams_(streams), trail_(std::move(trail)), context_(&context) {}

void EventStream::refuse(const Error& error) {
  grpc::Status status;
  {
    MutexLock lock(mutex_);
    status = grpc_status(*context_, error);
    end_ = status;
  }
  Finish(status);
}

void EventStream::open(StreamPlan plan, Executor& executor) {
  plan_ = std::move(plan);
  std::vector<std::shared_ptr<Source>> sources;
  for (FeedOptions& options : plan_.feeds) {
    auto source = std::make_shared<Source>(*this);
    options.executor = &executor;
    source->feed = streams_.journal().open_feed(std::move(options), *source);
    sources.push_back(std::move(source));
  }
  {
    MutexLock lock(mutex_);
    executor_ = &executor;
    sources_ = sources;
    open_feeds_ = feeds_behind_ = sources.size();
    busy_ = false;
  }
  for (const auto& source : sources) source->next();
  go_on();  // the stream may have been cancelled meanwhile
}

void EventStream::go_on() {
  Step step;
  {
    MutexLock lock(mutex_);
    step = next_step();
  }
  take(step);
}

void EventStream::offer(Batch batch) {
  Step step;
  {
    MutexLock lock(mutex_);
    batches_.push_back(std::move(batch));
    step = next_step();
  }
  take(step);
}

EventStream::Step EventStream::next_step() {
  if (busy_) return {};
  Step step;
  if (end_ || !next_message()) {
    if (!end_) return {};
    step.finish = end_;
  } else {
    step.write = true;
    // The first write carries the headers, and gRPC would never report it done if it were held back.
    if (more_ && messages_ > 0) step.options.set_buffer_hint();
    ++messages_;
  }
  busy_ = true;
  return step;
}

void EventStream::take(const Step& step) {
  if (step.finish) return Finish(*step.finish);
  if (step.write) StartWrite(&message_, step.options);
}

bool EventStream::next_message() {
  while (!batches_.empty()) {
    if (!batches_.front().begun) begin(batches_.front());
    if (next_in_batch(batches_.front())) return true;
    batch_done();
  }
  return false;
}

void EventStream::begin(Batch& batch) {
  batch.begun = true;
  if (!batch.end) executor_->post([source = batch.source] { source->next(); });
}

bool EventStream::next_in_batch(Batch& batch) {
  while (place_.span < batch.spans.size()) {
    const ByteSpan& span = batch.spans[place_.span];
    auto frame = frame_at(span.bytes, place_.offset);
    if (!frame) {
      place_ = {place_.span + 1, 0, std::nullopt};
      continue;
    }
    place_.offset = frame->end;
    if (frame->kind == FrameKind::caught_up) caught_up(*batch.source);
    if (!wanted(frame->kind, span.bytes.substr(frame->begin, frame->end - frame->begin))) continue;
    if (!place_.slice) place_.slice = shared_slice(span);
    grpc::Slice message = place_.slice->sub(frame->begin, frame->end);
    grpc::ByteBuffer buffer(&message, 1);
    message_.Swap(&buffer);  // an assignment would copy
    // In a filtered stream it is unknown whether another message follows.
    more_ = plan_.sessions.empty() &&
            (place_.offset < span.bytes.size() || place_.span + 1 < batch.spans.size() || batches_.size() > 1);
    return true;
  }
  return false;
}

void EventStream::batch_done() {
  std::shared_ptr<Source> source = std::move(batches_.front().source);
  bool over = batches_.front().end;
  batches_.pop_front();
  place_ = {};
  if (!over) return;
  caught_up(*source);
  if (--open_feeds_ == 0 && plan_.ends && !end_) end_ = grpc::Status::OK;
}

void EventStream::caught_up(Source& source) {
  if (!std::exchange(source.behind, false)) return;
  if (--feeds_behind_ == 0 && plan_.until_caught_up && !end_) end_ = grpc::Status::OK;
}

bool EventStream::wanted(FrameKind kind, std::string_view message) const {
  return kind != FrameKind::event || plan_.sessions.empty() || plan_.sessions.contains(session_of(message));
}

void EventStream::OnWriteDone(bool ok) {
  Step step;
  {
    MutexLock lock(mutex_);
    busy_ = false;
    if (!ok && !end_) end_ = grpc::Status::CANCELLED;
    step = next_step();
  }
  take(step);
}

void EventStream::OnCancel() {
  end(grpc::Status::CANCELLED);
}

void EventStream::end(grpc::Status status) {
  {
    MutexLock lock(mutex_);
    if (!end_) end_ = std::move(status);
  }
  go_on();
}

void EventStream::cut() {
  MutexLock lock(mutex_);
  if (context_ != nullptr) context_->TryCancel();
}

Executor* EventStream::tick(std::int64_t steady_ms) {
  if (!streams_.callers().still_valid(*trail_.principal)) {
    end({grpc::StatusCode::UNAUTHENTICATED, "the token was revoked or has expired"});
    return nullptr;
  }
  MutexLock lock(mutex_);
  // A stream that is still opening is busy without a message.
  bool stuck = progress_.stuck(steady_ms, busy_ && messages_ > 0, messages_);
  if (stuck && context_ != nullptr) context_->TryCancel();
  return executor_;
}

void EventStream::append_sources(std::vector<std::shared_ptr<Source>>& sources) {
  MutexLock lock(mutex_);
  sources.insert(sources.end(), sources_.begin(), sources_.end());
}

void EventStream::OnDone() {
  Executor* executor = nullptr;
  {
    MutexLock lock(mutex_);
    context_ = nullptr;
    executor = executor_;
  }
  if (executor == nullptr) return leave();
  executor->post([this] { leave(); });
}

void EventStream::leave() {
  grpc::Status status;
  std::uint64_t messages = 0;
  std::vector<std::shared_ptr<Source>> sources;
  {
    MutexLock lock(mutex_);
    if (end_) status = *end_;
    messages = messages_;
    sources = std::move(sources_);
    sources_.clear();
  }
  for (const auto& source : sources) {
    source->stream = nullptr;
    source->feed.reset();
  }
  streams_.callers().record(trail_, status, messages);
  streams_.remove(*this);
  delete this;
}

}  // namespace shepherd
