// Feeds the driver messages of a streaming agent, of either dialect, in the wire format (each after its length) or as
// lines of JSON, and any other bytes. The server accepts every event, every command is settled in the end, and a
// message that was read is written as JSON that reads back as the same message.
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "base/assert.h"
#include "driven.h"
#include "driver/grpc/dialect.h"
#include "driver/grpc/grpc_agent.h"
#include "driver/grpc/record.h"
#include "driver/grpc/record_frames.h"
#include "gibson/agent.pb.h"
#include "given.h"

namespace {

using namespace shepherd;

constexpr std::array kKinds{CommandKind::steer, CommandKind::interrupt, CommandKind::resume, CommandKind::set_mode,
                            CommandKind::stop};

void check_message(std::string_view record) {
  gibson::agent::AgentMessage message;
  if (!read_agent_message(record, message)) return;
  std::string json = agent_message_json(message);
  SHEPHERD_ASSERT(is_json_object(json), "a message has a JSON form");
  gibson::agent::AgentMessage again;
  bool read = read_agent_message(json, again);
  if (!read || agent_message_json(again) != json)
    std::fprintf(stderr, "%s\n%s\n", json.c_str(), agent_message_json(again).c_str());
  SHEPHERD_ASSERT(read && agent_message_json(again) == json, "which is the same message");
  std::string object = as_json_object(record);
  SHEPHERD_ASSERT(object.empty() || is_json_object(object), "any text can be put into an object");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Given input = given(data, size);
  GrpcAgent driver;
  Launch launch;
  launch.id = "launch";
  launch.prompt = "Do it";
  launch.deltas = true;
  if ((input.choice & 0x40) != 0) launch.options.emplace(kDialectOption, "typed");
  Actions out;
  SHEPHERD_ASSERT(driver.launch(launch).has_value(), "it can be launched");
  std::size_t records = 0;
  auto take = [&](std::string_view record) {
    std::int64_t now = kFuzzStart + static_cast<std::int64_t>(records) * 40;
    check_message(record);
    driver.record(record, now, out);
    if (records < kKinds.size() && (input.choice & 0x80) != 0) {
      Command command;
      command.kind = kKinds[records];
      command.id = std::string("asked/") + std::string(name(command.kind));
      command.content = "look at the other host";
      driver.command(command, now, out);
    }
    if (records % 3 == 2) driver.tick(now, out);
    ++records;
  };
  std::string_view rest = input.bytes;
  if ((input.choice & 1) != 0) {
    while (auto frame = take_frame(rest)) take(std::string(*frame));
  }
  in_pieces(rest, {}, [&](std::string_view lines) {
    for (std::size_t at = 0; at < lines.size();) {
      std::size_t end = std::min(lines.find('\n', at), lines.size());
      take(lines.substr(at, end - at));
      at = end + 1;
    }
  });
  ExitFacts exit;
  exit.code = (input.choice >> 1) % 17;
  driver.finish(exit, kFuzzStart + 1'000'000, out);
  check_output(out);
  for (std::size_t i = 0; i < std::min(records, kKinds.size()) && (input.choice & 0x80) != 0; ++i) {
    SHEPHERD_ASSERT(settled(out, std::string("asked/") + std::string(name(kKinds[i]))) != CommandState::accepted,
                    "no command stays open");
  }
  std::string written = out.written();
  std::string_view words = written;
  while (take_frame(words)) continue;
  SHEPHERD_ASSERT(words.empty(), "an agent is told whole messages");
  return 0;
}
