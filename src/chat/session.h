// One chat session in memory: its conversation, the prompts that wait, and the turn that runs. Prompts are answered one
// after the other, in the order in which they came.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "chat/session_log.h"
#include "chat/turn.h"

namespace shepherd {

inline constexpr std::string_view kMaxTokensMember = "max_tokens";  // of a command's metadata

// A prompt with the functions of the one who sent it; each may be empty. They are called on the loop.
struct ChatRequest {
  Prompt prompt;
  std::function<void(std::uint64_t)> begun;  // the number of its event
  std::function<void(TurnEnd)> done;
};

// Threads: strand (the loop).
class ChatSession : public std::enable_shared_from_this<ChatSession> {
 public:
  // `ready` is called when a turn could begin; the owner calls run_next() when there is room.
  ChatSession(TurnParts parts, std::shared_ptr<SessionLog> log, std::function<void(ChatSession&)> ready,
              std::function<void(ChatSession&)> idle);

  const std::string& task() const { return log_->task(); }
  SessionLog& log() { return *log_; }
  const SessionLog& log() const { return *log_; }
  const Conversation& conversation() const { return log_->conversation(); }
  std::uint64_t live_pieces(std::string_view block) const { return log_->live_pieces(block); }
  std::vector<Tool> tools() const { return offered_tools(parts_); }
  const std::vector<std::string>& allowed_tools() const { return parts_.offered; }  // empty: all
  const ChatTurn* turn() const { return turn_.get(); }
  std::size_t waiting() const { return queue_.size(); }
  bool busy() const { return turn_ != nullptr || !queue_.empty() || clearing_; }
  std::int64_t used_ms() const { return used_ms_; }  // steady
  void touch();

  // rate_limited/queue_full, conflict/session_ended.
  Result<void> add(ChatRequest request);
  void run_next();
  bool has_next() const { return turn_ == nullptr && !queue_.empty() && !clearing_; }

  // Ends the turn that runs. False if none does.
  bool cancel(std::string_view reason);
  // Ends the turn and everything that waits, then empties the conversation.
  void clear(std::function<void(Result<void>)> done);
  // An operator's command from the log; it settles. Fails as add() does. Nothing happens the second time.
  Result<void> command(const Command& command);
  void note_refusal(const Error& error);
  void refuse_command(const std::string& id, std::string_view reason);
  // The task has ended or was deleted.
  void end(std::string_view reason);
  // The server stops, and the session goes on with its next start. Clients that wait for an answer get this error.
  void stop(const Error& why);
  bool ended() const { return ended_; }
  // The number of the prompt of a turn that has just begun; 0: there is none.
  std::uint64_t young_turn() const;
  // A client reads the session, so it needs no replay of a turn that is over.
  void note_read() { turn_was_read_ = turn_ == nullptr; }

  // After a restart: closes what the log and the task's row have open.
  void recover(const TaskState& state, std::function<void()> done);

 private:
  void turn_done(ChatRequest& request, TurnEnd end);
  void refuse_waiting(const Error& why);
  void settle(const Command& command, CommandState state, std::string_view reason);
  std::int64_t max_tokens_of(const Command& command) const;
  void begin_clear();

  const TurnParts parts_;
  const std::shared_ptr<SessionLog> log_;
  const std::function<void(ChatSession&)> ready_, idle_;
  std::deque<ChatRequest> queue_;
  std::unique_ptr<ChatTurn> turn_;
  std::int64_t used_ms_ = 0;
  std::int64_t turn_ended_ms_ = 0;
  bool turn_was_read_ = false;  // a client has read the session after the newest turn
  std::int64_t turn_began_ms_ = -1;
  std::uint64_t turn_first_ = 0;
  std::deque<std::string> commands_;  // ids of the newest ones, because one can come by two ways after a start
  std::vector<std::function<void(Result<void>)>> clears_;
  bool clearing_ = false;
  bool ended_ = false;
};

}  // namespace shepherd
