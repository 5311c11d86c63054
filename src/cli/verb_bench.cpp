// shepherd bench: measures this machine against its limits and other programs in the same run.
#include "cli/verb_bench.h"

#include <memory>
#include <string>

#include "bench/bench.h"

namespace shepherd {

void add_bench_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<bench::BenchOptions>();
  CLI::App* command = app.add_subcommand("bench", "Measure a server on this machine against its limits and peers");
  command->add_flag("--peers", options->peers, "Measure nchan and Redis too (nginx-light, libnginx-mod-nchan, redis)");
  command->add_flag("--quick", options->quick, "About a minute: shorter runs, fewer rounds, smaller logs");
  command->add_option("--only", options->only, "Only these measurements")
      ->check(CLI::IsMember(bench::scenario_names()));
  command->add_option("--secs", options->seconds, "Seconds of each measured run");
  command->add_flag("--json", options->json, "Only the JSON line, no table");
  command->add_flag("!--no-pin", options->pin, "Do not bind servers and the load tool to cores of their own");
  command->add_flag("--keep-data", options->keep_data, "Leave the data of the measured servers behind");
  command->add_option("--server", options->server, "The program to measure (default: this one)");
  command->add_option("--server-args", options->server_args, "More arguments for its `serve`")->allow_extra_args(false);
  command->add_option("--directory", options->directory, "Directory for the data; the disk matters");
  command->footer(
      "It starts servers of its own on free ports and ends them. Exit code 1 when an event was missing, repeated or "
      "out\n"
      "of order; a missed target is marked in its row.\n\n"
      "Examples:\n  shepherd bench --quick\n  shepherd bench --peers --only fanout");
  command->callback([options, &context] {
    context.action = [options]() -> Result<ExitCode> {
      return bench::run_bench(*options) == 0 ? ExitCode::ok : ExitCode::failed;
    };
  });
}

}  // namespace shepherd
