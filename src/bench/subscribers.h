// Many consumers of streams on one thread: they connect, request their channel's events over WebSocket or SSE, and
// check what arrives.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/histogram.h"
#include "bench/link.h"
#include "bench/marker.h"
#include "bench/order_checker.h"
#include "bench/poller.h"
#include "bench/stream_walk.h"

namespace shepherd::bench {

enum class Transport { websocket, sse };

struct SubscribePlan {
  Address at;
  Transport transport = Transport::websocket;
  std::size_t count = 0;
  std::vector<std::string> targets;  // one request target per channel; subscriber i reads channel i mod their number
  std::string headers = {};          // further request headers, each ends with a line break
  std::size_t streams = 1;           // publishers per channel
  std::uint32_t first_sequence = 0;  // of each stream, for a consumer that has seen the start
  std::uint16_t run = 0;             // markers of other runs are not counted
};

// What arrived during the measurement.
struct Receipts {
  std::uint64_t events = 0;
  std::uint64_t bytes = 0;
  std::uint64_t reads = 0;
  LatencyHistogram latency;  // from the marker's time to the read that received it
};

// Owns the connections. Its descriptors have the numbers 0 … count-1 in the poller.
// Threads: caller.
class Subscribers {
 public:
  Subscribers(SubscribePlan plan, Poller& poller);

  // Connects all of them and waits until each is accepted. unavailable/refused with the server's message.
  Result<void> connect(double seconds);
  void on_ready(std::uint64_t number, std::uint32_t events);

  std::uint64_t received() const { return received_; }    // all events of this run so far, including repeats
  std::uint64_t newest_ns() const { return newest_ns_; }  // when the newest arrived
  std::uint64_t lost() const { return lost_; }            // connections that ended
  std::uint64_t foreign() const { return foreign_; }      // events of other channels or runs
  std::size_t listening_to(std::size_t channel) const;

  void measure(bool on) { measuring_ = on; }
  Receipts& receipts() { return receipts_; }

  // sent[channel][stream] is the number of events sent.
  Defects finish(std::span<const std::vector<std::uint32_t>> sent) const;

 private:
  enum class State : std::uint8_t { asking, streaming, lost };
  struct Peer {
    Link link;
    std::uint32_t channel;
    OrderChecker checker;
    std::string out;    // unsent bytes: request, pongs
    std::string carry;  // the start of an incomplete message
    ChunkDecoder chunks;
    State state = State::asking;
    bool chunked = false;
    bool watching_write = true;
  };

  std::string request_of(std::size_t channel) const;
  Result<void> open_one();
  void flush(std::uint64_t number);
  void watch(std::uint64_t number);
  void read(std::uint64_t number);
  // Reads the answer's head from [data, data+size) and returns its size, or 0 if it is not complete.
  std::size_t take_head(std::uint64_t number, const char* data, std::size_t size);
  std::size_t walk(Peer& peer, std::string_view bytes, std::uint64_t now_ns);
  void take_event(Peer& peer, std::string_view message, std::uint64_t now_ns);
  void lose(std::uint64_t number, std::string why);

  const SubscribePlan plan_;
  Poller& poller_;
  std::vector<Peer> peers_;
  std::vector<char> buffer_;
  std::size_t streaming_ = 0;
  std::uint64_t received_ = 0;
  std::uint64_t newest_ns_ = 0;
  std::uint64_t lost_ = 0;
  std::uint64_t foreign_ = 0;
  std::string first_loss_;
  bool measuring_ = false;
  Receipts receipts_;
};

}  // namespace shepherd::bench
