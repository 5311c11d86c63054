#include "base/whole_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "base/descriptor.h"
#include "base/limits.h"

namespace shepherd {
namespace {

std::unexpected<Error> file_error(std::string_view what, const std::string& path) {
  return fail(ErrorCode::internal, "file_error", fmt::format("cannot {} {}: {}", what, path, std::strerror(errno)));
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    ssize_t written = ::write(descriptor, bytes.data(), bytes.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return false;
    bytes.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<std::optional<std::string>> read_whole_file(const std::string& path, std::size_t most) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file && errno == ENOENT) return std::nullopt;
  if (!file) return file_error("open", path);
  std::string text;
  std::array<char, 65536> buffer{};
  while (true) {
    ssize_t got = ::read(file.get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return file_error("read", path);
    if (got == 0) return text;
    text.append(buffer.data(), static_cast<std::size_t>(got));
    if (text.size() > most) {
      return fail(ErrorCode::too_large, "file_too_large", fmt::format("{} has more than {} bytes", path, most));
    }
  }
}

Result<std::string> read_first_line(const std::string& path) {
  Result<std::optional<std::string>> text = read_whole_file(path, kMaxFirstLineBytes);
  if (!text) return fail(text.error());
  return *text ? (*text)->substr(0, (*text)->find_first_of("\r\n")) : std::string();
}

Result<void> replace_file(const std::string& path, std::string_view bytes, mode_t mode) {
  std::error_code error;
  std::string target = std::filesystem::weakly_canonical(path, error).string();
  if (error || target.empty()) target = path;
  struct stat facts{};
  if (::stat(target.c_str(), &facts) == 0) mode = facts.st_mode & 07777;
  std::string draft = fmt::format("{}.shepherd-{}", target, ::getpid());
  {
    Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, S_IRUSR | S_IWUSR));
    if (!file) return file_error("write", draft);
    if (!write_all(file.get(), bytes) || ::fchmod(file.get(), mode) != 0 || ::fsync(file.get()) != 0) {
      auto failed = file_error("write", draft);
      ::unlink(draft.c_str());
      return failed;
    }
  }
  if (::rename(draft.c_str(), target.c_str()) != 0) {
    auto failed = file_error("replace", target);
    ::unlink(draft.c_str());
    return failed;
  }
  return {};
}

}  // namespace shepherd
