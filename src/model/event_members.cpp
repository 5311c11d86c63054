#include "model/event_members.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <unordered_set>

#include "json/limits.h"
#include "json/request.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

enum class Kind : std::uint8_t { text, object, number, whole, any };

struct Row {
  std::string_view name;
  Kind kind;
};

constexpr std::array<Row, kMembers> kRows{{
    {"timestamp", Kind::text},
    {"type", Kind::text},
    {"summary", Kind::text},
    {"tool", Kind::text},
    {"input", Kind::object},
    {"output", Kind::object},
    {"metadata", Kind::object},
    {"data", Kind::object},
    {"callID", Kind::text},
    {"parentCallID", Kind::text},
    {"sessionID", Kind::text},
    {"traceID", Kind::text},
    {"spanID", Kind::text},
    {"durationMS", Kind::number},
    {"cut", Kind::any},
    {"version", Kind::whole},
    {"sequence", Kind::whole},
    {"eventID", Kind::text},
    {"detail", Kind::object},
    {"receivedAt", Kind::any},  // the server sets these three;
                                // a producer's are dropped
    {"late", Kind::any},
    {"producer", Kind::any},
}};

constexpr std::size_t kLongestName = 12;
constexpr std::uint64_t kMostWhole = std::uint64_t{1} << 53;  // the largest that every JSON reader holds exactly
constexpr std::size_t kFewUnknown = 16;  // up to this number are compared one by one; more go through a set

// The members by the length of their names.
struct ByLength {
  std::array<std::array<std::uint8_t, 4>, kLongestName + 1> members{};
  std::array<std::uint8_t, kLongestName + 1> counts{};
};
constexpr ByLength kByLength = [] {
  ByLength table;
  for (std::size_t i = 0; i < kRows.size(); ++i) {
    std::size_t length = kRows[i].name.size();
    table.members[length][table.counts[length]++] = static_cast<std::uint8_t>(i);
  }
  return table;
}();

std::optional<std::size_t> member_named(std::string_view key) {
  if (key.size() > kLongestName) return std::nullopt;
  for (std::size_t i = 0; i < kByLength.counts[key.size()]; ++i) {
    std::size_t member = kByLength.members[key.size()][i];
    if (kRows[member].name == key) return member;
  }
  return std::nullopt;
}

bool is_whole(std::string_view value) {
  std::uint64_t number = 0;
  auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() && number >= 1 && number <= kMostWhole;
}

// Checks every member regardless of its spelling, because readers may use the last one of several with the same name.
Result<void> check_output(std::string_view output) {
  JsonMembers members(output);
  while (members.next()) {
    std::string_view value = members.value();
    bool escaped = members.key().find('\\') != std::string_view::npos;
    std::string key = escaped ? unescape(members.key()).value_or("") : std::string(members.key());
    if (key == "success" && value != "true" && value != "false") {
      return fail(bad_member("output.success", "true or false"));
    }
    if (key == "summary" && value.front() != '"' && value != "null") {
      return fail(bad_member("output.summary", "a string"));
    }
  }
  return {};
}

Result<void> check(const Row& row, std::string_view value) {
  switch (row.kind) {
    case Kind::text:
      if (value.front() != '"') return fail(bad_member(row.name, "a string"));
      break;
    case Kind::object:
      if (value.front() != '{') return fail(bad_member(row.name, "an object"));
      break;
    case Kind::number: {
      auto number = number_value(value);
      if (!number || *number < 0) return fail(bad_member(row.name, "a number of at least 0"));
      break;
    }
    case Kind::whole:
      if (!is_whole(value)) return fail(bad_member(row.name, "a whole number from 1 to 2^53"));
      break;
    case Kind::any:
      break;
  }
  return {};
}

Error duplicate(std::string_view key) {
  return Error{
      ErrorCode::invalid_argument, "duplicate_member", "the member \"" + std::string(key) + "\" is there twice", {}}
      .with("member", std::string(key));
}

// The name of a member that occurs twice; nullopt if all differ.
std::optional<std::string_view> repeated(const std::vector<UnknownMember>& members) {
  if (members.size() <= kFewUnknown) {
    for (std::size_t i = 0; i < members.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (members[i].key == members[j].key) return members[i].key;
      }
    }
    return std::nullopt;
  }
  std::unordered_set<std::string_view> seen;
  for (const auto& member : members) {
    if (!seen.insert(member.key).second) return member.key;
  }
  return std::nullopt;
}

}  // namespace

std::string_view name(Member member) {
  return kRows[static_cast<std::size_t>(member)].name;
}

Result<std::size_t> EventMembers::read(std::string_view json) {
  known.fill({});
  unknown.clear();
  spelled.clear();
  std::uint32_t seen = 0;
  JsonMembers members(json);
  while (members.next()) {
    if (members.depth() + 1 > kMaxJsonDepth) {
      return fail(ErrorCode::invalid_argument, "json_too_deep",
                  "an event may be nested at most " + std::to_string(kMaxJsonDepth) + " levels deep");
    }
    std::string_view key = members.key();
    if (key.find('\\') != std::string_view::npos) {
      std::string plain;
      append_json_string(plain, unescape(key).value_or(std::string(key)));
      spelled.push_back(plain.substr(1, plain.size() - 2));
      key = spelled.back();
    }
    auto member = member_named(key);
    if (!member) {
      unknown.push_back({key, members.value()});
      continue;
    }
    if ((seen >> *member & 1) != 0) return fail(duplicate(key));
    seen |= 1U << *member;
    if (members.value() == "null") continue;
    if (auto ok = check(kRows[*member], members.value()); !ok) return fail(ok.error());
    known[*member] = members.value();
  }
  if (auto key = repeated(unknown)) return fail(duplicate(*key));
  if (!(*this)[Member::output].empty()) {
    if (auto ok = check_output((*this)[Member::output]); !ok) return fail(ok.error());
  }
  if (members.end() == std::string_view::npos) {
    return fail(ErrorCode::invalid_argument, "bad_event", "an event must be a JSON object");
  }
  return members.end();
}

}  // namespace shepherd
