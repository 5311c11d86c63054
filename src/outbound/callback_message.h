// What is posted to a task's callbackURL when it ends, and when it is reported on if that was asked for:
// `{taskID, event, message, details}`, signed in two ways. `details` begins with what the reporter said itself.
//
//   X-Shepherd-Signature  sha256=<hex HMAC-SHA256 of the body>
//   webhook-id, webhook-timestamp, webhook-signature  as Standard Webhooks has them; the id is the same at each attempt
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/task.h"
#include "net/client.h"

namespace shepherd {

struct CallbackMessage {
  std::string id;    // webhook-id
  std::string body;  // JSON
};
// Of a task that has ended; `event` is the one that ended it, empty when it is no longer kept.
CallbackMessage callback_message(const Task& task, std::string_view event);
// Of a `status` event of a task under way.
CallbackMessage callback_report(const Task& task, std::uint64_t sequence, std::string_view event);
// What a `status` event reports to receivers: started or progress; empty: nothing that they are told. A runner that
// names no event has started with its first word that it is running.
std::string callback_event(std::string_view event, bool started_before);

// The key in a secret: what "whsec_" and base64 encode, or the text itself.
std::string callback_key(std::string_view secret);

net::HeaderList callback_headers(const CallbackMessage& message, std::string_view key, std::int64_t now_ms);

}  // namespace shepherd
