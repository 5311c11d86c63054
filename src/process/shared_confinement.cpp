#include "process/shared_confinement.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <string>
#include <utility>

#include "process/launch_warden.h"
#include "process/process_tree.h"
#include "process/warden.h"

namespace shepherd {
namespace {

bool same_file(const Descriptor& one, const Descriptor& other) {
  struct stat a{}, b{};
  return ::fstat(one.get(), &a) == 0 && ::fstat(other.get(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

Descriptor space_of(const std::string& process, const char* kind) {
  Descriptor space(::open(fmt::format("/proc/{}/ns/{}", process, kind).c_str(), O_RDONLY | O_CLOEXEC));
  return Descriptor(::fcntl(space.get(), F_DUPFD_CLOEXEC, kFirstFreeDescriptor));
}

}  // namespace

Result<std::shared_ptr<const SharedConfinement>> share_confinement(const LaunchedAgent& agent) {
  auto shared = std::make_shared<SharedConfinement>();
  shared->level = agent.confined;
  shared->means = agent.means;
  shared->steps = agent.steps;
  if (agent.means != ConfineMeans::namespaces) return shared;
  std::string process = std::to_string(agent.agent);
  shared->mounts = space_of(process, "mnt");
  shared->users = space_of(process, "user");
  // Looked at last: if it is the agent now, it was the agent before. Its number cannot be another process's while its
  // warden has not waited for it.
  std::optional<ProcessStat> facts = process_stat(agent.agent);
  bool there = facts && facts->parent == agent.warden;
  Descriptor own_mounts = space_of("self", "mnt");
  Descriptor own_users = space_of("self", "user");
  if (!there || !shared->mounts || !shared->users || !own_users || same_file(shared->mounts, own_mounts)) {
    return fail(ErrorCode::unavailable, "cannot_confine", "the agent has ended, or its confinement cannot be joined");
  }
  if (same_file(shared->users, own_users)) shared->users.reset();
  return shared;
}

}  // namespace shepherd
