// The server of a `shepherd run`: one that already runs, or one that the run hosts itself.
//
// Every run holds a shared lock on a file in the data directory while it works. The hosting run keeps the server up
// until no other run holds that lock, so it ends last. If a host is killed, the remaining runs notice it within
// kHostLook, and the first one to get the data directory hosts from then on; outboxes and feeds look the address up
// again and lose nothing.
//
// People, links and runners depend on the address of a `shepherd serve`, so no run ever hosts in its place. A run whose
// server was a `serve` waits for it and spools its agent's events meanwhile. A new run over the directory of a killed
// `serve` waits kHostWait and then says what to do. A `serve` that starts while a run hosts gets the directory: the
// host releases it, and the runs continue with the new server. Only a `serve` that shut down normally leaves the
// directory to new runs.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <thread>

#include "base/mutex.h"
#include "client/server_options.h"
#include "config/config.h"
#include "host/server.h"
#include "terminal/output.h"

namespace shepherd {

// Threads: any.
class RunHost {
 public:
  // Errors are those of the named server, if one was named (--url, SHEPHERD_URL), or of Server::start().
  // unavailable/server_away if the directory belongs to a `serve` that does not come back. `notices` shows a person
  // that it waits.
  static Result<std::unique_ptr<RunHost>> open(const Environment& environment, Output& notices,
                                               const ServerOptions& options, const Config& config);
  // If this run hosts the server, waits until no other run needs it.
  ~RunHost();
  RunHost(const RunHost&) = delete;
  RunHost& operator=(const RunHost&) = delete;

  bool hosting() const EXCLUDES(mutex_);
  bool others_need_us() const EXCLUDES(mutex_);
  // A link for people: it signs a browser in if this run hosts, and is otherwise the server's address.
  std::string link() const EXCLUDES(mutex_);
  Result<Destination> locate() const;
  bool reachable() const;  // the server answers now
  // The next message for a person at the terminal: the server is down, is back, or was handed over. Each is returned
  // once.
  std::optional<std::string> news() EXCLUDES(mutex_);
  net::ClientTls tls() const { return options_.tls(); }

 private:
  RunHost(Environment environment, ServerOptions options, Config config);
  Result<void> find_or_host(Output& notices) EXCLUDES(mutex_);
  Result<void> host() EXCLUDES(mutex_);
  void keep() EXCLUDES(mutex_);  // the thread: ticks, hands over, and takes over if the host is gone
  void hand_over() EXCLUDES(mutex_);
  void look() EXCLUDES(mutex_);
  void tell(std::string text) EXCLUDES(mutex_);

  const Environment environment_;
  const ServerOptions options_;
  const Config config_;
  bool named_ = false;     // the user named a server, so never host
  int users_ = -1;         // the lock that marks us as a user of the server
  bool served_ = false;    // our server is or was a `serve`; owned by the thread once it runs
  std::string served_at_;  // its address; owned by the thread, too
  bool away_ = false;      // it is gone, and that was reported; owned by the thread, too
  mutable Mutex mutex_;
  CondVar changed_;
  std::unique_ptr<Server> server_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::deque<std::string> news_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace shepherd
