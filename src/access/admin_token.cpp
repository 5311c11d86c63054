// The admin token's file: written whole or not at all, readable by its owner only.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>

#include "access/access.h"
#include "base/log.h"

namespace shepherd {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

std::unexpected<Error> file_error(const std::string& path, const char* what) {
  return fail(ErrorCode::unavailable, "admin_token_file",
              std::string("cannot ") + what + " " + path + ": " + std::strerror(errno));
}

class File {
 public:
  explicit File(int fd) : fd_(fd) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  int fd() const { return fd_; }
  bool ok() const { return fd_ >= 0; }

 private:
  int fd_;
};

// The file's first line; empty when there is no file.
Result<std::string> read_secret(const std::string& path) {
  File file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file.ok()) return errno == ENOENT ? Result<std::string>("") : file_error(path, "open");
  struct stat facts{};
  if (::fstat(file.fd(), &facts) == 0 && (facts.st_mode & 0777 & ~kOwnerOnly) != 0) {
    log_warn("{} could be read by others; its mode is now 0600. Revoke the token if somebody may have seen it", path);
    if (::fchmod(file.fd(), kOwnerOnly) != 0) return file_error(path, "change the mode of");
  }
  std::array<char, 256> text{};
  ssize_t got = ::read(file.fd(), text.data(), text.size());
  if (got < 0) return file_error(path, "read");
  std::string_view line(text.data(), static_cast<std::size_t>(got));
  return std::string(line.substr(0, line.find_first_of("\r\n")));
}

Result<void> write_secret(const std::string& path, const std::string& secret) {
  std::string draft = path + ".new";
  ::unlink(draft.c_str());  // of a start that died here
  {
    File file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly));
    if (!file.ok()) return file_error(draft, "create");
    std::string line = secret + "\n";
    if (::write(file.fd(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) || ::fsync(file.fd()) != 0) {
      auto error = file_error(draft, "write");
      ::unlink(draft.c_str());
      return error;
    }
  }
  if (::rename(draft.c_str(), path.c_str()) != 0) {
    auto error = file_error(path, "replace");
    ::unlink(draft.c_str());
    return error;
  }
  auto directory = std::filesystem::path(path).parent_path();
  File opened(::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened.ok()) ::fsync(opened.fd());
  return {};
}

}  // namespace

Result<std::string> ensure_admin_token(Access& access, const std::string& path) {
  auto known = read_secret(path);
  if (!known) return known;
  if (auto principal = access.authenticate(*known); principal && (*principal)->scope == Scope::admin) return known;

  std::promise<Result<NewToken>> created;
  access.create_token("admin", Scope::admin, "", 0,
                      [&created](Result<NewToken> token) { created.set_value(std::move(token)); });
  auto token = created.get_future().get();
  if (!token) return fail(token.error());
  if (auto written = write_secret(path, token->secret); !written) {
    // Nobody will ever know this token's secret.
    access.revoke_token(token->info.id, [](const Result<void>&) {});
    return fail(written.error());
  }
  return token->secret;
}

}  // namespace shepherd
