// The process's own log (stderr), not a task's log. Never contains tokens or event content.
// Threads: any.
#pragma once

#include <spdlog/spdlog.h>

#include <utility>

namespace shepherd {

template <class... Args>
void log_info(spdlog::format_string_t<Args...> format, Args&&... args) {
  spdlog::info(format, std::forward<Args>(args)...);
}
template <class... Args>
void log_warn(spdlog::format_string_t<Args...> format, Args&&... args) {
  spdlog::warn(format, std::forward<Args>(args)...);
}
template <class... Args>
void log_error(spdlog::format_string_t<Args...> format, Args&&... args) {
  spdlog::error(format, std::forward<Args>(args)...);
}

// Sends the log to stderr as "2026-02-18T14:00:00.123Z warn  text". level: debug, info, warn, error, off.
void start_log(const std::string& level);

}  // namespace shepherd
