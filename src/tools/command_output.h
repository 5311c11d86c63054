// The output of a command: its beginning and its end are kept, the middle is counted. Threads: caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tools/limits.h"
#include "tools/newest_bytes.h"

namespace shepherd {

class CommandOutput {
 public:
  void add(std::string_view bytes);
  std::uint64_t bytes() const { return bytes_; }
  // As text; a note in its middle says how much is missing.
  std::string text() const;
  std::string last_line() const;  // the newest that is not blank; or empty

 private:
  std::string head_;
  NewestBytes tail_{kMaxCommandTailBytes};
  std::uint64_t bytes_ = 0;
  bool binary_ = false;
};

}  // namespace shepherd
