// The answer to a prompt whose sender waits for it: a plain response if it comes soon, otherwise a response whose head
// is sent early (LateJson).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/call.h"
#include "api/chat_streams.h"
#include "chat/session.h"
#include "net/timers.h"

namespace shepherd {

// Keeps itself until it has answered. Threads: strand (the chat's loop).
class ChatAnswer : public std::enable_shared_from_this<ChatAnswer> {
 public:
  explicit ChatAnswer(Call call) : call_(std::move(call)) {}

  // The prompt is accepted: from now on the answer may come late.
  void wait();
  // The turn's end. The answer follows a moment after the turn's events.
  void turn_ended(TurnEnd end);
  void refuse(const Error& error);

 private:
  void send_head();
  void send(TurnEnd end);
  net::Timers& timers();

  std::optional<Call> call_;  // until the head is sent
  std::shared_ptr<LateJson> late_;
  std::unique_ptr<net::Timer> timer_;
  std::shared_ptr<ChatAnswer> self_;  // while it waits for its timer
};

}  // namespace shepherd
