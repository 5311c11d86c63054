// The audit's file on disk: audit.ndjson, rotated by size to audit.ndjson.1 (newest) and so on. Mode 0600.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "access/limits.h"
#include "base/result.h"

namespace shepherd {

// Contains whole lines only: a line cut off by a full disk or a crash is removed or ended with a newline.
// Threads: caller.
class AuditFile {
 public:
  explicit AuditFile(std::string path, std::size_t max_bytes = kAuditFileBytes, int files = kAuditFiles);
  ~AuditFile();
  AuditFile(const AuditFile&) = delete;
  AuditFile& operator=(const AuditFile&) = delete;

  // Opens or creates the file. unavailable/audit_file.
  Result<void> open();
  // Appends whole lines, all or none. Rotates first if they would not fit.
  Result<void> append(std::string_view lines);

 private:
  Result<void> rotate();
  void close();
  std::string numbered(int n) const { return path_ + "." + std::to_string(n); }

  const std::string path_;
  const std::size_t max_bytes_;
  const int files_;
  int fd_ = -1;
  std::size_t size_ = 0;
};

}  // namespace shepherd
