#include "model/task_warnings.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <span>

#include "model/json_scan.h"
#include "model/limits.h"
#include "model/text_class.h"

namespace shepherd {
namespace {

constexpr auto kTop = std::to_array<std::string_view>(
    {"agent",  "allowedTools", "budget",     "callbackEvents", "callbackURL", "command",   "id",
     "labels", "maxTurns",     "mcpServers", "mode",           "model",       "namespace", "prompt",
     "repo",   "resumeOf",     "runner",     "task",           "timeout",     "title",     "workflowID"});
constexpr auto kTask =
    std::to_array<std::string_view>({"context", "description", "sourceID", "sourceType", "sourceURL"});
constexpr auto kRepo = std::to_array<std::string_view>({"ref", "url"});

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), folded);
  std::erase(out, '_');
  return out;
}

// How many letters must be changed, added or left out.
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t corner = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      std::size_t changed = corner + (a[i - 1] == b[j - 1] ? 0 : 1);
      corner = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, changed});
    }
  }
  return row.back();
}

// Empty: nothing is like it.
std::string_view meant(std::string_view name, std::span<const std::string_view> known) {
  std::string given = lower(name);
  std::string_view best;
  std::size_t best_distance = 3;  // three wrong letters are another word
  for (std::string_view each : known) {
    std::string other = lower(each);
    bool part = given.size() >= 4 && (other.starts_with(given) || given.starts_with(other));
    std::size_t far = part ? 0 : distance(given, other);
    if (far < best_distance && far < given.size()) {
      best = each;
      best_distance = far;
    }
  }
  return best;
}

void look(std::string_view object, std::string_view path, std::span<const std::string_view> known,
          std::vector<std::string>& out) {
  for (JsonMembers members(object); members.next() && out.size() < kMaxTaskWarnings;) {
    std::string name = unescape(members.key()).value_or("");
    if (std::ranges::find(known, name) != known.end() || name.size() > kMaxWarnedNameBytes) continue;
    std::string warning = "\"" + std::string(path) + name + "\" is no member of a task and was ignored.";
    if (std::string_view other = meant(name, known); !other.empty()) {
      warning += " Did you mean \"" + std::string(path) + std::string(other) + "\"?";
    }
    out.push_back(std::move(warning));
  }
}

}  // namespace

std::vector<std::string> task_warnings(std::string_view json) {
  std::vector<std::string> out;
  look(json, "", kTop, out);
  look(find_member(json, "task"), "task.", kTask, out);
  look(find_member(json, "repo"), "repo.", kRepo, out);
  return out;
}

}  // namespace shepherd
