#include "process/tree_end.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <set>
#include <thread>

#include "process/limits.h"

namespace shepherd {
namespace {

constexpr int kQuickLooks = 10;  // most processes are gone within a millisecond or two
constexpr int kLooksPerRound = 2 * kQuickLooks;

}  // namespace

TreeEnd::Members TreeEnd::all_but(pid_t ours, Members members) {
  if (ours == 0) return members;
  return [ours, members = std::move(members)](const Visit& visit) {
    std::vector<ProcessStat> all = members([&](const ProcessStat& process) {
      if (visit && process.pid != ours) visit(process);
    });
    std::erase_if(all, [ours](const ProcessStat& process) { return process.pid == ours; });
    return all;
  };
}

void TreeEnd::note() {
  for (const ProcessStat& process : members_({})) remember(process);
}

void TreeEnd::keep(pid_t pid, std::string command) {
  kept_ = pid;
  kept_command_ = std::move(command);
  if (auto stat = process_stat(pid)) remember(*stat);
}

void TreeEnd::remember(const ProcessStat& process) {
  Name name{process.pid, process.start_ticks};
  bool kept = process.pid == kept_;
  if (process.state == 'Z' && !kept) return;  // it had ended before and is only a zombie
  if (noted_.contains(name)) return;
  if (noted_.size() == kMaxEndedProcesses) {
    ++unlisted_;
    return;
  }
  noted_.emplace(name, Noted{kept && !kept_command_.empty() ? kept_command_ : command_line(process.pid)});
}

void TreeEnd::kill_all() {
  // Children first, because a child whose parent dies now has another parent at the next look.
  std::vector<ProcessStat> everybody = members_({});
  for (auto process = everybody.rbegin(); process != everybody.rend(); ++process) {
    remember(*process);  // the look that froze the processes may have missed it
    if (!signal_child_of(process->parent, process->pid, SIGKILL)) continue;
    // Its parent may reap it, or may have chosen to ignore its children.
    auto noted = noted_.find({process->pid, process->start_ticks});
    if (noted != noted_.end() && process->state != 'Z') noted->second.how = describe({0, SIGKILL});
  }
}

void TreeEnd::freeze() {
  freeze([](const ProcessStat&) {});
}

void TreeEnd::freeze(const Visit& also) {
  std::set<Name> stopped;
  for (int pass = 0; pass < kFreezePasses; ++pass) {
    bool found_new = false;
    members_([&](const ProcessStat& process) {
      if (!stopped.emplace(process.pid, process.start_ticks).second) return;
      found_new = true;
      signal_child_of(process.parent, process.pid, SIGSTOP);
      also(process);
    });
    if (!found_new) break;
  }
}

void TreeEnd::thaw() {
  std::vector<ProcessStat> everybody = members_({});
  for (auto process = everybody.rbegin(); process != everybody.rend(); ++process) {
    signal_child_of(process->parent, process->pid, SIGCONT);
  }
}

// Returns true if the child has ended. In /proc a process whose main thread has ended looks dead while other threads
// live; waitid() is exact.
bool TreeEnd::reap_child(const ProcessStat& child) {
  siginfo_t answer{};
  int options = WEXITED | WNOHANG | (child.pid == kept_ ? WNOWAIT : 0);
  if (::waitid(P_PID, static_cast<id_t>(child.pid), &answer, options) != 0 || answer.si_pid == 0) return false;
  bool exited = answer.si_code == CLD_EXITED;
  AgentExit exit{exited ? answer.si_status : 0, exited ? 0 : answer.si_status};
  if (child.pid == kept_) kept_exit_ = exit;
  auto noted = noted_.find({child.pid, child.start_ticks});
  if (noted != noted_.end()) noted->second.how = describe(exit);
  return true;
}

bool TreeEnd::reap() {
  for (;;) {
    std::size_t left = 0;
    bool kept_ended = false;
    for (const ProcessStat& process : members_({})) {
      bool ended = process.parent == ::getpid() && reap_child(process);
      if (ended && process.pid == kept_) kept_ended = true;
      if (!ended) ++left;
    }
    if (left > 0) return false;
    if (!kept_ended) return true;
    kept_ = 0;  // the last one; the next pass reaps it and checks whether it left children behind
  }
}

bool TreeEnd::kill(std::chrono::milliseconds wait) {
  std::int64_t deadline_ms = clock_.steady_ms() + wait.count();
  for (;;) {
    freeze([this](const ProcessStat& process) { remember(process); });
    kill_all();
    // Dying takes the kernel a moment, and polling at once only takes time from it. A missed process waits for the next
    // round.
    for (int look = 0; look < kLooksPerRound; ++look) {
      if (reap()) return true;
      if (clock_.steady_ms() >= deadline_ms) return false;
      std::this_thread::sleep_for(look < kQuickLooks ? std::chrono::microseconds(kReapPause) / kQuickLooks
                                                     : kReapPause);
    }
  }
}

void TreeEnd::report(AgentEnd& end) {
  std::set<Name> living;
  for (const ProcessStat& process : members_({})) living.emplace(process.pid, process.start_ticks);
  for (const auto& [name, noted] : noted_) {
    bool left = living.contains(name);
    (left ? end.left : end.ended).push_back({name.first, noted.command_line, left ? "left" : noted.how});
  }
  end.unlisted = unlisted_;
}

}  // namespace shepherd
