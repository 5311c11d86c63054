#include "shepherd/agent/log.h"

#include <chrono>
#include <cstdio>
#include <ctime>

#include "shepherd/agent/finding.h"

namespace shepherd::agent {
namespace {

std::string_view name(LogLevel level) {
  switch (level) {
    case LogLevel::debug:
      return "debug";
    case LogLevel::info:
      return "info";
    case LogLevel::warning:
      return "warning";
    case LogLevel::error:
      return "error";
  }
  return "info";
}

std::string now_text() {
  auto now = std::chrono::system_clock::now();
  std::time_t seconds = std::chrono::system_clock::to_time_t(now);
  auto ms = std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() % 1000;
  std::tm utc{};
  ::gmtime_r(&seconds, &utc);
  char date[32], text[48];
  std::strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%S", &utc);
  std::snprintf(text, sizeof text, "%s.%03dZ", date, static_cast<int>(ms));
  return text;
}

}  // namespace

std::string to_json_line(const LogRecord& record) {
  std::string line = "{\"time\":" + quoted(now_text()) + ",\"level\":" + quoted(name(record.level)) +
                     ",\"message\":" + quoted(record.message);
  auto add = [&line](std::string_view key, std::string_view value) {
    if (!value.empty()) line += "," + quoted(key) + ":" + quoted(value);
  };
  add("task_id", record.task_id);
  add("trace_id", record.trace_id);
  add("span_id", record.span_id);
  add("steering_id", record.steering_id);
  for (const auto& [key, value] : record.fields) add(key, value);
  return line + "}";
}

LogSink json_lines_on_stderr() {
  return [](const LogRecord& record) {
    std::string line = to_json_line(record) + "\n";
    std::fwrite(line.data(), 1, line.size(), stderr);  // one call, so that lines of two threads do not mix
  };
}

}  // namespace shepherd::agent
