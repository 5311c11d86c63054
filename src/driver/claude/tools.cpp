#include "driver/claude/tools.h"

#include <array>
#include <optional>
#include <utility>

#include "driver/event_json.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "model/visible_text.h"

namespace shepherd {
namespace {

struct Phrase {
  std::string_view tool;
  std::string_view words;
  std::string_view member;  // of the input, shown after the words
};

constexpr std::array kPhrases{
    Phrase{"Read", "Reading ", "file_path"},
    Phrase{"Write", "Writing ", "file_path"},
    Phrase{"Edit", "Editing ", "file_path"},
    Phrase{"MultiEdit", "Editing ", "file_path"},
    Phrase{"NotebookEdit", "Editing ", "notebook_path"},
    Phrase{"Bash", "Running ", "command"},
    Phrase{"BashOutput", "Reading output of ", "bash_id"},
    Phrase{"KillShell", "Stopping ", "shell_id"},
    Phrase{"TaskStop", "Stopping ", "task_id"},
    Phrase{"Glob", "Looking for ", "pattern"},
    Phrase{"Grep", "Searching for ", "pattern"},
    Phrase{"LS", "Listing ", "path"},
    Phrase{"WebFetch", "Fetching ", "url"},
    Phrase{"WebSearch", "Searching the web for ", "query"},
    Phrase{"Agent", "Delegating: ", "description"},
    Phrase{"Task", "Delegating: ", "description"},
    Phrase{"Skill", "Using skill ", "skill"},
    Phrase{"ToolSearch", "Looking for tools: ", "query"},
};

std::string shown(std::string value, std::string_view cwd) {
  if (!cwd.empty() && value.size() > cwd.size() + 1 && value.starts_with(cwd) && value[cwd.size()] == '/') {
    value.erase(0, cwd.size() + 1);
  }
  return value;
}

// mcp__server__tool
std::optional<std::string> mcp_summary(std::string_view tool) {
  if (!tool.starts_with("mcp__")) return std::nullopt;
  std::string_view rest = tool.substr(5);
  std::size_t split = rest.find("__");
  if (split == std::string_view::npos) return std::nullopt;
  return "Calling " + std::string(rest.substr(split + 2)) + " of " + std::string(rest.substr(0, split));
}

std::string first_question(std::string_view input) {
  std::string_view questions = find_member(input, "questions");
  if (!questions.starts_with("[{")) return {};
  return string_value(find_member(questions.substr(1), "question")).value_or("");
}

}  // namespace

std::string claude_call_summary(std::string_view tool, std::string_view input, std::string_view cwd) {
  std::string summary;
  for (const auto& phrase : kPhrases) {
    if (phrase.tool != tool) continue;
    auto value = string_value(find_member(input, phrase.member));
    if (value && !value->empty()) summary = std::string(phrase.words) + shown(std::move(*value), cwd);
    break;
  }
  if (tool == "AskUserQuestion") summary = "Asking: " + first_question(input);
  if (tool == "ExitPlanMode") summary = "Presenting its plan";
  if (tool == "TodoWrite") summary = "Updating its to-do list";
  if (summary.empty()) summary = mcp_summary(tool).value_or("Using " + std::string(tool));
  // A person decides by it: nothing that is in the input may be missing here.
  return one_line(visible_text(summary), kTextSummaryCharacters);
}

}  // namespace shepherd
