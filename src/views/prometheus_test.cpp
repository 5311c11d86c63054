#include "views/prometheus.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <limits>

#include "views/process_metrics.h"

namespace shepherd {
namespace {

double value_of(const std::string& text, const std::string& name) {
  std::size_t at = text.find("\n" + name + " ");
  return at == std::string::npos ? std::nan("") : std::stod(text.substr(at + name.size() + 2));
}

TEST(Prometheus, WritesEachFamilyOnce) {
  MetricRegistry registry;
  registry.counter("shepherd_requests_total", "Requests \\ by\nroute.", prometheus_label("route", "/a\"b\\c\nd"))
      .add(3);
  registry.gauge("shepherd_tasks", "Tasks.").set(-2);
  registry.counter("shepherd_requests_total", "Requests \\ by\nroute.", prometheus_label("route", "/z")).add(4);
  registry.computed("shepherd_ratio", "A ratio.", [] { return 0.25; });
  registry.computed_counter("shepherd_work_seconds_total", "Work.", [] { return 1e15; });
  EXPECT_EQ(prometheus_text(registry),
            "# HELP shepherd_requests_total Requests \\\\ by\\nroute.\n"
            "# TYPE shepherd_requests_total counter\n"
            "shepherd_requests_total{route=\"/a\\\"b\\\\c\\nd\"} 3\n"
            "shepherd_requests_total{route=\"/z\"} 4\n"
            "# HELP shepherd_tasks Tasks.\n"
            "# TYPE shepherd_tasks gauge\n"
            "shepherd_tasks -2\n"
            "# HELP shepherd_ratio A ratio.\n"
            "# TYPE shepherd_ratio gauge\n"
            "shepherd_ratio 0.25\n"
            "# HELP shepherd_work_seconds_total Work.\n"
            "# TYPE shepherd_work_seconds_total counter\n"
            "shepherd_work_seconds_total 1000000000000000\n");
}

TEST(Prometheus, HistogramsAreCumulative) {
  MetricRegistry registry;
  auto& histogram = registry.histogram("shepherd_commit_seconds", "Commits.", "store=\"x\"");
  histogram.observe(0.00004);
  histogram.observe(0.3);
  histogram.observe(99);
  std::string text = prometheus_text(registry);
  EXPECT_NE(text.find("# TYPE shepherd_commit_seconds histogram\n"), std::string::npos);
  EXPECT_EQ(value_of(text, "shepherd_commit_seconds_bucket{store=\"x\",le=\"0.001\"}"), 1);
  EXPECT_EQ(value_of(text, "shepherd_commit_seconds_bucket{store=\"x\",le=\"0.1\"}"), 1);
  EXPECT_EQ(value_of(text, "shepherd_commit_seconds_bucket{store=\"x\",le=\"0.5\"}"), 2);
  EXPECT_EQ(value_of(text, "shepherd_commit_seconds_bucket{store=\"x\",le=\"10\"}"), 2);
  EXPECT_EQ(value_of(text, "shepherd_commit_seconds_bucket{store=\"x\",le=\"+Inf\"}"), 3);
  EXPECT_EQ(value_of(text, "shepherd_commit_seconds_count{store=\"x\"}"), 3);
  EXPECT_NEAR(value_of(text, "shepherd_commit_seconds_sum{store=\"x\"}"), 99.30004, 1e-6);
}

TEST(Prometheus, WritesNumbersThatAreNone) {
  MetricRegistry registry;
  registry.computed("a", "A.", [] { return std::nan(""); });
  registry.computed("b", "B.", [] { return std::numeric_limits<double>::infinity(); });
  std::string text = prometheus_text(registry);
  EXPECT_NE(text.find("\na NaN\n"), std::string::npos);
  EXPECT_NE(text.find("\nb +Inf\n"), std::string::npos);
}

TEST(ProcessMetrics, AreOfThisProcess) {
  MetricRegistry registry;
  register_process_metrics(registry);
  std::string text = prometheus_text(registry);
  EXPECT_GT(value_of(text, "process_resident_memory_bytes"), 1e6);
  EXPECT_GT(value_of(text, "process_virtual_memory_bytes"), value_of(text, "process_resident_memory_bytes"));
  EXPECT_GT(value_of(text, "process_max_fds"), 3);
  double now = static_cast<double>(std::time(nullptr));
  EXPECT_NEAR(value_of(text, "process_start_time_seconds"), now, 600);

  double fds = value_of(text, "process_open_fds");
  int another = ::dup(1);
  double cpu = value_of("\n" + text, "process_cpu_seconds_total");
  text = prometheus_text(registry);
  ::close(another);
  EXPECT_EQ(value_of(text, "process_open_fds"), fds + 1);
  EXPECT_FALSE(value_of(text, "process_cpu_seconds_total") < cpu);
}

TEST(Prometheus, PassesPromtool) {
  ASSERT_EQ(::access("/usr/bin/promtool", X_OK), 0) << "promtool is missing; tools/install-packages test installs it";
  MetricRegistry registry;
  register_process_metrics(registry);
  registry.counter("shepherd_requests_total", "Requests.", prometheus_label("route", "a\\b\"c\nd")).add(3);
  registry.counter("shepherd_requests_total", "Requests.", prometheus_label("route", "/z")).add(3);
  registry.histogram("shepherd_commit_seconds", "Commits.").observe(0.01);
  registry.histogram("shepherd_request_seconds", "Requests.", "code=\"200\"").observe(0.01);
  registry.histogram("shepherd_request_seconds", "Requests.", "code=\"404\"").observe(2);
  std::string path = testing::TempDir() + "metrics" + std::to_string(::getpid());
  std::FILE* promtool = ::popen(("/usr/bin/promtool check metrics > " + path + " 2>&1").c_str(), "w");
  ASSERT_NE(promtool, nullptr);
  std::string text = prometheus_text(registry);
  std::fwrite(text.data(), 1, text.size(), promtool);
  int status = ::pclose(promtool);
  std::FILE* file = std::fopen(path.c_str(), "r");
  std::string complaints(4096, '\0');
  complaints.resize(std::fread(complaints.data(), 1, complaints.size(), file));
  std::fclose(file);
  ::unlink(path.c_str());
  EXPECT_EQ(status, 0) << complaints;
  EXPECT_EQ(complaints, "");
}

}  // namespace
}  // namespace shepherd
