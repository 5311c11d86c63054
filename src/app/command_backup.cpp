// shepherd backup: a copy of the database while the server runs.
#include <fmt/format.h>

#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "app/commands.h"
#include "app/span_text.h"
#include "base/clock.h"
#include "store/sqlite/backup.h"

namespace shepherd {
namespace {

struct Options {
  std::string data, destination;
  bool json = false;
};

Result<ExitCode> backup(Context& context, const Options& options) {
  Result<std::string> data = data_directory(context, options.data);
  if (!data) return fail(data.error());
  std::string destination = options.destination;
  std::error_code error;
  if (std::filesystem::is_directory(destination, error)) {
    std::string stamp = format_timestamp(SystemClock().wall_ms()).substr(0, 19);
    for (char& c : stamp) c = c == ':' ? '-' : c;
    destination += fmt::format("/shepherd-{}.db", stamp);
  }
  std::string database = *data + "/shepherd.db";
  if (!std::filesystem::exists(database, error)) {
    return fail(ErrorCode::not_found, "no_database",
                fmt::format("there is no database at {}; give the right --data", database));
  }
  if (Result<void> copied = backup_store(database, destination); !copied) return fail(copied.error());
  std::uint64_t bytes = std::filesystem::file_size(destination, error);
  if (options.json) {
    context.out.json_line(boost::json::serialize(boost::json::object{{"file", destination}, {"bytes", bytes}}));
  } else {
    context.out.line(fmt::format("{} ({})", destination, bytes_text(bytes)));
  }
  return ExitCode::ok;
}

}  // namespace

void add_backup_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("backup", "Copy the database to a file, also while the server runs");
  command->add_option("DEST", options->destination, "The file to write, or a directory that gets a dated one")
      ->required();
  command->add_option("--data", options->data, "Data directory of the server");
  command->add_flag("--json", options->json, "Print file and size as JSON");
  command->footer(
      "The copy holds tasks, logs, details and token hashes, as of one moment. To restore it, put it as shepherd.db\n"
      "into an empty data directory and start the server there; search is built again by itself.\n\n"
      "Examples:\n  shepherd backup /backups\n  shepherd backup tower.db\n"
      "  mkdir restored && cp tower.db restored/shepherd.db && shepherd serve --data restored");
  command->callback(
      [options, &context] { context.action = [options, &context] { return backup(context, *options); }; });
}

}  // namespace shepherd
