// What a server prints for people, in this program's log: a bounded number of its lines, each bounded.
// Threads: strand.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

namespace shepherd {

class McpServerLog {
 public:
  explicit McpServerLog(std::string server) : server_(std::move(server)) {}

  // Bytes of its error output, in pieces.
  void add(std::string_view bytes);
  // One line of ours about it.
  void note(std::string_view line);
  // The last line that it printed; empty if there was none.
  const std::string& last_words() const { return last_; }

 private:
  void write(std::string_view line);

  const std::string server_;
  std::string held_, last_;
  bool skipping_ = false;  // the rest of a line that was cut
  std::chrono::steady_clock::time_point window_{};
  std::size_t lines_ = 0, left_out_ = 0;
};

}  // namespace shepherd
