// The server: wires every part together. Only this file depends on the chosen store and index.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "config/config.h"

namespace shepherd {

// The owner of a server: a `shepherd serve`, or a run that needs one while it lasts.
enum class ServerKind : std::uint8_t { serve, run };

// start() takes the data directory's lock (a `serve` waits for a hosting run to hand it over), opens the store, binds
// both addresses and announces itself in server.json; an error says what to do. The destructor stops accepting
// connections, tells streams to reconnect later (1001), commits the queue and closes the store. Threads: any; tick()
// from one.
class Server {
 public:
  static Result<std::unique_ptr<Server>> start(const Config& config, ServerKind kind = ServerKind::serve);
  ~Server();
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // URLs for clients on this machine.
  std::string public_url() const;
  std::string internal_url() const;
  std::string grpc_address() const;  // empty if gRPC is not served
  std::string admin_token_file() const;
  // The page's address for a browser, under the server's own name if it is on this machine.
  std::string page_url() const;
  // A link that signs a browser in as the admin, once; the plain address if no token is needed.
  std::string login_link() const;

  void tick();  // call about every kServerTick

 private:
  struct Impl;
  explicit Server(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace shepherd
