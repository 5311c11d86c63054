// The way of a session's events into its log. After each commit the events are folded into the conversation, so that
// it is the fold of what is stored. It also keeps the session's record (session_basis.h).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/result.h"
#include "chat/chat_events.h"
#include "chat/conversation.h"
#include "journal/journal.h"
#include "model/condense.h"
#include "redact/redact.h"

namespace shepherd {

// All of these outlive every log.
struct LogParts {
  Journal& journal;
  Executor& loop;  // where sessions live
  const Clock& clock;
  const Redactor* redactor = nullptr;  // nullptr: nothing is redacted
  const CondenseRules* condense = nullptr;
};

// Threads: strand (the loop).
class SessionLog : public std::enable_shared_from_this<SessionLog> {
 public:
  SessionLog(LogParts parts, std::string task) : parts_(parts), task_(std::move(task)) {}

  const std::string& task() const { return task_; }
  const LogParts& parts() const { return parts_; }
  // What the log has so far. `kept`: the session's record, as it is stored.
  void start_from(Conversation conversation, SessionBasis kept);
  const Conversation& conversation() const { return conversation_; }
  // From now on the model is told of images, and not shown them.
  void forget_images() { conversation_.forget_images(); }

  // `done` gets the number of the first event, on the loop. Appends keep their order.
  void append(std::vector<ChatEvent> events, std::move_only_function<void(Result<std::uint64_t>)> done);
  void append(std::vector<ChatEvent> events);  // a failure is only logged
  // Live text: `kind` is text, code or reasoning. Its pieces are numbered within their block from 1, so that a consumer
  // notices a lost one.
  void live(std::string_view block, std::string_view kind, std::string_view text);
  // The events as the store takes them.
  Result<DraftBatch> drafts(const std::vector<ChatEvent>& events) const;
  // The events of the newest turn's first moments, for observers that come a little late.
  struct Recent {
    std::uint64_t sequence = 0;
    EventType type = EventType::log;
    std::string json;
  };
  const std::vector<Recent>& recent() const { return recent_; }
  void begin_recent();
  // The number of pieces that a block has so far.
  std::uint64_t live_pieces(std::string_view block) const { return block == live_block_ ? live_pieces_ : 0; }
  // A text as it may be stored.
  std::string redacted(std::string_view text) const;
  // The event of a message, as it may be stored. The model is told the message itself while this session is in memory.
  ChatEvent message(const ModelMessage& told, const MessageFacts& facts) const;
  const ModelMessage& told(const ChatMessage& message) const;

 private:
  void keep_basis();
  void keep_told(std::uint64_t sequence, std::shared_ptr<const ModelMessage> message);
  void forget_evicted();

  const LogParts parts_;
  const std::string task_;
  Conversation conversation_;
  SessionBasis kept_;  // in the record, or on its way
  // Messages that redaction changed, as the model is told them.
  std::map<std::uint64_t, std::shared_ptr<const ModelMessage>> told_;
  std::size_t told_bytes_ = 0;
  std::vector<Recent> recent_;
  std::int64_t recent_until_ms_ = 0;  // steady
  std::string live_block_;            // the newest one
  std::uint64_t live_pieces_ = 0;
};

}  // namespace shepherd
