// What is posted to a task's callbackURL when it ends: `{taskID, event, message, details}`, signed in two ways.
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
CallbackMessage callback_message(const Task& task);

// The key in a secret: what "whsec_" and base64 encode, or the text itself.
std::string callback_key(std::string_view secret);

net::HeaderList callback_headers(const CallbackMessage& message, std::string_view key, std::int64_t now_ms);

}  // namespace shepherd
