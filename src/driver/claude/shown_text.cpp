#include "driver/claude/shown_text.h"

#include <array>

#include "driver/event_json.h"

namespace shepherd {
namespace {

struct Markup {
  std::string_view tag;
  bool shows_inside;  // what it encloses is for people too
};

constexpr std::array kMarkup{
    Markup{"tool_use_error", true},       Markup{"persisted-output", true},
    Markup{"local-command-caveat", true}, Markup{"command-name", true},
    Markup{"command-args", true},         Markup{"command-message", false},
    Markup{"system-reminder", true},      Markup{"tools-used-before-summary", false},
};

// Where the text goes on after the markup that begins at text[at], or ends a piece there; `at` when it is none of ours.
std::size_t after_markup(std::string_view text, std::size_t at) {
  for (const Markup& known : kMarkup) {
    std::string_view rest = text.substr(at + 1);
    bool closes = rest.starts_with('/');
    if (closes) rest.remove_prefix(1);
    if (!rest.starts_with(known.tag) || !rest.substr(known.tag.size()).starts_with('>')) continue;
    std::size_t end = at + 1 + (closes ? 1 : 0) + known.tag.size() + 1;
    if (closes || known.shows_inside) return end;
    std::string close = "</" + std::string(known.tag) + ">";
    std::size_t found = text.find(close, end);
    return found == std::string_view::npos ? end : found + close.size();
  }
  return at;
}

std::string without_markup(std::string_view text) {
  std::string out;
  std::size_t kept = 0;
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', at)) {
    std::size_t after = after_markup(text, at);
    if (after == at) {
      ++at;
      continue;
    }
    out.append(text.substr(kept, at - kept)).push_back(' ');
    kept = at = after;
  }
  return out.append(text.substr(kept));
}

// Puts a space in place of what stands from `first` up to the end of `last`, when both are there.
void take_out(std::string& text, std::string_view first, std::string_view last) {
  std::size_t begin = text.find(first);
  std::size_t end = begin == std::string::npos ? begin : text.find(last, begin);
  if (end != std::string::npos) text.replace(begin, end + last.size() - begin, " ");
}

}  // namespace

std::string claude_shown_text(std::string_view text) {
  if (text.starts_with("Command running in background with ID: ")) return "Running in the background";
  std::string shown = without_markup(event_text(text));
  // A sub-agent's report has a preface and an address for the model.
  take_out(shown, "[Subagent hand-back]", "The report follows:\n");
  if (std::size_t at = shown.rfind("\nagentId: "); at != std::string::npos) {
    if (shown.find("(use SendMessage", at) != std::string::npos) shown.resize(at);
  }
  // Output that was too large stands in a file of the agent's own.
  if (shown.find("Output too large (") < 4) take_out(shown, " Full output saved to: ", "):\n");
  return shown;
}

}  // namespace shepherd
