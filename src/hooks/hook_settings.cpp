#include "hooks/hook_settings.h"

#include <boost/json.hpp>

#include "json/scan.h"
#include "json/tree.h"

namespace shepherd {
namespace {

namespace json = boost::json;

// The hooks that a watcher needs and that all versions in use support. A version that validates its settings ignores
// all hooks if it finds one unknown name.
constexpr std::string_view kHooks[] = {
    "SessionStart",  "UserPromptSubmit", "PreToolUse", "PostToolUse", "PostToolUseFailure", "PermissionRequest",
    "SubagentStart", "SubagentStop",     "PreCompact", "Stop",        "SessionEnd",
};
constexpr std::string_view kWords = " hook send";
constexpr int kSeconds = 10;  // the agent kills a hook after this

std::unexpected<Error> bad_settings(std::string_view what) {
  return fail(ErrorCode::invalid_argument, "bad_settings", std::string(what) + "; nothing was changed");
}

bool is_own(const json::value& hook) {
  const json::object* object = hook.if_object();
  const json::value* command = object == nullptr ? nullptr : object->if_contains("command");
  if (command == nullptr || !command->is_string()) return false;
  std::string_view text = command->get_string();
  std::size_t words = text.find(kWords);
  return words != std::string_view::npos && text.substr(0, words).find("shepherd") != std::string_view::npos;
}

// Removes our hooks from the groups of one event, and the groups that become empty.
void remove_own(json::array& groups) {
  for (std::size_t i = groups.size(); i-- > 0;) {
    json::object* group = groups[i].if_object();
    json::value* hooks = group == nullptr ? nullptr : group->if_contains("hooks");
    if (hooks == nullptr || !hooks->is_array()) continue;
    json::array& list = hooks->get_array();
    std::size_t before = list.size();
    for (std::size_t k = list.size(); k-- > 0;) {
      if (is_own(list[k])) list.erase(list.begin() + static_cast<std::ptrdiff_t>(k));
    }
    if (list.empty() && before > 0) groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(i));
  }
}

// Formats settings like the agent itself: two spaces, one member per line.
void write_pretty(std::string& out, const json::value& value, std::size_t depth) {
  auto new_line = [&](std::size_t level) { out.append("\n").append(level * 2, ' '); };
  if (const json::object* object = value.if_object(); object != nullptr && !object->empty()) {
    char before = '{';
    for (const auto& member : *object) {
      out.push_back(before);
      before = ',';
      new_line(depth + 1);
      append_tree(out, json::value(member.key()));
      out.append(": ");
      write_pretty(out, member.value(), depth + 1);
    }
    new_line(depth);
    out.push_back('}');
  } else if (const json::array* array = value.if_array(); array != nullptr && !array->empty()) {
    char before = '[';
    for (const json::value& element : *array) {
      out.push_back(before);
      before = ',';
      new_line(depth + 1);
      write_pretty(out, element, depth + 1);
    }
    new_line(depth);
    out.push_back(']');
  } else {
    append_tree(out, value);
  }
}

struct Parsed {
  json::object hooks;
  bool there = false;  // the settings have the member
};

Result<Parsed> parse_hooks(std::string_view settings) {
  Result<json::value> whole = parse_tree(settings);
  if (!whole || !whole->is_object()) return bad_settings("the settings are not a JSON object");
  Parsed parsed;
  const json::value* hooks = whole->get_object().if_contains("hooks");
  if (hooks == nullptr) return parsed;
  parsed.there = true;
  if (!hooks->is_object()) return bad_settings("`hooks` in the settings is not an object");
  parsed.hooks = hooks->get_object();
  for (const auto& event : parsed.hooks) {
    if (!event.value().is_array()) return bad_settings("`hooks." + std::string(event.key()) + "` is not a list");
  }
  return parsed;
}

bool is_blank(char c) {
  return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

// Replaces the `hooks` member in the text, or adds it as the last one.
std::string put_hooks(std::string_view settings, const Parsed& parsed) {
  std::string value;
  write_pretty(value, parsed.hooks, 1);
  std::string text(settings);
  if (parsed.there) {
    std::string_view old = find_member(settings, "hooks");
    return text.replace(static_cast<std::size_t>(old.data() - settings.data()), old.size(), value);
  }
  std::size_t close = text.rfind('}');
  std::size_t end = close;
  while (end > 0 && is_blank(text[end - 1])) --end;
  bool empty = text[end - 1] == '{';
  return text.substr(0, end) + (empty ? "" : ",") + "\n  \"hooks\": " + value + "\n" + text.substr(close);
}

// The text without the `hooks` member and one adjacent comma.
std::string drop_hooks(std::string_view settings) {
  std::string_view value = find_member(settings, "hooks");
  std::size_t end = static_cast<std::size_t>(value.data() - settings.data()) + value.size();
  std::size_t begin = settings.rfind("\"hooks\"", static_cast<std::size_t>(value.data() - settings.data()));
  while (begin > 0 && is_blank(settings[begin - 1])) --begin;
  if (begin > 0 && settings[begin - 1] == ',') {
    --begin;
  } else if (std::size_t comma = settings.find_first_not_of(" \t\r\n", end); settings.substr(comma, 1) == ",") {
    end = comma + 1;
  }
  return std::string(settings.substr(0, begin)).append(settings.substr(end));
}

}  // namespace

std::string hook_command(std::string_view program, std::string_view options) {
  std::string quoted = "'";
  for (char c : program) quoted.append(c == '\'' ? "'\\''" : std::string(1, c));
  return quoted + "'" + std::string(kWords) + (options.empty() ? "" : " ") + std::string(options);
}

Result<std::string> with_hooks(std::string_view settings, std::string_view command) {
  if (settings.find_first_not_of(" \t\r\n") == std::string_view::npos) settings = "{\n}\n";
  Result<Parsed> parsed = parse_hooks(settings);
  if (!parsed) return fail(parsed.error());
  json::object before = parsed->hooks;
  for (std::string_view name : kHooks) {
    json::value& groups = parsed->hooks[name];
    if (!groups.is_array()) groups = json::array();
    json::value own = json::object{
        {"hooks", json::array{json::object{{"type", "command"}, {"command", command}, {"timeout", kSeconds}}}}};
    json::array& list = groups.get_array();
    // An existing hook with exactly this command keeps its place.
    bool there = false;
    for (const json::value& group : list) there = there || group == own;
    if (there) continue;
    remove_own(list);
    list.push_back(std::move(own));
  }
  if (parsed->there && parsed->hooks == before) return std::string(settings);
  return put_hooks(settings, *parsed);
}

Result<std::string> without_hooks(std::string_view settings) {
  if (settings.find_first_not_of(" \t\r\n") == std::string_view::npos) return std::string(settings);
  Result<Parsed> parsed = parse_hooks(settings);
  if (!parsed) return fail(parsed.error());
  json::object after;
  for (auto& event : parsed->hooks) {
    json::array groups = event.value().get_array();
    bool was_empty = groups.empty();
    remove_own(groups);
    if (!groups.empty() || was_empty) after[event.key()] = std::move(groups);
  }
  if (after == parsed->hooks) return std::string(settings);
  if (after.empty()) return drop_hooks(settings);
  parsed->hooks = std::move(after);
  return put_hooks(settings, *parsed);
}

}  // namespace shepherd
