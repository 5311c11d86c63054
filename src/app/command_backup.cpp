// shepherd backup: a copy of the database and the ledger while the server runs.
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

struct Copy {
  std::string file;  // empty: there is none
  std::uint64_t bytes = 0;
  std::string trouble;  // why there is none
};

// "tower.db" -> "tower.ledger.db"
std::string ledger_beside(const std::string& destination) {
  std::filesystem::path path(destination);
  return (path.parent_path() / (path.stem().string() + ".ledger" + path.extension().string())).string();
}

// The logs are worth a backup also when the figures cannot be had.
Copy copy_ledger(const std::string& source, const std::string& destination) {
  std::error_code error;
  if (!std::filesystem::exists(source, error)) return {};
  if (Result<void> copied = backup_database(source, destination); !copied) return {"", 0, copied.error().message};
  return {destination, std::filesystem::file_size(destination, error), ""};
}

void report(Context& context, const Options& options, const Copy& store, const Copy& ledger) {
  if (options.json) {
    boost::json::object said{{"file", store.file}, {"bytes", store.bytes}};
    if (!ledger.file.empty()) said["ledger"] = {{"file", ledger.file}, {"bytes", ledger.bytes}};
    if (!ledger.trouble.empty()) said["ledger"] = {{"error", ledger.trouble}};
    return context.out.json_line(boost::json::serialize(said));
  }
  context.out.line(fmt::format("{} ({})", store.file, bytes_text(store.bytes)));
  if (!ledger.file.empty()) context.out.line(fmt::format("{} ({})", ledger.file, bytes_text(ledger.bytes)));
  if (!ledger.trouble.empty()) context.out.line(fmt::format("the figures are not copied: {}", ledger.trouble));
}

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
  // The ledger first: what the store has beyond it is read again when they are used together.
  Copy ledger = copy_ledger(*data + "/ledger.db", ledger_beside(destination));
  if (Result<void> copied = backup_database(database, destination); !copied) {
    std::filesystem::remove(ledger.file, error);
    return fail(copied.error());
  }
  report(context, options, {destination, std::filesystem::file_size(destination, error), ""}, ledger);
  return ledger.trouble.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_backup_command(CLI::App& app, Context& context) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand("backup", "Copy the database and the figures, also while the server runs");
  command->add_option("DEST", options->destination, "The file to write, or a directory that gets a dated one")
      ->required();
  command->add_option("--data", options->data, "Data directory of the server");
  command->add_flag("--json", options->json, "Print files and sizes as JSON");
  command->footer(
      "Two files, mode 0600: DEST holds tasks, logs, details and token hashes, as of one moment; DEST's name with\n"
      "\".ledger\" in it the figures that statistics show, which reach back further than the logs. To restore, put "
      "them\n"
      "as shepherd.db and ledger.db into an empty data directory and start the server there. Search is built again by\n"
      "itself; so are the figures when their file is missing, from the events that are kept.\n"
      "Exit code 1 when only the figures could not be copied.\n\n"
      "Examples:\n  shepherd backup /backups\n  shepherd backup tower.db\n"
      "  mkdir restored && cp tower.db restored/shepherd.db && cp tower.ledger.db restored/ledger.db\n"
      "  shepherd serve --data restored");
  command->callback(
      [options, &context] { context.action = [options, &context] { return backup(context, *options); }; });
}

}  // namespace shepherd
