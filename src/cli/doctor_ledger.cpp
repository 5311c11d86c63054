// `shepherd doctor` for the ledger. Only figures older than the kept events can be lost for good, so the remedy for any
// problem is to rebuild it.
#include <fmt/format.h>

#include <filesystem>

#include "base/clock.h"
#include "cli/doctor.h"
#include "store/sqlite/ledger_check.h"
#include "store/sqlite/sqlite_ledger.h"
#include "terminal/span_text.h"

namespace shepherd {
namespace {

using Level = Finding::Level;

constexpr const char* kAnew =
    "restart the server: it sets the file aside and builds it again from the events that are kept; older figures only "
    "a "
    "backup has";

std::string day_of(std::int64_t seconds) {
  return format_timestamp(seconds * 1'000).substr(0, 10);
}

Finding examine_file(const std::string& path, std::uint64_t bytes) {
  Result<LedgerFacts> facts = check_ledger(path);
  if (!facts) return {Level::fail, "ledger", facts.error().message, kAnew};
  if (facts->format != kLedgerFormat) {
    return {Level::warn, "ledger",
            fmt::format("{} has format {}; this program keeps format {}", path, facts->format, kLedgerFormat), kAnew};
  }
  if (!facts->problems.empty()) {
    std::size_t others = facts->problems.size() - 1;
    std::string more = others == 0 ? "" : fmt::format(" (and {} more problems)", others);
    return {Level::fail, "ledger", facts->problems.front() + more,
            fmt::format("stop the server, move {} away, start it: it is built again from the events that are kept; "
                        "older figures only a backup has",
                        path)};
  }
  std::string since = facts->since == 0 ? "no figures yet" : "figures since " + day_of(facts->since);
  return {Level::ok, "ledger",
          fmt::format("{}, sound, format {}, through event {} ({})", since, facts->format, facts->through,
                      bytes_text(bytes)),
          ""};
}

}  // namespace

std::vector<Finding> examine_ledger(const std::string& directory) {
  std::string path = directory + "/ledger.db";
  std::error_code error;
  if (!std::filesystem::exists(directory + "/shepherd.db", error)) return {};
  std::vector<Finding> findings;
  if (std::filesystem::exists(path, error)) {
    findings.push_back(examine_file(path, std::filesystem::file_size(path, error)));
  } else {
    findings.push_back({Level::warn, "ledger", path + " does not exist: statistics are empty",
                        "restart the server: it is built again from the events that are kept; older figures only a "
                        "backup has"});
  }
  if (std::filesystem::exists(path + ".old", error)) {
    findings.push_back({Level::warn, "ledger",
                        fmt::format("{}.old ({}) was set aside as damaged or foreign, and the figures begun anew", path,
                                    bytes_text(std::filesystem::file_size(path + ".old", error))),
                        "restore ledger.db from a backup when figures from before the kept events are missed; "
                        "remove the .old file"});
  }
  return findings;
}

}  // namespace shepherd
