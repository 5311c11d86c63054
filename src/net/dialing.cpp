#include "net/dialing.h"

#include <openssl/err.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "net/client_tls.h"
#include "net/limits.h"

namespace shepherd::net {

namespace {

// IPv6 and IPv4 in turn, beginning with the resolver's first choice, so that one broken family costs one stagger.
std::vector<Address> interleaved(const std::vector<Address>& addresses) {
  std::vector<Address> first, second, mixed;
  for (const Address& address : addresses) {
    (address.is_v6() == addresses.front().is_v6() ? first : second).push_back(address);
  }
  for (std::size_t i = 0; i < std::max(first.size(), second.size()); ++i) {
    if (i < first.size()) mixed.push_back(first[i]);
    if (i < second.size()) mixed.push_back(second[i]);
  }
  return mixed;
}

struct PhaseText {
  std::string_view name, doing;
};
PhaseText text_of(CallPhase phase) {
  switch (phase) {
    case CallPhase::resolve:
      return {"resolve", "looking up the address of"};
    case CallPhase::connect:
      return {"connect", "connecting to"};
    case CallPhase::proxy:
      return {"proxy", "waiting for the proxy's connection to"};
    case CallPhase::tls:
      return {"tls", "shaking hands (TLS) with"};
    case CallPhase::send:
      return {"send", "waiting to send more to"};
    case CallPhase::first_byte:
      return {"first_byte", "waiting for the answer of"};
    case CallPhase::idle:
      break;
  }
  return {"idle", "waiting for the rest of the answer of"};
}

}  // namespace

Error timed_out(CallPhase phase, const std::string& peer, std::chrono::milliseconds limit) {
  PhaseText text = text_of(phase);
  return Error{ErrorCode::unavailable,
               "timed_out",
               peer + " did not answer in time: after " + std::to_string(limit.count()) + " ms the program was still " +
                   std::string(text.doing) + " it",
               {}}
      .with("phase", std::string(text.name));
}

Error unreachable(const std::string& peer, const std::string& why) {
  return {ErrorCode::unavailable, "unreachable", "cannot reach " + peer + ": " + why, {}};
}

Dialing::Dialing(EventLoop& loop, Timers& timers, Url url, DialOptions options, Done done)
    : loop_(loop),
      url_(std::move(url)),
      options_(std::move(options)),
      done_(std::move(done)),
      deadline_(timers, [this] { on_time(); }),
      stagger_(timers, [this] { try_next(); }) {}

std::string Dialing::peer() const {
  std::string name = host_header(url_);
  if (options_.proxy) return name + " through the proxy " + host_and_port(options_.proxy->url);
  const std::string& address = address_.empty() && !attempts_.empty() ? attempts_.back().address : address_;
  return address.empty() || address == host_and_port(url_) ? name : name + " (" + address + ")";
}

void Dialing::begin(CallPhase phase, std::chrono::milliseconds limit) {
  phase_ = phase;
  limit_ = limit;
  deadline_.arm(limit.count() == 0 ? TimePoint::max() : std::chrono::steady_clock::now() + limit);
}

void Dialing::on_time() {
  finish(std::unexpected(timed_out(phase_, peer(), limit_)));
}

void Dialing::finish(Result<ClientSocket::Owner> result) {
  deadline_.disarm();
  stagger_.disarm();
  lookup_.reset();
  attempts_.clear();
  if (socket_) socket_->use(nullptr);
  Done done = std::exchange(done_, nullptr);
  if (done) done(std::move(result));  // may destroy this object
}

void Dialing::start() {
  begin(CallPhase::resolve, options_.timeouts.resolve);
  if (!options_.proxy) {
    resolve(url_, [this](auto found) { take_addresses(std::move(found)); });
  } else if (options_.allowed) {
    resolve(url_, [this](auto found) { take_target(std::move(found)); });
  } else {
    tunnel_to_ = host_and_port(url_);
    resolve(options_.proxy->url, [this](auto found) { take_addresses(std::move(found)); });
  }
}

void Dialing::start(std::vector<Address> known) {
  lookup_ = std::make_unique<Lookup>(loop_, std::move(known), [this](auto found) { take_addresses(std::move(found)); });
}

void Dialing::resolve(const Url& url, Lookup::Done found) {
  lookup_ = std::make_unique<Lookup>(loop_, url, std::move(found));
}

bool Dialing::check(const std::vector<Address>& addresses) {
  if (!options_.allowed) return true;
  if (std::ranges::all_of(addresses, [&](const Address& address) { return options_.allowed(address.host()); })) {
    return true;
  }
  finish(fail(ErrorCode::permission_denied, "refused_address",
              host_header(url_) + " stands for an address that must not be called"));
  return false;
}

// The target is looked up here, although the proxy will connect to it: the address that was checked is the one that the
// tunnel is asked for.
void Dialing::take_target(Result<std::vector<Address>> found) {
  if (!found) return finish(fail(std::move(found.error())));
  if (!check(*found)) return;
  tunnel_to_ = found->front().text();
  resolve(options_.proxy->url, [this](auto proxies) { take_addresses(std::move(proxies)); });
}

void Dialing::take_addresses(Result<std::vector<Address>> found) {
  if (!found) return finish(fail(std::move(found.error())));
  if (!options_.proxy && !check(*found)) return;
  addresses_ = interleaved(*found);
  begin(CallPhase::connect, options_.timeouts.connect);
  try_next();
}

void Dialing::try_next() {
  while (next_ < addresses_.size()) {
    const Address& address = addresses_[next_++];
    Attempt& attempt = attempts_.emplace_back(*this);
    attempt.address = address.text();
    attempt.socket = ClientSocket::connect(loop_, address, attempt);
    if (attempt.socket) {
      if (next_ < addresses_.size()) stagger_.arm(std::chrono::steady_clock::now() + kDialStagger);
      return;
    }
    last_error_ = std::strerror(errno);
    attempts_.pop_back();
  }
  if (attempts_.empty()) finish(std::unexpected(unreachable(peer(), last_error_)));
}

void Dialing::Attempt::on_ready(std::uint32_t epoll_events) {
  int error = socket->connect_error(epoll_events);
  if (error == EINPROGRESS) return;
  if (error == 0) return dialing.connected(*this);
  dialing.refused(*this, error);
}

void Dialing::refused(Attempt& attempt, int error) {
  last_error_ = std::strerror(error);
  attempts_.remove_if([&](const Attempt& each) { return &each == &attempt; });
  stagger_.disarm();
  try_next();
}

void Dialing::connected(Attempt& attempt) {
  address_ = attempt.address;
  socket_ = std::move(attempt.socket);
  socket_->use(this);
  stagger_.disarm();
  attempts_.clear();
  if (options_.proxy && !options_.forward) return open_tunnel();
  start_tls();
}

void Dialing::on_ready(std::uint32_t /*epoll_events*/) {
  if (tunnel_answer_) return continue_tunnel();
  continue_tls();
}

void Dialing::open_tunnel() {
  begin(CallPhase::proxy, options_.timeouts.connect);
  unsent_ = "CONNECT " + tunnel_to_ + " HTTP/1.1\r\nHost: " + tunnel_to_ + "\r\n";
  if (!options_.proxy->authorization.empty()) {
    unsent_ += "Proxy-Authorization: " + options_.proxy->authorization + "\r\n";
  }
  unsent_ += "\r\n";
  tunnel_answer_.emplace(ResponseReader::Request::connect);
  continue_tunnel();
}

void Dialing::continue_tunnel() {
  while (!unsent_.empty()) {
    iovec piece{unsent_.data(), unsent_.size()};
    auto outcome = socket_->io().write({&piece, 1});
    if (outcome.status != Socket::Status::ok) break;  // after a failure its answer may still be readable
    unsent_.erase(0, outcome.bytes);
  }
  for (;;) {
    // What follows the answer would belong to the tunnel, but there a server speaks only after us.
    std::array<char, 4'096> buffer;
    auto outcome = socket_->io().read(buffer);
    if (outcome.status == Socket::Status::again) return;
    if (outcome.status != Socket::Status::ok) {
      return finish(std::unexpected(unreachable(peer(), "the proxy closed the connection")));
    }
    std::string_view input(buffer.data(), outcome.bytes);
    auto event = tunnel_answer_->read(input);
    if (event == ResponseReader::Event::need_more) continue;
    if (event == ResponseReader::Event::refused) {
      return finish(fail(ErrorCode::unavailable, "proxy_refused",
                         "the answer of the proxy " + host_and_port(options_.proxy->url) +
                             " is not a proxy's: " + tunnel_answer_->refusal()));
    }
    int status = tunnel_answer_->head().status;
    if (status / 100 != 2 || !input.empty()) {
      return finish(fail(ErrorCode::unavailable, "proxy_refused",
                         "the proxy " + host_and_port(options_.proxy->url) + " refused a connection to " + tunnel_to_ +
                             " with status " + std::to_string(status) +
                             (status == 407 ? "; put user name and password into the proxy's URL" : "")));
    }
    tunnel_answer_.reset();
    return start_tls();
  }
}

void Dialing::start_tls() {
  if (!url_.secure) return finish(std::move(socket_));
  begin(CallPhase::tls, options_.timeouts.tls);
  SSL* session = make_client_session(*options_.context, socket_->io().fd(), url_.host, options_.tls.insecure);
  if (session == nullptr) return finish(fail(ErrorCode::internal, "tls", "OpenSSL gives no session"));
  socket_->io().start_tls(session);
  continue_tls();
}

void Dialing::continue_tls() {
  auto outcome = socket_->io().handshake();
  if (outcome.status == Socket::Status::again) return;
  if (outcome.status == Socket::Status::ok) return finish(std::move(socket_));
  std::string why = ERR_peek_last_error() != 0 ? take_ssl_error() : "the connection ended in the TLS handshake";
  long verified = SSL_get_verify_result(socket_->io().tls());
  if (!options_.tls.insecure && verified != X509_V_OK) {
    return finish(fail(
        ErrorCode::unavailable, "bad_certificate",
        "the certificate of " + host_header(url_) + " is not trusted: " + X509_verify_cert_error_string(verified)));
  }
  finish(std::unexpected(unreachable(peer(), why)));
}

}  // namespace shepherd::net
