// A caller and its rights.
// Threads: value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace shepherd {

enum class Scope : std::uint8_t { viewer, operator_, producer, admin };
std::string_view name(Scope scope);  // "viewer", "operator", "producer", "admin"
std::optional<Scope> scope_named(std::string_view name);

// The right that a request needs. A principal may be limited to one task for `produce` and `view`.
enum class Right : std::uint8_t { view, command, produce, administer };

struct Principal {
  std::string token_id;  // public id of the token; empty for anonymous access by configuration (auth: none)
  std::string person;    // the token's name, shown with commands and in the audit
  Scope scope = Scope::viewer;
  std::string only_task;  // for producer tokens of one task; empty for any

  // operator includes view; admin includes everything; a producer may produce and read (its own task's log, or any). An
  // empty `task` means all tasks at once (lists, multiplexed feeds), which a principal of one task may not access.
  bool may(Right right, std::string_view task) const;
};

}  // namespace shepherd
