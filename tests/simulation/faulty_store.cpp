#include "faulty_store.h"

namespace shepherd::simulation {
namespace {

std::unexpected<Error> broken() {
  return fail(ErrorCode::unavailable, "io_error", "the simulated disk failed");
}

}  // namespace

Result<Commit> FaultyStore::write(const std::function<void(WriteTxn&)>& operations) {
  if (strikes()) return broken();
  auto commit = inner().write(operations);
  if (commit && strikes()) return broken();
  return commit;
}

Result<Page> FaultyStore::read(const std::string& task, std::uint64_t after, ReadLimit limit) const {
  if (strikes()) return broken();
  return inner().read(task, after, limit);
}

Result<Page> FaultyStore::read_before(const std::string& task, std::uint64_t before, ReadLimit limit) const {
  if (strikes()) return broken();
  return inner().read_before(task, before, limit);
}

Result<Page> FaultyStore::read_all(std::uint64_t after, ReadLimit limit) const {
  if (strikes()) return broken();
  return inner().read_all(after, limit);
}

Result<std::map<std::string, std::uint64_t>> FaultyStore::heads(const std::vector<std::string>& tasks) const {
  if (strikes()) return broken();
  return inner().heads(tasks);
}

Result<TaskRow> FaultyStore::row(const std::string& id) const {
  if (strikes()) return broken();
  return inner().row(id);
}

Result<std::vector<TaskRow>> FaultyStore::rows(const TaskFilter& filter) const {
  if (strikes()) return broken();
  return inner().rows(filter);
}

Result<ChangePage> FaultyStore::changes(Place after, ReadLimit limit) const {
  if (strikes()) return broken();
  return inner().changes(after, limit);
}

}  // namespace shepherd::simulation
