#include "process/confinement.h"

#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <system_error>
#include <utility>

namespace shepherd {
namespace {

namespace files = std::filesystem;
using Kind = ConfineStep::Kind;
using StepsByPath = std::map<std::string, Kind>;  // sorted, so a directory comes before its contents

// Returns an empty text if there is no such path.
std::string real_path(const std::string& path) {
  std::error_code error;
  files::path real = files::canonical(path, error);
  return error ? std::string() : real.string();
}

bool is_directory(const std::string& path) {
  std::error_code error;
  return files::is_directory(path, error);
}

// The step that applies to `path` unless it has its own; nullopt if there is none.
std::optional<Kind> enclosing(const StepsByPath& steps, const std::string& path) {
  for (files::path above = files::path(path).parent_path();; above = above.parent_path()) {
    if (auto found = steps.find(above.string()); found != steps.end()) return found->second;
    if (above == above.root_path()) return std::nullopt;
  }
}

bool is_gone(std::optional<Kind> kind) {
  return kind == Kind::hide_directory || kind == Kind::private_directory;
}

// Steps without effect are left out, because each one slows the agent's start a little.
bool matters(const StepsByPath& steps, const std::string& path, Kind kind, ConfineLevel level) {
  std::optional<Kind> around = enclosing(steps, path);
  if (kind == Kind::keep) {
    if (level == ConfineLevel::secrets) return is_gone(around);
    return around != Kind::keep;
  }
  if (kind == Kind::keep_read_only) return is_gone(around);
  if (kind == Kind::hide_directory || kind == Kind::hide_file) return !is_gone(around);
  return true;
}

// Returns the first line after `prefix` as a path relative to `base`.
std::string path_in_file(const files::path& file, std::string_view prefix, const files::path& base) {
  std::ifstream text(file);
  std::string line;
  if (!std::getline(text, line) || !line.starts_with(prefix)) return {};
  return real_path((base / line.substr(prefix.size())).string());
}

}  // namespace

std::string_view name(ConfineLevel level) {
  switch (level) {
    case ConfineLevel::secrets:
      return "secrets";
    case ConfineLevel::workspace:
      return "workspace";
    default:
      return "none";
  }
}

std::optional<ConfineLevel> confine_level(std::string_view text) {
  for (ConfineLevel level : {ConfineLevel::none, ConfineLevel::secrets, ConfineLevel::workspace}) {
    if (name(level) == text) return level;
  }
  return std::nullopt;
}

Result<std::vector<ConfineStep>> plan_confinement(const Confinement& wanted, const std::string& directory) {
  if (wanted.level == ConfineLevel::none) return std::vector<ConfineStep>{};
  std::string place = real_path(directory);
  StepsByPath steps;
  if (wanted.level == ConfineLevel::workspace) {
    steps["/"] = Kind::read_only;
    for (const char* temporary : {"/tmp", "/var/tmp", "/dev/shm"}) {
      if (std::string real = real_path(temporary); is_directory(real)) steps[real] = Kind::private_directory;
    }
  }
  auto put = [&steps](const std::string& path, Kind kind) {
    if (std::string real = real_path(path); !real.empty() && real != "/") steps[real] = kind;
  };
  Kind readable = wanted.level == ConfineLevel::workspace ? Kind::keep_read_only : Kind::keep;
  for (const std::string& path : wanted.readable) {
    // A private directory that is also listed here stays private.
    if (std::string real = real_path(path); !real.empty() && real != "/") steps.emplace(real, readable);
  }
  for (const std::string& path : wanted.writable) put(path, Kind::keep);
  put(place, Kind::keep);
  for (const std::string& path : wanted.hidden) {
    std::string real = real_path(path);
    if (real.empty()) continue;
    if (real == place || real == "/") {
      return fail(ErrorCode::invalid_argument, "cannot_confine",
                  "the agent works in " + real +
                      ", which is Shepherd's own and hidden from agents; give it a directory of its own, or set "
                      "runners.confine to none");
    }
    steps[real] = is_directory(real) ? Kind::hide_directory : Kind::hide_file;
  }
  for (const std::string& path : git_directories(place)) {
    std::string real = real_path(path);
    if (!real.empty() && enclosing(steps, real) != Kind::hide_directory) steps.emplace(real, Kind::keep);
  }
  std::vector<ConfineStep> plan;
  for (const auto& [path, kind] : steps) {
    if (kind == Kind::read_only || matters(steps, path, kind, wanted.level)) plan.push_back({kind, path});
  }
  return plan;
}

// An agent of an earlier task may have written the contents of `directory`. Links are therefore not followed, and a
// work tree counts as part of another repository only if that repository confirms it.
std::vector<std::string> git_directories(const std::string& directory) {
  std::error_code error;
  for (files::path above = directory; !above.empty(); above = above.parent_path()) {
    files::path entry = above / ".git";
    files::file_type type = files::symlink_status(entry, error).type();
    if (type == files::file_type::directory) return {entry.string()};
    if (type == files::file_type::regular) {
      files::path own = path_in_file(entry, "gitdir: ", above);
      bool known = own.parent_path().filename() == "worktrees" &&
                   path_in_file(own / "gitdir", "", own) == real_path(entry.string());
      if (!known) return {};
      return {own.parent_path().parent_path().string()};
    }
    if (type != files::file_type::not_found || above == above.root_path()) break;
  }
  return {};
}

std::vector<std::string> service_sockets(std::string_view runtime_directory) {
  std::vector<std::string> sockets;
  if (!runtime_directory.empty()) {
    for (const char* entry : {"/bus", "/systemd"}) sockets.push_back(std::string(runtime_directory) + entry);
  }
  if (::geteuid() == 0) {
    for (const char* path : {"/run/dbus/system_bus_socket", "/run/systemd/private"}) sockets.emplace_back(path);
  }
  return sockets;
}

}  // namespace shepherd
