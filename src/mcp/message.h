// One JSON-RPC message, read from what a server sent.
//
// A message is checked once as JSON; its parts are slices of its text, which are read further with json/scan.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

// Threads: value.
struct McpMessage {
  enum class Kind : std::uint8_t { request, notification, result, error };
  Kind kind = Kind::notification;
  std::string id;         // JSON, as the server wrote it; empty for notifications, and "null" where it could not say
  std::string method;     // of requests and notifications
  std::string body;       // params, result, or the error's data; JSON, empty if there is none
  std::int64_t code = 0;  // of an error
  std::string error_message;  // of an error; bounded

  // The number under which we sent the request that this answers.
  std::optional<std::int64_t> answers() const;
};

// invalid_argument/bad_message if it is not one JSON-RPC message. Half surrogate pairs are mended first, because
// programs that cut text print them.
Result<McpMessage> read_message(std::string_view json);

// What is sent. `params` and `result` are JSON objects.
std::string request_text(std::int64_t id, std::string_view method, std::string_view params);
std::string notification_text(std::string_view method, std::string_view params);
std::string result_text(std::string_view id, std::string_view result);
std::string error_text(std::string_view id, std::int64_t code, std::string_view text);

// The whole number that a JSON text is, negative ones included.
std::optional<std::int64_t> whole_value(std::string_view json);
// At most `bytes` of the text, cut between characters, with "…" where it was cut.
std::string shortened(std::string_view text, std::size_t bytes);

}  // namespace shepherd
