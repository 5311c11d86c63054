// The commands of the command line, one file each. Each function adds its command to the command line and sets the
// action in the context. Threads: caller.
#pragma once

#include <CLI/CLI.hpp>

#include "cli/context.h"

namespace shepherd {

void add_serve_verb(CLI::App& app, Context& context);
void add_run_verb(CLI::App& app, Context& context);
void add_runner_verb(CLI::App& app, Context& context);
void add_agent_verb(CLI::App& app, Context& context);
void add_agents_verb(CLI::App& app, Context& context);
void add_tasks_verb(CLI::App& app, Context& context);
void add_watch_verb(CLI::App& app, Context& context);
void add_top_verb(CLI::App& app, Context& context);
void add_replay_verb(CLI::App& app, Context& context);
void add_steering_verbs(CLI::App& app, Context& context);
void add_hook_verb(CLI::App& app, Context& context);
void add_post_verb(CLI::App& app, Context& context);
void add_search_verb(CLI::App& app, Context& context);
void add_translate_verb(CLI::App& app, Context& context);
void add_token_verb(CLI::App& app, Context& context);
void add_export_verb(CLI::App& app, Context& context);
void add_import_verb(CLI::App& app, Context& context);
void add_backup_verb(CLI::App& app, Context& context);
void add_doctor_verb(CLI::App& app, Context& context);
void add_config_verb(CLI::App& app, Context& context);
void add_completion_verb(CLI::App& app, Context& context);
void add_chat_verb(CLI::App& app, Context& context);

}  // namespace shepherd
