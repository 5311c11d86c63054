#include "process/confine_root.h"

#include <fcntl.h>
#include <linux/capability.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <utility>

#include "base/descriptor.h"
#include "process/confine.h"

namespace shepherd {
namespace {

namespace files = std::filesystem;

// None of these capabilities allows an escape: no mounts, no other processes, no raw devices or packets, no modules.
constexpr std::array kRootKeeps = {CAP_CHOWN,  CAP_DAC_OVERRIDE, CAP_FOWNER,  CAP_FSETID,           CAP_KILL,
                                   CAP_SETGID, CAP_SETUID,       CAP_SETPCAP, CAP_NET_BIND_SERVICE, CAP_SETFCAP};

// True for root of the whole machine, not of a user namespace.
bool is_real_root() {
  std::uint32_t inside = 1, outside = 1, count = 0;
  std::ifstream map("/proc/self/uid_map");
  map >> inside >> outside >> count;
  return ::geteuid() == 0 && inside == 0 && outside == 0 && count > 1;
}

Result<void> make_device(const std::string& devices, const std::string& name) {
  std::string path = devices + "/" + name;
  Descriptor place(::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  if (!place) return cannot_confine("make " + path);
  return show_at("/dev/" + name, path);
}

}  // namespace

Result<void> mount_own_devices() {
  // Built at a place that exists on every machine, then moved over the real one.
  const std::string devices = "/proc";
  if (::mount("shepherd", devices.c_str(), "tmpfs", MS_NOSUID | MS_NOEXEC, "mode=0755") != 0) {
    return cannot_confine("have devices of its own");
  }
  std::error_code error;
  for (const char* name : {"null", "zero", "full", "random", "urandom", "tty", "fuse", "kvm"}) {
    if (!files::exists(std::string("/dev/") + name, error)) continue;
    if (Result<void> made = make_device(devices, name); !made) return made;
  }
  for (auto [name, target] : {std::pair{"fd", "/proc/self/fd"},
                              {"stdin", "/proc/self/fd/0"},
                              {"stdout", "/proc/self/fd/1"},
                              {"stderr", "/proc/self/fd/2"},
                              {"ptmx", "pts/ptmx"}}) {
    files::create_symlink(target, devices + "/" + name, error);
  }
  for (auto [name, type, options] :
       {std::tuple{"/pts", "devpts", "newinstance,ptmxmode=0666,mode=0620"}, {"/shm", "tmpfs", "mode=1777"}}) {
    files::create_directory(devices + name, error);
    if (::mount(type, (devices + name).c_str(), type, MS_NOSUID | MS_NOEXEC, options) != 0) {
      return cannot_confine("have devices of its own");
    }
  }
  if (::mount(devices.c_str(), "/dev", nullptr, MS_MOVE, nullptr) != 0) return cannot_confine("replace /dev");
  return {};
}

Result<void> protect_kernel_settings() {
  std::error_code error;
  for (const char* path : {"/proc/sys", "/proc/sysrq-trigger", "/proc/irq", "/proc/bus", "/proc/acpi", "/sys"}) {
    if (!files::exists(path, error)) continue;
    if (Result<void> shown = show_at(path, path); !shown) return shown;
    if (Result<void> done = protect(path, AT_RECURSIVE); !done) return done;
  }
  return {};
}

Result<void> give_up_privileges() {
  std::uint64_t kept = 0;
  if (is_real_root()) {
    for (int capability : kRootKeeps) kept |= std::uint64_t{1} << capability;
  } else if (::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0) {
    return cannot_confine("refuse new privileges");
  }
  // The loop ends at the first capability that the kernel does not have.
  for (int capability = 0; ::prctl(PR_CAPBSET_READ, capability, 0, 0, 0) >= 0; ++capability) {
    if ((kept >> capability & 1) != 0 || ::prctl(PR_CAPBSET_DROP, capability, 0, 0, 0) == 0) continue;
    if (errno == EPERM && ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1) break;  // irrelevant without new privileges
    return cannot_confine("give up its privileges");
  }
  if (::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return cannot_confine("give up its privileges");
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  std::array<__user_cap_data_struct, 2> data{};
  if (::syscall(SYS_capget, &header, data.data()) != 0) return cannot_confine("read its privileges");
  for (std::size_t half = 0; half < data.size(); ++half) {
    auto keep = static_cast<std::uint32_t>(kept >> (32 * half));
    data[half].permitted &= keep;
    data[half].effective &= keep;
    data[half].inheritable = 0;
  }
  if (::syscall(SYS_capset, &header, data.data()) != 0) return cannot_confine("give up its privileges");
  return {};
}

}  // namespace shepherd
