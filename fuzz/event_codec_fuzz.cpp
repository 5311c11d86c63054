// Decodes arbitrary bodies in both framings, with redaction and condensing on. An accepted event must be compact JSON
// that parses again, is accepted again (condensing twice equals condensing once) and survives numbering.
#include <simdjson.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "model/limits.h"
#include "model/task_fold.h"
#include "model/wire_json.h"

namespace {

using namespace shepherd;

const Redactor& redactor() {
  static const Redactor kRedactor = [] {
    RedactOptions options;
    options.patterns = {"acme[0-9]+"};
    options.secrets = {"exact\"secret"};
    return Redactor::create(options).value();
  }();
  return kRedactor;
}

bool parses(std::string_view json) {
  simdjson::dom::parser parser;
  simdjson::dom::element root;
  return parser.parse(json.data(), json.size()).get(root) == simdjson::SUCCESS && root.is_object();
}

void check(const DraftBatch& batch, const Draft& draft, const Intake& intake) {
  std::string_view body = batch.body(draft);
  SHEPHERD_ASSERT(body.size() <= kMaxEventBytes, "an event is bounded");
  SHEPHERD_ASSERT(body.find('\n') == std::string_view::npos, "a body is one line");
  SHEPHERD_ASSERT(parses("{" + std::string(body) + "}"), "a body is JSON");
  SHEPHERD_ASSERT(draft.detail.empty() || parses(draft.detail), "a detail is JSON");
  SHEPHERD_ASSERT(draft.detail.size() <= kMaxDetailBytes, "a detail is bounded");

  std::string event;
  append_event(event, 7, intake.now_ms, "spool\"1", true, body);
  SHEPHERD_ASSERT(body_of(event) == body, "numbering keeps the body");
  auto view = parse_event(event);
  SHEPHERD_ASSERT(view.has_value() && view->type == draft.type, "a finished event can be read");
  SHEPHERD_ASSERT(searchable_text(event, 64).size() <= 64, "searchable text is bounded");

  // Only condensing is compared, because a text that was cut can look like a secret although the whole text does not.
  std::string posted = "{" + std::string(body) + "}";
  SHEPHERD_ASSERT(decode_events(posted, Framing::json, intake).has_value(), "what came in may come in again");
  Intake plain = intake;
  plain.redactor = nullptr;
  auto again = decode_events(posted, Framing::json, plain);
  SHEPHERD_ASSERT(again.has_value() && again->body(again->drafts[0]) == body, "condensing changes nothing twice");

  TaskState state;
  FoldEvent next{1, draft.type, intake.now_ms, batch.summary(draft), body, false, false};
  fold(state, next);
  std::string stored = encode_task_state(state);
  SHEPHERD_ASSERT(encode_task_state(decode_task_state(stored)) == stored, "a state survives storing");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const CondenseRules kRules{16, 12, 16, {{"Grep", 4}}};
  std::string_view body(reinterpret_cast<const char*>(data), size);
  Intake intake{&redactor(), &kRules, 1'771'423'200'123, true, false};
  for (Framing framing : {Framing::json, Framing::ndjson}) {
    auto batch = decode_events(body, framing, intake);
    if (!batch) continue;
    for (const Draft& draft : batch->drafts) check(*batch, draft, intake);
  }
  static_cast<void>(decode_task_request(body));
  static_cast<void>(decode_status_update(body, intake));
  static_cast<void>(decode_deltas(body, intake));
  static_cast<void>(decode_task_state(body));
  return 0;
}
