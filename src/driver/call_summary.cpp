#include "driver/call_summary.h"

#include <optional>
#include <utility>

#include "driver/event_json.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "model/visible_text.h"

namespace shepherd {
namespace {

std::string relative_to(std::string_view cwd, std::string value) {
  if (!cwd.empty() && value.size() > cwd.size() + 1 && value.starts_with(cwd) && value[cwd.size()] == '/') {
    value.erase(0, cwd.size() + 1);
  }
  return value;
}

}  // namespace

std::string call_summary(std::span<const CallPhrase> phrases, std::string_view tool, std::string_view input,
                         std::string_view cwd) {
  std::string summary;
  for (const CallPhrase& phrase : phrases) {
    if (phrase.tool != tool) continue;
    if (phrase.member.empty()) {
      summary = phrase.words;
      break;
    }
    auto value = string_value(find_member(input, phrase.member));
    if (!value || value->empty()) continue;  // the tool may have another phrase
    summary = std::string(phrase.words) + relative_to(cwd, *std::move(value));
    break;
  }
  if (summary.empty()) summary = "Using " + std::string(tool.empty() ? "a tool" : tool);
  return one_line(visible_text(summary), kTextSummaryCharacters);
}

}  // namespace shepherd
