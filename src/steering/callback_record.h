// How far a task's callback has come, as the store keeps it and the task's JSON shows it.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace shepherd {

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
