#include "outbox/spool.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "outbox/limits.h"
#include "outbox/spool_reader.h"

namespace shepherd {
namespace {

constexpr std::string_view kSuffix = ".spool";
constexpr std::string_view kAsideSuffix = ".undeliverable";
constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

std::string identity_text(const SpoolIdentity& identity) {
  return identity.task + "\n" + identity.producer + "\n" + identity.destination + "\n" + std::to_string(identity.lease);
}

SpoolIdentity parse_identity(std::string_view text) {
  std::size_t first = std::min(text.find('\n'), text.size());
  std::size_t second = std::min(text.find('\n', first + 1), text.size());
  if (first == text.size() || second == text.size()) return {};
  std::size_t third = std::min(text.find('\n', second + 1), text.size());
  SpoolIdentity identity{std::string(text.substr(0, first)), std::string(text.substr(first + 1, second - first - 1)),
                         std::string(text.substr(second + 1, third - second - 1)), 0};
  // Older spools have no lease.
  if (third < text.size()) std::from_chars(text.data() + third + 1, text.data() + text.size(), identity.lease);
  return identity;
}

std::string record_bytes(SpoolKind kind, std::uint64_t number, std::string_view text) {
  std::string bytes;
  append_record(bytes, {kind, number, text});
  return bytes;
}

bool write_all(int file, std::string_view bytes, off_t at) {
  while (!bytes.empty()) {
    ssize_t wrote = ::pwrite(file, bytes.data(), bytes.size(), at);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
    at += wrote;
  }
  return true;
}

// Reserves the bytes on the disk without growing the file. Returns the error number, or 0.
int allocate(int file, off_t from, off_t to) {
  while (::fallocate(file, FALLOC_FL_KEEP_SIZE, from, to - from) != 0) {
    if (errno != EINTR) return errno;
  }
  return 0;
}

void sync_directory(const std::string& path) {
  Descriptor directory(::open(std::filesystem::path(path).parent_path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (directory) ::fsync(directory.get());
}

// The file may have been removed or replaced between open and lock.
bool is_still_at(const Descriptor& file, const std::string& path) {
  struct stat opened{}, named{};
  return ::fstat(file.get(), &opened) == 0 && ::stat(path.c_str(), &named) == 0 && opened.st_ino == named.st_ino &&
         opened.st_dev == named.st_dev;
}

off_t size_of(const Descriptor& file) {
  struct stat facts{};
  return ::fstat(file.get(), &facts) == 0 ? facts.st_size : 0;
}

}  // namespace

std::unexpected<Error> Spool::failed(const char* what) const {
  ErrorCode code = errno == ENOSPC || errno == EDQUOT ? ErrorCode::storage_full : ErrorCode::unavailable;
  return fail(code, code == ErrorCode::storage_full ? "spool_full" : "spool_failed",
              std::string("cannot ") + what + " " + path_ + ": " + std::strerror(errno));
}

Result<std::unique_ptr<Spool>> Spool::create(const std::string& directory, SpoolIdentity identity,
                                             std::size_t max_bytes, std::size_t trim_bytes) {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  std::string path = directory + "/" + identity.task + "~" + identity.producer + std::string(kSuffix);
  std::unique_ptr<Spool> spool(new Spool(std::move(path), max_bytes, trim_bytes));
  MutexLock lock(spool->mutex_);
  // Uses another name until the file is locked and has its identity, because pending() treats an empty one as a
  // leftover.
  std::string first_path = spool->path_ + ".new";
  spool->file_ = Descriptor(::open(first_path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly));
  if (!spool->file_ || ::flock(spool->file_.get(), LOCK_EX | LOCK_NB) != 0) return spool->failed("create");
  auto written = spool->write(record_bytes(SpoolKind::identity, 0, identity_text(identity)));
  if (!written || ::rename(first_path.c_str(), spool->path_.c_str()) != 0) {
    std::unexpected<Error> why = written ? spool->failed("create") : fail(std::move(written.error()));
    ::unlink(first_path.c_str());
    return why;
  }
  spool->identity_ = std::move(identity);
  spool->start_ = spool->cursor_ = {1, spool->end_};
  return spool;
}

Result<std::unique_ptr<Spool>> Spool::open(const std::string& path, std::size_t max_bytes, std::size_t trim_bytes) {
  std::unique_ptr<Spool> spool(new Spool(path, max_bytes, trim_bytes));
  auto loaded = spool->load();
  if (!loaded) return fail(std::move(loaded.error()));
  return spool;
}

Result<void> Spool::load() {
  MutexLock lock(mutex_);
  file_ = Descriptor(::open(path_.c_str(), O_RDWR | O_CLOEXEC));
  if (!file_) return failed("open");
  if (::flock(file_.get(), LOCK_EX | LOCK_NB) != 0 || !is_still_at(file_, path_)) {
    return fail(ErrorCode::unavailable, "spool_in_use", path_ + " is being delivered by another process");
  }
  off_t size = size_of(file_);
  SpoolReader reader(file_.get(), 0, size);
  auto head = reader.next();
  if (head && head->kind == SpoolKind::identity) identity_ = parse_identity(head->text);
  if (identity_.task.empty() || identity_.producer.empty()) {
    return fail(ErrorCode::invalid_argument, "not_a_spool", path_ + " does not begin like a spool");
  }
  end_ = reader.offset();
  start_ = {1, end_};
  while (auto record = reader.next()) {
    learn(*record);
    end_ = reader.offset();
  }
  cursor_ = start_;
  written_ = last_;
  noted_ = delivered_;
  recount();
  if (end_ == size) return {};
  cut_bytes_ = static_cast<std::size_t>(size - end_);
  log_warn("{}: the last {} bytes were not written whole and are cut off", path_, cut_bytes_);
  if (::ftruncate(file_.get(), end_) != 0) return failed("cut the end of");
  return {};
}

// `end_` is the start of the record.
void Spool::learn(const SpoolRecord& record) {
  switch (record.kind) {
    case SpoolKind::event:
      if (last_ < first_) {  // the first event
        first_ = record.number;
        start_ = {first_, end_};
      }
      last_ = record.number;
      break;
    case SpoolKind::replaced:
      replaced_[record.number] = record.text;
      break;
    case SpoolKind::delivered:
      delivered_ = record.number;
      if (delivered_ > last_) {
        last_ = delivered_;
        first_ = last_ + 1;
        start_ = {first_, end_};
      }
      break;
    case SpoolKind::identity:
      break;
  }
}

SpoolIdentity Spool::identity() const {
  MutexLock lock(mutex_);
  return identity_;
}

std::uint64_t Spool::last() const {
  MutexLock lock(mutex_);
  return last_;
}

std::uint64_t Spool::delivered() const {
  MutexLock lock(mutex_);
  return delivered_;
}

std::uint64_t Spool::first() const {
  MutexLock lock(mutex_);
  return first_;
}

// Reserves room for the last entries after the next write.
bool Spool::make_room(off_t until) {
  if (!keeps_room_ || until <= room_until_) return true;
  // Reserves twice the need, so that not every event allocates.
  for (off_t to : {until + static_cast<off_t>(kSpoolRoomBytes), until}) {
    int error = allocate(file_.get(), end_, to);
    if (error == 0) {
      room_until_ = to;
      return true;
    }
    errno = error;  // for failed()
    if (error == ENOSPC || error == EDQUOT) continue;
    keeps_room_ = false;
    return true;
  }
  return false;
}

Result<void> Spool::write(std::string_view bytes, bool last) {
  off_t end = end_ + static_cast<off_t>(bytes.size());
  if (!last && !make_room(end + static_cast<off_t>(kSpoolRoomBytes))) return failed("write");
  if (!write_all(file_.get(), bytes, end_)) {
    auto error = failed("write");
    // Keeps whole records only; the rest of a failed truncation is overwritten or rejected by its checksum.
    [[maybe_unused]] int cut = ::ftruncate(file_.get(), end_);
    return error;
  }
  end_ += static_cast<off_t>(bytes.size());
  return {};
}

std::string Spool::records_of(const std::vector<std::string>& events) const {
  std::string bytes;
  // Events that were delivered from memory are in no file, so a later reader must not look for them.
  if (noted_ != delivered_) append_record(bytes, {SpoolKind::delivered, delivered_, {}});
  std::uint64_t number = last_ - held_.size();
  for (const std::string& event : held_) {
    auto other = replaced_.find(++number);
    append_record(bytes, {SpoolKind::event, number, other == replaced_.end() ? event : other->second});
    if (other != replaced_.end()) append_record(bytes, {SpoolKind::replaced, number, other->second});
  }
  for (const std::string& event : events) append_record(bytes, {SpoolKind::event, ++number, event});
  return bytes;
}

Result<void> Spool::append(const std::vector<std::string>& events, bool last) {
  MutexLock lock(mutex_);
  std::string bytes = records_of(events);
  if (!last && static_cast<std::size_t>(end_) + bytes.size() > max_bytes_) {
    // A rewrite copies everything undelivered, so it must gain enough.
    bool worth_it = delivered_ >= first_ && delivered_ - first_ + 1 >= (last_ - first_ + 1) / 4;
    if (worth_it) {
      if (auto done = rewrite(identity_, delivered_ + 1); !done) return done;
      bytes = records_of(events);
    }
    if (static_cast<std::size_t>(end_) + bytes.size() > max_bytes_) {
      return fail(ErrorCode::storage_full, "spool_full", path_ + " has reached its bound");
    }
  }
  off_t begin = end_;
  if (auto written = write(bytes, last); !written) return written;
  if (delivered_ > written_) {  // delivered from memory, so the file begins anew here
    first_ = delivered_ + 1;
    start_ = cursor_ = {first_, begin};
  }
  last_ += events.size();
  written_ = last_;
  noted_ = delivered_;
  held_.clear();
  held_bytes_ = 0;
  recount();
  return {};
}

void Spool::hold(std::vector<std::string> events) {
  MutexLock lock(mutex_);
  for (std::string& event : events) {
    held_bytes_ += event.size();
    held_.push_back(std::move(event));
    ++last_;
  }
  recount();
}

std::deque<std::string> Spool::drop_held() {
  MutexLock lock(mutex_);
  last_ -= held_.size();
  held_bytes_ = 0;
  recount();
  return std::exchange(held_, {});
}

void Spool::forget_delivered() {
  while (!held_.empty() && last_ - held_.size() < delivered_) {
    held_bytes_ -= held_.front().size();
    held_.pop_front();
  }
}

Result<std::vector<SpooledEvent>> Spool::read_after(std::uint64_t number, std::size_t max_events,
                                                    std::size_t max_bytes) {
  MutexLock lock(mutex_);
  return read_from(number + 1, max_events, max_bytes);
}

Result<std::vector<SpooledEvent>> Spool::read_from(std::uint64_t number, std::size_t max_events,
                                                   std::size_t max_bytes) {
  std::vector<SpooledEvent> events;
  Place place = number >= cursor_.number ? cursor_ : start_;
  SpoolReader reader(file_.get(), place.offset, end_);
  std::size_t bytes = 0;
  while (place.number <= written_ && events.size() < max_events) {
    auto record = reader.next();
    if (!record) {
      return fail(ErrorCode::unavailable, "spool_failed",
                  path_ + " cannot be read at " + std::to_string(reader.offset()));
    }
    if (record->kind == SpoolKind::event && record->number >= number) {
      if (!events.empty() && bytes + record->text.size() > max_bytes) {
        cursor_ = place;
        return events;
      }
      auto other = replaced_.find(record->number);
      bool replaced = other != replaced_.end();
      events.push_back({record->number, replaced ? other->second : std::string(record->text), replaced});
      bytes += events.back().json.size();
    }
    if (record->kind == SpoolKind::event) place.number = record->number + 1;
    place.offset = reader.offset();
  }
  cursor_ = place;
  std::uint64_t held = last_ - held_.size();
  for (const std::string& event : held_) {
    if (++held < number) continue;
    if (events.size() >= max_events || (!events.empty() && bytes + event.size() > max_bytes)) break;
    auto other = replaced_.find(held);
    bool replaced = other != replaced_.end();
    events.push_back({held, replaced ? other->second : event, replaced});
    bytes += events.back().json.size();
  }
  return events;
}

Result<void> Spool::set_delivered(std::uint64_t number) {
  MutexLock lock(mutex_);
  delivered_ = std::min(number, last_);
  forget_delivered();
  recount();
  if (delivered_ == last_ && static_cast<std::size_t>(end_) > trim_bytes_) return rewrite(identity_, last_ + 1);
  // If this write fails, those events are posted once more. Events that are not in the file need no entry yet.
  if (delivered_ > written_) return {};
  auto written = write(record_bytes(SpoolKind::delivered, delivered_, {}));
  if (written) noted_ = delivered_;
  return written;
}

Result<void> Spool::replace(std::uint64_t number, std::string json) {
  MutexLock lock(mutex_);
  auto written = write(record_bytes(SpoolKind::replaced, number, json));
  replaced_[number] = std::move(json);
  return written;
}

Result<void> Spool::change_producer(std::string producer) {
  MutexLock lock(mutex_);
  SpoolIdentity identity = identity_;
  identity.producer = std::move(producer);
  return rewrite(identity, 1);
}

Result<void> Spool::rewrite(const SpoolIdentity& identity, std::uint64_t first_number) {
  std::string next_path = path_ + ".new";
  Descriptor next(::open(next_path.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, kOwnerOnly));
  if (!next || ::flock(next.get(), LOCK_EX | LOCK_NB) != 0) return failed("start over");
  std::string bytes = record_bytes(SpoolKind::identity, 0, identity_text(identity));
  append_record(bytes, {SpoolKind::delivered, first_number - 1, {}});
  off_t written = 0;
  auto start = static_cast<off_t>(bytes.size());
  std::map<std::uint64_t, std::string> replaced;
  std::uint64_t number = first_number;
  for (std::uint64_t from = delivered_ + 1; from <= last_;) {
    auto events = read_from(from, kPostLines, kPostBytes);
    if (!events) return fail(std::move(events.error()));
    if (events->empty()) break;
    for (const SpooledEvent& event : *events) {
      append_record(bytes, {SpoolKind::event, number, event.json});
      if (event.replaced) {
        append_record(bytes, {SpoolKind::replaced, number, event.json});
        replaced[number] = event.json;
      }
      from = event.number + 1;
      ++number;
    }
    if (!write_all(next.get(), bytes, written)) return failed("start over");
    written += static_cast<off_t>(bytes.size());
    bytes.clear();
  }
  if (!write_all(next.get(), bytes, written)) return failed("start over");
  written += static_cast<off_t>(bytes.size());
  // The new file must be completely on the disk before it replaces the old one.
  if (::fdatasync(next.get()) != 0 || ::rename(next_path.c_str(), path_.c_str()) != 0) return failed("start over");
  sync_directory(path_);
  file_ = std::move(next);
  identity_ = identity;
  end_ = written;
  replaced_ = std::move(replaced);
  first_ = first_number;
  last_ = written_ = number - 1;
  delivered_ = noted_ = first_number - 1;
  held_.clear();
  held_bytes_ = 0;
  room_until_ = 0;
  recount();
  start_ = cursor_ = {first_, start};
  return {};
}

void Spool::sync() {
  MutexLock lock(mutex_);
  if (!file_) return;
  ::fdatasync(file_.get());
  sync_directory(path_);
}

void Spool::remove() {
  MutexLock lock(mutex_);
  ::unlink(path_.c_str());
}

Result<std::string> Spool::set_aside(const std::string& path) {
  std::string aside = std::filesystem::path(path).replace_extension(kAsideSuffix).string();
  if (::rename(path.c_str(), aside.c_str()) != 0) {
    return fail(ErrorCode::unavailable, "spool_failed", "cannot set " + path + " aside: " + std::strerror(errno));
  }
  return aside;
}

std::vector<PendingSpool> Spool::pending(const std::string& directory) {
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(directory, error)) {
    if (entry.path().extension() == kSuffix) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  std::vector<PendingSpool> found;
  for (const std::string& path : paths) {
    Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!file) continue;
    PendingSpool spool;
    spool.path = path;
    spool.in_use = ::flock(file.get(), LOCK_EX | LOCK_NB) != 0;
    Spool look(path, kSpoolBytes, kSpoolTrimBytes);
    SpoolReader reader(file.get(), 0, size_of(file));
    auto head = reader.next();
    bool known = head && head->kind == SpoolKind::identity;
    if (known) spool.identity = parse_identity(head->text);
    {
      MutexLock lock(look.mutex_);
      while (auto record = reader.next()) look.learn(*record);
      spool.events = look.last_ - look.delivered_;
    }
    if (known && (spool.events > 0 || spool.in_use)) {
      found.push_back(std::move(spool));
    } else if (!spool.in_use && (known || size_of(file) == 0)) {
      ::unlink(path.c_str());
    }
  }
  return found;
}

}  // namespace shepherd
