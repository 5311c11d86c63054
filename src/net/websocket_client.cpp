#include <array>
#include <atomic>
#include <boost/json.hpp>
#include <deque>
#include <utility>

#include "base/base64.h"
#include "base/limits.h"
#include "base/random.h"
#include "net/client.h"
#include "net/client_tls.h"
#include "net/dialing.h"
#include "net/limits.h"
#include "net/request_text.h"
#include "net/text.h"
#include "net/websocket_frame.h"
#include "net/websocket_handshake.h"

namespace shepherd::net {

namespace {

ErrorCode code_of(int status) {
  switch (status) {
    case 400:
      return ErrorCode::invalid_argument;
    case 401:
      return ErrorCode::unauthenticated;
    case 403:
      return ErrorCode::permission_denied;
    case 404:
      return ErrorCode::not_found;
    case 409:
      return ErrorCode::conflict;
    case 410:
      return ErrorCode::gone;
    case 413:
      return ErrorCode::too_large;
    case 415:
      return ErrorCode::unsupported_media_type;
    case 429:
      return ErrorCode::rate_limited;
    case 507:
      return ErrorCode::storage_full;
    default:
      return status >= 502 && status <= 504 ? ErrorCode::unavailable : ErrorCode::internal;
  }
}

Error refused(const Url& url, int status, std::string_view body) {
  std::string reason = "handshake_refused";
  std::string message = host_header(url) + " refused the WebSocket with status " + std::to_string(status);
  boost::system::error_code not_json;
  auto value = boost::json::parse(body, not_json);
  if (!not_json && value.is_object()) {
    auto text = [&](const char* name, std::string& into) {
      const auto* member = value.as_object().if_contains(name);
      if (member == nullptr || !member->is_string()) return false;
      into = std::string(member->as_string());
      return true;
    };
    text("code", reason);
    if (!text("detail", message) && !text("error", message)) text("title", message);
  }
  return Error{code_of(status), std::move(reason), std::move(message), {}}.with("status", std::int64_t{status});
}

std::string random_key() {
  SystemRandom random;
  std::string bytes;
  while (bytes.size() < 16) {
    for (std::uint64_t word = random.next(), i = 0; i < 8; ++i, word >>= 8U) bytes += static_cast<char>(word & 0xffU);
  }
  return encode_base64(bytes) + "==";
}

TimePoint after(std::chrono::milliseconds time) {
  return std::chrono::steady_clock::now() + time;
}

}  // namespace

struct WebSocketClient::Impl final : ClientSocket::User {
  explicit Impl(Url address) : url(std::move(address)) {}

  Result<void> open(const HeaderList& headers, const ClientTls& tls, std::chrono::milliseconds timeout);
  Result<void> prepare(const HeaderList& headers, const ClientTls& tls);
  template <class Fact>
  bool wait_for(Fact fact, TimePoint until);
  std::unexpected<Error> ended();
  void on_ready(std::uint32_t epoll_events) override;
  void flush();
  void pump();
  void take_answer(std::string_view input);
  void take_frames(std::string_view input);
  void take_message(const FrameReader::Message& message);
  void send_frame(Opcode opcode, std::string_view payload);
  void send_close(std::uint16_t code);
  void drop(std::uint16_t code, std::string reason);

  const Url url;
  EventLoop loop;
  Timers timers{loop, nullptr};
  SslContext context;
  std::string key;
  std::unique_ptr<Dialing> dialing;
  ClientSocket::Owner socket;
  std::optional<ResponseReader> answer;  // while the handshake is open
  int status = 0;
  std::string answer_body;  // of a refusal
  std::optional<Error> failure;
  FrameReader frames;
  SystemRandom random;
  std::string unsent;
  std::deque<std::string> messages;
  bool readable = false;         // the kernel may have bytes that were not read, because a message waits
  std::optional<Closed> ending;  // how the connection ended
  std::optional<Closed> closed;  // the same, once the messages before it have been read
  std::atomic<bool> woken = false;
};

template <class Fact>
bool WebSocketClient::Impl::wait_for(Fact fact, TimePoint until) {
  while (!fact()) {
    if (std::chrono::steady_clock::now() >= until) return false;
    loop.turn(until);
  }
  return true;
}

Result<void> WebSocketClient::Impl::prepare(const HeaderList& headers, const ClientTls& tls) {
  if (url.secure) {
    auto made = make_client_context(tls);
    if (!made) return fail(std::move(made.error()));
    context = *std::move(made);
  }
  key = random_key();
  HeaderList all{
      {"Upgrade", "websocket"}, {"Connection", "Upgrade"}, {"Sec-WebSocket-Key", key}, {"Sec-WebSocket-Version", "13"}};
  all.insert(all.end(), headers.begin(), headers.end());
  auto head = request_head({"GET", url, all});
  if (!head) return fail(std::move(head.error()));
  unsent = *std::move(head);
  answer.emplace(ResponseReader::Request::upgrade);
  return {};
}

Result<void> WebSocketClient::Impl::open(const HeaderList& headers, const ClientTls& tls,
                                         std::chrono::milliseconds timeout) {
  if (auto prepared = prepare(headers, tls); !prepared) return prepared;
  auto proxy = ProxyRules::of_process().find(url);
  if (!proxy) return fail(std::move(proxy.error()));
  DialOptions options{.timeouts = {}, .tls = tls, .context = context.get(), .allowed = {}, .proxy = *std::move(proxy)};
  TimePoint until = after(timeout);
  dialing = std::make_unique<Dialing>(loop, timers, url, std::move(options), [this](auto dialed) {
    dialing.reset();
    if (!dialed) {
      failure = std::move(dialed.error());
      return;
    }
    socket = *std::move(dialed);
    socket->use(this);
    flush();
  });
  dialing->start();
  if (!wait_for([&] { return failure || !answer; }, until)) {
    return fail(timed_out(dialing ? dialing->phase() : CallPhase::first_byte,
                          dialing ? dialing->peer() : host_header(url), timeout));
  }
  if (failure) return fail(*std::move(failure));
  return {};
}

void WebSocketClient::Impl::on_ready(std::uint32_t /*epoll_events*/) {
  readable = true;
  flush();
  pump();
}

void WebSocketClient::Impl::flush() {
  while (socket && !unsent.empty()) {
    iovec piece{unsent.data(), unsent.size()};
    auto outcome = socket->io().write({&piece, 1});
    if (outcome.status != Socket::Status::ok) return;  // a broken connection is found by reading
    unsent.erase(0, outcome.bytes);
  }
}

// Reads only while no message waits, so that a slow caller slows the server down.
void WebSocketClient::Impl::pump() {
  while (socket && readable && messages.empty()) {
    auto buffer = loop.read_buffer();
    auto outcome = socket->io().read(buffer);
    if (outcome.status == Socket::Status::again) {
      readable = false;
    } else if (outcome.status == Socket::Status::ok) {
      std::string_view input(buffer.data(), outcome.bytes);
      answer ? take_answer(input) : take_frames(input);
    } else if (answer && status != 0 && answer->read_end() == ResponseReader::Event::end) {
      take_answer({});
    } else {
      drop(1006, {});
    }
  }
}

void WebSocketClient::Impl::take_answer(std::string_view input) {
  for (;;) {
    switch (answer->read(input)) {
      case ResponseReader::Event::need_more:
        return;
      case ResponseReader::Event::head:
        status = answer->head().status;
        if (status != 101) break;
        if (!equals_ignoring_case(answer->head().header("upgrade"), "websocket") ||
            answer->head().header("sec-websocket-accept") != websocket_accept(key)) {
          failure = unreachable(host_header(url), "its answer to the WebSocket handshake is not valid");
          return;
        }
        answer.reset();
        return take_frames(input);
      case ResponseReader::Event::body:
        answer_body.append(answer->piece());
        if (answer_body.size() <= kMaxWebSocketMessageBytes) break;
        [[fallthrough]];
      case ResponseReader::Event::end:
        failure = refused(url, status, answer_body);
        return;
      case ResponseReader::Event::refused:
        failure = unreachable(host_header(url), "its answer is not a valid HTTP response: " + answer->refusal());
        return;
    }
  }
}

void WebSocketClient::Impl::take_frames(std::string_view input) {
  if (input.empty()) return;
  std::uint16_t violation = frames.feed(
      input, kMaxBodyBytes, [this](const FrameReader::Message& message) { take_message(message); },
      FrameSender::server);
  if (violation == 0) return;
  send_close(violation);
  drop(1006, "the server broke the protocol");
}

void WebSocketClient::Impl::take_message(const FrameReader::Message& message) {
  switch (message.opcode) {
    case Opcode::ping:
      return send_frame(Opcode::pong, message.payload);
    case Opcode::close: {
      std::uint16_t code = 1005;  // none was given
      std::string_view payload = message.payload;
      if (payload.size() >= 2) {
        code = static_cast<std::uint16_t>(static_cast<unsigned char>(payload[0]) << 8 |
                                          static_cast<unsigned char>(payload[1]));
      }
      send_frame(Opcode::close, payload.substr(0, 2));
      return drop(code, std::string(payload.size() > 2 ? payload.substr(2) : std::string_view{}));
    }
    case Opcode::pong:
      return;
    default:
      messages.emplace_back(message.payload);
  }
}

void WebSocketClient::Impl::send_frame(Opcode opcode, std::string_view payload) {
  append_masked_frame(unsent, opcode, payload, static_cast<std::uint32_t>(random.next()));
  flush();
}

void WebSocketClient::Impl::send_close(std::uint16_t code) {
  const std::array<char, 2> payload{static_cast<char>(code >> 8), static_cast<char>(code & 0xff)};
  send_frame(Opcode::close, {payload.data(), payload.size()});
}

void WebSocketClient::Impl::drop(std::uint16_t code, std::string reason) {
  if (!ending) ending = Closed{code, std::move(reason)};
  if (answer && !failure) failure = unreachable(host_header(url), "the connection ended before the answer");
  socket.reset();
}

std::unexpected<Error> WebSocketClient::Impl::ended() {
  if (!closed) closed = ending;
  return fail(ErrorCode::unavailable, "closed",
              "the WebSocket to " + host_header(url) + " is closed (" + std::to_string(closed->code) + ")");
}

WebSocketClient::WebSocketClient(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
WebSocketClient::~WebSocketClient() = default;
WebSocketClient::WebSocketClient(WebSocketClient&&) noexcept = default;
WebSocketClient& WebSocketClient::operator=(WebSocketClient&&) noexcept = default;

Result<WebSocketClient> WebSocketClient::connect(const Url& url, const HeaderList& headers,
                                                 std::chrono::milliseconds timeout, ClientTls tls) {
  auto impl = std::make_unique<Impl>(url);
  if (auto opened = impl->open(headers, tls, timeout); !opened) return fail(std::move(opened.error()));
  return WebSocketClient(std::move(impl));
}

Result<std::optional<std::string>> WebSocketClient::read(std::chrono::milliseconds timeout) {
  if (impl_->closed) return impl_->ended();
  auto something = [this] {
    impl_->pump();
    return !impl_->messages.empty() || impl_->ending || impl_->woken;
  };
  impl_->wait_for(something, after(timeout));
  impl_->woken = false;
  if (impl_->messages.empty() && impl_->ending) return impl_->ended();
  if (impl_->messages.empty()) return std::nullopt;
  std::string text = std::move(impl_->messages.front());
  impl_->messages.pop_front();
  return std::optional(std::move(text));
}

void WebSocketClient::wake() {
  impl_->woken = true;
  impl_->loop.post([] {});
}

Result<void> WebSocketClient::send(std::string_view text) {
  if (impl_->ending) return impl_->ended();
  impl_->send_frame(Opcode::text, text);
  bool sent = impl_->wait_for([this] { return impl_->unsent.empty() || impl_->ending; }, after(kWriteDeadline));
  if (!sent) impl_->drop(1006, "the server took nothing for too long");
  if (impl_->ending) return impl_->ended();
  return {};
}

const std::optional<WebSocketClient::Closed>& WebSocketClient::closed() const {
  return impl_->closed;
}

void WebSocketClient::close() {
  if (!impl_->ending) {
    impl_->send_close(1000);
    impl_->wait_for(
        [this] {
          impl_->messages.clear();
          impl_->pump();
          return impl_->ending.has_value();
        },
        after(kLingerDeadline));
    impl_->drop(1000, {});
  }
  if (!impl_->closed) impl_->closed = Closed{1000, {}};
}

}  // namespace shepherd::net
