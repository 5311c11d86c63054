#include "views/prometheus.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <iterator>
#include <string_view>

#include "json/write.h"

namespace shepherd {
namespace {

// A subset of the buckets that a histogram counts, because each is a line of every scrape.
constexpr std::array kShownBounds{0.001, 0.005, 0.025, 0.1, 0.5, 2.5, 10.0};

std::string_view kind_name(MetricSample::Kind kind) {
  switch (kind) {
    case MetricSample::Kind::counter:
      return "counter";
    case MetricSample::Kind::gauge:
      return "gauge";
    case MetricSample::Kind::histogram:
      return "histogram";
  }
  return "untyped";
}

void append_help(std::string& out, std::string_view help) {
  for (char c : help) {
    if (c == '\\') {
      out += "\\\\";
    } else if (c == '\n') {
      out += "\\n";
    } else {
      out += c;
    }
  }
}

void append_value(std::string& out, double number) {
  if (std::isnan(number)) {
    out += "NaN";
  } else if (std::isinf(number)) {
    out += number > 0 ? "+Inf" : "-Inf";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", number);
  }
}

void append_line(std::string& out, std::string_view name, std::string_view labels, auto number) {
  out += name;
  if (!labels.empty()) fmt::format_to(std::back_inserter(out), "{{{}}}", labels);
  out += ' ';
  if constexpr (std::is_floating_point_v<decltype(number)>) {
    append_value(out, number);
  } else {
    fmt::format_to(std::back_inserter(out), "{}", number);
  }
  out += '\n';
}

void append_histogram(std::string& out, const MetricSample& sample) {
  const Histogram& histogram = *sample.histogram;
  std::string name = sample.name + "_bucket";
  std::string before = sample.labels.empty() ? "" : sample.labels + ",";
  // The sum of the buckets, not histogram.count(): only this is consistent while other threads observe.
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < Histogram::kBounds.size(); ++i) {
    count += histogram.bucket(i);
    bool shown = std::ranges::find(kShownBounds, Histogram::kBounds[i]) != kShownBounds.end();
    if (shown) append_line(out, name, fmt::format("{}le=\"{}\"", before, Histogram::kBounds[i]), count);
  }
  count += histogram.bucket(Histogram::kBounds.size());
  append_line(out, name, before + "le=\"+Inf\"", count);
  append_line(out, sample.name + "_sum", sample.labels, histogram.sum_seconds());
  append_line(out, sample.name + "_count", sample.labels, count);
}

}  // namespace

std::string prometheus_label(std::string_view name, std::string_view value) {
  std::string out(name);
  out += "=\"";
  for (char c : value) {
    if (c == '\n') {
      out += "\\n";
      continue;
    }
    if (c == '\\' || c == '"') out += '\\';
    out += c;
  }
  out += '"';
  return out;
}

void PrometheusText::family(std::string_view name, std::string_view help, std::string_view type) {
  fmt::format_to(std::back_inserter(out_), "# HELP {} ", name);
  append_help(out_, help);
  fmt::format_to(std::back_inserter(out_), "\n# TYPE {} {}\n", name, type);
}

void PrometheusText::line(std::string_view name, std::string_view labels, std::uint64_t number) {
  append_line(out_, name, labels, number);
}

void PrometheusText::line(std::string_view name, std::string_view labels, double number) {
  append_line(out_, name, labels, number);
}

std::string prometheus_number(double number) {
  std::string out;
  append_value(out, number);
  return out;
}

std::string prometheus_text(const MetricRegistry& registry) {
  std::string out;
  PrometheusText text(out);
  std::string_view family;
  auto samples = registry.samples();
  for (const MetricSample& sample : samples) {
    if (sample.name != family) {
      family = sample.name;
      text.family(sample.name, sample.help, kind_name(sample.kind));
    }
    if (sample.histogram != nullptr) {
      append_histogram(out, sample);
    } else if (sample.counter != nullptr) {
      append_line(out, sample.name, sample.labels, sample.counter->value());
    } else if (sample.gauge != nullptr) {
      append_line(out, sample.name, sample.labels, sample.gauge->value());
    } else {
      append_line(out, sample.name, sample.labels, sample.read());
    }
  }
  return out;
}

}  // namespace shepherd
