// From a URL to a connection that is ready for a request: name, addresses, proxy, TLS.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "net/call_options.h"
#include "net/client_socket.h"
#include "net/proxy.h"
#include "net/resolver.h"
#include "net/response_reader.h"
#include "net/timers.h"
#include "net/url.h"

namespace shepherd::net {

enum class CallPhase : std::uint8_t { resolve, connect, proxy, tls, send, first_byte, idle };

// unavailable/timed_out, whose message names phase and peer, with the phase in the field `phase`.
Error timed_out(CallPhase phase, const std::string& peer, std::chrono::milliseconds limit);
// unavailable/unreachable
Error unreachable(const std::string& peer, const std::string& why);

struct DialOptions {
  CallTimeouts timeouts;
  ClientTls tls;
  SSL_CTX* context = nullptr;  // for https and wss
  AddressRule allowed;
  std::optional<Proxy> proxy;
  bool forward = false;  // with a proxy: no tunnel, because the request itself names its origin
};

// Connects without blocking. Tries the addresses in turn, alternating between IPv6 and IPv4; a slow one does not delay
// the next for more than kDialStagger, and the first that answers wins. Through a proxy it asks for a tunnel; with an
// AddressRule the tunnel goes to the address that was checked, not to the name. Calls `done` once, never inside
// start(); destroying it closes everything at once. Errors: unavailable/unreachable, unavailable/timed_out,
// unavailable/bad_certificate, unavailable/proxy_refused, permission_denied/refused_address.
// Threads: strand.
class Dialing final : private ClientSocket::User {
 public:
  using Done = std::function<void(Result<ClientSocket::Owner>)>;

  Dialing(EventLoop& loop, Timers& timers, Url url, DialOptions options, Done done);
  ~Dialing() = default;
  Dialing(const Dialing&) = delete;
  Dialing& operator=(const Dialing&) = delete;

  void start();
  void start(std::vector<Address> known);  // the host's addresses, instead of looking it up
  CallPhase phase() const { return phase_; }
  std::string peer() const;  // for messages; with the address if one is being tried

 private:
  // One address of several that is being connected to.
  struct Attempt final : ClientSocket::User {
    explicit Attempt(Dialing& owner) : dialing(owner) {}
    void on_ready(std::uint32_t epoll_events) override;
    Dialing& dialing;
    std::string address;
    ClientSocket::Owner socket;
  };

  void resolve(const Url& url, Lookup::Done found);
  void take_target(Result<std::vector<Address>> found);
  void take_addresses(Result<std::vector<Address>> found);
  bool check(const std::vector<Address>& addresses);
  void try_next();
  void connected(Attempt& attempt);
  void refused(Attempt& attempt, int error);
  void on_ready(std::uint32_t epoll_events) override;  // the chosen socket: tunnel, TLS
  void open_tunnel();
  void continue_tunnel();
  void start_tls();
  void continue_tls();
  void begin(CallPhase phase, std::chrono::milliseconds limit);
  void on_time();
  void finish(Result<ClientSocket::Owner> result);

  EventLoop& loop_;
  const Url url_;
  const DialOptions options_;
  Done done_;
  Timer deadline_;
  Timer stagger_;
  CallPhase phase_ = CallPhase::resolve;
  std::chrono::milliseconds limit_{0};
  std::unique_ptr<Lookup> lookup_;
  std::string tunnel_to_;  // host and port for the proxy
  std::vector<Address> addresses_;
  std::size_t next_ = 0;
  std::list<Attempt> attempts_;
  std::string last_error_;
  std::string address_;  // of the chosen socket
  ClientSocket::Owner socket_;
  std::string unsent_;
  std::optional<ResponseReader> tunnel_answer_;
};

}  // namespace shepherd::net
