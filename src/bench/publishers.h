// Many producers on one thread, each with one connection and one request in flight.
//
// With at most as many publishers as channels, each channel has one publisher, which serves its channels in turn. With
// more, publisher p writes to channel p mod channels, so a channel's streams are numbered p / channels.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/event_text.h"
#include "bench/histogram.h"
#include "bench/link.h"
#include "bench/poller.h"
#include "bench/publish_wire.h"

namespace shepherd::bench {

struct PublishPlan {
  Address at;
  std::size_t count = 0;
  std::size_t channels = 1;
  std::size_t batch = 1;  // events per request
  std::uint16_t run = 0;
  bool paced = false;  // uses publish_due(), not publish_next()
};

// Owns the connections. Descriptor i has the number kPublisherNumbers + i in the poller.
// Threads: caller.
class Publishers {
 public:
  static constexpr std::uint64_t kPublisherNumbers = std::uint64_t{1} << 32;

  Publishers(PublishPlan plan, const PublishWire& wire, const EventTexts& texts, Poller& poller);

  Result<void> connect();
  // unavailable if a connection ended or a request was refused; the load cannot be measured after that.
  Result<void> on_ready(std::uint64_t number);

  // At full speed: the next idle publisher, and the channel it would write to.
  bool any_idle() const { return !idle_.empty(); }
  std::size_t next_channel() const { return channel_of(idle_.front()); }
  Result<void> publish_next(std::uint64_t now_ns);
  // At a rate: request number `turn` was due at `due_ns`. If its publisher is busy, the request waits for it.
  Result<void> publish_due(std::uint64_t turn, std::uint64_t due_ns, std::uint64_t now_ns);

  bool all_answered() const { return busy_ == 0; }
  std::uint64_t sent_events() const { return sent_events_; }
  std::uint64_t answered_events() const { return answered_events_; }
  std::size_t streams() const { return streams_; }
  const std::vector<std::vector<std::uint32_t>>& sent() const { return sent_; }  // [channel][stream]

  void measure(bool on) { measuring_ = on; }
  const LatencyHistogram& answer_latency() const { return answer_latency_; }  // request to answer

 private:
  struct Due {
    std::size_t channel;
    std::uint64_t due_ns;
  };
  struct Peer {
    Link link;
    std::string out, in;
    std::size_t next_channel;
    std::uint64_t asked_ns = 0;
    std::deque<Due> due;
    bool busy = false;
    bool watching_write = true;
  };

  std::size_t channel_of(std::size_t publisher) const { return peers_[publisher].next_channel; }
  Result<void> ask(std::size_t publisher, std::size_t channel, std::uint64_t stamp_ns, std::uint64_t now_ns);
  Result<void> flush(std::size_t publisher);
  Result<void> answered(std::size_t publisher, std::uint64_t now_ns);

  const PublishPlan plan_;
  const PublishWire& wire_;
  const EventTexts& texts_;
  Poller& poller_;
  std::size_t streams_;
  std::vector<Peer> peers_;
  std::deque<std::size_t> idle_;
  std::vector<std::vector<std::uint32_t>> sent_;
  std::string body_;
  std::vector<char> buffer_;
  std::size_t busy_ = 0;
  std::uint64_t sent_events_ = 0;
  std::uint64_t answered_events_ = 0;
  bool measuring_ = false;
  LatencyHistogram answer_latency_;
};

}  // namespace shepherd::bench
