#include "steering/runner_roster.h"

#include <algorithm>
#include <utility>

#include "steering/limits.h"

namespace shepherd {
namespace {

bool has_labels(const std::map<std::string, std::string>& has, const std::map<std::string, std::string>& wants) {
  return std::ranges::all_of(wants, [&](const auto& label) {
    auto found = has.find(label.first);
    return found != has.end() && found->second == label.second;
  });
}

bool speaks(const std::vector<std::string>& agents, const std::string& agent) {
  return std::ranges::find(agents, agent) != agents.end();
}

std::string listed(const std::set<std::string>& names) {
  std::string text;
  std::size_t count = 0;
  for (const std::string& name : names) {
    if (++count > kMaxNamedAgents) return text + ", …";
    text += (text.empty() ? "" : ", ") + name;
  }
  return text;
}

LeaseKey key_of(const std::string& runner) {
  return {LeaseKind::runner, runner, ""};
}

}  // namespace

bool suits(const std::string& agent, const std::string& runner, const std::map<std::string, std::string>& labels,
           const ClaimRequest& request) {
  return speaks(request.agents, agent) && (runner.empty() || runner == request.runner) &&
         has_labels(labels, request.labels);
}

bool suits(const TaskInfo& spec, const ClaimRequest& request) {
  bool named = request.task == spec.id;
  // A runner that was assigned a task may take one without an agent.
  bool told = named && (spec.agent.empty() || request.agents.empty());
  if (!told) return suits(spec.agent, spec.runner, spec.labels, request);
  return (spec.runner.empty() || spec.runner == request.runner) && has_labels(spec.labels, request.labels);
}

void RunnerRoster::report(const std::string& runner, const RunnerAbout& about) {
  bool same = false;
  {
    MutexLock lock(mutex_);
    auto known = there_.find(runner);
    bool full = known == there_.end() && there_.size() >= kMaxSeenRunners;
    if (full) return;
    same = known != there_.end() && known->second == about;
    if (!same) there_[runner] = about;
  }
  if (same) return rounds_.renew(key_of(runner), 0, kRunnerSeenSeconds * 1'000);
  put(runner, about);
}

void RunnerRoster::asks(const ClaimRequest& request) {
  // A claim for a named task is not a request for any work.
  if (!request.task.empty()) return;
  RunnerAbout about;
  {
    MutexLock lock(mutex_);
    auto known = there_.find(request.runner);
    if (known != there_.end()) about = known->second;
  }
  about.agents = request.agents;
  about.labels = request.labels;
  report(request.runner, about);
}

void RunnerRoster::put(const std::string& runner, const RunnerAbout& about) {
  rounds_.watch(key_of(runner), clock_.now_ms() + kRunnerSeenSeconds * 1'000);
  journal_.write(
      [this, runner, note = encode_runner_about(about)](WriteTxn& txn) -> Result<void> {
        auto now_ms = clock_.now_in(txn);
        if (!now_ms) return fail(std::move(now_ms.error()));
        return txn.put_lease({key_of(runner), 0, *now_ms + kRunnerSeenSeconds * 1'000, true, note});
      },
      [this, runner](Result<void> written) {
        if (written) return;
        MutexLock lock(mutex_);
        there_.erase(runner);  // its next word tries again
      });
}

void RunnerRoster::leaves(const std::string& runner, std::move_only_function<void(Result<void>)> done) {
  journal_.write([key = key_of(runner)](WriteTxn& txn) { return txn.end_lease(key); },
                 [this, runner, done = std::move(done)](Result<void> written) mutable {
                   if (written) {
                     rounds_.forget(key_of(runner));
                     MutexLock lock(mutex_);
                     there_.erase(runner);
                   }
                   done(std::move(written));
                 });
}

void RunnerRoster::over(const Lease& lease, bool has_task) {
  if (has_task) return rounds_.renew(lease.key, lease.epoch, kRunnerSeenSeconds * 1'000);
  leaves(lease.key.name, [](Result<void>) {});  // a failure is repeated by the next round
}

Result<void> RunnerRoster::read(const std::string& runner) {
  auto leases = journal_.store().leases(LeaseKind::runner, runner);
  if (!leases) return fail(std::move(leases.error()));
  if (leases->empty()) {
    rounds_.forget(key_of(runner));
    MutexLock lock(mutex_);
    there_.erase(runner);
    return {};
  }
  auto about = decode_runner_about(leases->front().note);
  if (!about) return fail(std::move(about.error()));
  rounds_.watch(key_of(runner), leases->front().until_ms);
  MutexLock lock(mutex_);
  there_[runner] = std::move(*about);
  return {};
}

Result<void> RunnerRoster::read_all() {
  auto leases = journal_.store().leases(LeaseKind::runner);
  if (!leases) return fail(std::move(leases.error()));
  for (const std::string& gone : names()) {
    bool known = std::ranges::any_of(*leases, [&](const Lease& lease) { return lease.key.name == gone; });
    if (known) continue;
    rounds_.forget(key_of(gone));
    MutexLock lock(mutex_);
    there_.erase(gone);
  }
  for (const Lease& lease : *leases) {
    if (auto done = read(lease.key.name); !done) return done;
  }
  return {};
}

std::set<std::string> RunnerRoster::names() const {
  std::set<std::string> names;
  MutexLock lock(mutex_);
  for (const auto& [name, about] : there_) names.insert(name);
  return names;
}

std::string RunnerRoster::why_waiting(const TaskInfo& spec) const {
  if (spec.agent.empty()) return {};
  std::set<std::string> agents;
  bool speaks_it = false;
  MutexLock lock(mutex_);
  for (const auto& [name, about] : there_) {
    if (suits(spec, {name, about.agents, about.labels, {}, 0})) return {};
    speaks_it = speaks_it || speaks(about.agents, spec.agent);
    agents.insert(about.agents.begin(), about.agents.end());
  }
  if (!spec.runner.empty()) return "waits for the runner " + spec.runner + ", which is not connected";
  if (there_.empty())
    return "no runner is connected; start one with \"shepherd runner\" or \"shepherd serve --runners 2\"";
  if (speaks_it) return "no connected runner takes agent " + spec.agent + " with the labels of this task";
  return "no connected runner takes agent " + spec.agent + "; known: " + listed(agents);
}

}  // namespace shepherd
