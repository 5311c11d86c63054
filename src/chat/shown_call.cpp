#include "chat/shown_call.h"

#include <string_view>
#include <utility>

#include "json/tree.h"
#include "redact/redact_tree.h"
#include "redact/redaction_mark.h"

namespace shepherd {
namespace {

namespace json = boost::json;

bool has_mark(std::string_view text) {
  return next_mark(text, 0).begin < text.size();
}

}  // namespace

ShownCall shown_call(const ToolRequest& call, const Redactor* redactor) {
  ShownCall shown{call, {}};
  if (redactor == nullptr || !redactor->may_match(call.arguments)) return shown;
  auto whole = parse_tree(call.arguments);
  if (!whole || !whole->is_object()) {
    shown.call.arguments = redactor->redact(call.arguments);
    if (shown.call.arguments != call.arguments) shown.hidden.emplace_back("arguments");
    return shown;
  }
  json::value redacted = *whole;
  redact_tree("input", redacted, *redactor);
  const json::object& before = whole->get_object();
  const json::object& after = redacted.get_object();
  for (std::size_t at = 0; at < after.size() && at < before.size(); ++at) {
    const auto& own = *(before.begin() + at);
    const auto& safe = *(after.begin() + at);
    if (own.key() != safe.key() || own.value() != safe.value()) shown.hidden.emplace_back(safe.key());
  }
  if (!shown.hidden.empty()) shown.call.arguments = tree_text(redacted);
  return shown;
}

Result<std::string> with_changes(const std::string& arguments, const std::string& changed, const Redactor* redactor) {
  if (redactor == nullptr) return changed;
  ShownCall shown = shown_call({"", "", arguments}, redactor);
  if (shown.hidden.empty() && !has_mark(changed)) return changed;
  auto own = parse_tree(arguments), safe = parse_tree(shown.call.arguments), wanted = parse_tree(changed);
  if (!own || !own->is_object() || !safe || !safe->is_object() || !wanted || !wanted->is_object()) return changed;
  json::object result;
  for (const auto& member : wanted->get_object()) {
    auto place = safe->get_object().find(member.key());
    if (place != safe->get_object().end() && place->value() == member.value()) {
      const auto& whole = *(own->get_object().begin() + (place - safe->get_object().begin()));
      result[whole.key()] = whole.value();
      continue;
    }
    if (has_mark(tree_text(member.value())) || has_mark(std::string_view(member.key()))) {
      return fail(ErrorCode::invalid_argument, "hidden_text",
                  "The changed member \"" + std::string(member.key()) +
                      "\" has text that redaction hides, and the server does not keep what was typed there. Approve "
                      "the call without changing this member, or deny it.");
    }
    result[member.key()] = member.value();
  }
  return tree_text(json::value(std::move(result)));
}

}  // namespace shepherd
