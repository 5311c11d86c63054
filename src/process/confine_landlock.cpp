#include "process/confine_landlock.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <linux/landlock.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <utility>

#include "base/descriptor.h"
#include "process/confine.h"
#include "process/confine_root.h"
#include "process/landlock_plan.h"

namespace shepherd {
namespace {

// Landlock of Linux 6.12, the first that keeps an agent from killing other processes. Earlier versions cannot even keep
// a hidden file from being truncated.
constexpr long kLandlockVersion = 6;

// The build's headers may be older than the running kernel.
constexpr std::uint64_t kTruncate = 1ULL << 14;
constexpr std::uint64_t kScopeAbstractSockets = 1ULL << 0;
constexpr std::uint64_t kScopeSignals = 1ULL << 1;
struct RulesetAttributes {
  std::uint64_t handled_access_fs;
  std::uint64_t handled_access_net;
  std::uint64_t scoped;
};

constexpr std::uint64_t kReadFile = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_READ_FILE;
constexpr std::uint64_t kFile = kReadFile | LANDLOCK_ACCESS_FS_WRITE_FILE | kTruncate;
constexpr std::uint64_t kDirectory =
    kFile | LANDLOCK_ACCESS_FS_READ_DIR | LANDLOCK_ACCESS_FS_REMOVE_DIR | LANDLOCK_ACCESS_FS_REMOVE_FILE |
    LANDLOCK_ACCESS_FS_MAKE_DIR | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SOCK |
    LANDLOCK_ACCESS_FS_MAKE_FIFO | LANDLOCK_ACCESS_FS_MAKE_SYM | LANDLOCK_ACCESS_FS_REFER;
// Granted nowhere, because a device node made by root gives access to the raw disk.
constexpr std::uint64_t kDevices = LANDLOCK_ACCESS_FS_MAKE_CHAR | LANDLOCK_ACCESS_FS_MAKE_BLOCK;

std::uint64_t rights(bool directory, bool writable) {
  if (directory) return writable ? kDirectory : kReadFile | LANDLOCK_ACCESS_FS_READ_DIR;
  return writable ? kFile : kReadFile;
}

Result<void> allow(const Descriptor& ruleset, const LandlockGrant& grant) {
  Descriptor place(::open(grant.path.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  if (!place) return {};  // gone meanwhile
  struct stat facts{};
  if (::fstat(place.get(), &facts) != 0 || S_ISLNK(facts.st_mode)) return {};
  landlock_path_beneath_attr rule{};
  rule.allowed_access = rights(S_ISDIR(facts.st_mode), grant.writable);
  rule.parent_fd = place.get();
  if (::syscall(SYS_landlock_add_rule, ruleset.get(), LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0) return {};
  return cannot_confine("grant " + grant.path + " by Landlock");
}

bool may_administer() {
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  return ::syscall(SYS_capget, &header, data.data()) == 0 && (data[0].effective >> CAP_SYS_ADMIN & 1) != 0;
}

}  // namespace

Result<void> confine_by_landlock(const std::vector<ConfineStep>& steps, const std::string& directory) {
  long version = ::syscall(SYS_landlock_create_ruleset, nullptr, 0, LANDLOCK_CREATE_RULESET_VERSION);
  if (version < 0) return cannot_confine("use Landlock");
  if (version < kLandlockVersion) {
    return fail(ErrorCode::unavailable, "cannot_confine",
                "this kernel's Landlock cannot keep signals in (Linux 6.12 can)");
  }
  Result<std::vector<LandlockGrant>> grants = plan_landlock(steps, directory, ::geteuid() == 0);
  if (!grants) return fail(std::move(grants.error()));
  RulesetAttributes attributes{kDirectory | kDevices, 0, kScopeAbstractSockets | kScopeSignals};
  Descriptor ruleset(static_cast<int>(::syscall(SYS_landlock_create_ruleset, &attributes, sizeof attributes, 0)));
  if (!ruleset) return cannot_confine("make Landlock rules");
  for (const LandlockGrant& grant : *grants) {
    if (Result<void> done = allow(ruleset, grant); !done) return done;
  }
  // Real root does not need this restriction, and its agents install packages.
  if (!may_administer() && ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
    return cannot_confine("refuse new privileges");
  if (::syscall(SYS_landlock_restrict_self, ruleset.get(), 0) != 0) return cannot_confine("take on Landlock rules");
  return give_up_privileges();
}

}  // namespace shepherd
