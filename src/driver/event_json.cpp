#include "driver/event_json.h"

#include <utility>

#include "base/clock.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "json/tree.h"
#include "json/write.h"
#include "model/condense.h"
#include "model/detail_json.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

void write_cut(JsonObject& object, const Cut& cut) {
  std::string marks;
  auto mark = [&](std::string_view name, std::uint64_t whole) {
    if (whole == 0) return;
    marks.append(marks.empty() ? "{\"" : ",\"").append(name).append("\":");
    append_number(marks, whole);
  };
  mark("summary", cut.summary);
  mark("input", cut.input);
  mark("output", cut.output);
  mark("data", cut.data);
  mark("text", cut.text);
  if (!marks.empty()) object.json("cut", marks.append("}"));
}

void write_event(std::string& out, const EventParts& parts) {
  out.reserve(256 + parts.summary.size() + parts.input.size() + parts.output.size() + parts.data.size());
  write_object(out, [&](JsonObject& object) {
    object.member("timestamp").push_back('"');
    append_timestamp(out, parts.timestamp_ms);
    out.push_back('"');
    object.text("type", name(parts.type));
    object.text("summary", parts.summary);
    object.text_unless_empty("tool", first_characters(parts.tool, kMaxAgentIdBytes));
    auto optional_json = [&](std::string_view key, std::string_view value) {
      if (!value.empty()) object.json(key, value);
    };
    optional_json("input", parts.input);
    optional_json("output", parts.output);
    optional_json("data", parts.data);
    auto id = [&](std::string_view key, std::string_view value, std::size_t most) {
      if (!value.empty() && value.size() <= most) object.text(key, value);
    };
    id("callID", parts.call_id, kMaxAgentIdBytes);
    id("parentCallID", parts.parent_call_id, kMaxAgentIdBytes);
    id("sessionID", parts.session_id, kMaxAgentIdBytes);
    id("traceID", parts.trace_id, kMaxAgentIdBytes);
    id("spanID", parts.span_id, kMaxAgentIdBytes);
    if (parts.duration_ms) object.number("durationMS", *parts.duration_ms);
    write_cut(object, parts.cut);
    object.number("version", std::uint64_t{1});
    id("eventID", parts.event_id, kMaxEventIdBytes);
  });
}

// Both are objects; `second` may be empty.
std::string joined_detail(std::string first, std::string_view second) {
  if (second.size() > 2) {
    first.back() = ',';
    first.append(second.substr(1));
  }
  return capped_detail(first, kMaxDetailBytes);
}

// Cuts the strings of an input or output that is too large to go whole. As much of each is left as a server can be
// configured to keep, so that it is still the server that decides; of very many strings or wide characters less.
template <class Condense>
std::string within_bounds(std::string_view object, Condense condense) {
  constexpr std::size_t kWidest = kMaxEventBytes;
  constexpr std::size_t kWidestEscaped = kMaxEventBytes / 8;  // no character has more bytes, escaped or not
  for (std::size_t characters : {kWidest, kWidestEscaped, kCondensedStringCharacters}) {
    auto tree = parse_tree(object);
    if (!tree || !tree->is_object()) break;
    CondenseRules rules;
    rules.command_characters = rules.result_characters = rules.string_characters = characters;
    condense(tree->get_object(), rules);
    if (std::string text = tree_text(*tree); text.size() <= kMaxWholeBytes) return text;
  }
  return "{}";
}

bool is_blank(char c) {
  return static_cast<unsigned char>(c) <= 0x20 || c == 0x7F;
}

// The end of a terminal's colour or cursor move that begins here ("ESC[31m"): it is no word. Of other sequences only
// the escape itself goes, so that nothing can hide inside one.
std::size_t end_of_colour(std::string_view text, std::size_t at) {
  if (text[at] != '\x1b' || at + 1 >= text.size() || text[at + 1] != '[') return at;
  std::size_t end = at + 2;
  while (end < text.size() && text[end] >= 0x20 && text[end] <= 0x3F) ++end;
  return end < text.size() && text[end] >= 0x40 && text[end] <= 0x7E ? end + 1 : end;
}

// Words with one space between them.
bool is_one_line(std::string_view text) {
  bool after_blank = true;
  for (char c : text) {
    bool blank = is_blank(c);
    if (blank && (after_blank || c != ' ')) return false;
    after_blank = blank;
  }
  return !after_blank || text.empty();
}

}  // namespace

DriverEvent make_event(const EventParts& parts, std::string detail) {
  EventParts bounded = parts;
  Detail whole;
  std::string summary, input, output, data;
  if (parts.summary.size() > kMaxSummaryCharacters || !is_one_line(parts.summary)) {
    summary = one_line(parts.summary, std::string_view::npos);
    if (characters_in(summary) > kMaxSummaryCharacters) {
      summary = one_line(summary, kMaxSummaryCharacters);
      bounded.cut.summary = characters_in(parts.summary);
      whole.text("summary", parts.summary);
    }
    bounded.summary = summary;
  }
  auto shorten = [&](std::string_view name, std::string_view given, std::uint64_t& cut, std::string& store,
                     std::string shorter) {
    if (cut == 0) cut = characters_in(given);
    whole.json(name, given);
    store = std::move(shorter);
    return std::string_view(store);
  };
  if (parts.input.size() > kMaxWholeBytes) {
    bounded.input = shorten("input", parts.input, bounded.cut.input, input,
                            within_bounds(parts.input, [&](auto& object, const CondenseRules& rules) {
                              condense_input(parts.tool, object, rules);
                            }));
  }
  if (parts.output.size() > kMaxWholeBytes) {
    bounded.cut.output = characters_in(string_value(find_member(parts.output, "summary")).value_or(""));
    bounded.output = shorten(
        "output", parts.output, bounded.cut.output, output,
        within_bounds(parts.output, [](auto& object, const CondenseRules& rules) { condense_output(object, rules); }));
  }
  if (parts.data.size() > kMaxEventDataBytes) {
    bounded.data = shorten("data", parts.data, bounded.cut.data, data, capped_detail(parts.data, kMaxEventDataBytes));
  }
  DriverEvent event;
  event.type = parts.type;
  write_event(event.json, bounded);
  event.detail = whole.empty() ? std::move(detail) : joined_detail(whole.take(), detail);
  return event;
}

void add_event(Actions& out, const EventParts& parts, std::string detail) {
  out.event(make_event(parts, std::move(detail)));
}

void add_log(Actions& out, const std::optional<JoinedText>& lines, std::string_view stream,
             std::string_view session_id) {
  if (!lines || lines->text.empty()) return;
  std::string_view kept = event_text(lines->text);
  std::string data = object_text([&](JsonObject& object) {
    object.text("stream", stream);
    object.text("line", kept);
  });
  EventParts parts;
  parts.type = EventType::log;
  parts.timestamp_ms = lines->at_ms;
  std::string summary = one_line(kept, kTextSummaryCharacters);
  parts.summary = summary;
  parts.data = data;
  parts.session_id = session_id;
  Detail detail;
  mark_cut(parts, detail, kept, lines->text);
  add_event(out, parts, detail.take());
}

std::string_view event_text(std::string_view text) {
  if (text.size() <= kMaxEventTextBytes) return text;
  std::size_t end = kMaxEventTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0) == 0x80) --end;
  return text.substr(0, end);
}

std::string one_line(std::string_view text, std::size_t characters) {
  if (text.size() <= characters && is_one_line(text)) return std::string(text);
  std::string line;
  bool gap = false;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    while (at < text.size() && end_of_colour(text, at) > at) at = end_of_colour(text, at);
    if (at == text.size()) break;
    char c = text[at];
    if (is_blank(c)) {
      gap = !line.empty();
      continue;
    }
    bool starts = (static_cast<unsigned char>(c) & 0xC0) != 0x80;
    if (gap) {
      line.push_back(' ');
      ++count;
      gap = false;
    }
    if (starts) ++count;
    if (count > characters) break;
    line.push_back(c);
  }
  if (count <= characters) return line;
  std::string cut(first_characters(line, characters - 1));
  while (!cut.empty() && cut.back() == ' ') cut.pop_back();
  return cut + "…";
}

Detail& Detail::json(std::string_view name, std::string_view value) {
  begin(name, value.size()).append(value);
  return *this;
}

Detail& Detail::text(std::string_view name, std::string_view value) {
  append_json_string(begin(name, value.size()), value);
  return *this;
}

// Room for the closing brace too: a record is copied once.
std::string& Detail::begin(std::string_view name, std::size_t size) {
  constexpr std::size_t kAround = sizeof R"(,"":""})";
  out_.reserve(out_.size() + name.size() + size + kAround);
  return out_.append(out_.empty() ? "{\"" : ",\"").append(name).append("\":");
}

std::string Detail::take() {
  if (out_.empty()) return {};
  out_.push_back('}');
  if (out_.size() <= kMaxDetailBytes) return std::move(out_);
  return capped_detail(out_, kMaxDetailBytes);
}

void mark_cut(EventParts& parts, Detail& detail, std::string_view kept, std::string_view all) {
  if (kept.size() == all.size()) return;
  parts.cut.text = characters_in(all);
  detail.text("text", all);
}

std::string output_json(Outcome outcome, std::string_view text) {
  std::string out = object_text([&](JsonObject& object) {
    object.flag("success", outcome == Outcome::success);
    if (outcome == Outcome::denied) object.flag("denied", true);
    object.text("summary", text);
  });
  return out;
}

std::string condensed_input(std::string_view tool, std::string_view input) {
  auto tree = parse_tree(input);
  if (!tree || !tree->is_object()) return "{}";
  condense_input(tool, tree->get_object(), {});
  return tree_text(*tree);
}

DriverEvent as_kept(const DriverEvent& event) {
  const CondenseRules rules;
  Intake intake;
  intake.condense = &rules;
  std::string posted;
  append_posted(posted, event, 0);
  Result<DraftBatch> batch = decode_events(posted, Framing::json, intake);
  if (!batch || batch->drafts.size() != 1) return event;
  Draft& draft = batch->drafts.front();
  DriverEvent kept;
  kept.type = event.type;
  kept.json.append("{").append(batch->body(draft));
  if (!draft.event_id.empty()) {
    kept.json.append(",\"eventID\":");
    append_json_string(kept.json, draft.event_id);
  }
  kept.json.push_back('}');
  kept.detail = std::move(draft.detail);
  return kept;
}

}  // namespace shepherd
