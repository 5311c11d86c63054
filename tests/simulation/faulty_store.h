// A store that fails like real ones: writes that are refused, writes that are committed but return an error (the
// connection was lost between commit and answer), and reads that fail. The schedule simulates slow reads: they run on
// workers that the simulation steps at will.
// Threads: caller.
#pragma once

#include "base/random.h"
#include "store/event_store.h"

namespace shepherd::simulation {

class FaultyStore final : public EventStore {
 public:
  FaultyStore(EventStore& inner, Random& random) : inner_(inner), random_(random) {}
  void set_fault_percent(unsigned percent) { percent_ = percent; }

  Result<Commit> write(const std::function<void(WriteTxn&)>& operations) override;
  Result<Page> read(const std::string& task, std::uint64_t after, ReadLimit limit) const override;
  Result<Page> read_before(const std::string& task, std::uint64_t before, ReadLimit limit) const override;
  Result<Page> read_all(std::uint64_t after, ReadLimit limit) const override;
  Result<std::map<std::string, std::uint64_t>> heads(const std::vector<std::string>& tasks) const override;
  Result<Task> task(const std::string& id) const override { return inner_.task(id); }
  Result<TaskRow> row(const std::string& id) const override;
  Result<std::vector<TaskRow>> rows(const TaskFilter& filter) const override;
  Result<ChangePage> changes(Place after, ReadLimit limit) const override;
  Result<Place> newest_place() const override { return inner_.newest_place(); }
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

 private:
  bool strikes() const { return random_.below(100) < percent_; }

  EventStore& inner_;
  Random& random_;
  unsigned percent_ = 0;
};

}  // namespace shepherd::simulation
