#include "bench/fleet_data.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <chrono>
#include <memory>

namespace shepherd::bench {
namespace {

constexpr const char* kWorked =
    R"({"type":"session_start","summary":"started","sessionID":"s","data":{"model":"opus"}},)"
    R"({"type":"tool_call","summary":"Running make test","tool":"Bash","callID":"c","input":{"command":"make test"}},)"
    R"({"type":"tool_result","summary":"Bash: done","tool":"Bash","callID":"c","output":{"success":true,"summary":"ok"}},)"
    R"({"type":"usage","summary":"used","sessionID":"s","data":{"costUSD":0.12,"inputTokens":1200,"outputTokens":300}})";
constexpr const char* kApprovalData =
    R"(,{"type":"approval","summary":"Needs approval: git push","tool":"Bash","data":{"approvalID":"a","state":"pending",)"
    R"("kind":"permission","tool":"Bash","input":{"command":"git push"}}})";

std::string ended(const char* state) {
  return fmt::format(R"(,{{"type":"status","summary":"{0}","data":{{"state":"{0}"}}}})", state);
}

struct Close {
  void operator()(sqlite3* database) const { sqlite3_close(database); }
};

std::unexpected<Error> ledger_error(sqlite3* database) {
  return fail(ErrorCode::unavailable, "sqlite", fmt::format("SQLite: {}", sqlite3_errmsg(database)));
}

Result<std::uint64_t> count_rows(sqlite3* database) {
  std::uint64_t rows = 0;
  auto take = [](void* into, int, char** values, char**) {
    *static_cast<std::uint64_t*>(into) = std::strtoull(values[0], nullptr, 10);
    return 0;
  };
  const char* sql =
      "SELECT (SELECT count(*) FROM amount) + (SELECT count(*) FROM tool) + (SELECT count(*) FROM tool_time) +"
      " (SELECT count(*) FROM span)";
  if (sqlite3_exec(database, sql, take, &rows, nullptr) != SQLITE_OK) return ledger_error(database);
  return rows;
}

}  // namespace

Result<Fleet> make_fleet(ShepherdServer& server, const FleetSize& size) {
  Result<std::vector<std::string>> tasks = server.create_tasks(size.tasks);
  if (!tasks) return fail(tasks.error());
  Fleet fleet;
  std::vector<HttpRequest> posts;
  for (std::size_t i = 0; i < tasks->size(); ++i) {
    bool active = i >= size.tasks - size.active;
    std::string more = active ? (i >= size.tasks - size.approvals ? kApprovalData : "")
                              : ended(i < size.failed ? "failed" : "completed");
    if (active) fleet.active.push_back((*tasks)[i]);
    posts.push_back({"POST", "/api/v1/tasks/" + (*tasks)[i] + "/events", "Content-Type: application/json\r\n",
                     "[" + (kWorked + more) + "]"});
  }
  Result<std::vector<HttpAnswer>> answers = server.internal_calls(std::move(posts));
  if (!answers) return fail(answers.error());
  for (const HttpAnswer& answer : *answers) {
    if (answer.status == 200) continue;
    return fail(ErrorCode::unavailable, "refused",
                fmt::format("events were answered {}: {}", answer.status, answer.body.substr(0, 300)));
  }
  return fleet;
}

Result<std::uint64_t> fill_ledger(const std::filesystem::path& ledger, int days, std::size_t spans) {
  sqlite3* opened = nullptr;
  int code = sqlite3_open_v2(ledger.c_str(), &opened, SQLITE_OPEN_READWRITE, nullptr);
  std::unique_ptr<sqlite3, Close> database(opened);
  if (code != SQLITE_OK) return ledger_error(opened);
  auto now =
      std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  std::int64_t to = now / 3'600 * 3'600, from = to - days * 86'400;
  // The last day is left out, because the tasks above are in it.
  std::string minutes = fmt::format(
      "WITH RECURSIVE minute(at) AS (SELECT {} UNION ALL SELECT at + 60 FROM minute WHERE at + 60 < {}),"
      " who(n) AS (VALUES(0),(1),(2),(3)), tool(n) AS (VALUES(0),(1),(2),(3),(4)), class(n) AS (VALUES(20),(30),(40)) ",
      from, to);
  std::string sql = "BEGIN;";
  for (int unit : {60, 900}) {
    std::string at = fmt::format("at - at % {}", unit);
    sql += minutes +
           fmt::format(
               "INSERT OR IGNORE INTO amount SELECT {}, {}, 'agent' || who.n, 'model' || who.n, 12345678, 1000, 100,"
               " 10000, 100, 20, 1, 5, 0 FROM minute, who;",
               unit, at);
    sql += minutes +
           fmt::format("INSERT OR IGNORE INTO tool SELECT {}, {}, 'Tool' || tool.n, 9, 1 FROM minute, tool;", unit, at);
    sql += minutes + fmt::format(
                         "INSERT OR IGNORE INTO tool_time SELECT {}, {}, 'Tool' || tool.n, class.n, 3 FROM minute,"
                         " tool, class;",
                         unit, at);
  }
  sql += fmt::format(
      "WITH RECURSIVE span_number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM span_number WHERE n < {0})"
      " INSERT INTO span SELECT 'earlier-' || n, 'agent' || n % 4, 'model' || n % 4, ({1} + n * {2} / {0}) * 1000,"
      " ({1} + n * {2} / {0} + 600) * 1000 FROM span_number;COMMIT;",
      spans, from, to - from - 600);
  if (sqlite3_exec(database.get(), sql.c_str(), nullptr, nullptr, nullptr) != SQLITE_OK)
    return ledger_error(database.get());
  return count_rows(database.get());
}

}  // namespace shepherd::bench
