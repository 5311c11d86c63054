// What `shepherd chat` is told.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>

#include "client/live_link.h"
#include "client/server_options.h"

namespace shepherd {

struct ChatOptions {
  ServerOptions server;
  std::string session;  // empty: the default one
  std::string prompt;   // empty: talk
  std::int64_t max_tokens = 0;
  bool json = false;
  bool history = true;  // keeps what is typed
  Locate locate;        // finds the server and the key
};

// The body of POST /request.
std::string chat_request_body(const std::string& prompt, std::int64_t max_tokens, bool stream);

}  // namespace shepherd
