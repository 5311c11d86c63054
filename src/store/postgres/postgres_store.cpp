#include "store/postgres/postgres_store.h"

#include <chrono>
#include <thread>
#include <utility>

#include "store/postgres/limits.h"
#include "store/postgres/postgres_txn.h"
#include "store/postgres/schema.h"

namespace shepherd {

Result<std::unique_ptr<PostgresStore>> PostgresStore::open(const std::string& url) {
  auto connection = PostgresConnection::open(url);
  if (!connection) return fail(std::move(connection.error()));
  if (auto done = migrate(**connection); !done) return fail(std::move(done.error()));
  std::unique_ptr<PostgresStore> store(new PostgresStore(url));
  MutexLock lock(store->writing_);
  store->writer_ = std::move(*connection);
  return store;
}

PostgresStore::PostgresStore(std::string url) : url_(std::move(url)), readers_(url_, kPostgresReaders) {}

// Nothing has happened yet when a transaction cannot begin, so a kept connection that broke meanwhile is replaced.
Result<Place> PostgresStore::begin() {
  for (bool kept = writer_ != nullptr;; kept = false) {
    if (writer_ == nullptr) {
      auto opened = PostgresConnection::open(url_);
      if (!opened) return fail(std::move(opened.error()));
      writer_ = std::move(*opened);
    }
    writer_->send("BEGIN");
    std::size_t counter = writer_->send("SELECT position, change FROM counter");
    auto begun = writer_->collect();
    if (begun) return Place{(*begun)[counter].number(0, 0), (*begun)[counter].number(0, 1)};
    writer_.reset();
    if (!kept) return fail(std::move(begun.error()));
  }
}

Result<Commit> PostgresStore::attempt(const std::function<void(WriteTxn&)>& operations) {
  auto before = begin();
  if (!before) return fail(std::move(before.error()));
  // An operation that throws ends the transaction, too.
  struct Undo {
    std::unique_ptr<PostgresConnection>& writer;
    bool committed = false;
    ~Undo() {
      if (!committed && (writer->broken() || !writer->run("ROLLBACK"))) writer.reset();
    }
  } undo{writer_};
  PostgresTxn txn(*writer_, heads_, details_, *before);
  operations(txn);
  auto commit = txn.commit();
  undo.committed = commit.has_value();
  return commit;
}

Result<Commit> PostgresStore::write(const std::function<void(WriteTxn&)>& operations) {
  MutexLock lock(writing_);
  auto pause = kPostgresPause;
  for (int tried = 1;; ++tried) {
    auto commit = attempt(operations);
    if (commit || commit.error().reason != "conflicting_write" || tried == kPostgresAttempts) return commit;
    auto more = random_.below(static_cast<std::uint64_t>(pause.count()) + 1);
    std::this_thread::sleep_for(pause + std::chrono::milliseconds(more));
    pause *= 2;
  }
}

}  // namespace shepherd
