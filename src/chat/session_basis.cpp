#include "chat/session_basis.h"

#include <utility>
#include <vector>

#include "chat/limits.h"
#include "json/scan.h"
#include "json/write.h"

namespace shepherd {

std::string encode_basis(const SessionBasis& basis, std::int64_t created_ms) {
  return object_text([&](JsonObject& object) {
    object.number("createdMS", created_ms);
    object.text("system", basis.system);
    object.number("systemTokens", basis.system_tokens);
    object.text("mode", name(basis.mode));
    object.flag("priced", basis.priced);
    object.texts("rules", std::vector<std::string>(basis.rules.begin(), basis.rules.end()));
  });
}

std::optional<SessionBasis> decode_basis(std::string_view record, std::int64_t created_ms) {
  if (record.empty() || count_value(find_member(record, "createdMS")) != static_cast<std::uint64_t>(created_ms)) {
    return std::nullopt;
  }
  SessionBasis basis;
  basis.started = true;
  basis.system = text_member(record, "system");
  basis.system_tokens = static_cast<std::int64_t>(count_value(find_member(record, "systemTokens")).value_or(0));
  basis.mode = agent_mode(text_member(record, "mode")).value_or(AgentMode::interactive);
  basis.priced = find_member(record, "priced") != "false";
  auto rules = array_elements(find_member(record, "rules"));
  for (std::string_view each : rules.value_or(std::vector<std::string_view>())) {
    if (basis.rules.size() < kMaxRememberedRules) basis.rules.insert(string_value(each).value_or(""));
  }
  return basis;
}

}  // namespace shepherd
