// The message posted to a task's callbackURL at its end and, if requested, for its reports: `{taskID, event, message,
// details}`, signed in two ways. `details` begins with the reporter's own members.
//
//   X-Shepherd-Signature  sha256=<hex HMAC-SHA256 of the body>
//   webhook-id, webhook-timestamp, webhook-signature  as in Standard Webhooks; the id is the same at each attempt
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
// For an ended task; `event` is the one that ended it, or empty if it is no longer kept.
CallbackMessage callback_message(const TaskRow& task, std::string_view event);
// For a `status` event of a running task.
CallbackMessage callback_report(const TaskRow& task, std::uint64_t sequence, std::string_view event);
// The report that a `status` event makes to receivers: started or progress, or empty for none. A runner that names no
// event has started with its first `running`.
std::string callback_event(std::string_view event, bool started_before);

// The key in a secret: the decoded base64 after "whsec_", or the text itself.
std::string callback_key(std::string_view secret);

net::HeaderList callback_headers(const CallbackMessage& message, std::string_view key, std::int64_t now_ms);

}  // namespace shepherd
