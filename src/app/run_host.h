// The server that a `shepherd run` uses: one that runs already, or one that it hosts itself.
//
// Every run holds a shared lock on a file in the data directory while it works. The run that hosts the server keeps it
// up until nobody else holds that lock: it is the last one to go. When a host is killed, the runs that are left notice
// it within kHostLook, and whoever gets the data directory first hosts from then on; outboxes and feeds look the
// address up again and lose nothing.
#pragma once

#include <memory>
#include <string>
#include <thread>

#include "app/config.h"
#include "app/context.h"
#include "app/server.h"
#include "base/mutex.h"

namespace shepherd {

// Threads: any.
class RunHost {
 public:
  // Errors are those of the named server when one was named (--url, SHEPHERD_URL), or of Server::start().
  static Result<std::unique_ptr<RunHost>> open(const Context& context, const ServerOptions& options,
                                               const Config& config);
  // Waits until no other run needs the server, when this one hosts it.
  ~RunHost();
  RunHost(const RunHost&) = delete;
  RunHost& operator=(const RunHost&) = delete;

  bool hosting() const EXCLUDES(mutex_);
  bool others_need_us() const EXCLUDES(mutex_);
  // Where people look: signs a browser in when this run hosts, else the server's address.
  std::string link() const EXCLUDES(mutex_);
  Result<Destination> locate() const;
  net::ClientTls tls() const { return options_.tls(); }

 private:
  RunHost(const Context& context, ServerOptions options, Config config);
  Result<void> find_or_host() EXCLUDES(mutex_);
  Result<void> host() EXCLUDES(mutex_);
  bool reachable() const;
  void keep() EXCLUDES(mutex_);  // the thread: ticks, and takes over when the host is gone

  const Environment environment_;
  const ServerOptions options_;
  const Config config_;
  bool named_ = false;  // somebody said which server: never host
  int users_ = -1;      // the lock that says that we use the server
  mutable Mutex mutex_;
  CondVar changed_;
  std::unique_ptr<Server> server_ GUARDED_BY(mutex_);
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace shepherd
