// The suite and the model test on every store that can run here.
#include <stdexcept>

#include "conformance/event_store_conformance.h"
#include "conformance/event_store_model.h"
#include "conformance/scratch_directory.h"
#include "store/memory/memory_store.h"
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

// Everything that usually happens now and then, all the time: projections, evictions, checkpoints.
StoreMaker busy_sqlite_maker() {
  SqliteOptions options;
  options.project_every = 3;
  options.head_cache_tasks = 2;
  options.read_connections = 1;
  options.page_bytes = 4096;
  options.wal = {64 * kKiB, 256 * kKiB, 16 * kKiB};
  return sqlite_maker("BusySqlite", options);
}

}  // namespace

INSTANTIATE_TEST_SUITE_P(Stores, EventStoreConformance,
                         ::testing::Values(memory_maker(), sqlite_maker(), busy_sqlite_maker()), maker_name);
INSTANTIATE_TEST_SUITE_P(Stores, EventStoreModel,
                         ::testing::Values(memory_maker(), sqlite_maker(), busy_sqlite_maker()), maker_name);

}  // namespace shepherd::testing
