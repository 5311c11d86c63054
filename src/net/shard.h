// The part of one server on one io thread: its connections and their sweep.
#pragma once

#include <boost/intrusive/list.hpp>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "net/connection.h"
#include "net/event_loop.h"
#include "net/response_text.h"
#include "net/server_core.h"

namespace shepherd::net {

// Threads: strand (its loop's thread), except the constructor.
class Shard final : public EventLoop::Ticker {
 public:
  Shard(EventLoop& loop, ServerCore& core) : loop_(loop), core_(core) {}

  EventLoop& loop() { return loop_; }
  ServerCore& core() { return core_; }

  void start();
  // Takes an accepted descriptor that core() has counted. With `refuse` it is one too many and gets a 503.
  void open(int fd, std::string peer, bool refuse);
  void drain();
  void end();  // cuts the rest; afterwards the loop no longer refers to this shard
  bool draining() const { return draining_; }

  std::string_view date() { return date_.at(core_.clock.wall_ms()); }
  // Counted here and added to the metrics by the sweep, because shared counters would bounce between the cores.
  void count_received(std::size_t bytes) { received_ += bytes; }
  void count_sent(std::size_t bytes) { sent_ += bytes; }

  void link(Connection& connection);
  void unlink(Connection& connection);

  std::chrono::milliseconds tick() override;
  void on_loop_stop() override { end(); }

 private:
  using List = boost::intrusive::list<Connection, boost::intrusive::constant_time_size<false>>;

  std::vector<std::shared_ptr<Connection>> snapshot();
  void publish_counts();

  EventLoop& loop_;
  ServerCore& core_;
  List connections_;
  std::size_t count_ = 0;
  std::size_t left_in_round_ = 0;
  std::chrono::steady_clock::time_point round_start_;
  DateText date_;
  std::size_t received_ = 0;
  std::size_t sent_ = 0;
  bool draining_ = false;
  bool ended_ = false;
};

}  // namespace shepherd::net
