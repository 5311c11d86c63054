#include "store/sqlite/read_pool.h"

#include "store/sqlite/limits.h"
#include "store/sqlite/schema.h"

namespace shepherd {

Result<std::unique_ptr<ReadPool>> ReadPool::open(const std::string& path, std::size_t connections,
                                                 std::chrono::milliseconds busy_wait) {
  std::unique_ptr<ReadPool> pool(new ReadPool);
  for (std::size_t i = 0; i < connections; ++i) {
    auto database = Database::open(path, OpenMode::read_write, busy_wait);
    if (!database) return fail(std::move(database.error()));
    if (auto done = configure_reader(**database, kReaderCacheBytes); !done) return fail(std::move(done.error()));
    pool->give_back(std::move(*database));
  }
  return pool;
}

ReadPool::Lease ReadPool::lease() {
  MutexLock lock(mutex_);
  while (free_.empty()) freed_.wait(mutex_);
  auto database = std::move(free_.back());
  free_.pop_back();
  return Lease(*this, std::move(database));
}

void ReadPool::give_back(std::unique_ptr<Database> database) {
  MutexLock lock(mutex_);
  free_.push_back(std::move(database));
  freed_.notify_one();
}

}  // namespace shepherd
