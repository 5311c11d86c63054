#include "process/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cctype>
#include <charconv>
#include <csignal>
#include <map>
#include <string_view>

#include "base/limits.h"
#include "process/limits.h"

namespace shepherd {
namespace {

std::string proc_path(pid_t pid, std::string_view file) {
  return "/proc/" + std::to_string(pid) + "/" + std::string(file);
}

std::optional<std::string> read_small_file(const std::string& path, std::size_t most) {
  int fd = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string text;
  char piece[4096];
  while (text.size() < most) {
    ssize_t got = ::read(fd, piece, std::min(sizeof piece, most - text.size()));
    if (got <= 0) break;
    text.append(piece, static_cast<std::size_t>(got));
  }
  ::close(fd);
  return text;
}

// Removes the next number from a text of numbers separated by spaces and returns it.
template <class Number>
Number take_number(std::string_view& text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\n')) text.remove_prefix(1);
  Number value{};
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  if (error != std::errc{}) text = {};
  return value;
}

std::vector<pid_t> numbered_entries(const std::string& directory) {
  std::vector<pid_t> numbers;
  DIR* open = ::opendir(directory.c_str());
  if (open == nullptr) return numbers;
  while (const dirent* entry = ::readdir(open)) {
    if (std::isdigit(static_cast<unsigned char>(entry->d_name[0])) != 0) {
      numbers.push_back(static_cast<pid_t>(std::strtol(entry->d_name, nullptr, 10)));
    }
  }
  ::closedir(open);
  return numbers;
}

// A kernel without CONFIG_PROC_CHILDREN lacks the file.
bool kernel_lists_children() {
  static const bool listed =
      ::access(("/proc/self/task/" + std::to_string(::getpid()) + "/children").c_str(), R_OK) == 0;
  return listed;
}

// Each thread has its own children.
void append_listed_children(pid_t pid, std::vector<pid_t>& children) {
  for (pid_t thread : numbered_entries(proc_path(pid, "task"))) {
    auto text = read_small_file(proc_path(pid, "task/" + std::to_string(thread) + "/children"), 16 * kMiB);
    if (!text) continue;
    for (std::string_view rest = *text; !rest.empty();) {
      auto child = take_number<pid_t>(rest);
      if (child > 0) children.push_back(child);
    }
  }
}

std::multimap<pid_t, pid_t> all_children_by_parent() {
  std::multimap<pid_t, pid_t> by_parent;
  for (pid_t pid : numbered_entries("/proc")) {
    if (auto stat = process_stat(pid)) by_parent.emplace(stat->parent, pid);
  }
  return by_parent;
}

}  // namespace

std::optional<ProcessStat> process_stat(pid_t pid) {
  auto text = read_small_file(proc_path(pid, "stat"), 4096);
  // "pid (name) S parent …": the name may contain spaces and brackets, so the last bracket ends it.
  if (!text || text->empty()) return std::nullopt;
  std::size_t name_end = text->rfind(')');
  if (name_end == std::string::npos || name_end + 3 > text->size()) return std::nullopt;
  std::string_view rest = std::string_view(*text).substr(name_end + 2);
  ProcessStat stat;
  stat.pid = pid;
  stat.state = rest.front();
  rest.remove_prefix(1);
  stat.parent = take_number<pid_t>(rest);
  stat.group = take_number<pid_t>(rest);
  stat.session = take_number<pid_t>(rest);
  for (int skipped = 7; skipped <= 13; ++skipped) take_number<std::int64_t>(rest);
  stat.cpu_ticks = take_number<std::uint64_t>(rest);
  stat.cpu_ticks += take_number<std::uint64_t>(rest);
  stat.waited_ticks = static_cast<std::uint64_t>(take_number<std::int64_t>(rest));
  stat.waited_ticks += static_cast<std::uint64_t>(take_number<std::int64_t>(rest));
  for (int skipped = 18; skipped <= 21; ++skipped) take_number<std::int64_t>(rest);
  stat.start_ticks = take_number<std::uint64_t>(rest);
  take_number<std::uint64_t>(rest);  // virtual size
  auto pages = take_number<std::int64_t>(rest);
  static const auto page_bytes = static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE));
  stat.resident_bytes = pages > 0 ? static_cast<std::uint64_t>(pages) * page_bytes : 0;
  return stat;
}

std::string command_line(pid_t pid) {
  std::string text = read_small_file(proc_path(pid, "cmdline"), kMaxCommandLineBytes).value_or("");
  while (!text.empty() && text.back() == '\0') text.pop_back();
  for (char& c : text) {
    if (c == '\0') c = ' ';
  }
  if (!text.empty()) return text;
  text = read_small_file(proc_path(pid, "comm"), kMaxCommandLineBytes).value_or("");
  while (!text.empty() && text.back() == '\n') text.pop_back();
  return text.empty() ? text : "[" + text + "]";
}

std::vector<ProcessStat> descendants_of(pid_t root, const Visit& visit) {
  std::multimap<pid_t, pid_t> by_parent;
  bool listed = kernel_lists_children();
  if (!listed) by_parent = all_children_by_parent();
  std::vector<ProcessStat> found;
  std::vector<pid_t> children;
  std::size_t next = 0;
  for (pid_t parent = root;;) {
    children.clear();
    if (listed) {
      append_listed_children(parent, children);
    } else {
      for (auto [at, end] = by_parent.equal_range(parent); at != end; ++at) children.push_back(at->second);
    }
    for (pid_t child : children) {
      auto stat = process_stat(child);
      if (!stat || stat->parent != parent) continue;
      found.push_back(*stat);
      if (visit) visit(*stat);
    }
    if (next == found.size()) return found;
    parent = found[next++].pid;
  }
}

bool signal_child_of(pid_t parent, pid_t pid, int signal) {
  int pidfd = static_cast<int>(::syscall(SYS_pidfd_open, pid, 0));
  if (pidfd < 0) {
    // Without pidfd in the kernel, the time between check and signal is kept as short as possible.
    if (errno != ENOSYS) return false;
    auto stat = process_stat(pid);
    return stat && stat->parent == parent && ::kill(pid, signal) == 0;
  }
  // The descriptor was opened first: if the number now belongs to a child of `parent`, so does the descriptor, or it
  // refers to a dead process and the signal has no effect.
  auto stat = process_stat(pid);
  bool sent = stat && stat->parent == parent && ::syscall(SYS_pidfd_send_signal, pidfd, signal, nullptr, 0) == 0;
  ::close(pidfd);
  return sent;
}

}  // namespace shepherd
