// A chat session's conversation: the fold of its log. What the model is told, what /session shows and what a restart
// brings back are this one thing.
// Threads: value.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "chat/session_basis.h"
#include "llm/model.h"
#include "model/event_type.h"
#include "model/task.h"

namespace shepherd {

struct ChatMessage {
  std::uint64_t sequence = 0;  // of its event
  ModelMessage message;
  std::int64_t tokens = 0;
  bool exact = false;  // the backend counted them
};

class Conversation {
 public:
  // Before the first event of a log whose beginning retention has dropped: what a record and the task's row still know.
  void begin_late(SessionBasis basis, const Usage& usage);
  // After the events of such a log: removes what is left of the turn that lost its beginning, because a backend refuses
  // a tool's result without its call. Counts become estimates until the next answer.
  void drop_partial_turn();
  // One event of the log, in order. Types that say nothing about the conversation are ignored.
  void apply(std::uint64_t sequence, EventType type, std::string_view event_json);
  // The detail of a message whose event has only its beginning.
  void restore(std::uint64_t sequence, std::string_view detail_json);
  // The images of a tool's message, which are in no event. Those of older messages go when there are too many.
  void show(std::uint64_t sequence, std::shared_ptr<const std::vector<ModelImage>> images);
  void forget_images();

  const std::vector<ChatMessage>& messages() const { return messages_; }  // without evicted ones
  const std::vector<std::uint64_t>& cut() const { return cut_; }       // messages whose event has only their beginning
  std::int64_t total_tokens() const { return total_tokens_; }          // of the prompt and the last answer
  std::int64_t system_tokens() const { return basis_.system_tokens; }  // of the system's text alone
  bool exact() const { return exact_; }
  std::uint64_t last_sequence() const { return last_sequence_; }
  const Usage& usage() const { return usage_; }
  const SessionBasis& basis() const { return basis_; }
  bool priced() const { return basis_.priced; }
  const std::string& system() const { return basis_.system; }  // as the session started; empty: none, or not started
  bool started() const { return basis_.started; }
  AgentMode mode() const { return basis_.mode; }

  // Where the newest turn begins in messages(); its size if there is none.
  std::size_t turn_begin() const;
  bool turn_open() const { return turn_open_; }  // a prompt has no answer yet
  // Tools that the newest assistant message asked for and that have no message yet.
  std::vector<ToolRequest> unanswered() const;
  const std::set<std::string>& open_calls() const { return open_calls_; }          // begun, without a result
  const std::set<std::string>& open_approvals() const { return open_approvals_; }  // by id
  bool remembers(const std::string& rule) const { return basis_.rules.contains(rule); }

 private:
  void add_message(std::uint64_t sequence, std::string_view event);
  void evict(std::string_view data);
  void note_approval(std::string_view data);

  std::vector<ChatMessage> messages_;
  std::vector<std::uint64_t> cut_;
  std::int64_t total_tokens_ = 0;
  bool exact_ = false;
  std::uint64_t last_sequence_ = 0;
  Usage usage_;
  SessionBasis basis_;
  bool turn_open_ = false;
  std::set<std::string> open_calls_, open_approvals_;
};

}  // namespace shepherd
