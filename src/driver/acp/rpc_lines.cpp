#include "driver/acp/rpc_lines.h"

#include "json/write.h"

namespace shepherd {
namespace {

template <class Fill>
std::string rpc_line(Fill&& fill) {
  std::string line = object_text([&](JsonObject& object) {
    object.text("jsonrpc", "2.0");
    fill(object);
  });
  return line + "\n";
}

}  // namespace

std::string rpc_request(std::uint64_t id, std::string_view method, std::string_view params) {
  return rpc_line([&](JsonObject& object) {
    object.number("id", id);
    object.text("method", method);
    object.json("params", params);
  });
}

std::string rpc_notification(std::string_view method, std::string_view params) {
  return rpc_line([&](JsonObject& object) {
    object.text("method", method);
    object.json("params", params);
  });
}

std::string rpc_result(std::string_view id, std::string_view result) {
  return rpc_line([&](JsonObject& object) {
    object.json("id", id);
    object.json("result", result);
  });
}

std::string rpc_error(std::string_view id, std::int64_t code, std::string_view message) {
  return rpc_line([&](JsonObject& object) {
    object.json("id", id);
    object.object("error", [&](JsonObject& error) {
      error.number("code", code);
      error.text("message", message);
    });
  });
}

}  // namespace shepherd
