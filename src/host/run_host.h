// The server that a `shepherd run` uses: one that runs already, or one that it hosts itself.
//
// Every run holds a shared lock on a file in the data directory while it works. The run that hosts the server keeps it
// up until no other run holds that lock: it is the last one to go. When a host is killed, the runs that are left notice
// it within kHostLook, and the run that gets the data directory first hosts from then on; outboxes and feeds look the
// address up again and lose nothing.
//
// A `shepherd serve` has people, links and runners at its address, so no run ever hosts in its place: one whose server
// was a `serve` waits for it, with what its agent does in the spool, and a new run over the directory of a `serve` that
// was killed waits kHostWait and then says what to do. A `serve` that starts while a run hosts gets the directory: the
// host lets it go, and the runs go on with the new server. Only a `serve` that ended in good order leaves the directory
// to new runs.
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
  // Errors are those of the named server when one was named (--url, SHEPHERD_URL), or of Server::start().
  // unavailable/server_away: the directory belongs to a `serve` that does not come back.
  // `notices` is where a person reads that it waits.
  static Result<std::unique_ptr<RunHost>> open(const Environment& environment, Output& notices,
                                               const ServerOptions& options, const Config& config);
  // Waits until no other run needs the server, when this one hosts it.
  ~RunHost();
  RunHost(const RunHost&) = delete;
  RunHost& operator=(const RunHost&) = delete;

  bool hosting() const EXCLUDES(mutex_);
  bool others_need_us() const EXCLUDES(mutex_);
  // Where people look: signs a browser in when this run hosts, else the server's address.
  std::string link() const EXCLUDES(mutex_);
  Result<Destination> locate() const;
  bool reachable() const;  // the server answers now
  // What a person at the terminal should know: the server is away, it is back, it was handed over. Once each.
  std::optional<std::string> news() EXCLUDES(mutex_);
  net::ClientTls tls() const { return options_.tls(); }

 private:
  RunHost(Environment environment, ServerOptions options, Config config);
  Result<void> find_or_host(Output& notices) EXCLUDES(mutex_);
  Result<void> host() EXCLUDES(mutex_);
  void keep() EXCLUDES(mutex_);  // the thread: ticks, hands over, and takes over when the host is gone
  void hand_over() EXCLUDES(mutex_);
  void look() EXCLUDES(mutex_);
  void tell(std::string text) EXCLUDES(mutex_);

  const Environment environment_;
  const ServerOptions options_;
  const Config config_;
  bool named_ = false;     // the user named a server: never host
  int users_ = -1;         // the lock that says that we use the server
  bool served_ = false;    // our server is or was a `serve`; the thread's, once it runs
  std::string served_at_;  // where; the thread's as well
  bool away_ = false;      // it is gone, and we have said so; the thread's as well
  mutable Mutex mutex_;
  CondVar changed_;
  std::unique_ptr<Server> server_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::deque<std::string> news_ GUARDED_BY(mutex_);
  std::thread thread_;
};

}  // namespace shepherd
