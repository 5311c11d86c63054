#include "net/http_call.h"

#include <algorithm>
#include <array>
#include <set>
#include <utility>

#include "net/client_tls.h"
#include "net/connection_pool.h"
#include "net/dialing.h"
#include "net/limits.h"
#include "net/request_text.h"

namespace shepherd::net {

// What the calls of an HttpCaller share.
struct HttpCaller::Impl {
  Impl(EventLoop& io, CallerOptions given)
      : loop(io), options(std::move(given)), timers(io, [this] { end_all(); }), pool(timers) {}

  Result<SSL_CTX*> tls_context() {
    if (!context) {
      auto made = make_client_context(options.tls);
      if (!made) return fail(std::move(made.error()));
      context = *std::move(made);
    }
    return context.get();
  }
  void end_all();

  EventLoop& loop;
  const CallerOptions options;
  SslContext context;
  Timers timers;
  ConnectionPool pool;
  std::set<HttpCall::Impl*> active;
};

struct HttpCall::Impl final : ClientSocket::User, std::enable_shared_from_this<HttpCall::Impl> {
  Impl(std::shared_ptr<HttpCaller::Impl> shared, CallRequest given, CallObserver& listener)
      : caller(std::move(shared)),
        request(std::move(given)),
        observer(&listener),
        reader(kind()),
        timer(caller->timers, [this] { on_time(); }) {}

  ResponseReader::Request kind() const {
    return request.method == "HEAD" ? ResponseReader::Request::head : ResponseReader::Request::usual;
  }
  std::size_t total() const { return head.size() + request.body.bytes.size(); }
  std::string peer() const { return host_header(request.url); }

  Result<void> prepare();
  void begin();
  void dial();
  void attach(ClientSocket::Owner connected);
  void on_ready(std::uint32_t epoll_events) override;
  void flush();
  void read();
  void read_later();
  void feed(std::string_view input);
  void take_end(bool orderly);
  void complete(bool clean);
  void lost(Error error);
  void finish(Result<void> result);
  void stop();
  void enter(CallPhase next, std::chrono::milliseconds limit);
  void on_time();

  std::shared_ptr<HttpCaller::Impl> caller;
  const CallRequest request;
  CallObserver* observer;  // null after the end
  std::optional<Proxy> proxy;
  bool forward = false;
  std::string key;  // of the pool
  std::string head;
  std::size_t sent = 0;  // of head and body
  std::unique_ptr<Dialing> dialing;
  ClientSocket::Owner socket;
  ResponseReader reader;
  std::string held;  // arrived while paused
  bool reused = false;
  bool write_failed = false;
  bool paused = false;
  Timer timer;
  CallPhase phase = CallPhase::resolve;
  std::chrono::milliseconds phase_limit{0};
  TimePoint phase_until = TimePoint::max();
  TimePoint whole_until = TimePoint::max();
};

void HttpCaller::Impl::end_all() {
  while (!active.empty()) {
    auto call = (*active.begin())->shared_from_this();
    call->finish(fail(ErrorCode::unavailable, "cancelled", "the request was given up, because the program ends"));
  }
  pool.clear();
}

Result<void> HttpCall::Impl::prepare() {
  auto found = caller->options.proxies.find(request.url);
  if (!found) return fail(std::move(found.error()));
  proxy = *std::move(found);
  forward = proxy && !request.url.secure && !caller->options.allowed;
  HeaderList with_credentials;
  if (forward && !proxy->authorization.empty()) {
    with_credentials = request.headers;
    with_credentials.emplace_back("Proxy-Authorization", proxy->authorization);
  }
  const HeaderList& headers = with_credentials.empty() ? request.headers : with_credentials;
  auto text = request_head({request.method, request.url, headers, request.body.bytes.size(), forward});
  if (!text) return fail(std::move(text.error()));
  head = *std::move(text);
  if (request.url.secure) {
    if (auto context = caller->tls_context(); !context) return fail(std::move(context.error()));
  }
  key = (request.url.secure ? "tls " : "tcp ") + host_and_port(request.url);
  if (proxy) key += " " + host_and_port(proxy->url);
  return {};
}

void HttpCall::Impl::begin() {
  if (request.timeouts.whole.count() > 0) {
    whole_until = std::chrono::steady_clock::now() + request.timeouts.whole;
    timer.arm_by(whole_until);
  }
  if (auto kept = caller->pool.take(key)) {
    reused = true;
    return attach(std::move(kept));
  }
  dial();
}

void HttpCall::Impl::dial() {
  phase_until = TimePoint::max();  // the dialing has its own time limits
  DialOptions options{request.timeouts, caller->options.tls, caller->context.get(), caller->options.allowed, proxy,
                      forward};
  dialing = std::make_unique<Dialing>(caller->loop, caller->timers, request.url, std::move(options),
                                      [this](Result<ClientSocket::Owner> dialed) {
                                        auto self = shared_from_this();
                                        dialing.reset();
                                        if (!dialed) return finish(fail(std::move(dialed.error())));
                                        attach(*std::move(dialed));
                                      });
  dialing->start();
}

void HttpCall::Impl::attach(ClientSocket::Owner connected) {
  socket = std::move(connected);
  socket->use(this);
  enter(CallPhase::send, request.timeouts.send);
  flush();
  // The observer is not called here; a failure of the connection is found by reading.
  if (write_failed) read_later();
}

void HttpCall::Impl::enter(CallPhase next, std::chrono::milliseconds limit) {
  phase = next;
  phase_limit = limit;
  phase_until = limit.count() == 0 ? TimePoint::max() : std::chrono::steady_clock::now() + limit;
  timer.arm_by(std::min(phase_until, whole_until));
}

// The timer may have been armed for a limit that has moved on since.
void HttpCall::Impl::on_time() {
  TimePoint now = std::chrono::steady_clock::now();
  TimePoint until = std::min(phase_until, whole_until);
  if (now < until) return timer.arm(until);
  finish(fail(timed_out(dialing ? dialing->phase() : phase, dialing ? dialing->peer() : peer(),
                        whole_until <= phase_until ? request.timeouts.whole : phase_limit)));
}

void HttpCall::Impl::on_ready(std::uint32_t /*epoll_events*/) {
  auto self = shared_from_this();
  flush();
  if (socket) read();
}

void HttpCall::Impl::flush() {
  while (sent < total() && !write_failed) {
    std::array<iovec, 2> pieces;
    std::size_t count = 0;
    if (sent < head.size()) pieces[count++] = {head.data() + sent, head.size() - sent};
    std::string_view body = request.body.bytes.substr(sent < head.size() ? 0 : sent - head.size());
    if (!body.empty()) pieces[count++] = {const_cast<char*>(body.data()), body.size()};
    auto outcome = socket->io().write({pieces.data(), count});
    if (outcome.status == Socket::Status::again) return;
    if (outcome.status != Socket::Status::ok) {
      write_failed = true;  // a server that refuses early closes while we write; its answer may still be readable
      return;
    }
    sent += outcome.bytes;
    bool all = sent == total();
    enter(all ? CallPhase::first_byte : CallPhase::send, all ? request.timeouts.first_byte : request.timeouts.send);
  }
}

void HttpCall::Impl::read_later() {
  caller->loop.post([self = shared_from_this()] {
    if (self->socket) self->read();
  });
}

void HttpCall::Impl::read() {
  for (int reads = 0; reads < kReadsPerTurn; ++reads) {
    if (paused) return;
    auto buffer = caller->loop.read_buffer();
    auto outcome = socket->io().read(buffer);
    if (outcome.status == Socket::Status::again) {
      if (write_failed) take_end(false);
      return;
    }
    if (outcome.status != Socket::Status::ok) return take_end(outcome.status == Socket::Status::end);
    feed({buffer.data(), outcome.bytes});
    if (!socket || (outcome.drained && !socket->peer_ended() && !write_failed)) return;
  }
  read_later();
}

void HttpCall::Impl::feed(std::string_view input) {
  for (;;) {
    if (paused) {
      held.assign(input);
      return;
    }
    switch (reader.read(input)) {
      case ResponseReader::Event::need_more:
        enter(CallPhase::idle, request.timeouts.idle);
        return;
      case ResponseReader::Event::head:
        observer->on_head(std::move(reader.head()));
        break;
      case ResponseReader::Event::body:
        observer->on_body(reader.piece());
        break;
      case ResponseReader::Event::end:
        return complete(input.empty());
      case ResponseReader::Event::refused:
        return finish(fail(ErrorCode::internal, "bad_response",
                           "the answer of " + peer() + " is not a valid HTTP response: " + reader.refusal()));
    }
    if (observer == nullptr) return;  // cancelled by it
  }
}

// Over TLS an end without the peer's farewell may come from the network, so it does not end a body without a length.
void HttpCall::Impl::take_end(bool orderly) {
  if (orderly && reader.read_end() == ResponseReader::Event::end) return complete(false);
  if (!reader.started()) return lost(unreachable(peer(), "the connection ended before the answer"));
  finish(fail(ErrorCode::internal, "bad_response",
              "the answer of " + peer() + " is not whole: the connection ended in the middle of it"));
}

void HttpCall::Impl::complete(bool clean) {
  bool again = clean && reader.keep_alive() && sent == total() && !socket->peer_ended();
  ClientSocket::Owner done = std::move(socket);
  if (again) caller->pool.keep(key, std::move(done));
  finish({});
}

// A kept connection that the peer closed just as we wrote.
void HttpCall::Impl::lost(Error error) {
  if (!reused || !(sent == 0 || is_repeatable(request.method))) return finish(fail(std::move(error)));
  reused = false;
  write_failed = false;
  sent = 0;
  socket.reset();
  dial();
}

void HttpCall::Impl::finish(Result<void> result) {
  auto self = shared_from_this();
  CallObserver* listener = observer;
  stop();
  if (listener != nullptr) listener->on_end(std::move(result));
}

void HttpCall::Impl::stop() {
  observer = nullptr;
  timer.disarm();
  dialing.reset();
  socket.reset();
  held = std::string();
  caller->active.erase(this);
}

HttpCall& HttpCall::operator=(HttpCall&& other) noexcept {
  if (this != &other) {
    cancel();
    impl_ = std::move(other.impl_);
  }
  return *this;
}

void HttpCall::cancel() {
  if (impl_) impl_->stop();
  impl_ = nullptr;
}

void HttpCall::pause() {
  if (!impl_ || impl_->observer == nullptr) return;
  impl_->paused = true;
  if (impl_->phase == CallPhase::idle) impl_->enter(CallPhase::idle, std::chrono::milliseconds(0));
}

void HttpCall::resume() {
  if (!impl_ || impl_->observer == nullptr || !std::exchange(impl_->paused, false)) return;
  impl_->caller->loop.post([self = impl_] {
    if (!self->socket || self->paused) return;
    std::string input = std::exchange(self->held, {});
    if (self->reader.started()) self->feed(input);
    if (self->socket) self->read();
  });
}

HttpCaller::HttpCaller(EventLoop& loop, CallerOptions options)
    : impl_(std::make_shared<Impl>(loop, std::move(options))) {}

HttpCaller::~HttpCaller() {
  impl_->end_all();
  impl_->timers.leave();
}

HttpCall HttpCaller::start(CallRequest request, CallObserver& observer) {
  auto call = std::make_shared<HttpCall::Impl>(impl_, std::move(request), observer);
  impl_->active.insert(call.get());
  impl_->timers.enlist();
  if (auto prepared = call->prepare(); prepared) {
    call->begin();
  } else {
    impl_->loop.post([call, error = std::move(prepared.error())]() mutable {
      if (call->observer != nullptr) call->finish(fail(std::move(error)));
    });
  }
  return HttpCall(std::move(call));
}

}  // namespace shepherd::net
