#include "model/event_intake.h"

#include <algorithm>
#include <boost/json/object.hpp>
#include <unordered_set>

#include "base/clock.h"
#include "json/request.h"
#include "json/scan.h"
#include "json/tree.h"
#include "json/write.h"
#include "model/detail_json.h"
#include "model/limits.h"
#include "redact/redact_tree.h"
#include "redact/redacted_name.h"

namespace shepherd {
namespace {

// RFC 3339 can only write the years 0000 to 9999. A time with an offset can lie outside them in UTC.
constexpr std::int64_t kFirstTimestampMs = -62'167'219'200'000;
constexpr std::int64_t kLastTimestampMs = 253'402'300'799'999;

constexpr std::size_t index(Member member) {
  return static_cast<std::size_t>(member);
}

// The text of a valid JSON string; `store` holds it if it had to be unescaped.
std::string_view text_of(std::string_view json, std::string& store) {
  std::string_view inside = inside_quotes(json);
  if (inside.find('\\') == std::string_view::npos) return inside;
  store = unescape(inside).value_or(std::string(inside));
  return store;
}

std::string json_string(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

Result<std::int64_t> timestamp_of(std::string_view json) {
  std::string store;
  auto time = parse_timestamp(text_of(json, store));
  if (!time) {
    Error error = std::move(time.error());
    error.message = "\"timestamp\" is " + error.message;
    return fail(std::move(error).with("member", std::string("timestamp")));
  }
  if (*time < kFirstTimestampMs || *time > kLastTimestampMs) {
    return fail(bad_member("timestamp", "a time of the years 0000 to 9999"));
  }
  return *time;
}

Error reserved_type(std::string_view type) {
  return Error{ErrorCode::permission_denied,
               "reserved_type",
               "events of type \"" + std::string(type) + "\" enter by the command route only",
               {}}
      .with("member", std::string("type"));
}

}  // namespace

Result<std::size_t> EventIntake::admit(std::string_view json, bool may_hold_secrets) {
  auto length = members_.read(json);
  if (!length) return length;
  Draft draft;
  if (auto header = read_header(draft); !header) return fail(header.error());

  secrets_ = may_hold_secrets && holds_secret(json.substr(0, *length));
  if (changed_) {
    rewritten_ = {};
    full_ = {};
    whole_ = {};
    changed_ = false;
  }
  if (secrets_ && !draft.event_id.empty()) draft.event_id = redacted_name(draft.event_id, intake_.redactor);
  if (draft.type == EventType::other) rewrite_type();
  rewrite_text(Member::summary, intake_.condense != nullptr ? kMaxSummaryCharacters : std::string_view::npos);
  for (Member member : {Member::tool, Member::input, Member::output, Member::metadata, Member::data, Member::call_id,
                        Member::parent_call_id, Member::session_id, Member::trace_id, Member::span_id, Member::cut}) {
    rewrite(member);
  }
  if (intake_.condense != nullptr) {
    rewrite_tool_data(Member::input, *intake_.condense);
    rewrite_tool_data(Member::output, *intake_.condense);
  }
  write_body(draft);
  if (draft.body_size > kMaxEventBytes && intake_.condense != nullptr) {
    shorten_tool_data();
    batch_.bytes.resize(draft.body_offset);
    write_body(draft);
  }
  if (draft.body_size > kMaxEventBytes) {
    return fail(
        ErrorCode::too_large, "event_too_large",
        "an event may have at most " + std::to_string(kMaxEventBytes) + " bytes; put full content into \"detail\"");
  }
  if (intake_.keep_detail) draft.detail = make_detail();
  batch_.drafts.push_back(std::move(draft));
  return length;
}

// Fills in the draft's fields beside its body.
Result<void> EventIntake::read_header(Draft& draft) {
  std::string store;
  std::string_view type = members_[Member::type];
  if (type.empty()) return fail(bad_member("type", "there: a string such as \"tool_call\""));
  type = text_of(type, store);
  if (type.empty() || type.size() > kMaxTypeBytes) {
    return fail(bad_member("type", "a string of 1 to " + std::to_string(kMaxTypeBytes) + " bytes"));
  }
  draft.type = event_type(type);
  if (draft.type == EventType::command && !intake_.allow_reserved) return fail(reserved_type(type));

  draft.timestamp_ms = intake_.now_ms;
  draft.stamped = members_[Member::timestamp].empty();
  if (!draft.stamped) {
    auto time = timestamp_of(members_[Member::timestamp]);
    if (!time) return fail(time.error());
    draft.timestamp_ms = *time;
  }
  if (!members_[Member::sequence].empty()) draft.producer_sequence = *count_value(members_[Member::sequence]);
  if (!members_[Member::event_id].empty()) {
    draft.event_id = text_of(members_[Member::event_id], store);
    if (draft.event_id.size() > kMaxEventIdBytes) {
      return fail(bad_member("eventID", "a string of at most " + std::to_string(kMaxEventIdBytes) + " bytes"));
    }
  }
  tool_.clear();
  if (!members_[Member::tool].empty()) tool_ = text_of(members_[Member::tool], store);
  return {};
}

bool EventIntake::holds_secret(std::string_view json) const {
  return intake_.redactor != nullptr && intake_.redactor->may_match(json);
}

std::string_view EventIntake::value_of(Member member) const {
  const auto& text = rewritten_[index(member)];
  return text ? std::string_view(*text) : members_[member];
}

std::string EventIntake::redacted(std::string_view key, std::string_view value) const {
  if (value.front() == '"') {
    std::string store;
    return json_string(intake_.redactor->redact_member(key, text_of(value, store)));
  }
  auto tree = parse_tree(value);
  if (!tree) return std::string(value);  // cannot fail: the whole request was parsed before
  redact_tree(key, *tree, *intake_.redactor);
  return tree_text(*tree);
}

void EventIntake::rewrite(Member member) {
  // Most members of a suspicious event are clean, and searching costs far less than parsing and writing a member again.
  if (!secrets_ || members_[member].empty() || !holds_secret(members_[member])) return;
  set_rewritten(member, redacted(name(member), members_[member]));
}

void EventIntake::set_rewritten(Member member, std::string json) {
  rewritten_[index(member)] = std::move(json);
  changed_ = true;
}

// A type is a name, not a text. A type that contains a secret is replaced as a whole.
void EventIntake::rewrite_type() {
  rewrite(Member::type);
  if (value_of(Member::type) != members_[Member::type]) set_rewritten(Member::type, "\"redacted\"");
}

void EventIntake::rewrite_text(Member member, std::size_t most_characters) {
  rewrite(member);
  std::string_view json = value_of(member);
  if (json.size() <= most_characters) return;  // no string has more characters than bytes
  std::string store;
  std::string_view text = text_of(json, store);
  std::string cut = truncated(text, most_characters);
  if (cut == text) return;
  keep_whole(member, characters_in(text));
  set_rewritten(member, json_string(cut));
}

// Called before a member is cut. If it is cut again, the text before the first cut stays the full one.
void EventIntake::keep_whole(Member member, std::size_t characters) {
  if (full_[index(member)]) return;
  full_[index(member)] = value_of(member);
  whole_[index(member)] = characters;
}

// The configuration may allow more of an input than fits into an event. In that case the built-in limits apply.
void EventIntake::shorten_tool_data() {
  const CondenseRules usual;
  CondenseRules rules = *intake_.condense;
  rules.command_characters = std::min(rules.command_characters, usual.command_characters);
  rules.result_characters = std::min(rules.result_characters, usual.result_characters);
  rules.string_characters = std::min(rules.string_characters, usual.string_characters);
  for (auto& [tool, characters] : rules.by_tool) characters = std::min(characters, usual.string_characters);
  rewrite_tool_data(Member::input, rules);
  rewrite_tool_data(Member::output, rules);
}

void EventIntake::rewrite_tool_data(Member member, const CondenseRules& rules) {
  std::string_view json = value_of(member);
  if (json.empty()) return;
  std::size_t least = std::min(rules.command_characters, rules.string_characters);
  if (member == Member::output) least = std::min(rules.result_characters, rules.string_characters);
  for (const auto& [tool, characters] : rules.by_tool) least = std::min(least, characters);
  bool edit = json.find("_string\":\"") != std::string_view::npos;
  if (!edit && (json.size() <= least || longest_string(json) <= least)) return;

  auto tree = parse_tree(json);
  if (!tree) return;
  auto& object = tree->get_object();
  std::size_t whole = 0;
  if (member == Member::output) whole = condense_output(object, rules);
  if (member == Member::input && condense_input(tool_, object, rules)) whole = characters_in(json);
  if (whole == 0) return;
  keep_whole(member, whole);
  set_rewritten(member, tree_text(*tree));
}

void EventIntake::write_member(std::string_view key, std::string_view value) {
  auto& out = batch_.bytes;
  out.append(",\"").append(key).append("\":").append(value);
}

void EventIntake::write_body(Draft& draft) {
  auto& out = batch_.bytes;
  draft.body_offset = static_cast<std::uint32_t>(out.size());
  out.append("\"timestamp\":\"");
  append_timestamp(out, draft.timestamp_ms);
  out.push_back('"');
  write_member("type", value_of(Member::type));
  std::string_view summary = value_of(Member::summary);
  write_member("summary", summary.empty() ? "\"\"" : summary);
  draft.summary_size = static_cast<std::uint32_t>(summary.empty() ? 0 : summary.size() - 2);
  draft.summary_offset = static_cast<std::uint32_t>(out.size()) - draft.summary_size - 1;
  for (std::size_t i = index(Member::tool); i <= index(Member::duration_ms); ++i) {
    auto member = static_cast<Member>(i);
    if (std::string_view value = value_of(member); !value.empty()) write_member(name(member), value);
  }
  write_cut();
  write_unknown();
  std::string_view version = members_[Member::version];
  write_member("version", version.empty() ? "1" : version);
  draft.body_size = static_cast<std::uint32_t>(out.size()) - draft.body_offset;
}

// Lists the members that were cut, by the producer or here, with their full length. The producer's own figure takes
// precedence.
void EventIntake::write_cut() {
  std::string_view given = value_of(Member::cut);
  std::string marks = given.starts_with('{') ? std::string(given) : "{}";
  for (Member member : {Member::summary, Member::input, Member::output}) {
    if (!full_[index(member)] || !find_member(marks, name(member)).empty()) continue;
    marks.back() = ',';
    if (marks.size() == 2) marks.pop_back();
    marks.append("\"").append(name(member)).append("\":");
    append_number(marks, static_cast<std::uint64_t>(whole_[index(member)]));
    marks.push_back('}');
  }
  if (marks.size() > 2) write_member("cut", marks);
}

void EventIntake::write_unknown() {
  if (!secrets_) {
    for (const auto& [key, value] : members_.unknown) write_member(key, value);
    return;
  }
  // Redaction can make two names equal.
  std::unordered_set<std::string> names;
  std::size_t repeats = 1;
  for (const auto& [key, value] : members_.unknown) {
    std::string plain = unescape(key).value_or(std::string(key));
    std::string safe = intake_.redactor->redact(plain);
    std::string unique = safe;
    while (!names.insert(unique).second) unique = safe + "~" + std::to_string(++repeats);
    std::string json = json_string(unique);
    write_member(inside_quotes(json), redacted(plain, value));
  }
}

// Builds the detail from what condensing cut and what the producer sent as detail. The producer's member takes
// precedence.
std::string EventIntake::make_detail() {
  std::string clean;
  std::string_view given = members_[Member::detail];
  if (!given.empty() && secrets_) given = clean = redacted("detail", given);
  std::string kept = "{";
  for (Member member : {Member::summary, Member::input, Member::output}) {
    const auto& full = full_[index(member)];
    if (!full || !find_member(given, name(member)).empty()) continue;
    kept.append(kept.size() > 1 ? ",\"" : "\"").append(name(member)).append("\":").append(*full);
  }
  if (kept.size() == 1) return capped_detail(given, kMaxDetailBytes);
  if (given.size() > 2) kept.append(",").append(given.substr(1, given.size() - 2));
  kept.push_back('}');
  return capped_detail(kept, kMaxDetailBytes);
}

}  // namespace shepherd
