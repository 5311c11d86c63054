// The server: every part wired together. The only file that knows which store and index are used.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/config.h"

namespace shepherd {

// Who a server belongs to: a `shepherd serve`, or a run that needs one while it lasts.
enum class ServerKind : std::uint8_t { serve, run };

// start() takes the data directory's lock (a `serve` waits for a run that hosts to hand it over), opens the store,
// binds both addresses and announces itself in server.json; what fails says what to do. The destructor stops: no new
// connections, streams told to come back later (1001), what is queued committed, the store closed. Threads: any; tick()
// from one.
class Server {
 public:
  static Result<std::unique_ptr<Server>> start(const Config& config, ServerKind kind = ServerKind::serve);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // As a client on this machine uses them.
  std::string public_url() const;
  std::string internal_url() const;
  std::string grpc_address() const;  // empty: not served
  std::string admin_token_file() const;
  // Where a browser finds the page: under a name of its own when it is on this machine.
  std::string page_url() const;
  // Signs a browser in as the admin, once; the plain address when no token is needed.
  std::string login_link() const;

  void tick();  // about every kServerTick

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shepherd
