// Reads a spool file record by record, in large pieces. Threads: caller.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "outbox/spool_record.h"

namespace shepherd {

class SpoolReader {
 public:
  // Reads [from, end) of the file.
  SpoolReader(int file, off_t from, off_t end) : file_(file), next_(from), end_(end) {}

  // Returns the next record, whose text lives until the next call; nullopt at the end or at an incomplete record.
  std::optional<SpoolRecord> next();
  // The offset of the record that next() returns.
  off_t offset() const { return next_; }

 private:
  bool hold(std::size_t bytes);

  int file_;
  off_t next_, end_;
  std::string buffer_;
  off_t buffer_at_ = 0;
};

}  // namespace shepherd
