// shepherd backup: copies the database, the ledger and the callback signing secret while the server runs.
#include <fmt/format.h>
#include <sys/stat.h>

#include <boost/json.hpp>
#include <filesystem>
#include <memory>
#include <string>

#include "base/clock.h"
#include "base/whole_file.h"
#include "cli/verbs.h"
#include "outbound/callback_secret.h"
#include "store/sqlite/backup.h"
#include "terminal/span_text.h"

namespace shepherd {
namespace {

struct BackupOptions {
  std::string data, destination;
  bool json = false;
};

struct Copy {
  std::string file;  // empty: no copy was made
  std::uint64_t bytes = 0;
  std::string trouble;  // why there is no copy
};

// "tower.db" -> "tower.ledger.db"
std::string ledger_beside(const std::string& destination) {
  std::filesystem::path path(destination);
  return (path.parent_path() / (path.stem().string() + ".ledger" + path.extension().string())).string();
}

// "tower.db" -> "tower.callback.secret"
std::string secret_beside(const std::string& destination) {
  std::filesystem::path path(destination);
  return (path.parent_path() / (path.stem().string() + "." + kCallbackSecretFile)).string();
}

// A restored server with another secret would sign callbacks that every receiver rejects. A secret file that the
// configuration names is not copied.
Result<Copy> copy_secret(const std::string& source, const std::string& destination) {
  Result<std::string> secret = read_first_line(source);
  if (!secret) return fail(std::move(secret.error()));
  if (secret->empty()) return Copy{};
  std::error_code error;
  if (std::filesystem::exists(destination, error)) {
    return fail(ErrorCode::conflict, "destination_exists", destination + " exists. Name a new file.");
  }
  if (Result<void> written = replace_file(destination, *secret + "\n", S_IRUSR | S_IWUSR); !written) {
    return fail(std::move(written.error()));
  }
  return Copy{destination, secret->size() + 1, ""};
}

// A missing directory is a usage error, not an unreachable server: a retry must name another place.
Result<void> check_destination(const std::string& destination) {
  std::filesystem::path directory = std::filesystem::path(destination).parent_path();
  std::error_code error;
  if (directory.empty() || std::filesystem::is_directory(directory, error)) return {};
  return fail(ErrorCode::invalid_argument, "no_directory",
              fmt::format("there is no directory {}; make it first, or name another place", directory.string()));
}

// A backup without the ledger is still useful, so its failure is only reported.
Copy copy_ledger(const std::string& source, const std::string& destination) {
  std::error_code error;
  if (!std::filesystem::exists(source, error)) return {};
  if (Result<void> copied = backup_database(source, destination); !copied) return {"", 0, copied.error().message};
  return {destination, std::filesystem::file_size(destination, error), ""};
}

void report(Context& context, const BackupOptions& options, const Copy& store, const Copy& ledger, const Copy& secret) {
  if (options.json) {
    boost::json::object said{{"file", store.file}, {"bytes", store.bytes}};
    if (!ledger.file.empty()) said["ledger"] = {{"file", ledger.file}, {"bytes", ledger.bytes}};
    if (!ledger.trouble.empty()) said["ledger"] = {{"error", ledger.trouble}};
    if (!secret.file.empty()) said["callbackSecret"] = {{"file", secret.file}, {"bytes", secret.bytes}};
    return context.out.json_line(boost::json::serialize(said));
  }
  context.out.line(fmt::format("{} ({})", store.file, bytes_text(store.bytes)));
  if (!ledger.file.empty()) context.out.line(fmt::format("{} ({})", ledger.file, bytes_text(ledger.bytes)));
  if (!secret.file.empty()) context.out.line(fmt::format("{} (signs callbacks: keep it secret)", secret.file));
  if (!ledger.trouble.empty()) context.out.line(fmt::format("the figures are not copied: {}", ledger.trouble));
}

Result<ExitCode> backup(Context& context, const BackupOptions& options) {
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
  if (Result<void> place = check_destination(destination); !place) return fail(std::move(place.error()));
  // Copies the ledger first, because it catches up from the store when both are used together.
  Copy ledger = copy_ledger(*data + "/ledger.db", ledger_beside(destination));
  if (Result<void> copied = backup_database(database, destination); !copied) {
    std::filesystem::remove(ledger.file, error);
    return fail(copied.error());
  }
  Result<Copy> secret = copy_secret(*data + "/" + kCallbackSecretFile, secret_beside(destination));
  if (!secret) return fail(std::move(secret.error()));
  report(context, options, {destination, std::filesystem::file_size(destination, error), ""}, ledger, *secret);
  return ledger.trouble.empty() ? ExitCode::ok : ExitCode::failed;
}

}  // namespace

void add_backup_verb(CLI::App& app, Context& context) {
  auto options = std::make_shared<BackupOptions>();
  CLI::App* command = app.add_subcommand(
      "backup", "Back up the database, the statistics and the callback secret, even while the server runs");
  command->add_option("DEST", options->destination, "The file to write, or a directory that gets a dated one")
      ->required();
  command->add_option("--data", options->data, "Data directory of the server");
  command->add_flag("--json", options->json, "Print files and sizes as JSON");
  command->footer(
      "Writes three files that only you can read (mode 0600):\n"
      "  tower.db               tasks, logs, details and token hashes, as of one moment\n"
      "  tower.ledger.db        the figures behind the statistics; they reach back further than the logs\n"
      "  tower.callback.secret  the key that signs callbacks; without it, receivers reject those of the restored "
      "server.\n"
      "                         If callbacks.secret_file names another file, keep a copy of that file yourself\n"
      "To restore, copy them as shepherd.db, ledger.db and callback.secret into an empty data directory and start the\n"
      "server there. It builds the search index again, and the figures if their file is missing, from the events that\n"
      "are kept.\n"
      "Exit code 1: the figures could not be copied, everything else was.\n\n"
      "Examples:\n  shepherd backup /backups\n  shepherd backup tower.db\n"
      "  mkdir restored && cp tower.db restored/shepherd.db && cp tower.ledger.db restored/ledger.db\n"
      "  cp tower.callback.secret restored/callback.secret\n"
      "  shepherd serve --data restored");
  command->callback(
      [options, &context] { context.action = [options, &context] { return backup(context, *options); }; });
}

}  // namespace shepherd
