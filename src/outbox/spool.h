// The events of one producer on disk, until the server has them.
//
// An append-only file of checksummed records. Every event goes into it before it is posted, so a runner that is killed
// leaves nothing behind that is only in memory: a write survives the death of the process. It survives the death of the
// machine after sync(), which costs milliseconds and is worth it only while the server is away; otherwise the server,
// which does sync, has the event before a sync would have ended.
//
// The producer's id lives in the file, and so do the numbers of its events, 1, 2, 3, …: a later runner posts
// the same events under the same numbers, and the server recognises what it has. What the last write left unfinished is
// cut off when the file is opened. A lock on the file keeps two from delivering it at once.
//
// While the disk takes nothing more, events can be held in memory: they have numbers and can be read and delivered like
// the others, and the next append writes them. A little room behind the end is kept for the last words of a producer.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.h"
#include "base/mutex.h"
#include "base/result.h"
#include "outbox/limits.h"
#include "outbox/spool_record.h"

namespace shepherd {

struct SpoolIdentity {
  std::string task;
  std::string producer;
  std::string destination;  // where it was meant to go, for people
  std::int64_t lease = 0;   // what its events are posted under; 0: none
};

struct SpooledEvent {
  std::uint64_t number = 0;
  std::string json;
  bool replaced = false;
};

// A spool that an earlier runner left behind.
struct PendingSpool {
  std::string path;
  SpoolIdentity identity;
  std::uint64_t events = 0;  // not delivered
  bool in_use = false;       // a living process is delivering it
};

// Failures: unavailable/spool_in_use, unavailable/spool_failed, storage_full/spool_full (the disk, or kSpoolBytes), and
// invalid_argument/not_a_spool. What fails leaves the file as it was.
// Threads: any.
class Spool {
 public:
  // A new file in the directory, which is made if needed.
  static Result<std::unique_ptr<Spool>> create(const std::string& directory, SpoolIdentity identity,
                                               std::size_t max_bytes = kSpoolBytes,
                                               std::size_t trim_bytes = kSpoolTrimBytes);
  static Result<std::unique_ptr<Spool>> open(const std::string& path, std::size_t max_bytes = kSpoolBytes,
                                             std::size_t trim_bytes = kSpoolTrimBytes);
  // The undelivered spools of a directory, oldest name first. Files that hold nothing undelivered and that no
  // process uses are removed on the way.
  static std::vector<PendingSpool> pending(const std::string& directory);
  // Renames one that no server can take, so that pending() skips it and a person can still look. Returns its new path.
  static Result<std::string> set_aside(const std::string& path);

  const std::string& path() const { return path_; }
  SpoolIdentity identity() const EXCLUDES(mutex_);
  std::uint64_t last() const EXCLUDES(mutex_);                // number of the newest event
  std::uint64_t delivered() const EXCLUDES(mutex_);           // the server has all up to this one
  std::uint64_t first() const EXCLUDES(mutex_);               // the oldest event that is still in the file
  std::uint64_t undelivered() const { return undelivered_; }  // never waits for the disk
  std::size_t cut_bytes() const { return cut_bytes_; }        // what open() found damaged at the end

  // Gives the events the next numbers, behind what is held, which is written with them. All or none.
  Result<void> append(const std::vector<std::string>& events) EXCLUDES(mutex_) { return append(events, false); }
  // The same with the room that is kept for it, beyond any bound.
  Result<void> append_last(const std::vector<std::string>& events) EXCLUDES(mutex_) { return append(events, true); }
  // Gives them the next numbers, in memory alone.
  void hold(std::vector<std::string> events) EXCLUDES(mutex_);
  // Forgets what is held and not delivered, and gives it back.
  std::deque<std::string> drop_held() EXCLUDES(mutex_);
  std::size_t held_bytes() const { return held_bytes_; }  // never waits for the disk
  bool holds() const { return held_bytes_ > 0; }
  // The events after `number`, at most so many and about so many bytes, one at least.
  Result<std::vector<SpooledEvent>> read_after(std::uint64_t number, std::size_t max_events, std::size_t max_bytes)
      EXCLUDES(mutex_);
  // Also back to a lower number, when the server has lost what it had.
  Result<void> set_delivered(std::uint64_t number) EXCLUDES(mutex_);
  // From now on the event of that number is this one.
  Result<void> replace(std::uint64_t number, std::string json) EXCLUDES(mutex_);
  // What is not delivered becomes 1, 2, 3, … of another producer.
  Result<void> change_producer(std::string producer) EXCLUDES(mutex_);
  // Until the disk itself has it.
  void sync() EXCLUDES(mutex_);
  void remove() EXCLUDES(mutex_);

 private:
  struct Place {
    std::uint64_t number = 0;  // of the next event at or after the offset
    off_t offset = 0;
  };

  Spool(std::string path, std::size_t max_bytes, std::size_t trim_bytes)
      : path_(std::move(path)), max_bytes_(max_bytes), trim_bytes_(trim_bytes) {}

  Result<void> append(const std::vector<std::string>& events, bool last) EXCLUDES(mutex_);
  // What is to be written: the held events and these.
  std::string records_of(const std::vector<std::string>& events) const REQUIRES(mutex_);
  void forget_delivered() REQUIRES(mutex_);
  bool make_room(off_t until) REQUIRES(mutex_);
  Result<void> load() EXCLUDES(mutex_);
  void learn(const SpoolRecord& record) REQUIRES(mutex_);
  void recount() REQUIRES(mutex_) { undelivered_ = last_ - delivered_; }
  Result<void> write(std::string_view bytes, bool last = false) REQUIRES(mutex_);
  // Starts the file over with what is not delivered, under the given identity.
  Result<void> rewrite(const SpoolIdentity& identity, std::uint64_t first_number) REQUIRES(mutex_);
  Result<std::vector<SpooledEvent>> read_from(std::uint64_t number, std::size_t max_events, std::size_t max_bytes)
      REQUIRES(mutex_);
  std::unexpected<Error> failed(const char* what) const;

  const std::string path_;
  const std::size_t max_bytes_, trim_bytes_;
  std::size_t cut_bytes_ = 0;
  std::atomic<std::uint64_t> undelivered_ = 0;
  std::atomic<std::size_t> held_bytes_ = 0;
  mutable Mutex mutex_;
  Descriptor file_ GUARDED_BY(mutex_);
  SpoolIdentity identity_ GUARDED_BY(mutex_);
  off_t end_ GUARDED_BY(mutex_) = 0;
  std::uint64_t first_ GUARDED_BY(mutex_) = 1;
  std::uint64_t last_ GUARDED_BY(mutex_) = 0;
  std::uint64_t written_ GUARDED_BY(mutex_) = 0;  // the newest in the file; what comes after it is held
  std::uint64_t delivered_ GUARDED_BY(mutex_) = 0;
  std::uint64_t noted_ GUARDED_BY(mutex_) = 0;                        // what the file says of it
  std::deque<std::string> held_ GUARDED_BY(mutex_);                   // up to `last_`
  off_t room_until_ GUARDED_BY(mutex_) = 0;                           // what the disk has promised
  bool keeps_room_ GUARDED_BY(mutex_) = true;                         // this disk can
  std::map<std::uint64_t, std::string> replaced_ GUARDED_BY(mutex_);  // few: what the server refused
  Place start_ GUARDED_BY(mutex_);                                    // the first event
  Place cursor_ GUARDED_BY(mutex_);                                   // where the last reading ended
};

}  // namespace shepherd
