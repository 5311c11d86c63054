#include "bench/bare_target.h"

#include <fmt/format.h>

#include <utility>

#include "bench/bare_server.h"

namespace shepherd::bench {

Result<BareTarget> BareTarget::start(int core) {
  Result<BareServer> server = BareServer::listen();
  if (!server) return fail(server.error());
  Result<Process> process = Process::fork_only([&] { server->run(); }, core);
  if (!process) return fail(process.error());
  return BareTarget(std::move(*process), server->port());
}

Result<LoadPlan> BareTarget::plan(const Shape& shape) {
  std::vector<std::string> targets;
  targets.reserve(shape.channels);
  for (std::size_t i = 0; i < shape.channels; ++i) targets.push_back(fmt::format("/bench-{:06}", ++made_));
  wire_ = std::make_unique<HttpWire>(at_, targets, "");
  LoadPlan plan;
  plan.wire = wire_.get();
  plan.publish = {.at = at_, .count = shape.publishers, .channels = shape.channels, .batch = shape.batch};
  plan.subscribe = {.at = at_, .count = shape.subscribers, .targets = targets, .headers = ""};
  plan.server = process_.pid();
  return plan;
}

}  // namespace shepherd::bench
