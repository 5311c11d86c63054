// For the tests of this adapter: a store in a scratch directory, and a second connection to its file for plain SQL.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <memory>
#include <stdexcept>
#include <string>

#include "conformance/scratch_directory.h"
#include "conformance/store_fixture.h"
#include "sqlite/database.h"
#include "store/sqlite/sqlite_store.h"

namespace shepherd::testing {

class SqliteStoreTest : public ::testing::Test {
 protected:
  std::string file() const { return directory_.file("shepherd.db"); }
  Result<std::unique_ptr<SqliteStore>> try_open(const SqliteOptions& options = {}) {
    return SqliteStore::open(directory_.path(), options);
  }
  std::unique_ptr<SqliteStore> open(const SqliteOptions& options = {}) {
    auto store = try_open(options);
    if (!store) throw std::runtime_error(store.error().message);
    return std::move(*store);
  }
  // A connection as another program would have it.
  std::unique_ptr<Database> sql() {
    auto database = Database::open(file(), OpenMode::read_write, std::chrono::milliseconds(1000));
    if (!database) throw std::runtime_error(database.error().message);
    return std::move(*database);
  }
  static std::string one(Database& database, const std::string& query) {
    auto row = database.prepare_once(query);
    auto found = row.step();
    if (!found) throw std::runtime_error(found.error().message);
    return *found ? row.text(0) : "no row";
  }
  std::string one(const std::string& query) {
    auto database = sql();
    return one(*database, query);
  }

  ScratchDirectory directory_;
};

// Turns off background work, so that data which is not written immediately stays in memory.
inline SqliteOptions still() {
  SqliteOptions options;
  options.housekeeping = false;
  options.project_every = 1'000'000;
  return options;
}

}  // namespace shepherd::testing
