// Commands of operators to running tasks. The WebSocket form is in live_websocket.cpp.
#include <utility>

#include "api/handlers.h"
#include "model/command.h"

namespace shepherd {

void post_command(Call call) {
  auto command = decode_command(call.request().body);
  if (!command) return call.fail(command.error());
  command->by = call.principal()->person;
  std::string task = call.id();
  Commands& commands = call.parts().steering.commands();
  call.drop_request();
  commands.submit(std::move(task), std::move(*command), [call = std::move(call)](Result<Submitted> submitted) mutable {
    if (!submitted) return call.fail(submitted.error());
    call.set_range(submitted->sequence, submitted->sequence);
    call.send_json(202, encode_submitted(call.id(), *submitted));
  });
}

}  // namespace shepherd
