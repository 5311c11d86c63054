#include "terminal/input_history.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <system_error>

#include "json/scan.h"
#include "json/write.h"
#include "terminal/limits.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

void write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t wrote = ::write(descriptor, bytes.data(), bytes.size());
    if (wrote <= 0) return;
    bytes.remove_prefix(static_cast<std::size_t>(wrote));
  }
}

std::string as_json_line(const std::string& line) {
  std::string text;
  append_json_string(text, line);
  return text + "\n";
}

}  // namespace

InputHistory::InputHistory(std::string file) : file_(std::move(file)) {
  std::error_code error;
  if (file_.empty() || std::filesystem::file_size(file_, error) > kMaxHistoryBytes || error) return;
  std::ifstream in(file_, std::ios::binary);
  std::size_t read = 0;
  for (std::string line; std::getline(in, line); ++read) {
    // The file is the person's, but a text in it may have come from anywhere.
    if (auto text = string_value(line); text && !text->empty()) lines_.push_back(terminal_text(*text, Lines::keep));
  }
  if (lines_.size() > kMaxHistoryEntries) {
    lines_.erase(lines_.begin(), lines_.end() - static_cast<std::ptrdiff_t>(kMaxHistoryEntries));
  }
  if (read > 2 * kMaxHistoryEntries) rewrite();
}

void InputHistory::add(const std::string& line) {
  if (line.empty() || line.size() > kMaxHistoryEntryBytes || (!lines_.empty() && lines_.back() == line)) return;
  lines_.push_back(line);
  if (file_.empty()) return;
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(file_).parent_path(), error);
  int descriptor = ::open(file_.c_str(), O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return;
  write_all(descriptor, as_json_line(line));
  ::close(descriptor);
}

void InputHistory::rewrite() const {
  std::string fresh = file_ + ".new";
  int descriptor = ::open(fresh.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (descriptor < 0) return;
  std::string text;
  for (const std::string& line : lines_) text += as_json_line(line);
  write_all(descriptor, text);
  ::close(descriptor);
  std::error_code error;
  std::filesystem::rename(fresh, file_, error);
}

std::string history_file(const Environment& environment, std::string_view name) {
  std::string state = environment("XDG_STATE_HOME");
  if (state.empty()) {
    std::string home = environment("HOME");
    if (home.empty()) return {};
    state = home + "/.local/state";
  }
  return state + "/shepherd/" + std::string(name);
}

}  // namespace shepherd
