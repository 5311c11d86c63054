#include "store/postgres/pool.h"

#include <chrono>

#include "store/postgres/limits.h"

namespace shepherd {

Result<PostgresPool::Reader> PostgresPool::reader() {
  std::unique_ptr<PostgresConnection> connection;
  {
    MutexLock lock(mutex_);
    auto until = std::chrono::steady_clock::now() + kPostgresReaderWait;
    while (free_.empty()) {
      auto left = std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
      if (left.count() <= 0 || (!freed_.wait_for(mutex_, left) && free_.empty())) {
        return fail(ErrorCode::unavailable, "busy", "All connections to the database are reading. Try again.");
      }
    }
    connection = std::move(free_.back());
    free_.pop_back();
  }
  constexpr const char* kBegin = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";
  if (connection != nullptr) {
    if (connection->run(kBegin)) return Reader(*this, std::move(connection));
    connection.reset();  // it broke since it was used last
  }
  auto opened = PostgresConnection::open(url_);
  if (!opened) {
    put_back(nullptr);
    return fail(std::move(opened.error()));
  }
  Reader reader(*this, *std::move(opened));
  if (auto begun = reader->run(kBegin); !begun) return fail(std::move(begun.error()));
  return reader;
}

PostgresPool::Reader::~Reader() {
  if (pool_ == nullptr) return;
  if (connection_ != nullptr && !connection_->run("ROLLBACK")) connection_.reset();
  pool_->put_back(std::move(connection_));
}

void PostgresPool::put_back(std::unique_ptr<PostgresConnection> connection) {
  MutexLock lock(mutex_);
  free_.push_back(std::move(connection));
  freed_.notify_one();
}

}  // namespace shepherd
