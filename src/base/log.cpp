#include "base/log.h"

#include <spdlog/sinks/stdout_sinks.h>

#include <memory>

namespace shepherd {

void start_log(const std::string& level) {
  auto logger = std::make_shared<spdlog::logger>("shepherd", std::make_shared<spdlog::sinks::stderr_sink_mt>());
  logger->set_pattern("%Y-%m-%dT%H:%M:%S.%eZ %-5l %v", spdlog::pattern_time_type::utc);
  logger->set_level(spdlog::level::from_str(level));
  logger->flush_on(spdlog::level::info);
  spdlog::set_default_logger(std::move(logger));
}

}  // namespace shepherd
