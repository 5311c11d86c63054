// Who is asking and what they may do.
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

// What a request needs. `produce` and `view` may be limited to one task by the principal.
enum class Right : std::uint8_t { view, command, produce, administer };

struct Principal {
  std::string token_id;  // public id of the token; empty: anonymous by configuration (auth: none)
  std::string person;    // the token's name, shown with commands and in the audit
  Scope scope = Scope::viewer;
  std::string only_task;  // producer tokens of one task; empty: any

  // operator includes view; admin includes everything; a producer may produce and read (its own task's log, or any).
  // An empty `task` asks about all tasks at once (lists, multiplexed feeds): a principal of one task may not.
  bool may(Right right, std::string_view task) const;
};

}  // namespace shepherd
