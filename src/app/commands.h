// The subcommands, one file each. Each function adds its command to the tree and puts what it does into the context.
// Threads: caller.
#pragma once

#include <CLI/CLI.hpp>

#include "app/context.h"

namespace shepherd {

void add_serve_command(CLI::App& app, Context& context);
void add_run_command(CLI::App& app, Context& context);
void add_runner_command(CLI::App& app, Context& context);
void add_agent_command(CLI::App& app, Context& context);
void add_tasks_command(CLI::App& app, Context& context);
void add_watch_command(CLI::App& app, Context& context);
void add_top_command(CLI::App& app, Context& context);
void add_replay_command(CLI::App& app, Context& context);
void add_steering_commands(CLI::App& app, Context& context);
void add_hook_command(CLI::App& app, Context& context);
void add_post_command(CLI::App& app, Context& context);
void add_search_command(CLI::App& app, Context& context);
void add_translate_command(CLI::App& app, Context& context);
void add_token_command(CLI::App& app, Context& context);
void add_export_command(CLI::App& app, Context& context);
void add_import_command(CLI::App& app, Context& context);
void add_backup_command(CLI::App& app, Context& context);
void add_doctor_command(CLI::App& app, Context& context);
void add_config_command(CLI::App& app, Context& context);
void add_completion_command(CLI::App& app, Context& context);

}  // namespace shepherd
