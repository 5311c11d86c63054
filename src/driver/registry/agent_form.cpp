#include "driver/registry/agent_form.h"

#include <algorithm>
#include <array>

#include "driver/registry/known_agent.h"
#include "driver/registry/registry.h"
#include "json/scan.h"

namespace shepherd {
namespace {

constexpr std::string_view kAcp = "acp";

struct Forms {
  std::string_view agent;
  std::array<std::string_view, 3> drivers;
};
constexpr std::array kForms{
    Forms{"claude", {"claude", kAcp, ""}},
    Forms{"codex", {"codex", kAcp, ""}},
    Forms{"gemini", {"gemini-stream", kAcp, ""}},
    Forms{"opencode", {"opencode-run", "opencode", kAcp}},
};

bool among(const std::vector<std::string_view>& names, std::string_view name) {
  return std::ranges::find(names, name) != names.end();
}

bool has(std::string_view record, std::string_view member) {
  return !find_member(record, member).empty();
}

}  // namespace

std::vector<std::string_view> drivers_for(std::string_view agent) {
  std::vector<std::string_view> drivers;
  auto forms = std::ranges::find(kForms, agent, &Forms::agent);
  if (forms != kForms.end()) {
    for (std::string_view driver : forms->drivers) {
      if (!driver.empty()) drivers.push_back(driver);
    }
  } else if (const KnownAgent* known = known_agent(agent)) {
    drivers.push_back(known->driver);
  } else if (among(driver_names(), agent)) {
    drivers.push_back(agent);
  }
  return drivers;
}

std::optional<std::string_view> driver_of_record(const std::vector<std::string_view>& candidates,
                                                 std::string_view record) {
  if (candidates.size() == 1) return candidates.front();
  if (!record.starts_with('{')) return std::nullopt;
  std::string_view form = candidates.front();
  if (has(record, "jsonrpc")) form = kAcp;
  // Records of its server are in an envelope (driver/http_envelope.h).
  bool served = has(record, "event") || has(record, "answer") || has(record, "open");
  if (served && among(candidates, "opencode")) form = "opencode";
  auto found = std::ranges::find(candidates, form);
  if (found == candidates.end()) return candidates.front();
  return *found;
}

}  // namespace shepherd
