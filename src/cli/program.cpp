#include "cli/program.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "cli/help_format.h"
#include "cli/verb_bench.h"
#include "cli/verb_demo.h"
#include "cli/verb_inbox.h"
#include "cli/verbs.h"
#include "config/nearest_word.h"
#include "host/version.h"

namespace shepherd {
namespace {

constexpr std::size_t kHelpColumn = 34;
constexpr std::string_view kServerGroup = "Running a server";
constexpr std::string_view kRunGroup = "Running agents";
constexpr std::string_view kUseGroup = "Watching and feeding tasks";
constexpr std::string_view kSteerGroup = "Steering a running agent";
constexpr std::string_view kCareGroup = "Administration";

std::string start_here() {
  return "Start here:\n"
         "  shepherd demo                                      # a few scripted agents, to look around\n"
         "  shepherd run \"fix the failing test\"               # Claude Code in this directory; type to steer it\n"
         "  shepherd run -- make test                          # any command\n\n"
         "Or with a separate server:\n"
         "  shepherd serve                                     # in one terminal\n"
         "  shepherd tasks create \"Fix the login bug\"          # in another; prints the task's id\n"
         "  shepherd post TASK --type log \"hello\"              # what an agent would report\n"
         "  shepherd watch TASK                                # live; - instead of TASK means the newest one\n\n"
         "Environment:\n"
         "  SHEPHERD_URL, SHEPHERD_TOKEN   the server's address and your token; not needed on the server's own "
         "machine\n"
         "  SHEPHERD_DATA                  the data directory (default ~/.local/share/shepherd)\n"
         "  NO_COLOR                       no colour\n\n" +
         exit_code_help();
}

void group(CLI::App& app, std::string_view title, const std::vector<std::string>& names) {
  for (const std::string& name : names) app.get_subcommand(name)->group(std::string(title));
}

// The command that the user typed so far, e.g. "shepherd tasks create".
std::string command_path(const CLI::App& app) {
  std::string path = app.get_name();
  const CLI::App* here = &app;
  while (!here->get_subcommands().empty()) {
    here = here->get_subcommands().front();
    path += " " + here->get_name();
  }
  return path;
}

const CLI::App& deepest(const CLI::App& app) {
  const CLI::App* here = &app;
  while (!here->get_subcommands().empty()) here = here->get_subcommands().front();
  return *here;
}

// Describes the first unexpected argument: an unknown flag with the most similar one, or an extra word.
std::string unexpected_word(const CLI::App& command, const std::vector<std::string>& extra) {
  auto is_flag = [](const std::string& word) { return word.size() > 1 && word.starts_with('-'); };
  auto flag = std::ranges::find_if(extra, is_flag);
  if (flag == extra.end()) return fmt::format("\"{}\" is one word too many", extra.front());
  std::string word = flag->substr(0, flag->find('='));
  std::vector<std::string> names;
  for (const CLI::Option* option : command.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  std::string near = nearest_word(word, names);
  return fmt::format("there is no flag {}{}", word, near.empty() ? "" : fmt::format("; did you mean {}?", near));
}

// Rewrites messages like "--state: wonderful not in {a,b}" for people.
std::string in_words(std::string message) {
  constexpr std::string_view kNotIn = " not in {";
  constexpr std::string_view kConvert = "Could not convert: ";
  if (std::size_t at = message.find(kNotIn); at != std::string::npos && message.ends_with('}')) {
    std::size_t colon = message.find(": ");
    std::size_t value = colon == std::string::npos ? 0 : colon + 2;
    std::string choices = message.substr(at + kNotIn.size());
    choices.pop_back();
    for (std::size_t comma = choices.find(','); comma != std::string::npos; comma = choices.find(',', comma + 2)) {
      choices.replace(comma, 1, ", ");
    }
    return fmt::format("{}\"{}\" is not one of {}", message.substr(0, value), message.substr(value, at - value),
                       choices);
  }
  if (std::size_t equals = message.find(" = "); message.starts_with(kConvert) && equals != std::string::npos) {
    return fmt::format("{}: \"{}\" is not a number", message.substr(kConvert.size(), equals - kConvert.size()),
                       message.substr(equals + 3));
  }
  return message;
}

// CLI11's messages end with a full stop or a second line; ours are one line that says what to do.
std::string usage_message(const CLI::App& app, const CLI::ParseError& error, const std::vector<std::string>& words) {
  std::string help = fmt::format("; see \"{} --help\"", command_path(app));
  if (app.get_subcommands().empty() && !words.empty() && !words.front().starts_with('-')) {
    std::vector<std::string> names;
    for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
    names.emplace_back("help");
    std::string near = nearest_word(words.front(), names);
    return fmt::format("there is no command \"{}\"{}{}", words.front(),
                       near.empty() ? "" : fmt::format("; did you mean \"{}\"?", near), near.empty() ? help : "");
  }
  if (std::vector<std::string> extra = app.remaining(true); !extra.empty()) {
    std::string said = unexpected_word(deepest(app), extra);
    return said.ends_with('?') ? said : said + help;
  }
  std::string message = in_words(error.what());
  if (std::size_t line = message.find('\n'); line != std::string::npos) message.resize(line);
  while (message.ends_with('.')) message.pop_back();
  return message + help;
}

int finish(Context& context, ExitCode code) {
  context.out.flush();
  context.err.flush();
  return static_cast<int>(code);
}

}  // namespace

void build_command_line(CLI::App& app, Context& context) {
  app.name("shepherd");
  app.description("Run AI agents, watch every step they take, and steer them while they work.");
  app.set_version_flag("-v,-V,--version", std::string("shepherd ") + kVersion, "Print the version");
  app.set_help_flag("-h,--help", "Print this help");
  app.require_subcommand(0, 1);
  auto format = std::make_shared<HelpFormat>();
  format->column_width(kHelpColumn);
  app.formatter(format);
  app.footer(start_here());

  add_serve_verb(app, context);
  add_run_verb(app, context);
  add_runner_verb(app, context);
  add_agents_verb(app, context);
  add_agent_verb(app, context);
  add_tasks_verb(app, context);
  add_watch_verb(app, context);
  add_top_verb(app, context);
  add_replay_verb(app, context);
  add_steering_verbs(app, context);
  add_hook_verb(app, context);
  add_post_verb(app, context);
  add_search_verb(app, context);
  add_translate_verb(app, context);
  add_token_verb(app, context);
  add_export_verb(app, context);
  add_import_verb(app, context);
  add_backup_verb(app, context);
  add_doctor_verb(app, context);
  add_config_verb(app, context);
  add_completion_verb(app, context);
  add_bench_verb(app, context);
  add_inbox_verb(app, context);
  add_demo_verb(app, context);
  add_chat_verb(app, context);

  group(app, kRunGroup, {"run", "runner", "demo", "agents", "agent"});
  group(app, kServerGroup, {"serve", "config", "doctor", "backup"});
  group(app, kUseGroup, {"chat", "tasks", "inbox", "watch", "top", "replay", "hook", "post", "search", "translate"});
  group(app, kSteerGroup, {"steer", "queue", "interrupt", "resume", "mode", "approve", "deny", "answer", "stop"});
  group(app, kCareGroup, {"token", "export", "import", "bench", "completion"});
}

int run_program(int argc, const char* const* argv, Context& context) {
  CLI::App app;
  build_command_line(app, context);
  std::vector<const char*> words(argv, argv + argc);
  // "shepherd help VERB" means "shepherd VERB --help".
  if (argc > 1 && std::string_view(argv[1]) == "help") {
    words.erase(words.begin() + 1);
    words.push_back("--help");
    argv = words.data();
  }
  // The arguments after -- are another program's command line, which our parser must ignore.
  int own = argc;
  if (argc > 1 && (std::string_view(argv[1]) == "run" || std::string_view(argv[1]) == "agent")) {
    own = static_cast<int>(std::find(argv, argv + argc, std::string_view("--")) - argv);
    context.after_dashes.assign(argv + std::min(own + 1, argc), argv + argc);
  }
  try {
    app.parse(own, argv);
  } catch (const CLI::CallForHelp&) {
    context.out.line(app.help());
    return finish(context, ExitCode::ok);
  } catch (const CLI::CallForVersion& version) {
    context.out.line(version.what());
    return finish(context, ExitCode::ok);
  } catch (const CLI::ParseError& error) {
    context.complain(usage_message(app, error, std::vector<std::string>(argv + 1, argv + argc)));
    return finish(context, ExitCode::usage);
  }
  if (!context.action) {
    context.err.line(app.help());
    return finish(context, ExitCode::usage);
  }
  Result<ExitCode> done = context.action();
  if (!done) {
    context.complain(done.error().message);
    return finish(context, exit_code_of(done.error()));
  }
  return finish(context, *done);
}

}  // namespace shepherd
