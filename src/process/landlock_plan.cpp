#include "process/landlock_plan.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <system_error>

#include "process/limits.h"

namespace shepherd {
namespace {

namespace files = std::filesystem;
using Kind = ConfineStep::Kind;

// Links are omitted: their targets are granted themselves or not reachable.
constexpr std::array<std::string_view, 11> kRootsDevices = {"null", "zero", "full", "random", "urandom", "tty",
                                                            "ptmx", "pts",  "shm",  "fuse",   "kvm"};

std::unexpected<Error> not_by_landlock(const std::string& what) {
  return fail(ErrorCode::unavailable, "cannot_confine", "Landlock cannot " + what);
}

bool is_inside(std::string_view path, std::string_view directory) {
  if (directory == "/") return path.size() > 1;
  return path.size() > directory.size() && path.starts_with(directory) && path[directory.size()] == '/';
}

files::file_type type_of(const std::string& path) {
  std::error_code error;
  return files::symlink_status(path, error).type();
}

// Landlock does not restrict connecting to a socket file.
bool has_socket(const std::string& path) {
  if (type_of(path) == files::file_type::socket) return true;
  std::error_code error;
  return std::ranges::any_of(files::directory_iterator(path, error), [](const files::directory_entry& entry) {
    std::error_code ignored;
    return entry.is_socket(ignored);
  });
}

class Plan {
 public:
  Plan(const std::vector<ConfineStep>& steps, bool root) : steps_(steps), root_(root) {}

  // Makes `path` available to the agent, except for what the steps hide inside.
  Result<void> show(const std::string& path) {
    if (path != "/" && !has_steps(path)) return grant(path, true);
    std::error_code error;
    files::directory_iterator entries(path, error);
    for (; !error && entries != files::directory_iterator(); entries.increment(error)) {
      if (Result<void> done = show_entry(entries->path().string()); !done) return done;
    }
    if (error) return not_by_landlock("list " + path + ": " + error.message());
    return {};
  }

  std::vector<LandlockGrant> grants;

 private:
  Result<void> show_entry(const std::string& path) {
    auto step = std::ranges::find(steps_, path, &ConfineStep::path);
    if (step != steps_.end() && step->kind != Kind::keep) return show_kept_in(path);
    if (root_ && path == "/dev") return show_devices();
    if (root_ && (path == "/proc" || path == "/sys")) return grant(path, false);
    return show(path);
  }

  Result<void> show_kept_in(const std::string& hidden) {
    for (const ConfineStep& step : steps_) {
      if (step.kind != Kind::keep || !is_inside(step.path, hidden)) continue;
      if (Result<void> done = show(step.path); !done) return done;
    }
    return {};
  }

  // Root could read every file through the raw disk.
  Result<void> show_devices() {
    for (std::string_view name : kRootsDevices) {
      if (Result<void> done = grant("/dev/" + std::string(name), true); !done) return done;
    }
    return {};
  }

  Result<void> grant(const std::string& path, bool writable) {
    files::file_type type = type_of(path);
    if (type == files::file_type::symlink || type == files::file_type::not_found) return {};
    if (grants.size() == kMaxLandlockGrants)
      return not_by_landlock("grant more than " + std::to_string(kMaxLandlockGrants) + " paths");
    grants.push_back({path, writable});
    return {};
  }

  bool has_steps(const std::string& path) const {
    return std::ranges::any_of(steps_, [&](const ConfineStep& step) { return is_inside(step.path, path); });
  }

  const std::vector<ConfineStep>& steps_;
  const bool root_;
};

}  // namespace

Result<std::vector<LandlockGrant>> plan_landlock(const std::vector<ConfineStep>& steps, const std::string& directory,
                                                 bool root) {
  std::error_code error;
  std::string place = files::canonical(directory, error).string();
  for (const ConfineStep& step : steps) {
    if (step.kind != Kind::hide_directory && step.kind != Kind::hide_file) continue;
    if (place != "/" && is_inside(step.path, place)) {
      return not_by_landlock("hide " + step.path + " in the place where the agent works");
    }
    if (has_socket(step.path)) return not_by_landlock("keep the agent from the socket " + step.path);
  }
  Plan plan(steps, root);
  if (Result<void> done = plan.show("/"); !done) return fail(std::move(done.error()));
  return std::move(plan.grants);
}

}  // namespace shepherd
