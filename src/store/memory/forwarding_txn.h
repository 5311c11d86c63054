// A transaction that passes every call on to another one, for tests that change or count a few of them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "store/event_store.h"

namespace shepherd {

// Threads: as the inner transaction, which must outlive it.
class ForwardingTxn : public WriteTxn {
 public:
  explicit ForwardingTxn(WriteTxn& inner) : inner_(inner) {}

  Result<Created> create_task(const TaskSpec& spec, std::int64_t created_ms,
                              const std::string& idempotency_key) override {
    return inner_.create_task(spec, created_ms, idempotency_key);
  }
  Result<TaskRow> row(const std::string& id) override { return inner_.row(id); }
  Result<Task> task(const std::string& id) override { return inner_.task(id); }
  Result<Task> update_task(const TaskSpec& spec) override { return inner_.update_task(spec); }
  Result<void> delete_task(const std::string& task) override { return inner_.delete_task(task); }
  Result<bool> erase_leftovers(std::size_t rows) override { return inner_.erase_leftovers(rows); }
  Result<Appended> append(const AppendRequest& request) override { return inner_.append(request); }
  Result<void> drop_through(const std::string& task, std::uint64_t through) override {
    return inner_.drop_through(task, through);
  }
  Result<void> add_checkpoint(const std::string& task, std::int64_t created_ms, const Checkpoint& checkpoint) override {
    return inner_.add_checkpoint(task, created_ms, checkpoint);
  }
  Result<std::string> record(const std::string& kind, const std::string& key) override {
    return inner_.record(kind, key);
  }
  Result<void> put_record(const std::string& kind, const std::string& key, const std::string& value) override {
    return inner_.put_record(kind, key, value);
  }
  Result<void> keep_cursor(const std::string& name, const std::string& value) override {
    return inner_.keep_cursor(name, value);
  }
  Result<std::vector<Lease>> leases(LeaseKind kind, const std::string& name) override {
    return inner_.leases(kind, name);
  }
  Result<std::vector<Lease>> leases_over(std::int64_t now_ms, std::size_t limit) override {
    return inner_.leases_over(now_ms, limit);
  }
  Result<void> put_lease(const Lease& lease) override { return inner_.put_lease(lease); }
  Result<void> end_lease(const LeaseKey& key) override { return inner_.end_lease(key); }
  Result<bool> renew_lease(const LeaseRenewal& renewal) override { return inner_.renew_lease(renewal); }
  std::uint64_t position() const override { return inner_.position(); }
  // The operation gets this transaction, so that its calls come through here, too.
  Result<void> atomically(const std::function<Result<void>(WriteTxn&)>& operation) override {
    return inner_.atomically([&](WriteTxn&) { return operation(*this); });
  }

 private:
  WriteTxn& inner_;
};

}  // namespace shepherd
