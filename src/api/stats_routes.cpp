// Statistics over a time range, and the current state of the fleet.
#include "views/stats.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>

#include "api/handlers.h"
#include "api/limits.h"
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

// Counts the tasks that are under way, a page with each step.
class NowScan {
 public:
  explicit NowScan(const EventStore& store) : store_(store) {}

  Result<bool> step() {
    auto tasks = store_.rows(filter_);
    if (!tasks) return fail(tasks.error());
    for (const TaskRow& task : *tasks) {
      State state = task.state.state;
      if (state == State::queued) {
        ++queued;
      } else if (state == State::starting || state == State::running) {
        ++running;
      } else {
        ++waiting;
      }
    }
    if (tasks->size() < filter_.limit) return true;
    filter_.before = place_after(tasks->back());
    return false;
  }

  std::uint64_t running = 0, waiting = 0, queued = 0;

 private:
  const EventStore& store_;
  TaskFilter filter_{.active = true, .limit = kMaxTaskPage};
};

std::string_view by_name(LedgerRange::By by) {
  return by == LedgerRange::By::agent ? "agent" : by == LedgerRange::By::model ? "model" : "none";
}

// An answer in the making.
class StatsAnswer {
 public:
  StatsAnswer(ApiParts& parts, const LedgerRange& asked) : parts_(parts), asked_(asked), now_(parts.journal.store()) {}

  // Answers the call and returns true, or has read some of it.
  bool step(Call& call) {
    auto done = read();
    if (done && !*done) return false;
    if (done) {
      call.send_json(200, json());
    } else {
      call.fail(done.error());
    }
    return true;
  }

 private:
  Result<bool> read() {
    const Ledger& ledger = parts_.ledger->ledger();
    if (!scan_) {
      auto fitted = fit_range(ledger, asked_);
      if (!fitted) return fail(std::move(fitted.error()));
      auto through = ledger.kept_through();
      if (!through) return fail(std::move(through.error()));
      through_ = *through;
      asked_ = *fitted;
      scan_.emplace(ledger, asked_);
    }
    if (!stats_) {
      auto done = scan_->step();
      if (!done) return done;
      if (*done) stats_ = scan_->stats();
      return false;
    }
    auto done = now_.step();
    if (!done || !*done) return done;
    auto heads = parts_.journal.store().heads({""});
    if (!heads) return fail(std::move(heads.error()));
    head_ = (*heads)[""];
    return true;
  }

  std::string json() const {
    return object_text([&](JsonObject& object) {
      object.time("from", asked_.from * 1'000);
      object.time("to", asked_.to * 1'000);
      object.number("stepSeconds", asked_.step);
      object.text("by", by_name(asked_.by));
      append_series(object.member("series"), stats_->series, asked_);
      append_tools(object.member("tools"), stats_->tools);
      write_object(object.member("totals"), [&](JsonObject& totals) {
        append_point(totals, stats_->totals);
        totals.number("tasks", stats_->tasks);
        totals.number("failed", stats_->totals.amounts.failed);
      });
      write_object(object.member("now"), [&](JsonObject& state) {
        state.number("running", now_.running);
        state.number("waiting", now_.waiting);
        state.number("queued", now_.queued);
        state.number("needsYou", static_cast<std::uint64_t>(parts_.inbox == nullptr ? 0 : parts_.inbox->size()));
      });
      object.number("indexedThrough", through_);
      object.number("head", head_);
    });
  }

  ApiParts& parts_;
  LedgerRange asked_;  // then as the ledger has it
  NowScan now_;
  std::optional<StatsScan> scan_;
  std::optional<Stats> stats_;
  std::uint64_t through_ = 0, head_ = 0;
};

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
  auto seconds = static_cast<std::int64_t>(std::min(step->value_or(0), kMaxStatsStepSeconds));
  auto range = stats_range(*from, *to, seconds, by == "agent" ? By::agent : by == "model" ? By::model : By::none);
  if (!range) return call.fail(range.error());
  auto answer = std::make_unique<StatsAnswer>(call.parts(), *range);
  Call::in_steps(&Lanes::scans, std::move(call),
                 [answer = std::move(answer)](Call& turn) { return answer->step(turn); });
}

}  // namespace shepherd
