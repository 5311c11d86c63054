#include "base/ids.h"

#include <algorithm>

#include "base/limits.h"

namespace shepherd {
namespace {

constexpr std::string_view kCrockford = "0123456789abcdefghjkmnpqrstvwxyz";

bool is_task_id_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
}

}  // namespace

std::string make_sortable_id(std::int64_t wall_ms, Random& random) {
  std::string id(26, '0');
  auto time = static_cast<std::uint64_t>(wall_ms);
  for (int i = 9; i >= 0; --i, time >>= 5) id[static_cast<std::size_t>(i)] = kCrockford[time & 31];
  std::uint64_t high = random.next();
  std::uint64_t low = random.next();
  for (std::size_t i = 10; i < 18; ++i, high >>= 5) id[i] = kCrockford[high & 31];
  for (std::size_t i = 18; i < 26; ++i, low >>= 5) id[i] = kCrockford[low & 31];
  return id;
}

std::string make_task_id(std::int64_t wall_ms, Random& random) {
  return "task-" + make_sortable_id(wall_ms, random);
}

bool is_task_id(std::string_view id) {
  return !id.empty() && id.size() <= kMaxTaskIdBytes && id != "." && id != ".." &&
         std::all_of(id.begin(), id.end(), is_task_id_character);
}

}  // namespace shepherd
