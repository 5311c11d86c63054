#include "bench/redis.h"

#include <fmt/format.h>

#include <charconv>
#include <iterator>
#include <utility>

#include "bench/launch.h"

namespace shepherd::bench {
namespace {

constexpr double kRedisReadySeconds = 10;

}  // namespace

void XaddWire::append_request(std::string& out, std::size_t channel, std::string_view body) const {
  const std::string& key = keys_[channel];
  fmt::format_to(std::back_inserter(out), "*5\r\n$4\r\nXADD\r\n${}\r\n{}\r\n$1\r\n*\r\n$1\r\ne\r\n${}\r\n", key.size(),
                 key, body.size());
  out.append(body).append("\r\n");
}

Result<std::size_t> XaddWire::read_answer(std::string_view in) const {
  std::size_t line = in.find("\r\n");
  if (line == std::string_view::npos) return 0;
  std::size_t length = 0;
  auto [end, error] = std::from_chars(in.data() + 1, in.data() + line, length);
  if (in[0] != '$' || error != std::errc() || end != in.data() + line) {
    return fail(ErrorCode::unavailable, "refused", fmt::format("Redis answered {}", in.substr(0, line)));
  }
  std::size_t whole = line + 2 + length + 2;
  return in.size() < whole ? 0 : whole;
}

Result<Redis> Redis::start(const std::filesystem::path& directory, int core) {
  Result<std::string> program = find_program("redis-server", "redis-server");
  if (!program) return fail(program.error());
  Result<std::uint16_t> port = free_port();
  if (!port) return fail(port.error());
  Process::Options run{.arguments = {*program, "--port", std::to_string(*port), "--bind", "127.0.0.1", "--dir",
                                     directory.string(), "--appendonly", "yes", "--appendfsync", "always", "--save", "",
                                     "--auto-aof-rewrite-percentage", "0"},
                       .error_file = (directory / "stderr.log").string(),
                       .core = core};
  Result<Process> process = Process::start(run);
  if (!process) return fail(process.error());
  if (Result<void> ready = wait_for_port(*process, *port, kRedisReadySeconds); !ready) return fail(ready.error());
  return Redis(std::move(*process), *port);
}

Result<LoadPlan> Redis::plan(const Shape& shape) {
  std::vector<std::string> keys;
  keys.reserve(shape.channels);
  for (std::size_t i = 0; i < shape.channels; ++i) keys.push_back(fmt::format("bench-{:06}", ++made_));
  wire_ = std::make_unique<XaddWire>(std::move(keys));
  LoadPlan plan;
  plan.wire = wire_.get();
  plan.publish = {.at = at_, .count = shape.publishers, .channels = shape.channels, .batch = 1};
  plan.server = process_.pid();
  return plan;
}

}  // namespace shepherd::bench
