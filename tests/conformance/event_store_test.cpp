// Runs the suite and the model test on every store that can run here.
#include <filesystem>
#include <stdexcept>

#include "base/limits.h"
#include "conformance/event_store_conformance.h"
#include "conformance/event_store_conformance_changes.h"
#include "conformance/event_store_conformance_checkpoints.h"
#include "conformance/event_store_conformance_deletions.h"
#include "conformance/event_store_conformance_leases.h"
#include "conformance/event_store_model.h"
#include "conformance/postgres_schema.h"
#include "conformance/scratch_directory.h"
#include "store/memory/memory_store.h"
#include "store/postgres/postgres_store.h"
#include "store/sqlite/sqlite_store.h"

namespace shepherd::testing {

namespace {

StoreMaker memory_maker() {
  return {"Memory", [] { return StoreUnderTest{std::make_unique<MemoryStore>(), {}, {}}; }};
}

StoreMaker sqlite_maker(std::string name, SqliteOptions options) {
  return {std::move(name), [options] {
            auto directory = std::make_shared<ScratchDirectory>();
            auto open = [options, directory]() -> std::unique_ptr<EventStore> {
              auto store = SqliteStore::open(directory->path(), options);
              if (!store) throw std::runtime_error(store.error().message);
              return std::move(*store);
            };
            auto reopen = [open](StoreUnderTest& made) {
              made.store.reset();
              made.store = open();
            };
            return StoreUnderTest{open(), reopen, directory};
          }};
}

StoreMaker sqlite_maker() {
  return sqlite_maker("Sqlite", {});
}

// Does all the time what usually happens rarely: projections, evictions, checkpoints.
StoreMaker busy_sqlite_maker() {
  SqliteOptions options;
  options.project_every = 3;
  options.head_cache_tasks = 2;
  options.read_connections = 1;
  options.page_bytes = 4096;
  options.wal = {64 * kKiB, 256 * kKiB, 16 * kKiB};
  return sqlite_maker("BusySqlite", options);
}

// Places few batches at a time and never closes its files properly, so that opening finds them as after a power cut.
StoreMaker crashing_sqlite_maker() {
  return {"CrashingSqlite", [] {
            SqliteOptions options;
            options.unplaced_batches = 3;
            options.project_every = 25;
            options.housekeeping = false;
            auto open = [options](const ScratchDirectory& directory) -> std::unique_ptr<EventStore> {
              auto store = SqliteStore::open(directory.path(), options);
              if (!store) throw std::runtime_error(store.error().message);
              return std::move(*store);
            };
            auto reopen = [open](StoreUnderTest& made) {
              auto crashed = std::make_shared<ScratchDirectory>();
              auto left = std::static_pointer_cast<ScratchDirectory>(made.place);
              std::filesystem::copy(left->path(), crashed->path(), std::filesystem::copy_options::recursive);
              made.store.reset();
              made.store = open(*crashed);
              made.place = crashed;
            };
            auto directory = std::make_shared<ScratchDirectory>();
            return StoreUnderTest{open(*directory), reopen, directory};
          }};
}

StoreMaker postgres_maker() {
  return {"Postgres", [] {
            auto schema = std::make_shared<PostgresSchema>();
            auto open = [schema]() -> std::unique_ptr<EventStore> { return schema->open(); };
            auto reopen = [open](StoreUnderTest& made) {
              made.store.reset();
              made.store = open();
            };
            return StoreUnderTest{open(), reopen, schema};
          }};
}

auto every_store() {
  return ::testing::Values(memory_maker(), sqlite_maker(), busy_sqlite_maker(), crashing_sqlite_maker(),
                           postgres_maker());
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Stores, EventStoreConformance, every_store(), maker_name);
INSTANTIATE_TEST_SUITE_P(Stores, EventStoreModel, every_store(), maker_name);

}  // namespace shepherd::testing
