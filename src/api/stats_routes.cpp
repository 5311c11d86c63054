// Statistics over a time range, and the current state of the fleet.
#include "views/stats.h"

#include <algorithm>
#include <utility>

#include "api/handlers.h"
#include "api/problem.h"
#include "api/query.h"
#include "base/limits.h"
#include "json/write.h"
#include "store/task_match.h"

namespace shepherd {
namespace {

void append_point(JsonObject& object, const StatsPoint& point) {
  const LedgerAmounts& amounts = point.amounts;
  object.number("costUSD", static_cast<double>(amounts.nano_usd) / 1e9);
  write_object(object.member("tokens"), [&](JsonObject& tokens) {
    tokens.number("input", amounts.input_tokens);
    tokens.number("output", amounts.output_tokens);
    tokens.number("cacheRead", amounts.cache_read_tokens);
    tokens.number("cacheWrite", amounts.cache_write_tokens);
  });
  object.number("running", point.running);
  object.number("events", amounts.events);
  object.number("errors", amounts.errors);
  object.number("toolCalls", amounts.tool_calls);
}

void append_series(std::string& out, const std::vector<StatsSeries>& all, const LedgerRange& range) {
  out += '[';
  for (const StatsSeries& series : all) {
    if (&series != &all.front()) out += ',';
    write_object(out, [&](JsonObject& object) {
      object.text("key", series.key);
      std::string& points = object.member("points");
      points += '[';
      for (std::size_t i = 0; i < series.points.size(); ++i) {
        if (i != 0) points += ',';
        write_object(points, [&](JsonObject& point) {
          point.time("at", (range.from + static_cast<std::int64_t>(i) * range.step) * 1'000);
          append_point(point, series.points[i]);
        });
      }
      points += ']';
    });
  }
  out += ']';
}

void append_tools(std::string& out, const std::vector<ToolStats>& tools) {
  out += '[';
  for (const ToolStats& tool : tools) {
    if (&tool != &tools.front()) out += ',';
    write_object(out, [&](JsonObject& object) {
      object.text("tool", tool.tool);
      object.number("calls", tool.calls);
      object.number("failures", tool.failures);
      object.number("p50MS", static_cast<std::int64_t>(tool.p50_ms));
      object.number("p95MS", static_cast<std::int64_t>(tool.p95_ms));
    });
  }
  out += ']';
}

struct Now {
  std::uint64_t running = 0, waiting = 0, queued = 0;
};

Result<Now> count_now(const EventStore& store) {
  Now now;
  TaskFilter filter{.active = true, .limit = kMaxTaskPage};
  for (;;) {
    auto tasks = store.rows(filter);
    if (!tasks) return fail(tasks.error());
    for (const TaskRow& task : *tasks) {
      State state = task.state.state;
      if (state == State::queued) {
        ++now.queued;
      } else if (state == State::starting || state == State::running) {
        ++now.running;
      } else {
        ++now.waiting;
      }
    }
    if (tasks->size() < filter.limit) return now;
    filter.before = place_after(tasks->back());
  }
}

std::string_view by_name(LedgerRange::By by) {
  return by == LedgerRange::By::agent ? "agent" : by == LedgerRange::By::model ? "model" : "none";
}

void send_stats(Call call, const LedgerRange& asked) {
  ApiParts& parts = call.parts();
  const EventStore& store = parts.journal.store();
  auto fitted = fit_range(parts.ledger->ledger(), asked);
  if (!fitted) return call.fail(fitted.error());
  const LedgerRange& range = *fitted;
  auto through = parts.ledger->ledger().kept_through();
  if (!through) return call.fail(through.error());
  auto stats = read_stats(parts.ledger->ledger(), range);
  if (!stats) return call.fail(stats.error());
  auto now = count_now(store);
  if (!now) return call.fail(now.error());
  auto heads = store.heads({""});
  if (!heads) return call.fail(heads.error());
  std::string body = object_text([&](JsonObject& object) {
    object.time("from", range.from * 1'000);
    object.time("to", range.to * 1'000);
    object.number("stepSeconds", range.step);
    object.text("by", by_name(range.by));
    append_series(object.member("series"), stats->series, range);
    append_tools(object.member("tools"), stats->tools);
    write_object(object.member("totals"), [&](JsonObject& totals) {
      append_point(totals, stats->totals);
      totals.number("tasks", stats->tasks);
      totals.number("failed", stats->totals.amounts.failed);
    });
    write_object(object.member("now"), [&](JsonObject& state) {
      state.number("running", now->running);
      state.number("waiting", now->waiting);
      state.number("queued", now->queued);
      state.number("needsYou", static_cast<std::uint64_t>(parts.inbox == nullptr ? 0 : parts.inbox->size()));
    });
    object.number("indexedThrough", *through);
    object.number("head", (*heads)[""]);
  });
  call.send_json(200, std::move(body));
}

Result<std::int64_t> time_parameter(const Query& query, std::string_view name, std::string_view otherwise,
                                    std::int64_t now_ms) {
  auto time = time_named(query.text(name).value_or(otherwise), now_ms);
  if (!time) return fail(bad_parameter(name, time.error().message));
  return *time;
}

}  // namespace

void get_stats(Call call) {
  if (call.parts().ledger == nullptr) {
    return call.fail({ErrorCode::not_found, "ledger_disabled", "This server keeps no ledger.", {}});
  }
  auto query = Query::parse(call.query());
  if (!query) return call.fail(query.error());
  std::int64_t now_ms = call.parts().clock.wall_ms();
  auto from = time_parameter(*query, "from", "-24h", now_ms);
  if (!from) return call.fail(from.error());
  auto to = time_parameter(*query, "to", "now", now_ms);
  if (!to) return call.fail(to.error());
  auto step = query->number("step");
  if (!step) return call.fail(step.error());
  std::string_view by = query->text("by").value_or("none");
  if (by != "none" && by != "agent" && by != "model") {
    return call.fail(bad_parameter("by", "`by` must be agent, model or none."));
  }
  using By = LedgerRange::By;
  constexpr std::uint64_t kLongestStep = 366 * 86'400;
  auto seconds = static_cast<std::int64_t>(std::min(step->value_or(0), kLongestStep));
  auto range = stats_range(*from, *to, seconds, by == "agent" ? By::agent : by == "model" ? By::model : By::none);
  if (!range) return call.fail(range.error());
  Call::on_lane(&Lanes::scans, std::move(call),
                [range = *range](Call on_lane) { send_stats(std::move(on_lane), range); });
}

}  // namespace shepherd
