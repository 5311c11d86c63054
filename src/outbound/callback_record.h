// How far a task's callback has come, as the store keeps it and the task's JSON shows it.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shepherd {

// Which callback of a task: the one of its end, or the report at a number of its log. Earlier ones sort first.
struct CallbackPlace {
  static constexpr std::uint64_t kEnd = UINT64_MAX;
  std::string task;
  std::uint64_t sequence = kEnd;

  friend auto operator<=>(const CallbackPlace&, const CallbackPlace&) = default;
};
std::string record_key(const CallbackPlace& place);
CallbackPlace callback_place(std::string_view record_key);

// How far the reports of a task have been looked through.
struct CallbackCursor {
  std::uint64_t through = 0;
  bool started = false;  // that it has was among them
  bool over = false;     // nothing comes after the end; not kept

  friend bool operator==(const CallbackCursor&, const CallbackCursor&) = default;
};
std::string encode_callback_cursor(const CallbackCursor& cursor);
CallbackCursor decode_callback_cursor(std::string_view json);

struct CallbackRecord {
  enum class State : std::uint8_t { pending, sent, failed };
  State state = State::pending;
  std::int64_t attempts = 0;
  std::int64_t next_ms = 0;     // pending: not before
  std::int64_t claimed_ms = 0;  // pending: an attempt began; 0: none is under way
  int status = 0;               // of the last answer; 0: none came
  std::string error;            // why the last attempt failed
};

std::string encode_callback_record(const CallbackRecord& record);
CallbackRecord decode_callback_record(std::string_view json);  // what cannot be read keeps its default
// {"state","attempts"[,"status"][,"error"][,"nextAttemptAt"]}
std::string encode_callback(const CallbackRecord& record);

}  // namespace shepherd
