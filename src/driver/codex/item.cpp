#include "driver/codex/item.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <utility>
#include <vector>

#include "driver/event_json.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/visible_text.h"

namespace shepherd {
namespace {

using Kind = CodexItem::Kind;
using Ended = CodexItem::State;

// Members have two spellings.
const JsonNode& either(const JsonSlices& record, const JsonNode& object, std::string_view camel,
                       std::string_view snake) {
  const JsonNode& found = record.find(object, camel);
  return found.kind == JsonKind::null ? record.find(object, snake) : found;
}

std::int64_t time_of(const JsonNode& node) {
  return static_cast<std::int64_t>(count_of(node).value_or(0));
}

Ended state_of(std::string_view status) {
  std::string word = plain_word(status);
  if (word == "inprogress" || word.empty()) return Ended::running;
  if (word == "declined") return Ended::declined;
  return word == "completed" ? Ended::done : Ended::failed;
}

// The texts of a string, an array of strings or an array of objects with a `text`, one below the other.
std::string texts_of(const JsonSlices& record, const JsonNode& node) {
  if (node.kind == JsonKind::string) return std::string(node.text);
  std::string all;
  for (const JsonNode* each = record.first(node); each != nullptr; each = record.after(*each)) {
    std::string text(each->kind == JsonKind::object ? record.string(*each, "text") : each->text);
    if (each->kind == JsonKind::object && text.empty()) {
      std::string_view type = record.string(*each, "type");
      if (!type.empty() && plain_word(type) != "text") text.append("[").append(type).append("]");
    }
    if (text.empty()) continue;
    if (!all.empty()) all.push_back('\n');
    all.append(text);
  }
  return all;
}

// `["/bin/bash","-lc","ls"]` or a string.
std::string command_of(const JsonSlices& record, const JsonNode& command) {
  if (command.kind != JsonKind::array) return inner_command(command.text);
  std::vector<std::string> words;
  for (const JsonNode* each = record.first(command); each != nullptr; each = record.after(*each)) {
    words.emplace_back(each->text);
  }
  if (words.size() == 3 && (words[1] == "-lc" || words[1] == "-c")) return words[2];
  std::string all;
  for (const std::string& word : words) all.append(all.empty() ? "" : " ").append(word);
  return all;
}

std::string_view object_of(const JsonNode& node) {
  return node.kind == JsonKind::object ? node.slice : "{}";
}

void read_command(CodexItem& item, const JsonSlices& record, const JsonNode& node) {
  item.tool = "Bash";
  item.input =
      object_text([&](JsonObject& input) { input.text("command", command_of(record, record.find(node, "command"))); });
  item.output = either(record, node, "aggregatedOutput", "aggregated_output").text;
  auto code = number_of(either(record, node, "exitCode", "exit_code"));
  constexpr double kMostCode = 2'147'483'647;
  if (code && std::abs(*code) <= kMostCode) item.exit_code = static_cast<std::int64_t>(*code);
}

struct FileChange {
  std::string path, kind, diff;
};

std::vector<FileChange> changes_of(const JsonSlices& record, const JsonNode& changes) {
  std::vector<FileChange> all;
  for (const JsonNode* each = record.first(changes); each != nullptr; each = record.after(*each)) {
    FileChange change;
    change.path = changes.kind == JsonKind::object ? each->key : record.string(*each, "path");
    const JsonNode& kind = record.find(*each, "kind");
    change.kind = kind.kind == JsonKind::object ? record.string(kind, "type") : kind.text;
    if (change.kind.empty()) change.kind = record.string(*each, "type");
    for (std::string_view member : {"diff", "unified_diff", "content"}) {
      if (change.diff.empty()) change.diff = record.string(*each, member);
    }
    all.push_back(std::move(change));
  }
  return all;
}

void read_changes(CodexItem& item, const JsonSlices& record, const JsonNode& node) {
  std::vector<FileChange> changes = changes_of(record, record.find(node, "changes"));
  bool one = changes.size() == 1;
  bool added = one && changes.front().kind == "add";
  item.tool = added ? "Write" : "Edit";
  item.input = object_text([&](JsonObject& input) {
    if (one) {
      const FileChange& change = changes.front();
      input.text("file_path", change.path);
      if (!added) input.text("kind", change.kind);
      input.text_unless_empty(added ? "content" : "diff", change.diff);
      return;
    }
    std::string& list = input.member("changes");
    list.push_back('[');
    for (const FileChange& change : changes) {
      if (list.back() != '[') list.push_back(',');
      write_object(list, [&](JsonObject& object) {
        object.text("file_path", change.path);
        object.text("kind", change.kind);
        object.text_unless_empty("diff", change.diff);
      });
    }
    list.push_back(']');
  });
  item.output = record.string(node, item.state == Ended::failed ? "stderr" : "stdout");
}

void read_server_tool(CodexItem& item, const JsonSlices& record, const JsonNode& node) {
  const JsonNode& invocation = record.find(node, "invocation");
  const JsonNode& call = invocation.kind == JsonKind::object ? invocation : node;
  item.tool = "mcp__" + std::string(record.string(call, "server")) + "__" + std::string(record.string(call, "tool"));
  item.input = object_of(record.find(call, "arguments"));
  item.output = texts_of(record, record.find(record.find(node, "result"), "content"));
  const JsonNode& error = record.find(node, "error");
  if (std::string_view why = error.kind == JsonKind::object ? record.string(error, "message") : error.text;
      !why.empty()) {
    item.output = why;
  }
}

void read_search(CodexItem& item, const JsonSlices& record, const JsonNode& node) {
  item.tool = "WebSearch";
  const JsonNode& action = record.find(node, "action");
  std::string_view url = record.string(action, "url");
  if (!url.empty()) item.tool = "WebFetch";
  item.input = object_text([&](JsonObject& input) {
    if (!url.empty()) input.text("url", url);
    input.text_unless_empty("query", record.string(node, "query"));
    input.text_unless_empty("pattern", record.string(action, "pattern"));
  });
  item.state = Ended::done;  // it says no status; the agent that started it knows better
}

void read_agent_call(CodexItem& item, const JsonSlices& record, const JsonNode& node) {
  item.tool = "Agent";
  item.input = object_text([&](JsonObject& input) {
    input.text("action", snake_word(record.string(node, "tool")));
    std::string_view prompt = record.string(node, "prompt");
    input.text_unless_empty("description", one_line(prompt, kTextSummaryCharacters));
    input.text_unless_empty("prompt", prompt);
  });
}

// Any other step that is begun and ended: its own members are its input.
void read_other_call(CodexItem& item, const JsonSlices& record, const JsonNode& node) {
  std::string_view name = record.string(node, "tool");
  item.tool = name.empty() ? item.type : std::string(name);
  const JsonNode& given = record.find(node, "arguments");
  if (given.kind == JsonKind::object) {
    item.input = given.slice;
  } else {
    item.input = object_text([&](JsonObject& input) {
      for (std::string_view member : {"path", "savedPath", "revisedPrompt"}) {
        input.text_unless_empty(member, record.string(node, member));
      }
      if (auto waits = count_of(record.find(node, "durationMs"))) input.number("durationMS", *waits);
    });
  }
  const JsonNode& content = either(record, node, "contentItems", "content_items");
  item.output = texts_of(record, content);
}

void read_to_do(CodexItem& item, const JsonSlices& record, const JsonNode& node) {
  const JsonNode& steps = record.find(node, "items");
  for (const JsonNode* each = record.first(steps); each != nullptr; each = record.after(*each)) {
    item.text.append(item.text.empty() ? "" : "\n").append(is_true(record.find(*each, "completed")) ? "[x] " : "[ ] ");
    item.text.append(record.string(*each, "text"));
  }
}

void read_duration(CodexItem& item, const JsonSlices& record, const JsonNode& node) {
  if (auto took = count_of(either(record, node, "durationMs", "duration_ms"))) {
    item.duration_ms = static_cast<std::int64_t>(*took);
  }
  const JsonNode& duration = record.find(node, "duration");
  if (auto seconds = count_of(record.find(duration, "secs"))) {
    constexpr std::uint64_t kMostSeconds = 1'000'000'000;
    std::uint64_t nanos = count_of(record.find(duration, "nanos")).value_or(0);
    item.duration_ms =
        static_cast<std::int64_t>(std::min(*seconds, kMostSeconds) * 1000 + nanos % 1'000'000'000 / 1'000'000);
  }
}

struct KnownKind {
  std::string_view word;
  Kind kind;
};
constexpr std::array kKnown{
    KnownKind{"usermessage", Kind::user_message},
    KnownKind{"hookprompt", Kind::user_message},
    KnownKind{"agentmessage", Kind::agent_message},
    KnownKind{"reasoning", Kind::reasoning},
    KnownKind{"plan", Kind::plan},
    KnownKind{"todolist", Kind::to_do},
    KnownKind{"commandexecution", Kind::call},
    KnownKind{"filechange", Kind::call},
    KnownKind{"mcptoolcall", Kind::call},
    KnownKind{"dynamictoolcall", Kind::call},
    KnownKind{"collabagenttoolcall", Kind::call},
    KnownKind{"websearch", Kind::call},
    KnownKind{"imageview", Kind::call},
    KnownKind{"imagegeneration", Kind::call},
    KnownKind{"sleep", Kind::call},
    KnownKind{"contextcompaction", Kind::compaction},
    KnownKind{"error", Kind::warning},
};

Kind kind_named(std::string_view word) {
  for (const KnownKind& known : kKnown) {
    if (known.word == word) return known.kind;
  }
  return Kind::other;
}

void read_call(CodexItem& item, const std::string& word, const JsonSlices& record, const JsonNode& node) {
  item.state = state_of(record.string(node, "status"));
  read_duration(item, record, node);
  if (word == "commandexecution") return read_command(item, record, node);
  if (word == "filechange") return read_changes(item, record, node);
  if (word == "mcptoolcall") return read_server_tool(item, record, node);
  if (word == "websearch") return read_search(item, record, node);
  if (word == "collabagenttoolcall") return read_agent_call(item, record, node);
  if (word == "imageview" || word == "sleep") item.state = Ended::done;
  read_other_call(item, record, node);
}

std::string shown_path(std::string path, std::string_view cwd) {
  if (!cwd.empty() && path.size() > cwd.size() + 1 && path.starts_with(cwd) && path[cwd.size()] == '/') {
    path.erase(0, cwd.size() + 1);
  }
  return path;
}

std::string file_summary(std::string_view words, std::string_view input, std::string_view cwd) {
  std::string path = text_member(input, "file_path");
  if (!path.empty()) {
    if (text_member(input, "kind") == "delete") words = "Deleting ";
    return std::string(words) + shown_path(std::move(path), cwd);
  }
  auto changes = array_elements(find_member(input, "changes"));
  if (!changes || changes->empty()) return "Editing files";
  std::string summary = "Editing " + shown_path(text_member(changes->front(), "file_path"), cwd);
  std::size_t more = changes->size() - 1;
  return summary + (more == 0 ? "" : " and " + std::to_string(more) + (more == 1 ? " more file" : " more files"));
}

std::string plain_summary(std::string_view tool, std::string_view input, std::string_view cwd) {
  auto member = [&](std::string_view words, std::string_view key) {
    std::string value = text_member(input, key);
    return value.empty() ? std::string() : std::string(words) + value;
  };
  if (tool == "Bash") return member("Running ", "command");
  if (tool == "Write") return file_summary("Writing ", input, cwd);
  if (tool == "Edit") return file_summary("Editing ", input, cwd);
  if (tool == "WebSearch") return member("Searching the web for ", "query");
  if (tool == "WebFetch") return member("Fetching ", "url");
  if (tool == "Agent") return member("Delegating: ", "description");
  if (tool == "Permissions") return "Asking for more permissions";
  if (tool == "AskUserQuestion") {
    auto questions = array_elements(find_member(input, "questions"));
    return "Asking: " + (questions && !questions->empty() ? text_member(questions->front(), "question")
                                                          : text_member(input, "message"));
  }
  if (!tool.starts_with("mcp__")) return {};
  std::string_view rest = tool.substr(5);
  std::size_t split = rest.find("__");
  if (split == std::string_view::npos) return {};
  return "Calling " + std::string(rest.substr(split + 2)) + " of " + std::string(rest.substr(0, split));
}

}  // namespace

std::string plain_word(std::string_view word) {
  std::string plain;
  for (char c : word) {
    if (c != '_') plain.push_back(static_cast<char>(std::tolower(static_cast<unsigned char>(c))));
  }
  return plain;
}

std::string snake_word(std::string_view word) {
  std::string snake;
  for (char c : word) {
    bool upper = c >= 'A' && c <= 'Z';
    if (upper && !snake.empty()) snake.push_back('_');
    snake.push_back(upper ? static_cast<char>(c - 'A' + 'a') : c);
  }
  return snake;
}

CodexItem read_codex_item(const JsonSlices& record, const JsonNode& node) {
  CodexItem item;
  item.type = record.string(node, "type").substr(0, kMaxAgentIdBytes);
  std::string word = plain_word(item.type);
  item.kind = kind_named(word);
  item.id = record.string(node, "id");
  item.client_id = either(record, node, "clientId", "client_id").text;
  item.started_ms = time_of(either(record, node, "startedAtMs", "started_at_ms"));
  item.completed_ms = time_of(either(record, node, "completedAtMs", "completed_at_ms"));
  switch (item.kind) {
    case Kind::call:
      read_call(item, word, record, node);
      break;
    case Kind::to_do:
      read_to_do(item, record, node);
      break;
    case Kind::reasoning: {
      item.text = texts_of(record, either(record, node, "summary", "summary_text"));
      if (item.text.empty()) item.text = texts_of(record, either(record, node, "content", "raw_content"));
      if (item.text.empty()) item.text = record.string(node, "text");
      break;
    }
    default:
      item.text = record.string(node, "text");
      if (item.text.empty()) item.text = record.string(node, "message");
      if (item.text.empty()) item.text = texts_of(record, either(record, node, "content", "fragments"));
  }
  return item;
}

bool codex_item_looks_into(std::string_view key, std::string_view parent) {
  constexpr std::string_view kKeys[] = {"item",         "content",      "fragments", "summary",    "summary_text",
                                        "command",      "changes",      "kind",      "result",     "error",
                                        "items",        "raw_content",  "duration",  "invocation", "action",
                                        "contentItems", "content_items"};
  for (std::string_view known : kKeys) {
    if (known == key) return true;
  }
  return parent == "changes";  // its members are named by paths
}

std::string codex_call_summary(std::string_view tool, std::string_view input, std::string_view cwd) {
  std::string summary = plain_summary(tool, input, cwd);
  if (summary.empty()) summary = "Using " + std::string(tool);
  // A person decides by it: nothing that is in the input may be missing here.
  return one_line(visible_text(summary), kTextSummaryCharacters);
}

}  // namespace shepherd
