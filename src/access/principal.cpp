#include "access/principal.h"

#include <array>
#include <utility>

namespace shepherd {
namespace {

constexpr std::array<std::pair<Scope, std::string_view>, 4> kScopes{{
    {Scope::viewer, "viewer"},
    {Scope::operator_, "operator"},
    {Scope::producer, "producer"},
    {Scope::admin, "admin"},
}};

}  // namespace

std::string_view name(Scope scope) {
  return kScopes[static_cast<std::size_t>(scope)].second;
}

std::optional<Scope> scope_named(std::string_view name) {
  for (const auto& [scope, scope_name] : kScopes) {
    if (scope_name == name) return scope;
  }
  return std::nullopt;
}

bool Principal::may(Right right, std::string_view task) const {
  switch (scope) {
    case Scope::admin:
      return true;
    case Scope::operator_:
      return right == Right::view || right == Right::command;
    case Scope::viewer:
      return right == Right::view;
    case Scope::producer:
      return (right == Right::produce || right == Right::view) && (only_task.empty() || only_task == task);
  }
  return false;
}

}  // namespace shepherd
