#include "steering/runner_roster.h"

#include <algorithm>

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

void RunnerRoster::note(const ClaimRequest& request) {
  // A claim for a named task is not a request for any work.
  if (!request.task.empty()) return;
  MutexLock lock(mutex_);
  if (seen_.size() >= kMaxSeenRunners && !seen_.contains(request.runner)) return;
  seen_[request.runner] = {request.agents, request.labels, clock_.steady_ms()};
}

void RunnerRoster::forget_silent(const std::set<std::string>& with_tasks) {
  std::int64_t since_ms = clock_.steady_ms() - kRunnerSeenSeconds * 1'000;
  MutexLock lock(mutex_);
  std::erase_if(seen_,
                [&](const auto& each) { return each.second.at_ms < since_ms && !with_tasks.contains(each.first); });
}

std::size_t RunnerRoster::size() const {
  MutexLock lock(mutex_);
  return seen_.size();
}

std::string RunnerRoster::why_waiting(const TaskInfo& spec) const {
  if (spec.agent.empty()) return {};
  std::set<std::string> agents;
  bool speaks_it = false;
  MutexLock lock(mutex_);
  for (const auto& [name, seen] : seen_) {
    if (suits(spec, {name, seen.agents, seen.labels, {}, 0})) return {};
    speaks_it = speaks_it || speaks(seen.agents, spec.agent);
    agents.insert(seen.agents.begin(), seen.agents.end());
  }
  if (!spec.runner.empty()) return "waits for the runner " + spec.runner + ", which is not connected";
  if (seen_.empty())
    return "no runner is connected; start one with \"shepherd runner\" or \"shepherd serve --runners 2\"";
  if (speaks_it) return "no connected runner takes agent " + spec.agent + " with the labels of this task";
  return "no connected runner takes agent " + spec.agent + "; known: " + listed(agents);
}

}  // namespace shepherd
