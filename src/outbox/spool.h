// The events of one producer on disk, until the server has them.
//
// An append-only file of checksummed records. Every event is written before it is posted, so a killed runner leaves no
// event that is only in memory: a write survives the death of the process. After sync() it also survives the death of
// the machine. A sync costs milliseconds and is only worth it while the server is down; otherwise the server, which
// does sync, has the event before a sync would have ended.
//
// The file has the producer's id and the numbers of its events, 1, 2, 3, …. A process that opens it again posts the
// same events under the same numbers, and the server recognises those it has. Opening the file cuts off an unfinished
// last write. A lock on the file keeps two processes from delivering it at once.
//
// While the disk is full, events can be held in memory: they have numbers and can be read and delivered like the
// others, and the next append writes them. A little room after the end is reserved for the last entries of a producer.
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
  std::string destination;  // its intended server, for people
  std::int64_t lease = 0;   // the lease of its events; 0 for none
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
  std::uint64_t events = 0;  // number of undelivered events
  bool in_use = false;       // a living process is delivering it
};

// Failures: unavailable/spool_in_use, unavailable/spool_failed, storage_full/spool_full (the disk, or kSpoolBytes), and
// invalid_argument/not_a_spool. A failure leaves the file unchanged.
// Threads: any.
class Spool {
 public:
  // Creates a new file in the directory, which is created if needed.
  static Result<std::unique_ptr<Spool>> create(const std::string& directory, SpoolIdentity identity,
                                               std::size_t max_bytes = kSpoolBytes,
                                               std::size_t trim_bytes = kSpoolTrimBytes);
  static Result<std::unique_ptr<Spool>> open(const std::string& path, std::size_t max_bytes = kSpoolBytes,
                                             std::size_t trim_bytes = kSpoolTrimBytes);
  // The undelivered spools of a directory, oldest name first. Removes unused files without undelivered events.
  static std::vector<PendingSpool> pending(const std::string& directory);
  // Renames a spool that can never be delivered, so that pending() skips it and a person can still inspect it; returns
  // its new path.
  static Result<std::string> set_aside(const std::string& path);

  const std::string& path() const { return path_; }
  SpoolIdentity identity() const EXCLUDES(mutex_);
  std::uint64_t last() const EXCLUDES(mutex_);                // number of the newest event
  std::uint64_t delivered() const EXCLUDES(mutex_);           // the server has everything up to this number
  std::uint64_t first() const EXCLUDES(mutex_);               // the oldest event still in the file
  std::uint64_t undelivered() const { return undelivered_; }  // never waits for the disk
  std::size_t cut_bytes() const { return cut_bytes_; }        // damaged bytes that open() found at the end

  // Gives the events the next numbers, after the held ones, which are written with them. All or none.
  Result<void> append(const std::vector<std::string>& events) EXCLUDES(mutex_) { return append(events, false); }
  // The same, using the reserved room, beyond any bound.
  Result<void> append_last(const std::vector<std::string>& events) EXCLUDES(mutex_) { return append(events, true); }
  // Gives the events the next numbers, only in memory.
  void hold(std::vector<std::string> events) EXCLUDES(mutex_);
  // Removes and returns the held, undelivered events.
  std::deque<std::string> drop_held() EXCLUDES(mutex_);
  std::size_t held_bytes() const { return held_bytes_; }  // never waits for the disk
  bool holds() const { return held_bytes_ > 0; }
  // The events after `number`, at most `max_events` and about `max_bytes`, at least one.
  Result<std::vector<SpooledEvent>> read_after(std::uint64_t number, std::size_t max_events, std::size_t max_bytes)
      EXCLUDES(mutex_);
  // May also go back to a lower number, if the server has lost events.
  Result<void> set_delivered(std::uint64_t number) EXCLUDES(mutex_);
  // Replaces the event with that number.
  Result<void> replace(std::uint64_t number, std::string json) EXCLUDES(mutex_);
  // Renumbers the undelivered events as 1, 2, 3, … of another producer.
  Result<void> change_producer(std::string producer) EXCLUDES(mutex_);
  // Waits until the disk itself has all data.
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
  // The bytes to write: the held events and these.
  std::string records_of(const std::vector<std::string>& events) const REQUIRES(mutex_);
  void forget_delivered() REQUIRES(mutex_);
  bool make_room(off_t until) REQUIRES(mutex_);
  Result<void> load() EXCLUDES(mutex_);
  void learn(const SpoolRecord& record) REQUIRES(mutex_);
  void recount() REQUIRES(mutex_) { undelivered_ = last_ - delivered_; }
  Result<void> write(std::string_view bytes, bool last = false) REQUIRES(mutex_);
  // Rewrites the file with only the undelivered events, under the given identity.
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
  std::uint64_t written_ GUARDED_BY(mutex_) = 0;  // the newest in the file; later ones are held
  std::uint64_t delivered_ GUARDED_BY(mutex_) = 0;
  std::uint64_t noted_ GUARDED_BY(mutex_) = 0;                        // the file's record of delivered_
  std::deque<std::string> held_ GUARDED_BY(mutex_);                   // the events up to `last_`
  off_t room_until_ GUARDED_BY(mutex_) = 0;                           // reserved on the disk
  bool keeps_room_ GUARDED_BY(mutex_) = true;                         // this disk can reserve room
  std::map<std::uint64_t, std::string> replaced_ GUARDED_BY(mutex_);  // the few that the server refused
  Place start_ GUARDED_BY(mutex_);                                    // the first event
  Place cursor_ GUARDED_BY(mutex_);                                   // where the last read ended
};

}  // namespace shepherd
