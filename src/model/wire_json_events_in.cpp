#include <algorithm>
#include <optional>

#include "json/limits.h"
#include "json/read.h"
#include "json/scan.h"
#include "json/text.h"
#include "model/event_intake.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

constexpr std::string_view kBlank = " \t\r\n";

std::string_view trimmed(std::string_view text) {
  std::size_t begin = text.find_first_not_of(kBlank);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlank) - begin + 1);
}

// Appends the document without white space between its tokens. It is parsed first, because removing the white space
// would turn the invalid `1 2` into a number.
Result<void> append_compact(std::string_view json, JsonParser& parser, std::string& out) {
  auto root = parser.parse(json);
  if (!root) return fail(root.error());
  if (!append_compact_json(out, json)) {
    return fail(ErrorCode::invalid_argument, "bad_json", "not valid JSON: a string does not end");
  }
  return {};
}

// The array of `{"events":[…]}`; empty if the object is an event that has a member of this name.
std::string_view batch_array(std::string_view object) {
  std::string_view events = find_member(object, "events");
  if (!events.starts_with('[') || !find_member(object, "type").empty()) return {};
  return events;
}

std::string_view skip_blank(std::string_view text) {
  return text.substr(std::min(text.find_first_not_of(kBlank), text.size()));
}

// Called when a body as a whole is not JSON. Returns the index of the first event that is not valid JSON by itself, as
// far as brackets separate the events.
std::optional<std::size_t> first_bad_event(std::string_view body, JsonParser& parser) {
  body = skip_blank(body);
  if (body.starts_with('{')) {
    constexpr std::string_view kEvents = "\"events\"";
    body = skip_blank(body.substr(1));
    if (!body.starts_with(kEvents)) return std::nullopt;
    body = skip_blank(body.substr(kEvents.size()));
    body = body.starts_with(':') ? skip_blank(body.substr(1)) : "";
  }
  if (!body.starts_with('[')) return std::nullopt;
  body = skip_blank(body.substr(1));
  for (std::size_t index = 0; body.starts_with('{'); ++index) {
    std::size_t end = end_of_value(body, 0);
    if (end == std::string_view::npos || !parser.parse(body.substr(0, end))) return index;
    body = skip_blank(body.substr(end));
    if (!body.starts_with(',')) break;
    body = skip_blank(body.substr(1));
  }
  return std::nullopt;
}

class Batch {
 public:
  explicit Batch(const Intake& intake) : intake_(intake), door_(intake, batch_) {}

  Result<void> add_json(std::string_view body) {
    std::string compact;
    JsonParser parser(body.size());
    if (auto ok = append_compact(body, parser, compact); !ok) {
      auto index = first_bad_event(body, parser);
      return index ? fail(at_index(ok.error(), *index)) : ok;
    }
    bool secrets = may_hold_secrets(compact);
    std::string_view array = compact.starts_with('[') ? std::string_view(compact) : batch_array(compact);
    if (array.empty()) {
      if (auto length = add(compact, secrets); !length) return fail(length.error());
      return {};
    }
    batch_.bytes.reserve(compact.size() + 64);
    array.remove_prefix(1);
    while (!array.starts_with(']')) {
      auto length = add(array, secrets);
      if (!length) return fail(length.error());
      array.remove_prefix(std::min(*length, array.size()));
      if (array.starts_with(',')) array.remove_prefix(1);
    }
    return {};
  }

  Result<void> add_lines(std::string_view body) {
    JsonParser parser(std::min(body.size(), kParserKeepBytes));
    batch_.bytes.reserve(body.size() + 64);
    std::string compact;
    while (!body.empty()) {
      std::size_t end = std::min(body.find('\n'), body.size());
      std::string_view line = trimmed(body.substr(0, end));
      body.remove_prefix(std::min(end + 1, body.size()));
      if (line.empty()) continue;
      compact.clear();
      if (auto ok = append_compact(line, parser, compact); !ok) return fail(at_index(ok.error()));
      if (auto ok = add(compact, true); !ok) return fail(ok.error());
    }
    return {};
  }

  Result<DraftBatch> take() {
    if (batch_.drafts.empty()) {
      return fail(ErrorCode::invalid_argument, "no_events", "the body has no event; post at least one");
    }
    return std::move(batch_);
  }

 private:
  // Adds the event at the start of `json` and returns its length.
  Result<std::size_t> add(std::string_view json, bool secrets) {
    if (batch_.drafts.size() == kMaxEventsPerPost) {
      return fail(ErrorCode::too_large, "too_many_events",
                  "at most " + std::to_string(kMaxEventsPerPost) + " events a request; split the batch");
    }
    auto length = door_.admit(json, secrets);
    if (!length) return fail(at_index(length.error()));
    return length;
  }

  Error at_index(Error error) const { return at_index(std::move(error), batch_.drafts.size()); }
  static Error at_index(Error error, std::size_t index) {
    error.message = "event " + std::to_string(index) + ": " + error.message;
    return std::move(error).with("index", static_cast<std::int64_t>(index));
  }

  bool may_hold_secrets(std::string_view json) const {
    return intake_.redactor != nullptr && intake_.redactor->may_match(json);
  }

  const Intake& intake_;
  DraftBatch batch_;
  EventIntake door_;
};

}  // namespace

Result<DraftBatch> decode_events(std::string_view json, Framing framing, const Intake& intake) {
  Batch batch(intake);
  bool blank = trimmed(json).empty();
  if (!blank) {
    auto added = framing == Framing::ndjson ? batch.add_lines(json) : batch.add_json(json);
    if (!added) return fail(added.error());
  }
  return batch.take();
}

}  // namespace shepherd
