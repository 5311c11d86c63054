#include "process/confine.h"

#include <fcntl.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <utility>

#include "base/descriptor.h"
#include "process/confine_root.h"
#include "process/warden.h"

namespace shepherd {
namespace {

namespace files = std::filesystem;
using Kind = ConfineStep::Kind;

constexpr const char* kNothing = "shepherd";  // the source name of mounts over hidden paths

// Copies the mount at `path` with all mounts inside.
Result<Descriptor> copy_of(const std::string& path) {
  Descriptor copy(::open_tree(AT_FDCWD, path.c_str(), OPEN_TREE_CLONE | OPEN_TREE_CLOEXEC | AT_RECURSIVE));
  if (!copy) return cannot_confine("keep " + path);
  return copy;
}

Result<void> mount_copy(const Descriptor& copy, const std::string& path) {
  if (::move_mount(copy.get(), "", AT_FDCWD, path.c_str(), MOVE_MOUNT_F_EMPTY_PATH) == 0) return {};
  return cannot_confine("show " + path);
}

Result<void> mount_empty(const std::string& path, const char* mode) {
  std::string options = std::string("mode=") + mode;
  if (::mount(kNothing, path.c_str(), "tmpfs", MS_NOSUID | MS_NODEV, options.c_str()) == 0) return {};
  return cannot_confine("hide " + path);
}

// Creates a mount point inside a hidden directory.
Result<void> make_place(const std::string& path, bool directory) {
  std::error_code error;
  if (files::exists(path, error)) return {};
  files::create_directories(directory ? files::path(path) : files::path(path).parent_path(), error);
  if (!error && !directory) {
    Descriptor file(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, S_IRUSR));
    if (!file) return cannot_confine("make " + path);
  }
  if (!error) return {};
  errno = error.value();
  return cannot_confine("make " + path);
}

class Steps {
 public:
  explicit Steps(const std::vector<ConfineStep>& steps) : steps_(steps) {}

  Result<void> take() {
    // Copied before a mount hides it.
    for (const ConfineStep& step : steps_) {
      if (step.kind != Kind::keep && step.kind != Kind::keep_read_only) continue;
      Result<Descriptor> copy = copy_of(step.path);
      if (!copy) return fail(std::move(copy.error()));
      copies_.emplace(step.path, *std::move(copy));
    }
    for (const ConfineStep& step : steps_) {
      if (Result<void> done = take(step); !done) return done;
    }
    // Protected last, because the steps create mount points inside.
    for (const ConfineStep& step : steps_) {
      if (step.kind != Kind::hide_directory) continue;
      if (Result<void> done = protect(step.path, 0); !done) return done;
    }
    return {};
  }

 private:
  Result<void> take(const ConfineStep& step) {
    switch (step.kind) {
      case Kind::read_only:
        return protect(step.path, AT_RECURSIVE);
      case Kind::hide_directory:
        return mount_empty(step.path, "0755");
      case Kind::private_directory:
        return mount_empty(step.path, "1777");
      case Kind::hide_file:
        return hide_file(step.path);
      case Kind::keep:
      case Kind::keep_read_only:
        return keep(step);
    }
    return {};
  }

  Result<void> keep(const ConfineStep& step) {
    const Descriptor& copy = copies_.at(step.path);
    struct stat facts{};
    bool directory = ::fstat(copy.get(), &facts) == 0 && S_ISDIR(facts.st_mode);
    if (Result<void> made = make_place(step.path, directory); !made) return made;
    if (Result<void> shown = mount_copy(copy, step.path); !shown) return shown;
    return step.kind == Kind::keep_read_only ? protect(step.path, AT_RECURSIVE) : Result<void>{};
  }

  static Result<void> hide_file(const std::string& path) { return show_at("/dev/null", path); }

  const std::vector<ConfineStep>& steps_;
  std::map<std::string, Descriptor> copies_;
};

Result<void> finish_confinement(bool root) {
  if (::mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, nullptr) != 0) {
    return cannot_confine("show only its own processes");
  }
  if (root) {
    if (Result<void> done = protect_kernel_settings(); !done) return done;
  }
  return give_up_privileges();
}

}  // namespace

Result<void> protect(const std::string& path, unsigned flags) {
  mount_attr attributes{};
  attributes.attr_set = MOUNT_ATTR_RDONLY;
  if (::mount_setattr(AT_FDCWD, path.c_str(), flags, &attributes, sizeof attributes) == 0) return {};
  return cannot_confine("protect " + path);
}

Result<void> show_at(const std::string& from, const std::string& path) {
  Result<Descriptor> copy = copy_of(from);
  if (!copy) return fail(std::move(copy.error()));
  return mount_copy(*copy, path);
}

std::unexpected<Error> cannot_confine(const std::string& what) {
  int error = errno;
  return fail(Error{ErrorCode::unavailable, "cannot_confine", "cannot " + what + ": " + std::strerror(error), {}}.with(
      "errno", std::int64_t{error}));
}

Result<void> confine(const std::vector<ConfineStep>& steps) {
  if (::unshare(CLONE_NEWNS) != 0) return cannot_confine("have mounts of its own");
  if (::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return cannot_confine("keep its mounts to itself");
  const bool root = ::geteuid() == 0;
  if (root) {
    if (Result<void> done = mount_own_devices(); !done) return done;
  }
  if (Result<void> done = Steps(steps).take(); !done) return done;
  return finish_confinement(root);
}

Result<void> confine_beside() {
  if (::setns(kWardenMounts, CLONE_NEWNS) != 0) return cannot_confine("join the agent's mounts");
  // A copy, because the view of processes must not be the agent's. The mounts inside are the same ones.
  if (::unshare(CLONE_NEWNS) != 0) return cannot_confine("have mounts of its own");
  if (::mount("", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return cannot_confine("keep its mounts to itself");
  return finish_confinement(::geteuid() == 0);
}

}  // namespace shepherd
