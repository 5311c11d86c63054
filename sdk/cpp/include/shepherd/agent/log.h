// Log records of the library. Each record carries the ids of its stream.
// Threads: value. A LogSink is called from any thread, several at once.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace shepherd::agent {

enum class LogLevel { debug, info, warning, error };

struct LogRecord {
  LogLevel level = LogLevel::info;
  std::string message = {};
  std::string task_id = {}, trace_id = {}, span_id = {};
  std::string steering_id = {};  // empty if the record is not about a steering message
  std::vector<std::pair<std::string, std::string>> fields = {};
};

using LogSink = std::function<void(const LogRecord&)>;

// One JSON object without a line end: time, level, message, the ids that are set, then the fields.
std::string to_json_line(const LogRecord& record);

// One JSON line per record on standard error.
LogSink json_lines_on_stderr();

}  // namespace shepherd::agent
