#include "api/live_stream.h"

#include <array>
#include <utility>

#include "api/limits.h"
#include "api/status_map.h"
#include "base/assert.h"

namespace shepherd {
namespace {

std::string_view word(net::CloseCause cause) {
  constexpr std::array<std::string_view, 7> kWords{"peer",     "finished", "write_deadline", "no_pong",
                                                   "protocol", "shutdown", "error"};
  return kWords[static_cast<std::size_t>(cause)];
}

}  // namespace

LiveStream::LiveStream(Core& core, FeedOptions options, StreamTrail trail)
    : core_(core),
      options_(std::make_unique<FeedOptions>(std::move(options))),
      trail_(std::make_unique<StreamTrail>(std::move(trail))) {}

LiveStream::~LiveStream() {
  SHEPHERD_ASSERT(connection_ == nullptr, "a stream is closed before it is destroyed");
}

void LiveStream::on_open(net::StreamConnection& connection) {
  connection_ = &connection;
  executor_ = &connection.executor();
  core_.live.add(*this);
  follows(options_->task.empty() ? options_->tasks : std::set<std::string>{options_->task});
  // A revocation finds this stream only from now on, so check for one since the gate.
  access_revision_ = core_.parts.access.revision();
  if (!core_.parts.access.still_valid(principal())) return end(kCloseRevoked, "token revoked");
  on_start();
  if (ended_) return;
  std::unique_ptr<FeedOptions> options = std::move(options_);
  if (options->encoder != nullptr) open_feed(std::move(*options));
}

void LiveStream::open_feed(FeedOptions options) {
  SHEPHERD_ASSERT(feed_ == nullptr, "a stream has one feed");
  if (connection_ == nullptr || ended_) return;
  options.executor = executor_;
  feed_ = core_.parts.journal.open_feed(std::move(options), *this);
  pump();
}

void LiveStream::follows(const std::optional<std::set<std::string>>& tasks) {
  if (!trail_->takes_commands) return;
  if (!tasks) return listen_for_commands({""});
  listen_for_commands({tasks->begin(), tasks->end()});
}

void LiveStream::listen_for_commands(std::vector<std::string> tasks) {
  CommandTakers& takers = core_.parts.steering.command_takers();
  for (const std::string& task : tasks) takers.opened(task);
  for (const std::string& task : trail_->command_tasks) takers.closed(task);
  trail_->command_tasks = std::move(tasks);
}

void LiveStream::pump() {
  if (pumping_) return;  // the running loop below continues
  pumping_ = true;
  while (feed_ != nullptr && !waiting_ && !draining_ && !ended_) {
    waiting_ = true;
    feed_->next();
  }
  pumping_ = false;
}

void LiveStream::on_frames(FrameBatch&& batch) {
  waiting_ = false;
  if (connection_ == nullptr || ended_) return;
  write(batch.spans);
  if (batch.end) return end(kCloseDone, "task complete");
  pump();
}

void LiveStream::on_feed_error(const Error& error) {
  waiting_ = false;
  end(close_code(error.code), error.reason);
}

void LiveStream::write(std::span<const ByteSpan> spans) {
  std::size_t bytes = 0;
  for (const ByteSpan& span : spans) bytes += span.bytes.size();
  if (bytes == 0 || connection_ == nullptr || ended_) return;
  draining_ = !connection_->write(spans);
  on_written(bytes);
}

bool LiveStream::say(ByteSpan message) {
  if (connection_ == nullptr || ended_) return true;
  if (!draining_) {
    write(std::span(&message, 1));
    return true;
  }
  if (unsaid_ == nullptr) unsaid_ = std::make_unique<std::vector<ByteSpan>>();
  std::size_t waiting = message.bytes.size();
  for (const ByteSpan& span : *unsaid_) waiting += span.bytes.size();
  if (waiting > kMaxPendingReplies) return false;
  unsaid_->push_back(std::move(message));
  return true;
}

void LiveStream::on_drained() {
  draining_ = false;
  if (connection_ == nullptr || ended_) return;
  if (unsaid_ != nullptr) {
    auto unsaid = std::move(unsaid_);
    write(*unsaid);
  }
  pump();
  on_room();
}

void LiveStream::on_tick(std::int64_t steady_ms) {
  if (connection_ == nullptr || ended_) return;
  std::uint64_t revision = core_.parts.access.revision();
  if (revision != access_revision_) {  // also changes when a token expires
    access_revision_ = revision;
    if (!core_.parts.access.still_valid(principal())) return end(kCloseRevoked, "token revoked or expired");
  }
  if (feed_ != nullptr) feed_->tick(steady_ms);
  if (!ended_) on_second(steady_ms);
}

void LiveStream::on_shutdown() {
  end(kCloseShutdown, "server is shutting down");
}

void LiveStream::end(std::uint16_t code, std::string_view reason) {
  if (connection_ == nullptr || ended_) return;
  ended_ = true;
  connection_->finish(code, reason);
}

void LiveStream::on_close(net::CloseCause cause) {
  core_.live.remove(*this);
  listen_for_commands({});
  connection_ = nullptr;
  ended_ = true;
  on_stop();
  record(cause, feed_ == nullptr ? trail_->after : feed_->number());
  if (feed_ == nullptr) return;
  // Not destroyed here, because the feed may be the caller.
  executor_->post([self = shared_from_this(), feed = std::move(feed_)]() mutable { feed.reset(); });
}

void LiveStream::record(net::CloseCause cause, std::uint64_t last) {
  AuditRecord record;
  record.at_ms = trail_->begun_wall_ms;
  record.person = trail_->principal->person;
  record.token_id = trail_->principal->token_id;
  record.peer = trail_->peer;
  record.method = "GET";
  record.path = trail_->task.empty() ? "/api/v1/events" : "/api/v1/tasks/" + trail_->task + "/events";
  record.status = trail_->status;
  record.reason = word(cause);
  if (last > trail_->after) {
    record.first = static_cast<std::int64_t>(trail_->after + 1);
    record.last = static_cast<std::int64_t>(last);
  }
  record.duration_ms = core_.parts.clock.steady_ms() - trail_->begun_steady_ms;
  core_.parts.audit.record(std::move(record));
}

}  // namespace shepherd
