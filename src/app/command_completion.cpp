// shepherd completion: a script that teaches a shell the commands and flags.
#include <memory>
#include <string>

#include "app/commands.h"
#include "app/completion.h"

namespace shepherd {

void add_completion_command(CLI::App& app, Context& context) {
  auto shell = std::make_shared<std::string>();
  CLI::App* command = app.add_subcommand("completion", "Print a completion script for your shell");
  command->add_option("SHELL", *shell, "bash, zsh or fish")->required()->check(CLI::IsMember({"bash", "zsh", "fish"}));
  command->footer(
      "Examples:\n  echo 'source <(shepherd completion bash)' >> ~/.bashrc\n"
      "  echo 'source <(shepherd completion zsh)' >> ~/.zshrc\n"
      "  shepherd completion fish > ~/.config/fish/completions/shepherd.fish");
  command->callback([shell, &app, &context] {
    context.action = [shell, &app, &context]() -> Result<ExitCode> {
      std::string script = *shell == "bash"  ? bash_completion(app)
                           : *shell == "zsh" ? zsh_completion(app)
                                             : fish_completion(app);
      script.pop_back();  // the line break that line() adds
      context.out.line(script);
      return ExitCode::ok;
    };
  });
}

}  // namespace shepherd
