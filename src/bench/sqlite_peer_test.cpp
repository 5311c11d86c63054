#include "bench/sqlite_peer.h"

#include <gtest/gtest.h>
#include <sqlite3.h>

#include <string>

#include "bench/launch.h"

namespace shepherd::bench {
namespace {

std::string one_value(const std::filesystem::path& path, const char* sql) {
  sqlite3* database = nullptr;
  sqlite3_open(path.c_str(), &database);
  std::string text;
  sqlite3_exec(
      database, sql,
      [](void* out, int, char** values, char**) {
        *static_cast<std::string*>(out) = values[0] == nullptr ? "" : values[0];
        return 0;
      },
      &text, nullptr);
  sqlite3_close(database);
  return text;
}

TEST(SqlitePeer, InsertsTheSameRowsInAsManyTransactions) {
  Result<ScratchDirectory> scratch = ScratchDirectory::create("");
  ASSERT_TRUE(scratch);
  std::filesystem::path source = scratch->path() / "source.db", copy = scratch->path() / "copy.db";
  one_value(source,
            "CREATE TABLE run(position INTEGER PRIMARY KEY, task INTEGER, count INTEGER, events TEXT);"
            "CREATE UNIQUE INDEX run_task ON run(task, position);"
            "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 100)"
            "INSERT INTO run SELECT i * 4, i % 7, 4, 'text' || i FROM n");

  Result<SqliteInserts> done = insert_rows_again(source, copy, 40, 200);
  ASSERT_TRUE(done) << done.error().message;
  EXPECT_EQ(done->events, 200U);
  EXPECT_EQ(done->transactions, 5U);
  EXPECT_GT(done->events_per_second(), 0);
  EXPECT_EQ(one_value(copy, "SELECT count(*) || ' ' || min(position) || ' ' || max(events) FROM run"), "50 204 text99");
  EXPECT_EQ(one_value(copy, "SELECT name FROM sqlite_schema WHERE type = 'index'"), "run_task");
  EXPECT_EQ(one_value(copy, "PRAGMA journal_mode"), "wal");
}

TEST(SqlitePeer, AMissingDatabaseIsAnError) {
  Result<ScratchDirectory> scratch = ScratchDirectory::create("");
  ASSERT_TRUE(scratch);
  EXPECT_FALSE(insert_rows_again(scratch->path() / "none.db", scratch->path() / "copy.db", 1, 1));
}

}  // namespace
}  // namespace shepherd::bench
