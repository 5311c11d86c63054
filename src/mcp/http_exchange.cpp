#include "mcp/http_exchange.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "json/scan.h"
#include "mcp/header_values.h"
#include "mcp/limits.h"

namespace shepherd {
namespace {

using std::chrono::steady_clock;

bool is_media(const net::ResponseHead& head, std::string_view wanted) {
  std::string_view media = head.header("content-type");
  media = media.substr(0, media.find(';'));
  while (media.ends_with(' ')) media.remove_suffix(1);
  return std::equal(media.begin(), media.end(), wanted.begin(), wanted.end(),
                    [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

bool is_header_text(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

}  // namespace

McpExchange::McpExchange(McpHttpCore& core, McpExchangeOwner& owner, Kind kind, McpOutgoing message)
    : core_(core), owner_(&owner), kind_(kind), message_(std::move(message)), pause_(core.timers, [this] {
        auto self = shared_from_this();
        if (answered_) return finish({});
        attempt();
      }) {}

void McpExchange::start() {
  core_.loop.post([self = shared_from_this()] { self->attempt(); });
}

void McpExchange::cancel() {
  owner_ = nullptr;
  call_.cancel();
  pause_.disarm();
}

void McpExchange::attempt() {
  if (owner_ == nullptr) return;
  core_.key.get([weak = weak_from_this()](Result<std::string> key) {
    auto self = weak.lock();
    if (!self || self->owner_ == nullptr) return;
    if (!key) return self->fail(McpFault::Kind::refused, key.error().message);
    self->send(*key);
  });
}

net::CallRequest McpExchange::post_request(const std::string& key) const {
  net::CallRequest made = core_.request("POST", key);
  made.headers.emplace_back("Content-Type", "application/json");
  made.headers.emplace_back("Accept", "application/json, text/event-stream");
  if (core_.version == kMcpModern && !message_.method.empty()) {
    made.headers.emplace_back("Mcp-Method", message_.method);
    if (!message_.tool.empty()) made.headers.emplace_back("Mcp-Name", header_value(message_.tool));
    for (const auto& header : message_.headers) made.headers.push_back(header);
  }
  made.body = own_bytes(message_.text);
  return made;
}

void McpExchange::send(const std::string& key) {
  status_ = 0;
  is_stream_ = false;
  body_.clear();
  events_ = std::make_unique<McpEvents>();
  had_session_ = !core_.session.empty();
  net::CallRequest made;
  if (kind_ == Kind::message && !resuming_) {
    made = post_request(key);
  } else {
    made = core_.request("GET", key);
    made.headers.emplace_back("Accept", "text/event-stream");
    if (!last_id_.empty()) made.headers.emplace_back("Last-Event-ID", last_id_);
  }
  call_ = core_.caller.start(std::move(made), *this);
}

void McpExchange::on_head(net::ResponseHead&& head) {
  status_ = head.status;
  location_ = head.header("location");
  bool good = status_ >= 200 && status_ < 300;
  is_stream_ = good && is_media(head, "text/event-stream");
  std::string_view session = head.header("mcp-session-id");
  if (good && message_.method == "initialize" && session.size() <= kMaxMcpSessionBytes && is_header_text(session)) {
    core_.session = session;
  }
}

void McpExchange::on_body(std::string_view piece) {
  auto self = shared_from_this();
  if (is_stream_) {
    bool more = events_->cut(piece, [this](const McpEvent& event) { return take_event(event); });
    if (owner_ == nullptr || more) return;
    return fail(McpFault::Kind::broke_off, fmt::format("it sent an event of more than {} bytes", kMaxMcpMessageBytes));
  }
  bool good = status_ >= 200 && status_ < 300;
  if (good && body_.size() + piece.size() > kMaxMcpMessageBytes) {
    return fail(McpFault::Kind::broke_off, fmt::format("it sent more than {} bytes", kMaxMcpMessageBytes));
  }
  if (good) {
    body_.append(piece);
  } else {
    body_.append(piece.substr(0, kMaxMcpFaultBytes - std::min(kMaxMcpFaultBytes, body_.size())));
  }
}

// False if nothing more is wanted.
bool McpExchange::take_event(const McpEvent& event) {
  if (!events_->last_id().empty()) last_id_ = events_->last_id();
  resumes_ = 0;
  if (event.data.empty() || answered_) return true;
  if (!event.name.empty() && event.name != "message") {
    owner_->on_exchange_event(event.name, event.data);
  } else {
    take_json(event.data);
  }
  if (owner_ != nullptr && answered_) pause_.arm(steady_clock::now() + kMcpStreamRest);
  return owner_ != nullptr;
}

void McpExchange::take_json(std::string_view json) {
  // Old servers put several messages into one array.
  if (json.starts_with('[')) {
    for (std::string_view each : array_elements(json).value_or(std::vector<std::string_view>())) {
      if (owner_ != nullptr && each.starts_with('{')) take_json(each);
    }
    return;
  }
  auto message = read_message(json);
  if (!message) return owner_->on_exchange_noise(json.size());
  if (message_.id != 0 && message->answers() == message_.id) answered_ = true;
  owner_->on_exchange_message(*std::move(message));
}

void McpExchange::on_end(Result<void> result) {
  auto self = shared_from_this();
  if (owner_ == nullptr) return;
  if (answered_) return finish({});
  if (!result && status_ == 0 && !resuming_ && kind_ == Kind::message) {
    return fail(McpFault::Kind::unreachable, result.error().message);
  }
  if (is_stream_ || status_ == 0) return take_end_of_stream();
  if (!result) return fail(McpFault::Kind::broke_off, result.error().message);
  if (status_ >= 300) return take_refusal();
  take_document();
}

void McpExchange::take_document() {
  if (kind_ != Kind::message || resuming_) {
    return fail(McpFault::Kind::broke_off, "it answered with no event stream");
  }
  if (message_.id == 0) return finish({});
  if (!body_.empty()) take_json(body_);
  if (owner_ == nullptr) return;
  if (answered_) return finish({});
  fail(McpFault::Kind::broke_off, body_.empty() ? fmt::format("it answered {} and nothing else", status_)
                                                : "it answered with something that is no answer");
}

void McpExchange::take_refusal() {
  bool key_refused = status_ == 401 || status_ == 403;
  if (key_refused && core_.key.configured() && !std::exchange(rekeyed_, true)) {
    core_.key.forget();
    return attempt();
  }
  bool lost = had_session_ && message_.method != "initialize" &&
              (status_ == 404 || (status_ == 400 && kind_ == Kind::message && !resuming_));
  if (lost) return fail(McpFault::Kind::session_lost, "it has forgotten the session");
  // An error of the protocol's own comes with a status, too, and may not name its request.
  std::optional<McpMessage> message;
  if (kind_ == Kind::message && message_.id != 0) {
    if (auto read = read_message(body_)) message = *std::move(read);
  }
  if (!key_refused && message && message->kind == McpMessage::Kind::error) {
    message->id = std::to_string(message_.id);
    answered_ = true;
    owner_->on_exchange_message(*std::move(message));
    if (owner_ != nullptr) finish({});
    return;
  }
  std::string words = message && message->kind == McpMessage::Kind::error ? message->error_message
                                                                          : shortened(body_, kMaxMcpFaultTextBytes);
  if (key_refused) words = core_.key.configured() ? "the key is not accepted" : "it wants a key";
  if (status_ < 400) words = fmt::format("it is elsewhere: {}", shortened(location_, kMaxMcpFaultTextBytes));
  fail(McpFault::Kind::refused, fmt::format("it answered {}{}{}", status_, words.empty() ? "" : ": ", words));
}

bool McpExchange::resumable() const {
  return core_.version != kMcpModern && !last_id_.empty() && kind_ != Kind::single;
}

void McpExchange::take_end_of_stream() {
  if (kind_ == Kind::message && message_.id == 0) return finish({});
  auto told = events_->retry();
  if (told) retry_ = told;
  if (!resumable() || ++resumes_ > kMaxMcpResumes) {
    return fail(McpFault::Kind::broke_off, "its stream ended before the answer");
  }
  resuming_ = true;
  pause_.arm(steady_clock::now() + retry_.value_or(kMcpRetryPause));
}

void McpExchange::fail(McpFault::Kind kind, std::string why) {
  finish(McpFault{kind, status_, core_.hide(std::move(why))});
}

void McpExchange::finish(std::optional<McpFault> fault) {
  auto self = shared_from_this();
  McpExchangeOwner* owner = std::exchange(owner_, nullptr);
  call_.cancel();
  pause_.disarm();
  if (owner != nullptr) owner->on_exchange_end(*this, std::move(fault));
}

}  // namespace shepherd
