#include "net/send_queue.h"

#include <algorithm>
#include <array>

namespace shepherd::net {

namespace {

constexpr std::size_t kPiecesPerSend = 64;

// Sends until everything is in the kernel or it accepts no more. Sending until EAGAIN arms the "writable" edge.
SendQueue::Outcome send_spans(Socket& socket, std::span<const ByteSpan> spans) {
  std::array<iovec, kPiecesPerSend> pieces;
  std::size_t sent = 0;
  std::size_t first = 0;
  std::size_t offset = 0;  // into spans[first]
  for (;;) {
    std::size_t count = 0;
    for (std::size_t i = first; i < spans.size() && count < pieces.size(); ++i) {
      std::string_view bytes = spans[i].bytes;
      if (i == first) bytes.remove_prefix(offset);
      if (bytes.empty()) continue;
      pieces[count++] = {const_cast<char*>(bytes.data()), bytes.size()};
    }
    if (count == 0) return {SendQueue::Status::sent, sent};
    auto outcome = socket.write({pieces.data(), count});
    if (outcome.status == Socket::Status::again) return {SendQueue::Status::kept, sent};
    if (outcome.status != Socket::Status::ok) return {SendQueue::Status::failed, sent};
    sent += outcome.bytes;
    offset += outcome.bytes;
    while (first < spans.size() && offset >= spans[first].bytes.size()) offset -= spans[first++].bytes.size();
  }
}

}  // namespace

void SendQueue::keep(std::span<const ByteSpan> spans, std::size_t skip_bytes) {
  if (!kept_) kept_ = std::make_unique<Kept>();
  for (const ByteSpan& span : spans) {
    std::size_t skip = std::min(skip_bytes, span.bytes.size());
    skip_bytes -= skip;
    if (skip < span.bytes.size()) kept_->spans.push_back({span.owner, span.bytes.substr(skip)});
  }
}

SendQueue::Outcome SendQueue::write(Socket& socket, std::span<const ByteSpan> spans) {
  if (kept_) {
    keep(spans, 0);
    return {Status::kept, 0};
  }
  Outcome outcome = send_spans(socket, spans);
  if (outcome.status == Status::kept) keep(spans, outcome.bytes);
  return outcome;
}

SendQueue::Outcome SendQueue::write_copy(Socket& socket, std::string_view bytes) {
  const std::array<ByteSpan, 1> span{ByteSpan{nullptr, bytes}};
  Outcome outcome = kept_ ? Outcome{Status::kept, 0} : send_spans(socket, span);
  if (outcome.status == Status::kept) {
    const std::array<ByteSpan, 1> rest{own_bytes(std::string(bytes.substr(outcome.bytes)))};
    keep(rest, 0);
  }
  return outcome;
}

SendQueue::Outcome SendQueue::flush(Socket& socket) {
  if (!kept_) return {Status::sent, 0};
  auto waiting = std::span(kept_->spans).subspan(kept_->first);
  Outcome outcome = send_spans(socket, waiting);
  if (outcome.status != Status::kept) {
    kept_.reset();
    return outcome;
  }
  for (std::size_t left = outcome.bytes; left > 0;) {
    ByteSpan& span = kept_->spans[kept_->first];
    std::size_t take = std::min(left, span.bytes.size());
    span.bytes.remove_prefix(take);
    left -= take;
    if (!span.bytes.empty()) break;
    span.owner.reset();  // releases sent bytes
    ++kept_->first;
  }
  return outcome;
}

}  // namespace shepherd::net
