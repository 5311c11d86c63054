#include "access/audit.h"

#include <pthread.h>

#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "access/audit_file.h"
#include "access/limits.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/mutex.h"
#include "json/write.h"

namespace shepherd {
namespace {

constexpr std::size_t kHurryRecords = kAuditQueue / 2;  // a queue this full is written without waiting

void append_text(std::string& out, std::string_view member, std::string_view text) {
  if (text.empty()) return;
  out += ",\"";
  out += member;
  out += "\":";
  append_json_string(out, text);
}

void append_number(std::string& out, std::string_view member, std::int64_t number) {
  out += ",\"";
  out += member;
  out += "\":";
  out += std::to_string(number);
}

void append_at(std::string& out, std::int64_t at_ms) {
  out += "{\"at\":\"";
  append_timestamp(out, at_ms);
  out += '"';
}

void append_line(std::string& out, const AuditRecord& record) {
  append_at(out, record.at_ms);
  append_text(out, "person", record.person);
  append_text(out, "token", record.token_id);
  append_text(out, "peer", record.peer);
  append_text(out, "method", record.method);
  append_text(out, "path", record.path);
  append_number(out, "status", record.status);
  append_text(out, "reason", record.reason);
  if (record.first >= 0) append_number(out, "first", record.first);
  if (record.last >= 0) append_number(out, "last", record.last);
  append_number(out, "durationMS", record.duration_ms);
  out += "}\n";
}

// Two buffers: callers fill one under a mutex held only for a move, and the thread writes the other. Callers wake the
// thread only with the first record of a buffer and when it fills up.
class FileAudit final : public Audit {
 public:
  FileAudit(std::string path, MetricRegistry& metrics)
      : file_(std::move(path)),
        written_(metrics.counter("shepherd_audit_records_total", "Audit records written to disk.")),
        dropped_(
            metrics.counter("shepherd_audit_dropped_total", "Audit records lost because the disk did not follow.")) {}

  ~FileAudit() override {
    {
      MutexLock lock(mutex_);
      stopping_ = true;
    }
    ready_.notify_one();
    if (thread_.joinable()) thread_.join();
  }

  Result<void> start() {
    if (auto opened = file_.open(); !opened) return opened;
    thread_ = std::thread([this] { run(); });
    return {};
  }

  void record(AuditRecord record) override EXCLUDES(mutex_) {
    bool wake = false;
    {
      MutexLock lock(mutex_);
      if (queue_.size() >= kAuditQueue) {
        ++lost_;
        dropped_.add();
        return;
      }
      queue_.push_back(std::move(record));
      wake = queue_.size() == 1 || queue_.size() == kHurryRecords;
    }
    if (wake) ready_.notify_one();
  }

 private:
  void run() EXCLUDES(mutex_) {
    pthread_setname_np(pthread_self(), "audit");
    std::vector<AuditRecord> batch;
    bool stopping = false;
    while (!stopping) {
      std::uint64_t lost = 0;
      {
        MutexLock lock(mutex_);
        while (queue_.empty() && !stopping_) ready_.wait(mutex_);
        if (queue_.size() < kHurryRecords && !stopping_) ready_.wait_for(mutex_, kAuditFlush);
        std::swap(batch, queue_);
        lost = std::exchange(lost_, 0);
        stopping = stopping_;
      }
      write(batch, lost);
      bool was_a_burst = batch.capacity() > 8 * batch.size() + 1024;
      batch.clear();
      if (was_a_burst) batch.shrink_to_fit();
    }
  }

  void write(const std::vector<AuditRecord>& batch, std::uint64_t lost) {
    std::string lines;
    std::uint64_t in_lines = 0;
    for (const auto& record : batch) {
      append_line(lines, record);
      ++in_lines;
      if (lines.size() < kAuditWriteBytes) continue;
      flush(lines, in_lines);
    }
    unreported_ += lost;
    if (unreported_ != 0 && !batch.empty()) {
      append_at(lines, batch.back().at_ms);
      append_number(lines, "dropped", static_cast<std::int64_t>(unreported_));
      lines += "}\n";
      std::uint64_t reported = std::exchange(unreported_, 0);
      if (!flush(lines, in_lines)) unreported_ += reported;
      return;
    }
    flush(lines, in_lines);
  }

  // Writes and empties `lines`. Lines that cannot be written are dropped, counted and reported later.
  bool flush(std::string& lines, std::uint64_t& in_lines) {
    if (lines.empty()) return true;
    auto appended = file_.append(lines);
    if (appended) {
      written_.add(in_lines);
    } else {
      dropped_.add(in_lines);
      unreported_ += in_lines;
      if (!failing_) log_error("audit records are being dropped: {}", appended.error().message);
    }
    failing_ = !appended;
    lines.clear();
    in_lines = 0;
    return appended.has_value();
  }

  AuditFile file_;                // owned by the thread once it runs
  std::uint64_t unreported_ = 0;  // owned by the thread: dropped records that no line reports yet
  bool failing_ = false;          // owned by the thread
  Counter& written_;
  Counter& dropped_;
  Mutex mutex_;
  CondVar ready_;
  std::vector<AuditRecord> queue_ GUARDED_BY(mutex_);
  std::uint64_t lost_ GUARDED_BY(mutex_) = 0;
  bool stopping_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace

Result<std::unique_ptr<Audit>> Audit::open(const std::string& directory, MetricRegistry& metrics) {
  auto audit = std::make_unique<FileAudit>(directory + "/audit.ndjson", metrics);
  if (auto started = audit->start(); !started) return fail(started.error());
  return audit;
}

}  // namespace shepherd
