// shepherd config: shows the effective settings and where each came from.
#include <memory>
#include <string>

#include "cli/verbs.h"
#include "config/config.h"
#include "config/config_flags.h"

namespace shepherd {
namespace {

struct ConfigOptions {
  ConfigFlags flags;
  bool json = false;
};

Result<ExitCode> show(Context& context, const ConfigOptions& options) {
  Result<ConfigInputs> inputs = options.flags.inputs();
  if (!inputs) return fail(inputs.error());
  Result<LoadedConfig> loaded = load_config(*inputs, context.environment);
  if (!loaded) return fail(loaded.error());
  if (options.json) {
    context.out.json_line(config_as_json(*loaded));
  } else {
    std::string yaml = config_as_yaml(*loaded);
    yaml.pop_back();  // line() adds this line break
    context.out.line(yaml);
  }
  return ExitCode::ok;
}

}  // namespace

void add_config_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<ConfigOptions>();
  CLI::App* command = app.add_subcommand("config", "Print the settings in effect and where each comes from");
  options->flags.add_to(*command);
  command->add_flag("--json", options->json, "As one JSON object");
  command->footer(
      "The output is a valid configuration file. Every key can also be set by the environment:\n"
      "public.listen is SHEPHERD_PUBLIC_LISTEN.\n\n"
      "Examples:\n  shepherd config\n  shepherd config > config.yaml\n"
      "  shepherd config --json | jq '.[\"public.listen\"]'");
  command->callback([options, &context] { context.action = [options, &context] { return show(context, *options); }; });
}

}  // namespace shepherd
