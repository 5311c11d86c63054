// What an agent's processes are kept from, and the steps that do it (docs/security.md).
//
//   none       nothing
//   secrets    Shepherd's own files are not there for them, and no process but their own
//   workspace  the same, and nothing is writable but the place they work in, a private temporary directory, and what
//              the agent keeps of itself
//
// The runner plans the steps, because it knows the paths; the agent's first process takes them before it becomes the
// agent's program (confine.h).
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

// By what an agent is kept from things, best first (docs/security.md).
enum class ConfineMeans : std::uint8_t { none, namespaces, landlock };

// What is wanted. Paths that do not exist are left out.
struct Confinement {
  ConfineLevel level = ConfineLevel::none;
  bool required = false;              // the user asked for this level: an agent that cannot have it does not start
  std::vector<std::string> hidden;    // directories and files that are not there for the agent
  std::vector<std::string> readable;  // stays there, though it may lie inside something that is not
  std::vector<std::string> writable;  // the same, and may be changed at every level
};

struct ConfineStep {
  enum class Kind : std::uint8_t {
    read_only,       // everything that is mounted now
    hide_directory,  // an empty one in its place
    hide_file,
    private_directory,  // an empty one that may be written and goes with the agent
    keep,               // what was there before, writable
    keep_read_only,
  };
  Kind kind = Kind::keep;
  std::string path;  // absolute, no links

  friend bool operator==(const ConfineStep&, const ConfineStep&) = default;
};

// The steps, in the order in which they are to be taken: what lies inside another comes after it.
// invalid_argument/cannot_confine when `directory`, where the agent works, is itself to be hidden.
Result<std::vector<ConfineStep>> plan_confinement(const Confinement& wanted, const std::string& directory);

// The git directory that a commit in `directory` writes to; it may lie outside of it. None, or one.
std::vector<std::string> git_directories(const std::string& directory);

// Sockets by which a process of this user (or root) has another one started outside its confinement.
std::vector<std::string> service_sockets(std::string_view runtime_directory);

}  // namespace shepherd
