#include <algorithm>
#include <array>

#include "driver/acp/calls.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/visible_text.h"

namespace shepherd {
namespace {

struct KindWords {
  std::string_view kind, verb, alone;
};
constexpr std::array kKindWords{
    KindWords{"read", "Reading ", "Reading a file"},
    KindWords{"edit", "Editing ", "Editing a file"},
    KindWords{"delete", "Deleting ", "Deleting a file"},
    KindWords{"move", "Moving ", "Moving a file"},
    KindWords{"search", "Searching ", "Searching"},
    KindWords{"execute", "Running ", "Running a command"},
    KindWords{"think", "Thinking about ", "Thinking"},
    KindWords{"fetch", "Fetching ", "Fetching a page"},
    KindWords{"switch_mode", "Switching to ", "Switching its mode"},
};

const KindWords* words_of(std::string_view kind) {
  for (const auto& each : kKindWords) {
    if (each.kind == kind) return &each;
  }
  return nullptr;
}

// The text with paths inside `cwd` relative to it.
std::string inside(std::string text, std::string_view cwd) {
  if (cwd.size() < 2) return text;
  std::string folder = std::string(cwd) + "/";
  for (std::size_t at = text.find(folder); at != std::string::npos; at = text.find(folder, at)) {
    bool begins = at == 0 || text[at - 1] == ' ' || text[at - 1] == '"' || text[at - 1] == '\'';
    bool ends = at + folder.size() == text.size();
    if (begins && !ends) {
      text.erase(at, folder.size());
    } else {
      ++at;
    }
  }
  return text;
}

std::string first_location(const AcpCall& call) {
  auto places = array_elements(call.locations);
  return places && !places->empty() ? text_member(places->front(), "path") : "";
}

// A title that says no more than which tool it is: "write", "Terminal".
bool is_bare_word(std::string_view title) {
  return title.find_first_of(" /.:") == std::string_view::npos;
}

std::string block_text(std::string_view block) {
  std::string type = text_member(block, "type");
  if (type == "text") return text_member(block, "text");
  if (type == "resource") {
    std::string text = text_member(find_member(block, "resource"), "text");
    return text.empty() ? "[" + text_member(find_member(block, "resource"), "uri") + "]" : text;
  }
  if (type == "resource_link") return "[" + text_member(block, "uri") + "]";
  std::string media = text_member(block, "mimeType");
  return "[" + (media.empty() ? type : media) + "]";
}

std::string diff_text(std::string_view block, std::string_view cwd) {
  std::string_view before = find_member(block, "oldText");
  std::string path = inside(text_member(block, "path"), cwd);
  bool made = before.empty() || before == "null" || before == "\"\"";
  return (made ? "Wrote " : "Changed ") + path;
}

void add_line(std::string& text, std::string_view line) {
  if (line.empty()) return;
  if (!text.empty()) text.push_back('\n');
  text.append(line);
}

// Agents keep what a tool printed under names of their own.
std::string raw_output_text(std::string_view output) {
  if (auto text = string_value(output)) return *text;
  for (std::string_view key :
       {"output", "formatted_output", "aggregated_output", "stdout", "error", "message", "result"}) {
    std::string text = text_member(output, key);
    if (!text.empty()) return text;
  }
  return {};
}

}  // namespace

std::string acp_call_summary(const AcpCall& call, std::string_view cwd) {
  const KindWords* words = words_of(call.kind);
  std::string command = text_member(call.input, "command");
  std::string place = inside(first_location(call), cwd);
  std::string summary = inside(call.title, cwd);
  if ((call.kind == "execute" || call.kind.empty()) && !command.empty()) {
    summary = "Running " + command;
  } else if (words != nullptr && (summary.empty() || is_bare_word(summary) || summary == place)) {
    bool says_where = call.kind != "execute" && !place.empty();
    summary = says_where ? std::string(words->verb) + place : std::string(words->alone);
    if (!says_where && !call.name.empty()) summary = "Using " + call.name;
  } else if (summary.empty()) {
    summary = "Using " + call.tool();
  } else if (call.kind == "execute" && call.input.empty() && !summary.starts_with("Run")) {
    summary = "Running " + summary;
  } else if (call.kind == "read" && summary == place.substr(place.rfind('/') + 1)) {
    summary = "Reading " + place;
  }
  // A person decides by it: nothing that is in it may be missing here.
  return one_line(visible_text(summary), kTextSummaryCharacters);
}

std::string acp_shown_text(const AcpCall& call) {
  std::string text;
  for (std::string_view block : array_elements(call.content).value_or(std::vector<std::string_view>())) {
    if (text_member(block, "type") == "content") add_line(text, block_text(find_member(block, "content")));
  }
  return text;
}

std::string acp_call_input(const AcpCall& call) {
  if (!call.input.empty()) return call.input;
  std::string diffs = acp_diffs(call);
  return object_text([&](JsonObject& object) {
    if (call.kind == "execute") object.text_unless_empty("command", call.title);
    if (!diffs.empty()) object.json("diffs", diffs);
  });
}

std::string acp_result_text(const AcpCall& call, std::string_view cwd) {
  std::string text = acp_shown_text(call), changes;
  for (std::string_view block : array_elements(call.content).value_or(std::vector<std::string_view>())) {
    if (text_member(block, "type") == "diff") add_line(changes, diff_text(block, cwd));
  }
  // What the tool printed says more than what the agent shows while it runs.
  std::string printed = raw_output_text(call.output);
  if (text.empty() || (call.status == "failed" && !printed.empty())) text = printed;
  return text.empty() ? changes : text;
}

std::string_view without_fence(std::string_view text) {
  if (!text.starts_with("```")) return text;
  std::size_t line = text.find('\n');
  if (line == std::string_view::npos) return text;
  std::string_view rest = text.substr(line + 1);
  while (rest.ends_with('\n')) rest.remove_suffix(1);
  if (!rest.ends_with("```")) return text;
  rest.remove_suffix(3);
  return rest;
}

std::string acp_summary(std::string_view text) {
  std::string shown;
  for (std::size_t at = 0; at < text.size() && shown.size() <= kMaxEventTextBytes;) {
    std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view line = text.substr(at, end - at);
    bool mark = line.size() > 2 && line.front() == '<' && line.back() == '>' &&
                line.find_first_of(" \t=") == std::string_view::npos;
    if (!mark) shown.append(line).push_back('\n');
    at = end + 1;
  }
  return one_line(shown, kTextSummaryCharacters);
}

std::string acp_diffs(const AcpCall& call) {
  std::string list;
  for (std::string_view block : array_elements(call.content).value_or(std::vector<std::string_view>())) {
    if (text_member(block, "type") == "diff") list.append(list.empty() ? "" : ",").append(block);
  }
  return list.empty() ? list : "[" + list + "]";
}

std::string acp_call_data(const AcpCall& call) {
  std::string data = object_text([&](JsonObject& object) {
    object.text_unless_empty("kind", call.kind.substr(0, kMaxAgentIdBytes));
    if (call.locations.size() > 2 && call.locations.size() <= kMaxEventTextBytes) {
      object.json("locations", call.locations);
    }
    std::string terminals;
    for (std::string_view block : array_elements(call.content).value_or(std::vector<std::string_view>())) {
      if (text_member(block, "type") != "terminal") continue;
      terminals.push_back(terminals.empty() ? '[' : ',');
      terminals.append(find_member(block, "terminalId"));
    }
    if (!terminals.empty() && terminals.size() <= kMaxEventTextBytes) object.json("terminals", terminals + "]");
  });
  return data == "{}" ? std::string() : data;
}

}  // namespace shepherd
