// The state of a task's callback, as stored and as shown in the task's JSON.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shepherd {

// Identifies a callback of a task: the one for its end, or the report at a number of its log. Earlier ones sort first.
struct CallbackPlace {
  static constexpr std::uint64_t kEnd = UINT64_MAX;
  std::string task;
  std::uint64_t sequence = kEnd;

  friend auto operator<=>(const CallbackPlace&, const CallbackPlace&) = default;
};
std::string record_key(const CallbackPlace& place);
CallbackPlace callback_place(std::string_view record_key);

// How far a task's reports have been processed.
struct CallbackCursor {
  std::uint64_t through = 0;
  bool started = false;         // a start was among them
  std::int64_t created_ms = 0;  // of the task, because another one may get its id
  bool over = false;            // the end was processed; not stored

  friend bool operator==(const CallbackCursor&, const CallbackCursor&) = default;
};
std::string encode_callback_cursor(const CallbackCursor& cursor);
CallbackCursor decode_callback_cursor(std::string_view json);

struct CallbackRecord {
  enum class State : std::uint8_t { pending, sent, failed };
  State state = State::pending;
  std::int64_t attempts = 0;
  std::int64_t next_ms = 0;     // time of the next attempt, if pending
  std::int64_t claimed_ms = 0;  // start of the current attempt, if pending; 0 if there is none
  std::string claimed_by;       // the process that makes it
  std::int64_t created_ms = 0;  // of the task, because another one may get its id; 0 if an earlier version wrote it
  int status = 0;               // of the last answer; 0 if there was none
  std::string error;            // why the last attempt failed
};

std::string encode_callback_record(const CallbackRecord& record);
CallbackRecord decode_callback_record(std::string_view json);  // unreadable members keep their defaults
// {"state","attempts"[,"status"][,"error"][,"nextAttemptAt"]}
std::string encode_callback(const CallbackRecord& record);

}  // namespace shepherd
