// shepherd completion: prints a shell's completion script for commands, flags and tasks, or the manual page.
#include <memory>
#include <string>

#include "cli/completion.h"
#include "cli/limits.h"
#include "cli/manual_page.h"
#include "cli/verbs.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

// Lists the newest tasks for a shell that completes a name. Without a server it prints nothing, not even an error.
Result<ExitCode> list_tasks(Context& context) {
  Result<ApiClient> client = connect_server(context, {});
  if (!client) return ExitCode::ok;
  Result<TaskList> page = client->tasks({{"limit", std::to_string(kCompletedTasks)}});
  if (!page) return ExitCode::ok;
  for (const TaskView& task : page->tasks) context.out.line(terminal_text(task.id, Lines::join));
  return ExitCode::ok;
}

}  // namespace

void add_completion_verb(CLI::App& app, Context& context) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for your shell, or the manual page");
  command->add_option("WHAT", *shell, "bash, zsh or fish; man: the manual page; tasks: ids to complete")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish", "man", "tasks"}));
  command->footer(
      "Examples:\n  echo 'source <(shepherd completion bash)' >> ~/.bashrc\n"
      "  echo 'source <(shepherd completion zsh)' >> ~/.zshrc\n"
      "  shepherd completion fish > ~/.config/fish/completions/shepherd.fish\n"
      "  shepherd completion man | man -l -");
  command->callback([shell, &app, &context] {
    context.action = [shell, &app, &context]() -> Result<ExitCode> {
      if (*shell == "tasks") return list_tasks(context);
      std::string script = *shell == "bash"  ? bash_completion(app)
                           : *shell == "zsh" ? zsh_completion(app)
                           : *shell == "man" ? manual_page(app)
                                             : fish_completion(app);
      script.pop_back();  // line() adds this line break
      context.out.line(script);
      return ExitCode::ok;
    };
  });
}

}  // namespace shepherd
