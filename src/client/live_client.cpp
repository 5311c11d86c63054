#include "client/live_client.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <utility>

#include "client/api_client.h"
#include "client/limits.h"
#include "client/problem.h"
#include "json/scan.h"

namespace shepherd {
namespace {

std::uint64_t number_member(std::string_view object, std::string_view name) {
  std::string_view source = find_member(object, name);
  std::uint64_t value = 0;
  std::from_chars(source.data(), source.data() + source.size(), value);
  return value;
}

// Task ids and message types contain no escapes.
std::string_view word_member(std::string_view object, std::string_view name) {
  std::string_view source = find_member(object, name);
  return source.size() >= 2 && source.front() == '"' ? source.substr(1, source.size() - 2) : source;
}

// A refused handshake carries its HTTP status; an error without one never reached a server.
std::optional<ErrorCode> refusal(const Error& error) {
  for (const ErrorField& field : error.fields) {
    const auto* status = std::get_if<std::int64_t>(&field.value);
    if (field.name == "status" && status != nullptr) return code_of_status(static_cast<int>(*status));
  }
  return std::nullopt;
}

}  // namespace

LiveClient::LiveClient(Locate locate, LiveOptions options, const Clock& clock, Random& random, net::ClientTls tls)
    : locate_(std::move(locate)),
      options_(std::move(options)),
      clock_(clock),
      random_(random),
      tls_(std::move(tls)),
      cursor_(!options_.types.empty()),
      position_(options_.cursor) {
  if (options_.after) {
    cursor_.start_after(*options_.after);
  } else if (options_.tail == 0) {
    cursor_.start_after(0);
  }
}

void LiveClient::stop() {
  MutexLock lock(mutex_);
  stopping_ = true;
  wake_.notify_all();
  if (reading_ != nullptr) reading_->wake();
}

void LiveClient::set_reading(net::WebSocketClient* socket) {
  MutexLock lock(mutex_);
  reading_ = socket;
}

bool LiveClient::stopping() {
  MutexLock lock(mutex_);
  return stopping_;
}

bool LiveClient::pause() {
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

std::string LiveClient::target() const {
  Parameters query;
  if (options_.task.empty()) {
    if (!position_.empty()) query.emplace_back("after", position_);
  } else if (cursor_.last()) {
    query.emplace_back("after", std::to_string(*cursor_.last()));
  } else {
    query.emplace_back("tail", std::to_string(options_.tail));
  }
  if (!options_.types.empty()) query.emplace_back("types", options_.types);
  std::string path = options_.task.empty() ? std::string("/api/v1/events")
                                           : fmt::format("/api/v1/tasks/{}/events", percent_encoded(options_.task));
  return path + query_text(query);
}

Result<net::WebSocketClient> LiveClient::connect() {
  Result<Destination> destination = locate_();
  // A stopped server removes its record; until it is back, its last address is the best guess.
  if (!destination && !destination_) return fail(destination.error());
  if (destination) destination_ = *std::move(destination);
  Result<net::Url> url = net::parse_url(destination_->public_url);
  if (!url) return fail(url.error());
  url->target = target();
  net::HeaderList headers;
  if (!destination_->token.empty()) headers.emplace_back("Authorization", "Bearer " + destination_->token);
  return net::WebSocketClient::connect(*url, headers, kConnectTimeout, tls_);
}

Result<bool> LiveClient::run(LiveObserver& listener) {
  bool connected_once = false;
  std::int64_t lost_ms = 0;
  while (!stopping()) {
    Result<net::WebSocketClient> socket = connect();
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
    listener.on_state({LiveState::connected, "", connected_once ? clock_.steady_ms() - lost_ms : 0});
    connected_once = true;
    set_reading(&*socket);
    Result<Outcome> outcome = follow(*socket, listener);
    set_reading(nullptr);
    if (!outcome) return fail(outcome.error());
    if (*outcome == Outcome::complete) return true;
    if (*outcome == Outcome::stopped) return false;
    lost_ms = clock_.steady_ms();
    listener.on_state({LiveState::disconnected, why_, 0});
    if (!pause()) return false;
  }
  return false;
}

Result<LiveClient::Outcome> LiveClient::follow(net::WebSocketClient& socket, LiveObserver& listener) {
  std::int64_t heard_ms = clock_.steady_ms();
  bool asked = false;
  while (!stopping()) {
    Result<std::optional<std::string>> message = socket.read(kLiveLook);  // stop() wakes it
    if (!message) return after_close(socket, message.error());
    if (*message) {
      heard_ms = clock_.steady_ms();
      asked = false;
      Result<Outcome> outcome = take(**message, listener);
      if (outcome && *outcome == Outcome::go_on) continue;
      socket.close();
      return outcome;
    }
    // A vanished peer looks like a silent one. Servers answer every message, even an unknown one, so silence after a
    // message means a dead connection.
    std::int64_t quiet_ms = clock_.steady_ms() - heard_ms;
    if (quiet_ms > (kLiveQuiet + kLiveAnswer).count()) {
      why_ = "the server stopped answering";
      return Outcome::reconnect;
    }
    if (quiet_ms > kLiveQuiet.count() && !asked) {
      asked = true;
      if (Result<void> sent = socket.send(R"({"type":"ping"})"); !sent) return after_close(socket, sent.error());
    }
  }
  socket.close();
  return Outcome::stopped;
}

Result<LiveClient::Outcome> LiveClient::take(std::string_view message, LiveObserver& listener) {
  failures_ = 0;
  std::string_view type = word_member(message, "type");
  if (type == "task_event") return take_event(message, listener);

  std::string_view task = word_member(message, "taskID");
  std::string_view data = find_member(message, "data");
  if (task.empty()) task = word_member(data, "taskID");
  note_position(message, data);
  if (type == "gap") {
    std::uint64_t from = number_member(data, "from");
    std::uint64_t to = number_member(data, "to");
    LogCursor::Step step = options_.task.empty() ? LogCursor::Step::take : cursor_.gap(from, to);
    if (step == LogCursor::Step::take) listener.on_gap(task, from, to);
    return judge(step);
  }
  if (type == "position" || type == "caught_up") {
    Outcome outcome = Outcome::go_on;
    if (!options_.task.empty()) {
      Result<Outcome> judged = judge(cursor_.reached(number_member(data, "sequence")));
      if (!judged) return judged;
      outcome = *judged;
    }
    if (type == "caught_up" && outcome == Outcome::go_on) listener.on_state({LiveState::live, "", 0});
    return outcome;
  }
  if (type == "task_complete") {
    listener.on_complete(task, data);
    return options_.task.empty() ? Outcome::go_on : Outcome::complete;
  }
  if (type == "task_update") listener.on_row(task, data);
  if (type == "task_deleted") listener.on_deleted(task);
  return Outcome::go_on;  // deltas, and messages of newer servers
}

Result<LiveClient::Outcome> LiveClient::take_event(std::string_view message, LiveObserver& listener) {
  std::string_view task = word_member(message, "taskID");
  std::string_view event = find_member(message, "data");
  std::uint64_t sequence = number_member(event, "sequence");
  if (sequence == 0) {
    return fail(ErrorCode::internal, "bad_response", "the server sent an event without a number; is it a Shepherd?");
  }
  LogCursor::Step step = options_.task.empty() ? cursor_of(task).event(sequence) : cursor_.event(sequence);
  if (step != LogCursor::Step::take) return judge(step);
  note_position(message, {});
  holes_ = 0;
  return listener.on_event(task, sequence, event) ? Outcome::go_on : Outcome::stopped;
}

Result<LiveClient::Outcome> LiveClient::judge(LogCursor::Step step) {
  if (step != LogCursor::Step::hole) return Outcome::go_on;
  if (++holes_ > kMaxLiveHoles) {
    return fail(ErrorCode::internal, "broken_sequence",
                fmt::format("the server keeps leaving out events after {}; its log may be damaged: run \"shepherd "
                            "doctor\" on its machine",
                            cursor_.last().value_or(0)));
  }
  why_ = "events were missing";
  return Outcome::reconnect;
}

Result<LiveClient::Outcome> LiveClient::after_close(const net::WebSocketClient& socket, const Error& error) {
  if (!socket.closed()) {
    why_ = error.message;
    return Outcome::reconnect;
  }
  const auto& [code, reason] = *socket.closed();
  if (code == 4102) return fail(ErrorCode::not_found, "task_deleted", "the task was deleted");
  if (code >= 4100 && code <= 4199) {
    return fail(code == 4101 ? ErrorCode::unauthenticated : ErrorCode::permission_denied,
                code == 4101 ? "token_revoked" : "stream_refused",
                fmt::format("the server ended the stream: {}", reason.empty() ? fmt::format("code {}", code) : reason));
  }
  why_ = code == 1001 ? "the server is going down" : reason.empty() ? "the connection was lost" : reason;
  return Outcome::reconnect;
}

LogCursor& LiveClient::cursor_of(std::string_view task) {
  if (others_.size() >= kMaxLiveTasks) others_.clear();  // forgets what to check, not what to show
  return others_.try_emplace(std::string(task), LogCursor(!options_.types.empty())).first->second;
}

void LiveClient::note_position(std::string_view message, std::string_view data) {
  if (!options_.task.empty()) return;
  std::string_view cursor = word_member(message, "cursor");
  if (cursor.empty()) cursor = word_member(data, "cursor");
  if (!cursor.empty()) position_ = cursor;
}

}  // namespace shepherd
