// shepherd hook: shows a person's own Claude Code sessions as tasks.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/limits.h"
#include "base/whole_file.h"
#include "cli/limits.h"
#include "cli/verbs.h"
#include "hooks/hook_delivery.h"
#include "hooks/hook_settings.h"
#include "hooks/hook_spool.h"
#include "hooks/limits.h"
#include "host/data_lock.h"

namespace shepherd {
namespace {

struct HookOptions {
  ServerOptions server;
  std::string settings;
  bool print = false, wait = false, verbose = false;
};

Result<std::string> settings_path(const Context& context, const HookOptions& options) {
  if (!options.settings.empty()) return options.settings;
  if (std::string directory = context.environment("CLAUDE_CONFIG_DIR"); !directory.empty()) {
    return directory + "/settings.json";
  }
  std::string home = context.environment("HOME");
  if (home.empty())
    return fail(ErrorCode::invalid_argument, "no_home", "HOME is not set; name the file: --settings PATH");
  return home + "/.claude/settings.json";
}

std::string quoted_word(const std::string& text) {
  std::string word = "'";
  for (char c : text) word.append(c == '\'' ? "'\\''" : std::string(1, c));
  return word + "'";
}

// Hooks run in the agent's environment, so their command must name the server unless it is the default one.
Result<std::string> command_of(const Context& context, const HookOptions& options) {
  std::error_code error;
  std::string program = std::filesystem::read_symlink("/proc/self/exe", error).string();
  if (error) program = "shepherd";
  std::string flags;
  auto add = [&](const char* name, const std::string& value) {
    if (!value.empty()) flags += fmt::format("{}{} {}", flags.empty() ? "" : " ", name, quoted_word(value));
  };
  Result<std::string> data = data_directory(context, options.server.data);
  if (!data) return fail(data.error());
  Environment plain = [&context](const char* name) {
    return std::string_view(name) == "SHEPHERD_DATA" ? std::string() : context.environment(name);
  };
  if (default_data_directory(plain).value_or("") != *data) {
    add("--data", std::filesystem::absolute(*data, error).lexically_normal().string());
  }
  add("--url", options.server.url);
  add("--internal-url", options.server.internal_url);
  add("--ca-file", options.server.ca_file);
  if (options.server.insecure_tls) flags += " --insecure-tls";
  return hook_command(program, flags);
}

Result<ExitCode> change(Context& context, const HookOptions& options, bool install) {
  Result<std::string> path = settings_path(context, options);
  if (!path) return fail(path.error());
  Result<std::optional<std::string>> before = read_whole_file(*path, kMaxSettingsBytes);
  if (!before) return fail(before.error());
  std::string old = before->value_or("");
  Result<std::string> command = command_of(context, options);
  if (!command) return fail(command.error());
  Result<std::string> wanted = install ? with_hooks(old, *command) : without_hooks(old);
  if (!wanted) {
    Error error = wanted.error();
    error.message = fmt::format("{}: {}", *path, error.message);
    return fail(std::move(error));
  }
  if (options.print) {
    context.out.line(wanted->ends_with('\n') ? wanted->substr(0, wanted->size() - 1) : *wanted);
    return ExitCode::ok;
  }
  if (*wanted == old) {
    context.out.line(install ? "The hooks are there already." : "There are no hooks of Shepherd to remove.");
    return ExitCode::ok;
  }
  std::error_code error;
  std::filesystem::create_directories(std::filesystem::path(*path).parent_path(), error);
  if (*before) {
    Result<void> kept = replace_file(*path + ".before-shepherd", old, S_IRUSR | S_IWUSR);
    if (!kept) return fail(kept.error());
  }
  if (Result<void> written = replace_file(*path, *wanted, S_IRUSR | S_IWUSR); !written) return fail(written.error());
  context.out.line(fmt::format("{} {}", install ? "Hooks added to" : "Hooks removed from", *path));
  if (*before) context.out.line(fmt::format("What was there before is in {}.before-shepherd", *path));
  if (install) {
    context.out.line("Claude Code sessions that start from now on appear as tasks: shepherd tasks, shepherd watch");
  }
  return ExitCode::ok;
}

Result<std::string> read_input() {
  std::string text;
  std::array<char, 64 * kKiB> buffer{};
  // Twice the bound still fits into memory; more input is not a hook call.
  while (text.size() <= 2 * kMaxHookBytes) {
    ssize_t got = read(STDIN_FILENO, buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<std::size_t>(got));
  }
  return text;
}

Result<void> deliver(const HookRoute& route) {
  Result<std::uint64_t> delivered = deliver_hook_calls(route);
  return delivered ? Result<void>() : fail(delivered.error());
}

// The agent waits for this process, so a separate, detached process does the network calls.
void deliver_behind(const HookRoute& route) {
  if (fork() != 0) return;
  setsid();
  int nothing = open("/dev/null", O_RDWR);
  for (int standard : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) dup2(nothing, standard);
  bool done = deliver(route).has_value();
  _exit(done ? 0 : 1);
}

Result<void> take_call(Context& context, const HookOptions& options) {
  Result<std::string> input = read_input();
  if (!input) return fail(input.error());
  Result<std::string> call = prepare_hook_call(*input, SystemClock().wall_ms());
  if (!call) return fail(call.error());
  Result<std::string> data = data_directory(context, options.server.data);
  if (!data) return fail(data.error());
  if (Result<void> made = make_data_directory(*data); !made) return fail(made.error());
  bool named = !options.server.url.empty() || !options.server.internal_url.empty() ||
               !context.environment("SHEPHERD_URL").empty();
  HookRoute route{*data, [&] { return locate_server(context, options.server); }, options.server.tls(),
                  named ? HookSpool::For::named_server : HookSpool::For::own_server};
  // Delivers even if the spool is full, because that makes room.
  Result<void> kept = HookSpool(*data, route.whom).append(*call);
  if (!options.wait) {
    deliver_behind(route);
    return kept;
  }
  Result<void> delivered = deliver(route);
  return kept ? delivered : kept;
}

Result<ExitCode> send(Context& context, const HookOptions& options) {
  // A runner already watches the agents it started, in more detail.
  if (!context.environment("SHEPHERD_TASK_ID").empty()) return ExitCode::ok;
  Result<void> taken = take_call(context, options);
  // Hides failures from the agent: it would show an exit code to its user or even stop.
  if (!taken && options.wait) return fail(taken.error());
  if (!taken && options.verbose) context.complain(taken.error().message);
  return ExitCode::ok;
}

}  // namespace

void add_hook_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<HookOptions>();
  CLI::App* command = app.add_subcommand("hook", "Show your own Claude Code sessions as tasks");
  command->require_subcommand(1);
  command->footer("Examples:\n  shepherd hook install\n  shepherd hook uninstall");

  auto add = [&](const char* name, const char* help) {
    CLI::App* sub = command->add_subcommand(name, help);
    add_server_options(*sub, options->server);
    add_internal_option(*sub, options->server);
    return sub;
  };
  CLI::App* install = add("install", "Add hooks to Claude Code's settings; everything else in them stays");
  CLI::App* uninstall = add("uninstall", "Remove exactly these hooks again");
  CLI::App* sending = add("send", "What the hooks run: takes one call on standard input and never fails");
  for (CLI::App* sub : {install, uninstall}) {
    sub->add_option("--settings", options->settings, "The settings file (default ~/.claude/settings.json)");
    sub->add_flag("--print", options->print, "Only print what the file would be");
  }
  sending->add_flag("--wait", options->wait, "Deliver before it ends, and say what went wrong");
  sending->add_flag("--verbose", options->verbose, "Say on standard error what could not be kept");
  install->footer(
      "A hook keeps what happened on disk and delivers it behind the agent's back: the agent never waits for a "
      "server,\n"
      "and what happens while none runs is delivered later. Agents that \"shepherd run\" started are left out.\n\n"
      "Examples:\n  shepherd hook install\n  shepherd hook install --print\n"
      "  shepherd hook install --settings .claude/settings.local.json");
  uninstall->footer("Examples:\n  shepherd hook uninstall");
  sending->footer("Examples:\n  shepherd hook send < call.json\n  shepherd hook send --wait < call.json");
  install->callback(
      [options, &context] { context.action = [options, &context] { return change(context, *options, true); }; });
  uninstall->callback(
      [options, &context] { context.action = [options, &context] { return change(context, *options, false); }; });
  sending->callback([options, &context] { context.action = [options, &context] { return send(context, *options); }; });
}

}  // namespace shepherd
