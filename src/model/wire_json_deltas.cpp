#include "json/read.h"

#include "json/request.h"
#include "json/write.h"
#include "model/event_members.h"
#include "model/limits.h"
#include "model/wire_json.h"
namespace shepherd {
namespace {

namespace dom = simdjson::dom;

// A block is identified by its index in the message or by the agent's own id.
Result<std::string> delta_data(dom::element delta, const Intake& intake) {
  dom::object object;
  if (delta.get(object) != simdjson::SUCCESS) {
    return fail(ErrorCode::invalid_argument, "bad_delta", "a delta must be an object with \"block\" and \"text\"");
  }
  dom::element block;
  if (object.at_key("block").get(block) != simdjson::SUCCESS || !(block.is_string() || block.is_uint64())) {
    return fail(bad_member("block", "a string or a whole number of at least 0"));
  }
  std::string_view text;
  if (object.at_key("text").get(text) != simdjson::SUCCESS) return fail(bad_member("text", "a string"));
  std::string safe(text);
  if (intake.redactor != nullptr && intake.redactor->may_match(text)) safe = intake.redactor->redact(text);
  std::string out = object_text([&](JsonObject& data) {
    data.json("block", std::string(simdjson::minify(block)));
    data.text("text", safe);
  });
  if (out.size() > kMaxDeltaBytes) {
    return fail(ErrorCode::too_large, "delta_too_large",
                "a delta may have at most " + std::to_string(kMaxDeltaBytes) + " bytes");
  }
  return out;
}

Error at_index(Error error, std::size_t index) {
  return std::move(error).with("index", static_cast<std::int64_t>(index));
}

}  // namespace

Result<std::vector<std::string>> decode_deltas(std::string_view json, const Intake& intake) {
  JsonParser parser(json.size());
  auto root = parser.parse(json);
  if (!root) return fail(root.error());
  std::vector<std::string> deltas;
  dom::array array;
  if (root->get(array) != simdjson::SUCCESS) {
    auto data = delta_data(*root, intake);
    if (!data) return fail(at_index(data.error(), 0));
    deltas.push_back(std::move(*data));
    return deltas;
  }
  for (dom::element delta : array) {
    if (deltas.size() == kMaxEventsPerPost) {
      return fail(ErrorCode::too_large, "too_many_deltas", "too many deltas in one request; split it");
    }
    auto data = delta_data(delta, intake);
    if (!data) return fail(at_index(data.error(), deltas.size()));
    deltas.push_back(std::move(*data));
  }
  return deltas;
}

}  // namespace shepherd
