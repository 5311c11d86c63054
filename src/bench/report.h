// The measurements: rows for a person, one JSON object for programs.
#pragma once

#include <boost/json.hpp>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/histogram.h"
#include "bench/order_checker.h"

namespace shepherd::bench {

enum class Unit { per_second, milliseconds, bytes, seconds };

// 1234567 per second: "1.23 M/s".
std::string figure_text(double value, Unit unit);

// A target: compares the measured value with a bound.
struct Judgement {
  std::string what;  // "x nchan", "of bare"
  double value = 0;
  double bound = 0;
  bool at_least = true;  // otherwise at most
  Unit unit = Unit::per_second;
  bool ratio = true;  // a ratio of two figures of the same run; otherwise a single figure

  bool met() const { return at_least ? value >= bound : value <= bound; }
  std::string text() const;  // "7.2 x nchan (6)"
};

// One measurement.
struct Row {
  std::string id;     // for programs: "fanout.1x1000.single.websocket"
  std::string title;  // for people
  double value = 0;
  Unit unit = Unit::per_second;
  std::optional<double> p50_ms = {}, p99_ms = {}, max_ms = {};
  std::optional<double> server_cpu = {};  // number of cores
  std::optional<double> server_us = {};  // CPU time per event, the figure that other load on the machine disturbs least
  std::vector<std::pair<std::string, double>> more = {};  // further figures, for programs
  std::vector<Judgement> judgements = {};
  Defects defects = {};
  bool clean = true;
  std::string note = {};  // shown if there is nothing to judge

  void set_latency(const LatencyHistogram& latency);
};

// Prints each row immediately.
// Threads: caller.
class Report {
 public:
  explicit Report(bool table) : table_(table) {}

  void heading(std::string_view text);
  void add(Row row);
  // Reports a scenario that could not be measured.
  void failure(std::string_view scenario, std::string_view why);
  void note(std::string_view text);

  bool clean() const { return clean_; }
  // Rows, missed targets, and the caller's facts about the run.
  std::string json_line(boost::json::object facts) const;

 private:
  bool table_;
  bool clean_ = true;
  std::vector<Row> rows_;
  std::vector<std::pair<std::string, std::string>> failures_;
};

}  // namespace shepherd::bench
