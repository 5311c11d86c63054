// Reads any bytes, cut anywhere, as Ollama's own stream. The cuts change nothing, and every answer is whole, bounded
// and can be sent back.
#include <cstddef>
#include <cstdint>

#include "answered.h"
#include "llm/model_config.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  shepherd::check_answered(shepherd::ModelDialect::ollama, data, size);
  return 0;
}
