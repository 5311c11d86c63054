// What a process remembers of the callbacks in the store: their records, how far reports were processed, and when to
// look at which record.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "outbound/callback_record.h"

namespace shepherd {

// Threads: caller.
class CallbackQueue {
 public:
  // Adds or replaces a record. A pending one is due at that time, another one never.
  void set(const CallbackPlace& place, CallbackRecord record, std::int64_t due_ms);
  void erase(const CallbackPlace& place);
  void erase_task(const std::string& task);
  const CallbackRecord* find(const CallbackPlace& place) const;
  std::vector<CallbackPlace> of_task(const std::string& task) const;  // in the order of the log
  // How far a task's reports were processed. One that is over is not kept.
  void set_cursor(const std::string& task, const CallbackCursor& cursor);
  CallbackCursor cursor(const std::string& task) const;

  // Takes one that is due; it is due again after set(), schedule(), or the release of what it waits for.
  std::optional<CallbackPlace> take_due(std::int64_t now_ms);
  void schedule(const CallbackPlace& place, std::int64_t due_ms);
  void wait_for(const std::string& what, const CallbackPlace& place);
  void release(const std::string& what);

 private:
  struct Entry {
    CallbackRecord record;
    std::optional<std::int64_t> due_ms;
  };
  using Entries = std::map<CallbackPlace, Entry>;
  void unschedule(Entries::iterator entry);
  Entries::iterator erase(Entries::iterator entry);

  Entries entries_;
  std::map<std::string, CallbackCursor> cursors_;  // of tasks that request reports
  std::set<std::pair<std::int64_t, CallbackPlace>> due_;
  std::map<std::string, std::set<CallbackPlace>> waiting_;
};

}  // namespace shepherd
