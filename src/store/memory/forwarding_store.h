// A store that passes every call on to another one, for tests that change a few of them.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "store/event_store.h"

namespace shepherd {

// Threads: as the inner store, which must outlive it.
class ForwardingStore : public EventStore {
 public:
  explicit ForwardingStore(EventStore& inner) : inner_(inner) {}

  Result<Commit> write(const std::function<void(WriteTxn&)>& operations) override { return inner_.write(operations); }
  Result<Page> read(const std::string& task, std::uint64_t after, ReadLimit limit) const override {
    return inner_.read(task, after, limit);
  }
  Result<Page> read_before(const std::string& task, std::uint64_t before, ReadLimit limit) const override {
    return inner_.read_before(task, before, limit);
  }
  Result<Page> read_all(std::uint64_t after, ReadLimit limit) const override { return inner_.read_all(after, limit); }
  Result<std::map<std::string, std::uint64_t>> heads(const std::vector<std::string>& tasks) const override {
    return inner_.heads(tasks);
  }
  Result<ChangePage> changes(Place after, ReadLimit limit) const override { return inner_.changes(after, limit); }
  Result<Place> newest_place() const override { return inner_.newest_place(); }
  Result<Task> task(const std::string& id) const override { return inner_.task(id); }
  Result<TaskRow> row(const std::string& id) const override { return inner_.row(id); }
  Result<std::vector<TaskRow>> rows(const TaskFilter& filter) const override { return inner_.rows(filter); }
  Result<std::string> detail(const std::string& task, std::uint64_t sequence) const override {
    return inner_.detail(task, sequence);
  }
  Result<std::optional<Checkpoint>> checkpoint(const std::string& task, std::uint64_t at) const override {
    return inner_.checkpoint(task, at);
  }
  Result<std::map<std::string, std::string>> records(const std::string& kind) const override {
    return inner_.records(kind);
  }
  Result<std::string> record(const std::string& kind, const std::string& key) const override {
    return inner_.record(kind, key);
  }
  Result<std::vector<Lease>> leases(LeaseKind kind) const override { return inner_.leases(kind); }
  Result<std::vector<Lease>> leases(LeaseKind kind, const std::string& name) const override {
    return inner_.leases(kind, name);
  }
  Result<std::vector<BatchInfo>> oldest_batches(std::size_t limit) const override {
    return inner_.oldest_batches(limit);
  }
  Result<StoreStats> stats() const override { return inner_.stats(); }

 protected:
  EventStore& inner() { return inner_; }
  const EventStore& inner() const { return inner_; }

 private:
  EventStore& inner_;
};

}  // namespace shepherd
