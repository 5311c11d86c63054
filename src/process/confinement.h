// Restrictions of an agent's processes, and the steps that implement them (docs/security.md).
//
//   none       nothing
//   secrets    hides Shepherd's own files, and all processes but the agent's own
//   workspace  the same, and makes everything read-only except the working directory, a private temporary
//              directory, and the agent's own files
//
// The runner plans the steps, because it has the paths; the agent's first process carries them out before it executes
// the agent's program (confine.h).
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace shepherd {

enum class ConfineLevel : std::uint8_t { none, secrets, workspace };
std::string_view name(ConfineLevel level);
std::optional<ConfineLevel> confine_level(std::string_view text);

// The means of confinement, best first (docs/security.md).
enum class ConfineMeans : std::uint8_t { none, namespaces, landlock };

// The requested confinement. Paths that do not exist are ignored.
struct Confinement {
  ConfineLevel level = ConfineLevel::none;
  bool required = false;              // the level was requested explicitly: without it the agent does not start
  std::vector<std::string> hidden;    // directories and files to hide from the agent
  std::vector<std::string> readable;  // stays visible even inside a hidden directory
  std::vector<std::string> writable;  // stays visible and writable at every level
};

struct ConfineStep {
  enum class Kind : std::uint8_t {
    read_only,       // everything that is mounted now
    hide_directory,  // replaced by an empty directory
    hide_file,
    private_directory,  // replaced by an empty, writable one that is deleted with the agent
    keep,               // the original, writable
    keep_read_only,
  };
  Kind kind = Kind::keep;
  std::string path;  // absolute, without links

  friend bool operator==(const ConfineStep&, const ConfineStep&) = default;
};

// The steps in order: a path inside another comes after it. invalid_argument/cannot_confine if `directory`, where the
// agent works, would itself be hidden.
Result<std::vector<ConfineStep>> plan_confinement(const Confinement& wanted, const std::string& directory);

// The git directory that a commit in `directory` writes to, which may be outside of it. None or one.
std::vector<std::string> git_directories(const std::string& directory);

// Sockets through which a process of this user (or root) can have a program started outside its confinement.
std::vector<std::string> service_sockets(std::string_view runtime_directory);

}  // namespace shepherd
