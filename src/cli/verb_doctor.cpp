// shepherd doctor: checks this installation and says how to fix problems.
#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "cli/doctor.h"
#include "cli/verbs.h"
#include "config/config_flags.h"
#include "hooks/hook_delivery.h"
#include "hooks/hook_spool.h"
#include "host/data_lock.h"
#include "outbox/deliver_spool.h"
#include "terminal/span_text.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

namespace json = boost::json;

struct DoctorOptions {
  ConfigFlags flags;
  bool json = false;
};

std::string_view word(Finding::Level level) {
  return level == Finding::Level::ok ? "ok" : level == Finding::Level::warn ? "warn" : "FAIL";
}

void print(Context& context, const Finding& finding, bool as_json) {
  if (as_json) {
    std::string level(word(finding.level));
    std::transform(level.begin(), level.end(), level.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? c + 32 : c; });
    context.out.json_line(json::serialize(json::object{
        {"level", level}, {"subject", finding.subject}, {"text", finding.text}, {"advice", finding.advice}}));
    return;
  }
  Color color = finding.level == Finding::Level::ok     ? Color::green
                : finding.level == Finding::Level::warn ? Color::yellow
                                                        : Color::red;
  context.out.line(fmt::format("{}  {:<12} {}", context.out.paint(color, fmt::format("{:<4}", word(finding.level))),
                               finding.subject, terminal_text(finding.text, Lines::join)));
  if (!finding.advice.empty()) context.out.line(fmt::format("      {:<12} -> {}", "", finding.advice));
  context.out.flush();
}

// Delivers the events that runs left behind while their server was unreachable.
std::vector<Finding> deliver_spools(const std::string& data, const std::optional<Destination>& server) {
  std::vector<Finding> findings;
  SystemClock clock;
  for (const PendingSpool& spool : Spool::pending(data + "/spool")) {
    std::string what = fmt::format("{} events of {} in {}", spool.events, spool.identity.task, spool.path);
    if (spool.in_use) {
      findings.push_back({Finding::Level::ok, "spool", what + " are being delivered by a run", ""});
      continue;
    }
    if (!server) {
      findings.push_back({Finding::Level::warn, "spool", what + " wait for a server",
                          "start \"shepherd serve\", then run \"shepherd doctor\" again"});
      continue;
    }
    Result<Delivered> done = deliver_spool(spool, [&]() -> Result<Destination> { return *server; }, {}, clock);
    if (done && done->left == 0) {
      findings.push_back({Finding::Level::ok, "spool", what + " were delivered", ""});
    } else if (done && !done->set_aside.empty()) {
      findings.push_back({Finding::Level::warn, "spool",
                          fmt::format("{} belong to a task that was deleted; set aside in {}", what, done->set_aside),
                          "remove the file when you no longer need it"});
    } else {
      std::string why = done ? done->trouble : done.error().message;
      findings.push_back({Finding::Level::warn, "spool", fmt::format("{} could not be delivered: {}", what, why),
                          "remove the file when its task is gone for good"});
    }
  }
  return findings;
}

// Delivers the hook calls that are still in the spool.
std::vector<Finding> deliver_hooks(const std::string& data, bool serving) {
  HookSpool spool(data);
  if (spool.empty()) return {};
  std::string what = fmt::format("{} of hook calls", bytes_text(spool.waiting_bytes()));
  if (!serving) {
    return {{Finding::Level::warn, "hooks", what + " wait for a server",
             "start \"shepherd serve\": it takes them up by itself"}};
  }
  Result<std::uint64_t> calls = deliver_hook_calls(own_hook_route(data));
  if (!calls) {
    return {{Finding::Level::warn, "hooks", fmt::format("{} could not be delivered: {}", what, calls.error().message),
             "run \"shepherd doctor\" again when the server answers"}};
  }
  return {{Finding::Level::ok, "hooks", fmt::format("{} hook calls that waited were delivered", *calls), ""}};
}

Result<ExitCode> examine(Context& context, const DoctorOptions& options) {
  Result<ConfigInputs> inputs = options.flags.inputs();
  if (!inputs) return fail(inputs.error());
  Result<LoadedConfig> loaded = load_config(*inputs, context.environment);
  if (!loaded) return fail(loaded.error());
  const Config& config = loaded->config;

  bool failed = false;
  auto report = [&](const std::vector<Finding>& findings) {
    for (const Finding& finding : findings) {
      failed |= finding.level == Finding::Level::fail;
      print(context, finding, options.json);
    }
  };
  report({{Finding::Level::ok, "config", loaded->file.empty() ? "defaults; there is no file" : loaded->file, ""}});
  report(examine_data(config.data));
  report(examine_machine());
  report(examine_agents(config));
  report({examine_confinement(config, context.environment)});
  if (DataLock::holder(config.data)) {
    Result<Destination> destination = find_server({"", "", config.data}, context.environment);
    Result<ApiClient> client =
        destination ? ApiClient::create(*destination) : Result<ApiClient>(fail(destination.error()));
    if (client) {
      report(examine_server(*client));
      report(deliver_spools(config.data, *destination));
      report(deliver_hooks(config.data, true));
    } else {
      report({{Finding::Level::warn, "server", client.error().message, ""}});
    }
  } else {
    report(examine_ports(config));
    report(deliver_spools(config.data, std::nullopt));
    report(deliver_hooks(config.data, false));
  }
  report(examine_database(config.data));
  report(examine_ledger(config.data));
  return failed ? ExitCode::failed : ExitCode::ok;
}

}  // namespace

void add_doctor_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<DoctorOptions>();
  CLI::App* command = app.add_subcommand("doctor", "Check this installation and suggest what to fix");
  options->flags.add_to(*command);
  command->add_flag("--json", options->json, "One JSON object per line");
  command->footer(
      "Checks the data directory, permissions, lock, disk, clock, limits, agents, ports or the running server, and the "
      "search\n"
      "index; reads every page and every log of the database, and the ledger that statistics come from; delivers what\n"
      "runs and hooks left behind when their server was away.\n"
      "Exit code 1 when something is broken; warnings do not count.\n\n"
      "Example:\n  shepherd doctor --data /srv/shepherd");
  command->callback(
      [options, &context] { context.action = [options, &context] { return examine(context, *options); }; });
}

}  // namespace shepherd
