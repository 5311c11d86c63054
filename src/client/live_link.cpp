#include "client/live_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "client/api_client.h"
#include "client/limits.h"
#include "client/problem.h"

namespace shepherd {
namespace {

// A refused handshake carries its HTTP status; an error without one never reached a server.
std::optional<ErrorCode> refusal(const Error& error) {
  for (const ErrorField& field : error.fields) {
    const auto* status = std::get_if<std::int64_t>(&field.value);
    if (field.name == "status" && status != nullptr) return code_of_status(static_cast<int>(*status));
  }
  return std::nullopt;
}

}  // namespace

LiveLink::LiveLink(Locate locate, const Clock& clock, Random& random, net::ClientTls tls)
    : locate_(std::move(locate)), clock_(clock), random_(random), tls_(std::move(tls)) {}

void LiveLink::stop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
  if (reading_ != nullptr) reading_->wake();
}

void LiveLink::nudge() {
  MutexLock lock(mutex_);
  if (reading_ != nullptr) reading_->wake();
}

void LiveLink::set_reading(net::WebSocketClient* socket) {
  MutexLock lock(mutex_);
  reading_ = socket;
}

bool LiveLink::stopping() {
  MutexLock lock(mutex_);
  return stopping_;
}

bool LiveLink::pause() {
  auto full = std::min(kReconnectFirst * (1 << std::min(failures_, 10)), kReconnectMost);
  // Jitter between half and all of the pause, so that a thousand followers of one server do not reconnect at once.
  std::int64_t half = full.count() / 2;
  std::chrono::milliseconds wait{half + static_cast<std::int64_t>(random_.below(static_cast<std::uint64_t>(half) + 1))};
  ++failures_;
  std::int64_t until_ms = clock_.steady_ms() + wait.count();
  MutexLock lock(mutex_);
  while (!stopping_) {
    std::int64_t left_ms = until_ms - clock_.steady_ms();
    if (left_ms <= 0) break;
    wake_.wait_for(mutex_, std::chrono::milliseconds(left_ms));
  }
  return !stopping_;
}

Result<net::WebSocketClient> LiveLink::connect(const std::string& target) {
  Result<Destination> destination = locate_();
  // A stopped server removes its record; until it is back, its last address is the best guess.
  if (!destination && !destination_) return fail(destination.error());
  if (destination) destination_ = *std::move(destination);
  Result<net::Url> url = net::parse_url(destination_->public_url);
  if (!url) return fail(url.error());
  url->target = target;
  net::HeaderList headers;
  if (!destination_->token.empty()) headers.emplace_back("Authorization", "Bearer " + destination_->token);
  return net::WebSocketClient::connect(*url, headers, kConnectTimeout, tls_);
}

Result<bool> LiveLink::run(LiveLinkUser& user) {
  bool connected_once = false;
  std::int64_t lost_ms = 0;
  while (!stopping()) {
    Result<net::WebSocketClient> socket = connect(user.link_target());
    if (!socket) {
      Error error = socket.error();
      std::optional<ErrorCode> refused = refusal(error);
      if (refused) error.code = *refused;
      bool may_pass = !refused || retryable(*refused);
      if (!connected_once || !may_pass) {
        return fail(refused ? std::move(error) : with_connection_advice(std::move(error)));
      }
      if (!pause()) return false;
      continue;
    }
    user.on_link_open(connected_once ? clock_.steady_ms() - lost_ms : 0);
    connected_once = true;
    set_reading(&*socket);
    Result<LinkStep> step = follow(*socket, user);
    set_reading(nullptr);
    if (!step) return fail(step.error());
    if (*step == LinkStep::complete) return true;
    if (*step == LinkStep::stopped) return false;
    lost_ms = clock_.steady_ms();
    user.on_link_lost(why_);
    if (!pause()) return false;
  }
  return false;
}

Result<LinkStep> LiveLink::follow(net::WebSocketClient& socket, LiveLinkUser& user) {
  std::int64_t heard_ms = clock_.steady_ms();
  bool asked = false;
  while (!stopping()) {
    for (const std::string& message : user.link_messages()) {
      if (Result<void> sent = socket.send(message); !sent) return after_close(socket, sent.error());
    }
    Result<std::optional<std::string>> message = socket.read(kLiveLook);  // stop() and nudge() wake it
    if (!message) return after_close(socket, message.error());
    if (*message) {
      heard_ms = clock_.steady_ms();
      asked = false;
      failures_ = 0;
      Result<LinkStep> step = user.on_link_message(**message);
      if (step && *step == LinkStep::go_on) continue;
      socket.close();
      return step;
    }
    // A vanished peer looks like a silent one. Servers answer every message, even an unknown one, so silence after a
    // message means a dead connection.
    std::int64_t quiet_ms = clock_.steady_ms() - heard_ms;
    if (quiet_ms > (kLiveQuiet + kLiveAnswer).count()) {
      why_ = "the server stopped answering";
      return LinkStep::reconnect;
    }
    if (quiet_ms > kLiveQuiet.count() && !asked) {
      asked = true;
      if (Result<void> sent = socket.send(R"({"type":"ping"})"); !sent) return after_close(socket, sent.error());
    }
  }
  socket.close();
  return LinkStep::stopped;
}

Result<LinkStep> LiveLink::after_close(const net::WebSocketClient& socket, const Error& error) {
  if (!socket.closed()) {
    why_ = error.message;
    return LinkStep::reconnect;
  }
  const auto& [code, reason] = *socket.closed();
  if (code == 4102) return fail(ErrorCode::not_found, "task_deleted", "the task was deleted");
  if (code >= 4100 && code <= 4199) {
    return fail(code == 4101 ? ErrorCode::unauthenticated : ErrorCode::permission_denied,
                code == 4101 ? "token_revoked" : "stream_refused",
                fmt::format("the server ended the stream: {}", reason.empty() ? fmt::format("code {}", code) : reason));
  }
  why_ = code == 1001 ? "the server is going down" : reason.empty() ? "the connection was lost" : reason;
  return LinkStep::reconnect;
}

}  // namespace shepherd
