#include "demo/options.h"

#include <algorithm>
#include <functional>
#include <map>
#include <string_view>

namespace scripted {
namespace {

std::vector<std::string> split(std::string_view list) {
  std::vector<std::string> out;
  std::string item;
  int depth = 0;  // Bash(a,b) is one rule
  for (char c : list) {
    depth += c == '(' ? 1 : c == ')' ? -1 : 0;
    if (c == ',' && depth == 0) {
      out.push_back(std::move(item));
      item.clear();
    } else {
      item.push_back(c);
    }
  }
  if (!item.empty()) out.push_back(std::move(item));
  return out;
}

}  // namespace

Options parse_options(int argc, char** argv, const std::vector<std::string>& refused) {
  Options options;
  const std::map<std::string_view, std::function<void()>> flags{
      {"-p", [] {}},
      {"--print", [] {}},
      {"--version", [&] { options.version = true; }},
      {"--verbose", [&] { options.verbose = true; }},
      {"--replay-user-messages", [&] { options.replay = true; }},
      {"--include-partial-messages", [&] { options.partial = true; }},
      {"--forward-subagent-text", [] {}},
      {"--strict-mcp-config", [] {}},
  };
  using Text = const std::string&;
  const std::map<std::string_view, std::function<void(Text)>> settings{
      {"--input-format", [&](Text value) { options.messages = value == "stream-json"; }},
      {"--output-format",
       [&](Text value) {
         options.output = value == "stream-json" ? Options::Output::stream
                          : value == "json"      ? Options::Output::json
                                                 : Options::Output::text;
       }},
      {"--permission-prompt-tool", [&](Text value) { options.asks = value == "stdio"; }},
      {"--permission-mode", [&](Text value) { options.permission_mode = value; }},
      {"--allowedTools", [&](Text value) { options.allowed_tools = split(value); }},
      {"--model", [&](Text value) { options.model = value; }},
      {"--max-turns", [&](Text value) { options.max_turns = std::stoll(value); }},
      {"--max-budget-usd", [&](Text value) { options.budget_usd = std::stod(value); }},
      {"--mcp-config", [](Text) {}},
      {"--append-system-prompt", [](Text) {}},
      {"--resume", [&](Text value) { options.resume_session = value; }},
      {"--session-id", [&](Text value) { options.session_id = value; }},
  };
  for (int i = 1; i < argc && options.error.empty(); ++i) {
    std::string word = argv[i];
    bool known = std::find(refused.begin(), refused.end(), word) == refused.end();
    if (auto flag = flags.find(word); known && flag != flags.end()) {
      flag->second();
    } else if (auto setting = settings.find(word); known && setting != settings.end()) {
      if (++i == argc) {
        options.error = "error: option '" + word + " <value>' argument missing";
      } else {
        setting->second(argv[i]);
      }
    } else if (word.starts_with('-')) {
      options.error = "error: unknown option '" + word + "'";
    } else {
      options.prompt = word;
    }
  }
  if (options.error.empty() && options.output == Options::Output::stream && !options.verbose) {
    options.error = "Error: When using --print, --output-format=stream-json requires --verbose";
  }
  return options;
}

}  // namespace scripted
