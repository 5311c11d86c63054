#include "views/agent_figures.h"

#include <algorithm>
#include <utility>

#include "views/limits.h"
#include "views/prometheus.h"

namespace shepherd {
namespace {

constexpr const char* kOther = "other";

using Bounds = std::array<double, AgentFigures::kBounds>;
constexpr Bounds kToolSeconds{0.1, 1, 10, 60, 600};
constexpr Bounds kTaskSeconds{10, 60, 300, 1800, 7200};

void observe(AgentFigures::Times& times, const Bounds& bounds, double seconds, std::uint64_t count) {
  auto place = static_cast<std::size_t>(std::ranges::lower_bound(bounds, seconds) - bounds.begin());
  times.counts[place] += count;
  times.seconds += seconds * static_cast<double>(count);
}

// The entry for a name, or the common entry "other" if there are too many names.
template <class Map>
auto& entry(Map& map, const typename Map::key_type& key, const typename Map::key_type& other) {
  if (map.contains(key) || map.size() < kMaxFigureSeries) return map[key];
  return map[other];
}

std::string labels_of(const LedgerWho& who) {
  return prometheus_label("agent", who.agent) + "," + prometheus_label("model", who.model);
}

void append_times(PrometheusText& text, std::string_view name, const std::string& labels, const Bounds& bounds,
                  const AgentFigures::Times& times) {
  std::uint64_t count = 0;
  std::string before = labels.empty() ? "" : labels + ",";
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    count += times.counts[i];
    text.line(std::string(name) + "_bucket", before + prometheus_label("le", prometheus_number(bounds[i])), count);
  }
  count += times.counts.back();
  text.line(std::string(name) + "_bucket", before + prometheus_label("le", "+Inf"), count);
  text.line(std::string(name) + "_sum", labels, times.seconds);
  text.line(std::string(name) + "_count", labels, count);
}

}  // namespace

void AgentFigures::take(const LedgerBatch& batch) {
  MutexLock lock(mutex_);
  for (const auto& [key, amounts] : batch.amounts) {
    if (key.first >= since_seconds_) entry(amounts_, key.second, {kOther, kOther}) += amounts;
  }
  for (const auto& [key, use] : batch.tools) {
    if (key.first < since_seconds_) continue;
    ToolFigures& tool = entry(tools_, key.second, kOther);
    tool.calls += use.calls;
    tool.failures += use.failures;
    for (const auto& [of_class, count] : use.times) {
      observe(tool.times, kToolSeconds, time_of_class(of_class) / 1'000, count);
    }
  }
  for (const EndedTask& task : batch.ended) {
    if (task.ended_ms / 1'000 < since_seconds_) continue;
    ++entry(ended_, {task.who, task.state}, {{kOther, kOther}, task.state});
    observe(task_times_, kTaskSeconds, static_cast<double>(task.ended_ms - task.begun_ms) / 1'000, 1);
  }
}

void AgentFigures::forget_tools(const std::vector<std::string>& names) {
  MutexLock lock(mutex_);
  for (const std::string& name : names) tools_.erase(name);
}

void AgentFigures::append_prometheus(std::string& out) const {
  PrometheusText text(out);
  MutexLock lock(mutex_);
  text.family("shepherd_cost_usd_total", "Money that agents have spent, in US dollars.", "counter");
  for (const auto& [who, amounts] : amounts_) {
    text.line("shepherd_cost_usd_total", labels_of(who), static_cast<double>(amounts.nano_usd) / 1e9);
  }
  text.family("shepherd_tokens_total", "Tokens that agents have used, by class.", "counter");
  for (const auto& [who, amounts] : amounts_) {
    const std::pair<const char*, std::uint64_t> classes[] = {{"input", amounts.input_tokens},
                                                             {"output", amounts.output_tokens},
                                                             {"cache_read", amounts.cache_read_tokens},
                                                             {"cache_write", amounts.cache_write_tokens}};
    for (const auto& [name, count] : classes) {
      text.line("shepherd_tokens_total", labels_of(who) + "," + prometheus_label("class", name), count);
    }
  }
  text.family("shepherd_agent_errors_total", "Errors that agents have reported.", "counter");
  for (const auto& [who, amounts] : amounts_) text.line("shepherd_agent_errors_total", labels_of(who), amounts.errors);
  text.family("shepherd_tool_calls_total", "Calls of tools by agents.", "counter");
  for (const auto& [tool, use] : tools_) {
    text.line("shepherd_tool_calls_total", prometheus_label("tool", tool), use.calls);
  }
  text.family("shepherd_tool_failures_total", "Calls of tools that failed.", "counter");
  for (const auto& [tool, use] : tools_) {
    text.line("shepherd_tool_failures_total", prometheus_label("tool", tool), use.failures);
  }
  text.family("shepherd_tool_duration_seconds", "How long calls of tools took.", "histogram");
  for (const auto& [tool, use] : tools_) {
    append_times(text, "shepherd_tool_duration_seconds", prometheus_label("tool", tool), kToolSeconds, use.times);
  }
  text.family("shepherd_tasks_ended_total", "Tasks that have ended, by how.", "counter");
  for (const auto& [key, count] : ended_) {
    text.line("shepherd_tasks_ended_total", prometheus_label("state", key.second) + "," + labels_of(key.first), count);
  }
  text.family("shepherd_task_duration_seconds", "From a task's start to its end.", "histogram");
  append_times(text, "shepherd_task_duration_seconds", "", kTaskSeconds, task_times_);
}

}  // namespace shepherd
