#include "views/process_metrics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <system_error>

namespace shepherd {
namespace {

double not_known() {
  return std::nan("");
}

// Column `n` (from 0) of /proc/self/statm, which counts pages.
double statm_bytes(int n) {
  std::ifstream file("/proc/self/statm");
  double pages = not_known();
  for (int i = 0; i <= n; ++i) file >> pages;
  return file ? pages * static_cast<double>(::sysconf(_SC_PAGESIZE)) : not_known();
}

double cpu_seconds() {
  rusage usage{};
  if (::getrusage(RUSAGE_SELF, &usage) != 0) return not_known();
  auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

double open_fds() {
  std::error_code error;
  std::filesystem::directory_iterator entries("/proc/self/fd", error);
  if (error) return not_known();
  double count = -1;  // does not count the descriptor that reads the directory
  for (auto end = std::filesystem::directory_iterator(); entries != end; entries.increment(error)) {
    ++count;
    if (error) return not_known();
  }
  return count;
}

double max_fds() {
  rlimit limit{};
  return ::getrlimit(RLIMIT_NOFILE, &limit) == 0 ? static_cast<double>(limit.rlim_cur) : not_known();
}

// Boot time (/proc/stat) plus the process's start in ticks after it (field 22 of /proc/self/stat).
double start_time_seconds() {
  double boot = not_known();
  std::ifstream system("/proc/stat");
  for (std::string word; system >> word;) {
    if (word == "btime") {
      system >> boot;
      break;
    }
  }
  std::ifstream own("/proc/self/stat");
  std::string text{std::istreambuf_iterator<char>(own), {}};
  std::size_t after_name = text.rfind(')');  // the program's name may contain spaces and parentheses
  if (after_name == std::string::npos) return not_known();
  std::istringstream fields(text.substr(after_name + 1));
  std::string field;
  for (int number = 3; number <= 22; ++number) fields >> field;
  if (!fields) return not_known();
  return boot + std::stod(field) / static_cast<double>(::sysconf(_SC_CLK_TCK));
}

}  // namespace

void register_process_metrics(MetricRegistry& registry) {
  registry.computed_counter("process_cpu_seconds_total", "User and system CPU time spent.", cpu_seconds);
  registry.computed("process_resident_memory_bytes", "Resident memory.", [] { return statm_bytes(1); });
  registry.computed("process_virtual_memory_bytes", "Virtual memory.", [] { return statm_bytes(0); });
  registry.computed("process_open_fds", "Open file descriptors.", open_fds);
  registry.computed("process_max_fds", "Limit on open file descriptors.", max_fds);
  registry.computed("process_start_time_seconds", "When the process started, in seconds since 1970.",
                    [started = start_time_seconds()] { return started; });
}

}  // namespace shepherd
