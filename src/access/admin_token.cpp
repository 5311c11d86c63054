// The admin token's file: written completely or not at all, readable only by its owner.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <future>

#include "access/access.h"
#include "base/descriptor.h"
#include "base/log.h"

namespace shepherd {
namespace {

constexpr mode_t kOwnerOnly = S_IRUSR | S_IWUSR;

std::unexpected<Error> token_file_error(const std::string& path, const char* what) {
  return fail(ErrorCode::unavailable, "admin_token_file",
              std::string("cannot ") + what + " " + path + ": " + std::strerror(errno));
}

// Returns the file's first line, or an empty text if there is no file.
Result<std::string> read_secret(const std::string& path) {
  Descriptor file(::open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file) return errno == ENOENT ? Result<std::string>("") : token_file_error(path, "open");
  struct stat facts{};
  if (::fstat(file.get(), &facts) == 0 && (facts.st_mode & 0777 & ~kOwnerOnly) != 0) {
    log_warn("{} could be read by others; its mode is now 0600. Revoke the token if another user may have read it",
             path);
    if (::fchmod(file.get(), kOwnerOnly) != 0) return token_file_error(path, "change the mode of");
  }
  std::array<char, 256> text{};
  ssize_t got = ::read(file.get(), text.data(), text.size());
  if (got < 0) return token_file_error(path, "read");
  std::string_view line(text.data(), static_cast<std::size_t>(got));
  return std::string(line.substr(0, line.find_first_of("\r\n")));
}

Result<void> write_secret(const std::string& path, const std::string& secret) {
  std::string draft = path + ".new";
  ::unlink(draft.c_str());  // left by a start that died here
  {
    Descriptor file(::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, kOwnerOnly));
    if (!file) return token_file_error(draft, "create");
    std::string line = secret + "\n";
    if (::write(file.get(), line.data(), line.size()) != static_cast<ssize_t>(line.size()) ||
        ::fsync(file.get()) != 0) {
      auto error = token_file_error(draft, "write");
      ::unlink(draft.c_str());
      return error;
    }
  }
  if (::rename(draft.c_str(), path.c_str()) != 0) {
    auto error = token_file_error(path, "replace");
    ::unlink(draft.c_str());
    return error;
  }
  auto directory = std::filesystem::path(path).parent_path();
  Descriptor opened(::open(directory.empty() ? "." : directory.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (opened) ::fsync(opened.get());
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
    // This token's secret is lost, so revoke it.
    access.revoke_token(token->info.id, [](const Result<void>&) {});
    return fail(written.error());
  }
  return token->secret;
}

}  // namespace shepherd
