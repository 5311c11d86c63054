#include "bench/process_usage.h"

#include <fmt/format.h>
#include <unistd.h>

#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace shepherd::bench {
namespace {

std::vector<pid_t> with_children(pid_t pid) {
  std::vector<pid_t> all{pid};
  std::ifstream children(fmt::format("/proc/{}/task/{}/children", pid, pid));
  for (pid_t child; children >> child;) all.push_back(child);
  return all;
}

double own_cpu_seconds(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/stat", pid));
  std::string text;
  std::getline(file, text);
  std::size_t name_end = text.rfind(')');  // the name may contain spaces
  if (name_end == std::string::npos) return 0;
  std::istringstream fields(text.substr(name_end + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) fields >> skipped;
  double user = 0, system = 0;
  fields >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::uint64_t own_rss_bytes(pid_t pid) {
  std::ifstream file(fmt::format("/proc/{}/statm", pid));
  std::uint64_t all = 0, resident = 0;
  file >> all >> resident;
  return resident * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace

double cpu_seconds(pid_t pid) {
  double seconds = 0;
  for (pid_t each : with_children(pid)) seconds += own_cpu_seconds(each);
  return seconds;
}

std::uint64_t rss_bytes(pid_t pid) {
  std::uint64_t bytes = 0;
  for (pid_t each : with_children(pid)) bytes += own_rss_bytes(each);
  return bytes;
}

}  // namespace shepherd::bench
