#include "client/chat_link.h"

#include <algorithm>
#include <utility>

#include "client/api_client.h"
#include "client/limits.h"
#include "client/problem.h"
#include "json/scan.h"

namespace shepherd {
namespace {

// An error answer of the protocol; also one that came with status 200, because the turn failed late.
Error chat_error(int status, std::string_view body) {
  Error error = read_problem(status, body);
  // OpenAI's form, which other servers have.
  std::string_view inner = find_member(body, "error");
  if (inner.starts_with('{')) {
    if (std::string message = text_member(inner, "message"); !message.empty()) error.message = message;
  }
  return error;
}

std::string_view without_blanks(std::string_view text) {
  std::size_t first = text.find_first_not_of(" \t\r\n");
  return first == std::string_view::npos ? std::string_view() : text.substr(first);
}

}  // namespace

ChatLink::ChatLink(net::EventLoop& loop, net::Timers& timers, Locate locate, net::ClientTls tls, ChatLinkUser& user)
    : loop_(loop),
      locate_(std::move(locate)),
      user_(user),
      caller_(loop, {std::move(tls), {}}),
      pause_(timers, [this] { attempt(); }),
      alive_(std::make_shared<bool>(true)) {}

ChatLink::~ChatLink() {
  *alive_ = false;
  pending_.clear();
}

void ChatLink::follow(std::string after) {
  close();
  way_ = Way::follow;
  last_id_ = std::move(after);
  loop_.post([this, alive = alive_] {
    if (*alive && way_ == Way::follow && !was_open_) attempt();
  });
}

void ChatLink::ask(std::string body) {
  close();
  way_ = Way::ask;
  prompt_ = std::move(body);
  loop_.post([this, alive = alive_] {
    if (*alive && way_ == Way::ask && !was_open_) attempt();
  });
}

void ChatLink::close() {
  way_ = Way::closed;
  stream_.cancel();
  pause_.disarm();
  last_id_.clear();
  prompt_.clear();
  was_open_ = false;
  failures_ = 0;
}

std::string ChatLink::session_path(std::string_view path) const {
  return session_.empty() ? std::string(path) : "/sessions/" + percent_encoded(session_) + std::string(path);
}

Result<net::CallRequest> ChatLink::request(std::string_view method, std::string_view path) const {
  // A restarted server may have another port. While it is away, its old address says so.
  if (Result<Destination> found = locate_(); found) {
    destination_ = *std::move(found);
  } else if (destination_.public_url.empty()) {
    return fail(found.error());
  }
  Result<net::Url> url = net::parse_url(destination_.public_url);
  if (!url) return fail(url.error());
  std::string base = url->target;
  while (base.ends_with('/')) base.pop_back();
  net::CallRequest made;
  made.method = method;
  made.url = *std::move(url);
  made.url.target = base + std::string(path);
  if (!destination_.token.empty()) made.headers.emplace_back("Authorization", "Bearer " + destination_.token);
  return made;
}

Error ChatLink::advised(Error error) const {
  if (error.code != ErrorCode::unauthenticated) return error;
  error.message += destination_.token.empty() ? "; set SHEPHERD_TOKEN, or name a file with the key with --key-file"
                                              : "; the token is not valid for this server";
  if (!destination_.no_token.empty()) error.message = destination_.no_token;
  return error;
}

void ChatLink::attempt() {
  if (way_ == Way::closed) return;
  bool sends = way_ == Way::ask && !was_open_;
  Result<net::CallRequest> made =
      sends ? request("POST", session_path("/request")) : request("GET", session_path("/updates"));
  if (!made) return lose(made.error());
  made->headers.emplace_back("Accept", "text/event-stream");
  made->timeouts.first_byte = made->timeouts.idle = kLiveQuiet;
  if (sends) {
    made->headers.emplace_back("Content-Type", "application/json");
    made->body = own_bytes(prompt_);
    made->timeouts.first_byte = made->timeouts.idle = std::chrono::milliseconds(0);  // a turn can be silent for long
  } else if (!last_id_.empty()) {
    made->headers.emplace_back("Last-Event-ID", last_id_);
  }
  status_ = 0;
  refusal_.clear();
  events_ = SseReader();
  stream_ = caller_.start(*std::move(made), *this);
}

void ChatLink::on_head(net::ResponseHead&& head) {
  status_ = head.status;
  if (status_ != 200) return;
  was_open_ = true;
  prompt_.clear();
  user_.on_chat_open();
}

void ChatLink::on_body(std::string_view piece) {
  if (status_ != 200) {
    refusal_.append(piece.substr(0, kMaxRefusalBytes - std::min(kMaxRefusalBytes, refusal_.size())));
    return;
  }
  bool fits = events_.read(piece, [this](std::string_view id, std::string_view json) { return take_event(id, json); });
  if (fits || way_ == Way::closed) return;
  stream_.cancel();
  lose({ErrorCode::unavailable, "bad_response", "it sent an event that is too long", {}});
}

// False: nothing more is wanted.
bool ChatLink::take_event(std::string_view id, std::string_view json) {
  failures_ = 0;
  if (!id.empty()) last_id_ = id;
  if (way_ == Way::ask && find_member(json, "done") == "true") {
    close();
    user_.on_chat_done();
    return false;
  }
  std::string type = text_member(json, "type");
  std::string_view data = find_member(json, "data");
  if (type.empty() || !data.starts_with('{')) return true;  // not for us; one bad event must not end the rest
  user_.on_chat_frame({id, type, data, json});
  return way_ != Way::closed;
}

void ChatLink::on_end(Result<void> result) {
  if (!result) return lose(result.error());
  if (status_ == 200) return lose({ErrorCode::unavailable, "closed", "the server closed the connection", {}});
  if (status_ >= 300 && status_ < 400) {
    return lose(
        {ErrorCode::invalid_argument, "redirected", "the server is elsewhere; give the address that answers", {}});
  }
  lose(chat_error(status_, refusal_));
}

void ChatLink::lose(Error error) {
  bool again = was_open_ && (retryable(error.code) || error.code == ErrorCode::internal);
  // Without a number there is nothing to go on from: the turn's end would never be found.
  if (way_ == Way::ask && last_id_.empty()) again = false;
  if (!again) {
    close();
    return user_.on_chat_refused(advised(with_connection_advice(std::move(error))));
  }
  std::chrono::milliseconds pause = kReconnectFirst * (1 << std::min(failures_++, 6));
  pause_.arm(std::chrono::steady_clock::now() + std::min(pause, kReconnectMost));
  user_.on_chat_lost(error.message);
}

void ChatLink::call(std::string_view method, std::string_view path, std::string body, Done done, bool patient) {
  call_server(method, session_path(path), std::move(body), std::move(done), patient);
}

void ChatLink::call_server(std::string_view method, std::string path, std::string body, Done done, bool patient) {
  Result<net::CallRequest> made = request(method, path);
  if (!made) {
    loop_.post([done = std::move(done), error = made.error(), alive = alive_] {
      if (*alive) done(fail(error));
    });
    return;
  }
  made->headers.emplace_back("Accept", "application/json");
  if (!body.empty()) made->headers.emplace_back("Content-Type", "application/json");
  made->body = own_bytes(std::move(body));
  made->timeouts.first_byte = made->timeouts.idle = std::chrono::milliseconds(0);
  if (!patient) made->timeouts.whole = kClientTimeout;
  auto pending = std::make_shared<Pending>();
  pending->answer.emplace(net::ClientBounds{}, [this, weak = std::weak_ptr<Pending>(pending),
                                                done = std::move(done)](Result<net::ClientResponse> response) {
    std::shared_ptr<Pending> self = weak.lock();
    pending_.erase(self);
    loop_.post([self, alive = alive_] {});  // its observer is still being called
    if (!response) return done(fail(with_connection_advice(response.error())));
    std::string_view text = without_blanks(response->body);
    bool failed = find_member(text, "success") == "false";
    if (response->status >= 300 || failed) {
      return done(fail(advised(chat_error(response->status >= 300 ? response->status : 500, text))));
    }
    done(std::string(text));
  });
  pending_.insert(pending);
  pending->call = caller_.start(*std::move(made), *pending->answer);
}

}  // namespace shepherd
