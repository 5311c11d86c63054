#include "driver/registry/registry.h"

#include <array>

#include "driver/acp/acp_agent.h"
#include "driver/claude/claude_code.h"
#include "driver/codex/codex.h"
#include "driver/gemini/gemini_stream.h"
#include "driver/grpc/grpc_agent.h"
#include "driver/opencode/opencode_run.h"
#include "driver/opencode/opencode_server.h"
#include "driver/text/plain_text.h"

namespace shepherd {
namespace {

struct Entry {
  std::string_view name;
  std::unique_ptr<Driver> (*make)();
};

template <class D>
std::unique_ptr<Driver> make() {
  return std::make_unique<D>();
}

constexpr std::array kDrivers{
    Entry{"acp", &make<AcpAgent>},
    Entry{"claude", &make<ClaudeCode>},
    Entry{"codex", &make<Codex>},
    Entry{"gemini-stream", &make<GeminiStream>},
    Entry{"grpc", &make<GrpcAgent>},
    Entry{"opencode", &make<OpenCodeServer>},
    Entry{"opencode-run", &make<OpenCodeRun>},
    Entry{"text", &make<PlainText>},
};

}  // namespace

std::vector<std::string_view> driver_names() {
  std::vector<std::string_view> names;
  names.reserve(kDrivers.size());
  for (const auto& entry : kDrivers) names.push_back(entry.name);
  return names;
}

std::unique_ptr<Driver> make_driver(std::string_view name) {
  for (const auto& entry : kDrivers) {
    if (entry.name == name) return entry.make();
  }
  return nullptr;
}

}  // namespace shepherd
