#include "bench/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace shepherd::bench {
namespace {

namespace json = boost::json;

// Such a measurement is less precise than four significant digits.
double rounded(double value) {
  if (value == 0 || !std::isfinite(value)) return 0;
  double scale = std::pow(10.0, 3 - std::floor(std::log10(std::fabs(value))));
  return std::round(value * scale) / scale;
}

std::string unit_name(Unit unit) {
  switch (unit) {
    case Unit::per_second:
      return "per_second";
    case Unit::milliseconds:
      return "milliseconds";
    case Unit::bytes:
      return "bytes";
    case Unit::seconds:
      return "seconds";
  }
  return "";
}

std::string optional_number(const std::optional<double>& value) {
  return value ? fmt::format("{:.2f}", *value) : std::string("-");
}

json::object row_json(const Row& row) {
  json::object object{{"id", row.id},
                      {"title", row.title},
                      {"value", rounded(row.value)},
                      {"unit", unit_name(row.unit)},
                      {"missing", row.defects.missing},
                      {"repeated", row.defects.repeated},
                      {"outOfOrder", row.defects.disorder},
                      {"clean", row.clean}};
  if (row.p50_ms) object["p50Ms"] = rounded(*row.p50_ms);
  if (row.p99_ms) object["p99Ms"] = rounded(*row.p99_ms);
  if (row.max_ms) object["maxMs"] = rounded(*row.max_ms);
  if (row.server_cpu) object["serverCpu"] = rounded(*row.server_cpu);
  if (row.server_us) object["serverMicrosecondsPerEvent"] = rounded(*row.server_us);
  for (const auto& [name, value] : row.more) object[name] = rounded(value);
  json::array targets;
  for (const Judgement& each : row.judgements) {
    targets.push_back(json::object{{"what", each.what},
                                   {"value", rounded(each.value)},
                                   {each.at_least ? "atLeast" : "atMost", each.bound},
                                   {"met", each.met()}});
  }
  if (!targets.empty()) object["targets"] = std::move(targets);
  return object;
}

}  // namespace

std::string figure_text(double value, Unit unit) {
  switch (unit) {
    case Unit::per_second:
      if (value >= 1e6) return fmt::format("{:.2f} M/s", value / 1e6);
      if (value >= 1e3) return fmt::format("{:.1f} k/s", value / 1e3);
      return fmt::format("{:.0f} /s", value);
    case Unit::milliseconds:
      return fmt::format("{:.2f} ms", value);
    case Unit::bytes:
      if (value >= 10'240) return fmt::format("{:.1f} KB", value / 1024);
      return fmt::format("{:.0f} B", value);
    case Unit::seconds:
      return fmt::format("{:.2f} s", value);
  }
  return "";
}

std::string Judgement::text() const {
  std::string sign = at_least ? ">=" : "<=";
  if (ratio) return fmt::format("{:.2f} {} ({} {:.2g})", value, what, sign, bound);
  return fmt::format("{} {} ({} {})", what, figure_text(value, unit), sign, figure_text(bound, unit));
}

void Row::set_latency(const LatencyHistogram& latency) {
  if (latency.count() == 0) return;
  p50_ms = static_cast<double>(latency.quantile_ns(0.5)) / 1e6;
  p99_ms = static_cast<double>(latency.quantile_ns(0.99)) / 1e6;
  max_ms = static_cast<double>(latency.max_ns()) / 1e6;
}

void Report::heading(std::string_view text) {
  if (!table_) return;
  fmt::print("\n{}\n  {:<44} {:>10} {:>8} {:>8} {:>5} {:>7}  {}\n", text, "", "", "p50 ms", "p99 ms", "cores",
             "us each", "target");
  std::fflush(stdout);
}

void Report::add(Row row) {
  clean_ = clean_ && row.clean;
  if (table_) {
    std::string verdict;
    for (const Judgement& each : row.judgements) {
      verdict += fmt::format("{}{} {}", verdict.empty() ? "" : "; ", each.met() ? "pass" : "MISS", each.text());
    }
    if (verdict.empty()) verdict = row.note;
    if (!row.clean) {
      verdict += fmt::format("{}BROKEN: {} missing, {} repeated, {} out of order", verdict.empty() ? "" : "; ",
                             row.defects.missing, row.defects.repeated, row.defects.disorder);
    }
    fmt::print("  {:<44} {:>10} {:>8} {:>8} {:>5} {:>7}  {}\n", row.title, figure_text(row.value, row.unit),
               optional_number(row.p50_ms), optional_number(row.p99_ms), optional_number(row.server_cpu),
               optional_number(row.server_us), verdict);
    std::fflush(stdout);
  }
  rows_.push_back(std::move(row));
}

void Report::failure(std::string_view scenario, std::string_view why) {
  clean_ = false;
  failures_.emplace_back(scenario, why);
  if (table_) fmt::print("  {} could not be measured: {}\n", scenario, why);
  std::fflush(stdout);
}

void Report::note(std::string_view text) {
  if (table_) fmt::print("{}\n", text);
  std::fflush(stdout);
}

std::string Report::json_line(json::object facts) const {
  json::array rows, missed, failures;
  for (const Row& row : rows_) {
    rows.push_back(row_json(row));
    bool met = std::all_of(row.judgements.begin(), row.judgements.end(), [](const Judgement& j) { return j.met(); });
    if (!met) missed.push_back(json::string(row.id));
  }
  for (const auto& [scenario, why] : failures_) {
    failures.push_back(json::object{{"scenario", scenario}, {"error", why}});
  }
  facts["event"] = "bench";
  facts["clean"] = clean_;
  facts["missedTargets"] = std::move(missed);
  facts["failures"] = std::move(failures);
  facts["rows"] = std::move(rows);
  return json::serialize(facts);
}

}  // namespace shepherd::bench
