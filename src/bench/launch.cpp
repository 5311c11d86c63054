#include "bench/launch.h"

#include <arpa/inet.h>
#include <fmt/format.h>
#include <netinet/in.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdlib>
#include <system_error>

#include "bench/steady_time.h"

namespace shepherd::bench {
namespace fs = std::filesystem;

Result<ScratchDirectory> ScratchDirectory::create(const std::string& parent) {
  std::error_code error;
  fs::path base = parent.empty() ? fs::temp_directory_path(error) : fs::path(parent);
  std::string pattern = (base / "shepherd-bench-XXXXXX").string();
  if (error || mkdtemp(pattern.data()) == nullptr) {
    return fail(ErrorCode::unavailable, "no_directory", fmt::format("cannot make a directory in {}", base.string()));
  }
  return ScratchDirectory(pattern);
}

ScratchDirectory::~ScratchDirectory() {
  std::error_code ignored;
  if (!path_.empty() && !kept_) fs::remove_all(path_, ignored);
}

fs::path ScratchDirectory::make(const std::string& name) const {
  std::error_code ignored;
  fs::path made = path_ / name;
  fs::remove_all(made, ignored);
  fs::create_directories(made, ignored);
  return made;
}

Result<std::string> find_program(const std::string& name, const std::string& package) {
  const char* path = std::getenv("PATH");
  std::string places = fmt::format("{}:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin", path ? path : "");
  for (std::size_t start = 0; start < places.size();) {
    std::size_t end = std::min(places.find(':', start), places.size());
    std::string candidate = places.substr(start, end - start) + "/" + name;
    if (access(candidate.c_str(), X_OK) == 0) return candidate;
    start = end + 1;
  }
  return fail(ErrorCode::not_found, "not_installed",
              fmt::format("{} is not installed; on Debian: apt-get install {}", name, package));
}

Result<std::uint16_t> free_port() {
  int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof where;
  bool found = fd >= 0 && bind(fd, reinterpret_cast<sockaddr*>(&where), size) == 0 &&
               getsockname(fd, reinterpret_cast<sockaddr*>(&where), &size) == 0;
  if (fd >= 0) close(fd);
  if (!found) return fail(ErrorCode::unavailable, "no_port", "no free port on 127.0.0.1");
  return ntohs(where.sin_port);
}

Result<void> wait_for_port(Process& process, std::uint16_t port, double seconds) {
  sockaddr_in where{};
  where.sin_family = AF_INET;
  where.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  where.sin_port = htons(port);
  std::uint64_t deadline = steady_ns() + seconds_as_ns(seconds);
  while (process.running() && steady_ns() < deadline) {
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    bool listening = connect(fd, reinterpret_cast<sockaddr*>(&where), sizeof where) == 0;
    close(fd);
    if (listening) return {};
    poll(nullptr, 0, 5);
  }
  return fail(ErrorCode::unavailable, "not_started",
              fmt::format("no process listens on port {}{}", port, process.running() ? "" : ": the program ended"));
}

}  // namespace shepherd::bench
