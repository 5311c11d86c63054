// Simulates open dashboards: WebSockets over all logs that count the task rows they receive.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <thread>
#include <vector>

#include "base/result.h"
#include "bench/link.h"

namespace shepherd::bench {

// Owns the connections and the thread that reads them.
// Threads: caller.
class PageWatchers {
 public:
  // Waits until every connection is answered. unavailable/refused.
  Result<void> start(const Address& at, const std::string& headers, std::size_t pages);
  ~PageWatchers() { stop(); }
  void stop();

  std::uint64_t updates() const { return updates_; }  // of all pages
  std::uint64_t bytes() const { return bytes_; }      // received by all pages
  std::uint64_t lost() const { return lost_; }        // connections that ended

 private:
  struct Page {
    Link link;
    std::string unread;
    bool open = true;
  };
  void read();
  bool take(Page& page);

  std::vector<Page> pages_;
  std::atomic<std::uint64_t> updates_{0}, bytes_{0}, lost_{0};
  std::atomic<bool> stopping_{false};
  std::thread thread_;
};

}  // namespace shepherd::bench
