#include "tools/file_root.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <linux/openat2.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <utility>

#include "tools/limits.h"
#include "tools/shown_text.h"

namespace shepherd {
namespace {

// With O_PATH openat2() takes no other flags.
constexpr int kToRead = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
constexpr int kToPass = O_PATH | O_DIRECTORY | O_CLOEXEC;

std::string quoted_path(std::string_view path) {
  return "\"" + shown_line(path, kMaxDescribedCharacters) + "\"";
}

std::unexpected<Error> path_error(int number, std::string_view path) {
  std::string name = quoted_path(path);
  switch (number) {
    case ENOENT:
      return fail(ErrorCode::not_found, "no_file", fmt::format("there is no {}.", name));
    case ENOTDIR:
      return fail(ErrorCode::conflict, "wrong_kind", fmt::format("a part of {} is not a directory.", name));
    case EISDIR:
      return fail(ErrorCode::conflict, "wrong_kind", fmt::format("{} is a directory.", name));
    case EXDEV:
    case ELOOP:
      return fail(ErrorCode::permission_denied, "outside_root",
                  fmt::format("{} is a link that leads out of the directory of files, or nowhere.", name));
    case EACCES:
    case EPERM:
      return fail(ErrorCode::permission_denied, "no_access", fmt::format("{} must not be accessed.", name));
    case ENXIO:
      return fail(ErrorCode::conflict, "wrong_kind", fmt::format("{} is not a regular file.", name));
    case ENAMETOOLONG:
      return fail(ErrorCode::invalid_argument, "bad_path", fmt::format("{} is too long.", name));
    default:
      return fail(ErrorCode::unavailable, "file_failed", fmt::format("{}: {}.", name, std::strerror(number)));
  }
}

Result<std::string> checked_path(const std::string& path, const std::string& called) {
  if (path.find('\0') != std::string::npos) {
    return fail(ErrorCode::invalid_argument, "bad_path", "a path has no NUL character.");
  }
  if (path.size() > kMaxToolPathBytes) return path_error(ENAMETOOLONG, path);
  if (path.starts_with('/')) {
    return fail(ErrorCode::permission_denied, "outside_root",
                fmt::format("{} is absolute. Give a path relative to {}.", quoted_path(path), called));
  }
  // "a//b/./c" is "a/b/c".
  std::string clean;
  for (std::size_t at = 0; at <= path.size();) {
    std::size_t end = std::min(path.find('/', at), path.size());
    std::string_view part = std::string_view(path).substr(at, end - at);
    at = end + 1;
    if (part == "..") {
      return fail(ErrorCode::permission_denied, "outside_root",
                  fmt::format("{} has \"..\" in it. Give a path below {}.", quoted_path(path), called));
    }
    if (part.empty() || part == ".") continue;
    if (!clean.empty()) clean += '/';
    clean += part;
  }
  return clean.empty() ? "." : clean;
}

// The path without links; the path itself if that cannot be found out.
std::string real_path(const std::string& path) {
  std::unique_ptr<char, decltype(&std::free)> real(::realpath(path.c_str(), nullptr), &std::free);
  return real ? std::string(real.get()) : path;
}

bool is_below(std::string_view path, std::string_view directory) {
  if (directory == "/") return true;
  return path.starts_with(directory) && (path.size() == directory.size() || path[directory.size()] == '/');
}

struct Opened {
  Descriptor file;
  int error = 0;
};

Opened open_beneath(int root, const std::string& path, int flags) {
  open_how how{};
  how.flags = static_cast<std::uint64_t>(flags);
  how.resolve = RESOLVE_BENEATH | RESOLVE_NO_MAGICLINKS;
  // EAGAIN: something was renamed meanwhile, and the kernel cannot be sure.
  for (int tries = 0; tries < kTemporaryNames; ++tries) {
    long fd = ::syscall(SYS_openat2, root, path.c_str(), &how, sizeof how);
    if (fd >= 0) return {Descriptor(static_cast<int>(fd)), 0};
    if (errno != EAGAIN && errno != EINTR) return {Descriptor(), errno};
  }
  return {Descriptor(), EAGAIN};
}

Result<void> write_all(int fd, std::string_view content, const std::string& path) {
  while (!content.empty()) {
    ssize_t put = ::write(fd, content.data(), content.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0) return path_error(errno, path);
    content.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

// Removes the new file unless it was renamed.
struct Temporary {
  int directory;
  std::string name;
  bool kept = false;
  ~Temporary() {
    if (!kept) ::unlinkat(directory, name.c_str(), 0);
  }
};

}  // namespace

Result<FileRoot> FileRoot::open(Options options) {
  FileRoot root(options);
  root.directory_ = real_path(options.directory);
  Descriptor opened(::open(root.directory_.c_str(), kToPass));
  if (!opened || !root.directory_.starts_with('/')) {
    return fail(ErrorCode::invalid_argument, "bad_config",
                fmt::format("chat.tools_root: \"{}\" is not a directory that the server can read. Create it, or name "
                            "another one",
                            options.directory));
  }
  for (const std::string& path : options.hidden) {
    Hidden hidden{real_path(path)};
    if (struct stat facts{}; ::stat(hidden.path.c_str(), &facts) == 0) {
      hidden.device = facts.st_dev;
      hidden.inode = facts.st_ino;
    }
    // Its own place in Shepherd's directory, which is hidden otherwise.
    if (options.pinned && hidden.path != root.directory_ && is_below(root.directory_, hidden.path)) continue;
    if (is_below(root.directory_, hidden.path)) {
      return fail(ErrorCode::invalid_argument, "bad_config",
                  fmt::format("chat.tools_root: \"{}\" is inside {}, which tools must not see. Name another directory",
                              options.directory, path));
    }
    root.hidden_.push_back(std::move(hidden));
  }
  // Older kernels, and sandboxes that do not know the call.
  if (open_beneath(opened.get(), ".", kToPass).error != 0) root.old_kernel_ = true;
  if (options.pinned) root.pinned_ = std::move(opened);
  return root;
}

// Without openat2(): every part is opened by itself, and links are not followed.
Result<Descriptor> FileRoot::walk(int root, const std::string& path, int flags) const {
  Descriptor at(::openat(root, ".", kToPass));
  if (!at) return path_error(errno, path);
  for (std::size_t begin = 0;;) {
    std::size_t end = path.find('/', begin);
    bool last = end == std::string::npos;
    std::string part = path.substr(begin, last ? std::string::npos : end - begin);
    Descriptor next(::openat(at.get(), part.c_str(), (last ? flags : kToPass) | O_NOFOLLOW));
    if (!next) return path_error(errno, path);
    if (last) return next;
    at = std::move(next);
    begin = end + 1;
  }
}

Result<Descriptor> FileRoot::resolve(const std::string& path, int flags) const {
  Descriptor named;
  if (!pinned_) named = Descriptor(::open(directory_.c_str(), kToPass));
  const Descriptor& root = pinned_ ? pinned_ : named;
  if (!root) return path_error(errno, directory_);
  Result<Descriptor> found = Descriptor();
  if (old_kernel_) {
    found = walk(root.get(), path, flags);
    if (!found) return found;
  } else {
    Opened opened = open_beneath(root.get(), path, flags);
    if (opened.error != 0) return path_error(opened.error, path);
    found = std::move(opened.file);
  }
  if (Result<void> seen = check_hidden(found->get(), path); !seen) return fail(seen.error());
  return found;
}

Result<void> FileRoot::check_hidden(int fd, const std::string& path) const {
  if (hidden_.empty()) return {};
  char target[PATH_MAX];
  ssize_t size = ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), target, sizeof target);
  std::string_view real(target, size > 0 ? static_cast<std::size_t>(size) : 0);
  bool refused = !real.starts_with('/');  // without /proc it cannot be checked
  for (const Hidden& hidden : hidden_) refused = refused || is_below(real, hidden.path);
  if (refused || is_hidden(fd)) return path_error(EACCES, path);
  return {};
}

bool FileRoot::is_hidden_file(const struct stat& facts) const {
  for (const Hidden& hidden : hidden_) {
    if (hidden.inode == facts.st_ino && hidden.device == facts.st_dev && hidden.inode != 0) return true;
  }
  return false;
}

// By identity, up to the root of the machine. What is inside a hidden directory stays where it is meanwhile: who could
// move it could read it.
bool FileRoot::is_hidden(int fd) const {
  struct stat facts{};
  if (::fstat(fd, &facts) != 0 || is_hidden_file(facts)) return true;
  Descriptor at;
  if (S_ISDIR(facts.st_mode)) {
    at = Descriptor(::openat(fd, ".", kToPass));
  } else {
    // The directory that has this very file now.
    char target[PATH_MAX];
    ssize_t size = ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), target, sizeof target);
    std::string real(target, size > 0 ? static_cast<std::size_t>(size) : 0);
    std::size_t slash = real.rfind('/');
    if (slash == std::string::npos) return true;
    at = Descriptor(::open(real.substr(0, slash + 1).c_str(), kToPass));
    struct stat entry{};
    if (!at || ::fstatat(at.get(), real.c_str() + slash + 1, &entry, AT_SYMLINK_NOFOLLOW) != 0 ||
        entry.st_ino != facts.st_ino || entry.st_dev != facts.st_dev) {
      return true;
    }
  }
  for (;;) {
    struct stat here{}, above{};
    if (!at || ::fstat(at.get(), &here) != 0 || is_hidden_file(here)) return true;
    at = Descriptor(::openat(at.get(), "..", kToPass));
    if (!at || ::fstat(at.get(), &above) != 0) return true;
    if (here.st_ino == above.st_ino && here.st_dev == above.st_dev) return false;  // of the machine
  }
}

Result<Descriptor> FileRoot::read(const std::string& path) const {
  auto clean = checked_path(path, called_);
  if (!clean) return fail(clean.error());
  auto file = resolve(*clean, kToRead);
  if (!file) return file;
  struct stat facts{};
  if (::fstat(file->get(), &facts) != 0) return path_error(errno, path);
  if (S_ISDIR(facts.st_mode)) {
    return fail(ErrorCode::conflict, "wrong_kind", quoted_path(path) + " is a directory.");
  }
  if (!S_ISREG(facts.st_mode)) {
    return fail(ErrorCode::conflict, "wrong_kind", quoted_path(path) + " is not a regular file.");
  }
  return file;
}

Result<Descriptor> FileRoot::list(const std::string& path) const {
  auto clean = checked_path(path, called_);
  if (!clean) return fail(clean.error());
  auto directory = resolve(*clean, kToRead);
  if (!directory) return directory;
  struct stat facts{};
  if (::fstat(directory->get(), &facts) != 0) return path_error(errno, path);
  if (!S_ISDIR(facts.st_mode)) {
    return fail(ErrorCode::conflict, "wrong_kind", quoted_path(path) + " is not a directory.");
  }
  return directory;
}

Result<std::string> FileRoot::real_directory(const std::string& path) const {
  auto directory = list(path);
  if (!directory) return fail(directory.error());
  char target[PATH_MAX];
  ssize_t size = ::readlink(fmt::format("/proc/self/fd/{}", directory->get()).c_str(), target, sizeof target);
  if (size <= 0) return path_error(errno, path);
  return std::string(target, static_cast<std::size_t>(size));
}

// Opens the directory, and makes it and those above it if they are missing.
Result<Descriptor> FileRoot::make_directory(const std::string& path) const {
  auto found = resolve(path, kToPass);
  if (found || found.error().reason != "no_file") return found;
  std::size_t slash = path.rfind('/');
  std::string above = slash == std::string::npos ? "." : path.substr(0, slash);
  auto parent = make_directory(above);
  if (!parent) return parent;
  std::string name = path.substr(slash == std::string::npos ? 0 : slash + 1);
  if (::mkdirat(parent->get(), name.c_str(), 0777) != 0 && errno != EEXIST) return path_error(errno, path);
  return resolve(path, kToPass);
}

Result<FileRoot::Place> FileRoot::parent_of(const std::string& path) const {
  auto clean = checked_path(path, called_);
  if (!clean) return fail(clean.error());
  if (*clean == "." || path.ends_with('/')) return path_error(EISDIR, path);
  std::size_t slash = clean->rfind('/');
  auto directory = make_directory(slash == std::string::npos ? "." : clean->substr(0, slash));
  if (!directory) return fail(directory.error());
  return Place{*std::move(directory), clean->substr(slash == std::string::npos ? 0 : slash + 1)};
}

Result<bool> FileRoot::write(const std::string& path, std::string_view content) const {
  auto place = parent_of(path);
  if (!place) return fail(place.error());
  int directory = place->directory.get();
  struct stat facts{};
  bool exists = ::fstatat(directory, place->name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) == 0;
  if (!exists && errno != ENOENT) return path_error(errno, path);
  if (exists && S_ISDIR(facts.st_mode)) return path_error(EISDIR, path);
  if (exists && S_ISLNK(facts.st_mode)) {
    return fail(ErrorCode::conflict, "wrong_kind",
                quoted_path(path) + " is a symbolic link. Write the file that it points to.");
  }
  if (exists && !S_ISREG(facts.st_mode)) {
    return fail(ErrorCode::conflict, "wrong_kind", quoted_path(path) + " is not a regular file.");
  }
  if (exists) {
    // A hidden file, and one that its owner has made read-only.
    Descriptor old(::openat(directory, place->name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
    if (!old) return path_error(errno, path);
    if (Result<void> seen = check_hidden(old.get(), path); !seen) return fail(seen.error());
    if (::faccessat(directory, place->name.c_str(), W_OK, AT_EACCESS) != 0) return path_error(errno, path);
  }

  static std::atomic<unsigned> counter{0};
  Descriptor file;
  Temporary made{directory, "", true};
  for (int tries = 0; !file && tries < kTemporaryNames; ++tries) {
    made.name = fmt::format(".shepherd-{}-{}.tmp", ::getpid(), counter.fetch_add(1));
    file = Descriptor(::openat(directory, made.name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
                               exists ? facts.st_mode & 0777U : 0666U));
    if (!file && errno != EEXIST) return path_error(errno, path);
  }
  if (!file) return path_error(EEXIST, path);
  made.kept = false;
  if (exists && ::fchmod(file.get(), facts.st_mode & 0777U) != 0) return path_error(errno, path);
  if (Result<void> written = write_all(file.get(), content, path); !written) return fail(written.error());
  if (::fsync(file.get()) != 0) return path_error(errno, path);
  if (::renameat(directory, made.name.c_str(), directory, place->name.c_str()) != 0) return path_error(errno, path);
  made.kept = true;
  return !exists;
}

}  // namespace shepherd
