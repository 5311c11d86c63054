// The calling side of the chat protocol (docs/chat.md), on an event loop: one session's events, resumed when the
// connection fails, and calls beside them. It works with every server that has /session, /request and /updates.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>

#include "base/result.h"
#include "client/find_server.h"
#include "client/live_link.h"
#include "client/sse_reader.h"
#include "net/http_call.h"
#include "net/timers.h"
#include "net/whole_answer.h"

namespace shepherd {

// One event of a session. Threads: value; the views are valid during the call.
struct ChatFrame {
  std::string_view id;    // the number of its event in the log; empty if it is not in one
  std::string_view type;  // "delta"
  std::string_view data;  // a JSON object
  std::string_view json;  // all of it as it came
};

// Called on the loop, never inside a call of the link. It must not destroy the link meanwhile.
class ChatLinkUser {
 public:
  virtual ~ChatLinkUser() = default;
  virtual void on_chat_open() = 0;  // everything from now on, or from where it broke off, will come
  virtual void on_chat_frame(const ChatFrame& frame) = 0;
  virtual void on_chat_lost(const std::string& why) = 0;  // it tries again
  // The last call: it will not try again. Before the first on_chat_open also for errors that a retry could heal.
  virtual void on_chat_refused(Error error) = 0;
  virtual void on_chat_done() {}  // the last call: the turn of ask() has ended
};

// Threads: strand.
class ChatLink final : private net::CallObserver {
 public:
  // The loop, the timers and the user outlive it.
  ChatLink(net::EventLoop& loop, net::Timers& timers, Locate locate, net::ClientTls tls, ChatLinkUser& user);
  ~ChatLink() override;
  ChatLink(const ChatLink&) = delete;
  ChatLink& operator=(const ChatLink&) = delete;

  // The session of follow(), ask() and call(); empty for the server's default.
  void set_session(std::string session) { session_ = std::move(session); }
  // Follows the session's events after the one with this id; empty: those that are new.
  void follow(std::string after);
  // Sends a prompt (the body of /request with `stream`) and follows the events of its turn alone.
  void ask(std::string body);
  void close();

  // The answer of a call, a JSON text. An error answer, also one with status 200 and `success` false, is an Error with
  // the server's code as its reason. Unbounded in time if `patient`.
  using Done = std::function<void(Result<std::string>)>;
  void call(std::string_view method, std::string_view path, std::string body, Done done, bool patient = false);
  // The same with a path that does not depend on the session.
  void call_server(std::string_view method, std::string path, std::string body, Done done, bool patient = false);

 private:
  // A call beside the stream. It lives until its answer, or its link's end, which cuts it.
  struct Pending {
    std::optional<net::WholeAnswer> answer;
    net::HttpCall call;
  };
  enum class Way : std::uint8_t { closed, follow, ask };

  std::string session_path(std::string_view path) const;
  Result<net::CallRequest> request(std::string_view method, std::string_view path) const;
  Error advised(Error error) const;
  void attempt();
  void on_head(net::ResponseHead&& head) override;
  void on_body(std::string_view piece) override;
  void on_end(Result<void> result) override;
  bool take_event(std::string_view id, std::string_view json);
  void lose(Error error);

  net::EventLoop& loop_;
  const Locate locate_;
  ChatLinkUser& user_;
  net::HttpCaller caller_;
  mutable Destination destination_;  // the newest
  std::string session_;

  Way way_ = Way::closed;
  std::string prompt_;   // of ask(), until it was sent
  std::string last_id_;  // of the newest event
  bool was_open_ = false;
  int failures_ = 0;  // since the last event
  int status_ = 0;
  std::string refusal_;  // the body of an error answer
  SseReader events_;
  net::HttpCall stream_;
  net::Timer pause_;
  std::shared_ptr<bool> alive_;  // work that was posted looks whether the link is there
  std::set<std::shared_ptr<Pending>> pending_;
};

}  // namespace shepherd
