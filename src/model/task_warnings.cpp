#include "model/task_warnings.h"

#include <algorithm>
#include <span>

#include "json/scan.h"
#include "model/edit_distance.h"
#include "model/limits.h"
#include "model/wire_json.h"
#include "redact/text_class.h"

namespace shepherd {
namespace {

// The members that a request may have in the object at this path.
std::vector<std::string_view> members_at(std::string_view path) {
  std::vector<std::string_view> names;
  for (std::string_view member : task_request_members()) {
    if (!member.starts_with(path)) continue;
    member.remove_prefix(path.size());
    if (member.find('.') == std::string_view::npos) names.push_back(member);
  }
  return names;
}

std::string lower(std::string_view text) {
  std::string out(text);
  std::ranges::transform(out, out.begin(), folded);
  std::erase(out, '_');
  return out;
}

// The known name most similar to `name`; empty if none is similar.
std::string_view meant(std::string_view name, std::span<const std::string_view> known) {
  std::string given = lower(name);
  std::string_view best;
  std::size_t best_distance = 3;  // with three wrong letters it is a different word
  for (std::string_view each : known) {
    std::string other = lower(each);
    bool part = given.size() >= 4 && (other.starts_with(given) || given.starts_with(other));
    std::size_t far = part ? 0 : edit_distance(given, other);
    if (far < best_distance && far < given.size()) {
      best = each;
      best_distance = far;
    }
  }
  return best;
}

void look(std::string_view object, std::string_view path, std::vector<std::string>& out) {
  std::vector<std::string_view> known = members_at(path);
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
  look(json, "", out);
  look(find_member(json, "task"), "task.", out);
  look(find_member(json, "repo"), "repo.", out);
  return out;
}

}  // namespace shepherd
