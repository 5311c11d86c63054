// A store that fails like real ones: writes that are refused, writes that are committed but return an error (the
// connection was lost between commit and answer), and reads that fail. The schedule simulates slow reads: they run on
// workers that the simulation steps at will.
// Threads: caller.
#pragma once

#include "base/random.h"
#include "store/memory/forwarding_store.h"

namespace shepherd::simulation {

class FaultyStore final : public ForwardingStore {
 public:
  FaultyStore(EventStore& inner, Random& random) : ForwardingStore(inner), random_(random) {}
  void set_fault_percent(unsigned percent) { percent_ = percent; }

  Result<Commit> write(const std::function<void(WriteTxn&)>& operations) override;
  Result<Page> read(const std::string& task, std::uint64_t after, ReadLimit limit) const override;
  Result<Page> read_before(const std::string& task, std::uint64_t before, ReadLimit limit) const override;
  Result<Page> read_all(std::uint64_t after, ReadLimit limit) const override;
  Result<std::map<std::string, std::uint64_t>> heads(const std::vector<std::string>& tasks) const override;
  Result<TaskRow> row(const std::string& id) const override;
  Result<std::vector<TaskRow>> rows(const TaskFilter& filter) const override;
  Result<ChangePage> changes(Place after, ReadLimit limit) const override;

 private:
  bool strikes() const { return random_.below(100) < percent_; }

  Random& random_;
  unsigned percent_ = 0;
};

}  // namespace shepherd::simulation
