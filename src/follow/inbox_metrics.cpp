#include "follow/inbox_metrics.h"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "views/limits.h"
#include "views/prometheus.h"

namespace shepherd {
namespace {

void append_tasks(PrometheusText& text, const Inbox& inbox) {
  text.family("shepherd_tasks", "Tasks under way, by state, agent and model.", "gauge");
  auto active = inbox.active();
  std::vector<std::pair<Inbox::TaskGroup, std::size_t>> groups(active.begin(), active.end());
  std::ranges::stable_sort(groups, std::greater{}, &std::pair<Inbox::TaskGroup, std::size_t>::second);
  std::map<Inbox::TaskGroup, std::uint64_t> shown;
  for (const auto& [group, count] : groups) {
    bool room = shown.size() < kMaxFigureSeries;
    shown[room ? group : Inbox::TaskGroup{group.state, "other", "other"}] += count;
  }
  for (const auto& [group, count] : shown) {
    text.line("shepherd_tasks",
              prometheus_label("state", name(group.state)) + "," + prometheus_label("agent", group.agent) + "," +
                  prometheus_label("model", group.model),
              count);
  }
}

}  // namespace

void append_inbox_metrics(std::string& out, const Inbox& inbox, std::int64_t now_ms) {
  PrometheusText text(out);
  append_tasks(text, inbox);
  struct Waiting {
    std::uint64_t count = 0;
    std::int64_t since_ms = 0;  // of the oldest one
  };
  std::array<Waiting, 5> by_kind{};
  constexpr std::array kKinds{NeedKind::approval, NeedKind::question, NeedKind::waiting, NeedKind::stalled,
                              NeedKind::failed};
  for (const TaskNeed& need : inbox.needs("")) {
    Waiting& kind = by_kind[static_cast<std::size_t>(need.kind)];
    kind.since_ms = kind.count == 0 ? need.since_ms : std::min(kind.since_ms, need.since_ms);
    ++kind.count;
  }
  auto age = [&](NeedKind kind) {
    const Waiting& waiting = by_kind[static_cast<std::size_t>(kind)];
    return waiting.count == 0 ? 0.0 : static_cast<double>(std::max<std::int64_t>(0, now_ms - waiting.since_ms)) / 1'000;
  };
  text.family("shepherd_inbox_entries", "What needs a person now, by kind.", "gauge");
  for (NeedKind kind : kKinds) {
    text.line("shepherd_inbox_entries", prometheus_label("kind", name(kind)),
              by_kind[static_cast<std::size_t>(kind)].count);
  }
  text.family("shepherd_inbox_oldest_age_seconds", "How long the oldest of them has waited; 0: there is none.",
              "gauge");
  for (NeedKind kind : kKinds) {
    text.line("shepherd_inbox_oldest_age_seconds", prometheus_label("kind", name(kind)), age(kind));
  }
}

}  // namespace shepherd
