#include "cli/task_file.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <array>
#include <filesystem>
#include <optional>
#include <set>
#include <utility>

#include "base/whole_file.h"
#include "cli/known_agents.h"
#include "cli/limits.h"
#include "config/limits.h"
#include "config/nearest_word.h"
#include "model/command.h"
#include "terminal/span_text.h"

namespace shepherd {
namespace {

// An error in a file, thrown from deep inside the parser.
struct Wrong {
  YAML::Mark mark;
  std::string message;
};

template <class T>
T value(const YAML::Node& node, std::string_view what) {
  try {
    return node.as<T>();
  } catch (const YAML::Exception&) {
    throw Wrong{node.Mark(), fmt::format("this must be {}", what)};
  }
}

std::vector<std::string> texts(const YAML::Node& node) {
  if (!node.IsSequence()) throw Wrong{node.Mark(), "this must be a list of texts"};
  std::vector<std::string> out;
  for (const YAML::Node& each : node) out.push_back(value<std::string>(each, "a text"));
  return out;
}

std::map<std::string, std::string> table(const YAML::Node& node) {
  if (!node.IsMap()) throw Wrong{node.Mark(), "this must be names with values"};
  std::map<std::string, std::string> out;
  for (const auto& each : node) {
    out[value<std::string>(each.first, "a name")] = value<std::string>(each.second, "a text");
  }
  return out;
}

double positive(const YAML::Node& node) {
  double number = value<double>(node, "a number");
  if (!(number >= 0)) throw Wrong{node.Mark(), "this must not be below zero"};
  return number;
}

struct Key {
  std::string_view name;
  void (*set)(RunRequest& request, const YAML::Node& node);
};

const std::array kKeys{
    Key{"name", [](RunRequest& request, const YAML::Node& node) { request.name = value<std::string>(node, "a text"); }},
    Key{"id", [](RunRequest& request, const YAML::Node& node) { request.id = value<std::string>(node, "a text"); }},
    Key{"prompt",
        [](RunRequest& request, const YAML::Node& node) { request.prompt = value<std::string>(node, "a text"); }},
    Key{"command", [](RunRequest& request, const YAML::Node& node) { request.command = texts(node); }},
    Key{"agent",
        [](RunRequest& request, const YAML::Node& node) {
          request.agent = value<std::string>(node, "an agent's name");
          request.agent_given = true;
        }},
    Key{"address",
        [](RunRequest& request, const YAML::Node& node) {
          request.address = value<std::string>(node, "an address such as 127.0.0.1:50051");
        }},
    Key{"program",
        [](RunRequest& request, const YAML::Node& node) { request.program = value<std::string>(node, "a text"); }},
    Key{"model",
        [](RunRequest& request, const YAML::Node& node) { request.model = value<std::string>(node, "a text"); }},
    Key{"context",
        [](RunRequest& request, const YAML::Node& node) { request.context = value<std::string>(node, "a text"); }},
    Key{"resume",
        [](RunRequest& request, const YAML::Node& node) { request.resume_of = value<std::string>(node, "a task"); }},
    Key{"mode",
        [](RunRequest& request, const YAML::Node& node) {
          request.mode = value<std::string>(node, "a mode");
          if (!agent_mode(request.mode)) throw Wrong{node.Mark(), "this must be interactive or autonomous"};
        }},
    Key{"directory",
        [](RunRequest& request, const YAML::Node& node) { request.directory = value<std::string>(node, "a path"); }},
    Key{"worktree",
        [](RunRequest& request, const YAML::Node& node) { request.worktree = value<bool>(node, "true or false"); }},
    Key{"max_turns", [](RunRequest& request,
                        const YAML::Node& node) { request.max_turns = value<std::int64_t>(node, "a whole number"); }},
    Key{"budget", [](RunRequest& request, const YAML::Node& node) { request.budget_usd = positive(node); }},
    Key{"timeout",
        [](RunRequest& request, const YAML::Node& node) {
          auto text = value<std::string>(node, "a span of time");
          bool digits = text.find_first_not_of("0123456789") == std::string::npos;
          Result<std::int64_t> seconds = parse_span_seconds(digits ? text + "s" : text);
          if (!seconds) throw Wrong{node.Mark(), "this must be a span of time such as 90s, 10m or 2h"};
          request.timeout_seconds = *seconds;
        }},
    Key{"allowed_tools", [](RunRequest& request, const YAML::Node& node) { request.allowed_tools = texts(node); }},
    Key{"environment",
        [](RunRequest& request, const YAML::Node& node) {
          for (auto& [name, text] : table(node)) request.environment[name] = text;
        }},
    Key{"labels",
        [](RunRequest& request, const YAML::Node& node) {
          for (auto& [name, text] : table(node)) request.labels[name] = text;
        }},
};

void read_keys(RunRequest& request, const YAML::Node& node) {
  if (!node.IsMap()) throw Wrong{node.Mark(), "a task is names with values, such as prompt: fix the failing test"};
  for (const auto& each : node) {
    auto name = value<std::string>(each.first, "a name");
    bool known = false;
    for (const Key& key : kKeys) {
      if (key.name != name) continue;
      key.set(request, each.second);
      known = true;
    }
    if (known) continue;
    std::vector<std::string> names;
    names.reserve(std::size(kKeys));
    for (const Key& key : kKeys) names.emplace_back(key.name);
    std::string near = nearest_word(name, names);
    throw Wrong{each.first.Mark(), fmt::format("a task has no \"{}\"{}", name,
                                               near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near))};
  }
}

RunRequest read_task(const YAML::Node& node, const RunRequest& usual, const Config& config, std::size_t number) {
  RunRequest request = usual;
  read_keys(request, node);
  if (request.prompt.empty() && request.command.empty()) {
    throw Wrong{node.Mark(), "a task needs a prompt, or a command as a list: [make, test]"};
  }
  if (!request.prompt.empty() && !request.command.empty()) {
    throw Wrong{node.Mark(), "a task has a prompt or a command, not both; remove one of them"};
  }
  if (Result<void> right = check_agent(config, request); !right) {
    const YAML::Node named = node["agent"];
    throw Wrong{named ? named.Mark() : node.Mark(), right.error().message};
  }
  if (request.name.empty()) request.name = fmt::format("task {}", number);
  return request;
}

TaskFile read_tasks(const YAML::Node& root, const RunRequest& flags, const Config& config) {
  TaskFile file;
  RunRequest usual = flags;
  if (root.IsMap()) {
    for (const auto& each : root) {
      auto name = value<std::string>(each.first, "a name");
      if (name != "parallel" && name != "tasks" && name != "defaults") {
        throw Wrong{each.first.Mark(), fmt::format("\"{}\" is not parallel, defaults or tasks", name)};
      }
    }
    if (root["parallel"]) file.parallel = value<int>(root["parallel"], "a whole number");
    if (root["defaults"]) read_keys(usual, root["defaults"]);
  }
  const YAML::Node tasks = root.IsMap() ? root["tasks"] : root;
  if (file.parallel < 1 || file.parallel > kMaxRunners) {
    throw Wrong{root["parallel"].Mark(), fmt::format("parallel must be 1 to {}", kMaxRunners)};
  }
  if (root.IsNull()) {
    throw Wrong{YAML::Mark::null_mark(), "the file is empty; write a list of tasks (shepherd run --help shows one)"};
  }
  if (!tasks || !tasks.IsSequence() || tasks.size() == 0) {
    throw Wrong{root.Mark(), "there are no tasks: the file is a list of tasks, or has one under \"tasks\""};
  }
  if (tasks.size() > kMaxFileTasks) throw Wrong{tasks.Mark(), fmt::format("at most {} tasks", kMaxFileTasks)};
  std::set<std::string> names;
  for (const YAML::Node& node : tasks) {
    file.tasks.push_back(read_task(node, usual, config, file.tasks.size() + 1));
    const std::string& name = file.tasks.back().name;
    if (!names.insert(name).second) throw Wrong{node.Mark(), fmt::format("two tasks are called \"{}\"", name)};
  }
  return file;
}

}  // namespace

Result<TaskFile> parse_task_file(const std::string& text, const std::string& name, const RunRequest& flags,
                                 const Config& config) {
  auto wrong = [&](const YAML::Mark& mark, const std::string& message) {
    std::string where = mark.is_null() ? name : fmt::format("{}:{}", name, mark.line + 1);
    return fail(ErrorCode::invalid_argument, "bad_task_file", fmt::format("{}: {}", where, message));
  };
  try {
    return read_tasks(YAML::Load(text), flags, config);
  } catch (const Wrong& error) {
    return wrong(error.mark, error.message);
  } catch (const YAML::Exception& error) {
    return wrong(error.mark, error.msg);
  }
}

Result<TaskFile> read_task_file(const std::string& path, const RunRequest& flags, const Config& config) {
  auto bad = [](std::string message) { return fail(ErrorCode::invalid_argument, "bad_task_file", std::move(message)); };
  Result<std::optional<std::string>> text = read_whole_file(path, kMaxTaskFileBytes);
  if (!text) return bad(text.error().message);
  if (!*text) return bad(fmt::format("cannot read {}: there is no such file", path));
  Result<TaskFile> parsed = parse_task_file(**text, path, flags, config);
  if (!parsed) return parsed;
  // Directories are relative to the file, not to the current directory.
  std::filesystem::path beside = std::filesystem::path(path).parent_path();
  for (RunRequest& request : parsed->tasks) {
    if (!request.directory.empty()) request.directory = (beside / request.directory).string();
  }
  return parsed;
}

}  // namespace shepherd
