#include "driver/claude/talk.h"

#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

std::uint64_t mixed(std::string_view text, std::uint64_t start) {
  std::uint64_t hash = 0xCBF29CE484222325ULL ^ start;
  for (char c : text) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001B3ULL;
  hash = (hash ^ (hash >> 30)) * 0xBF58476D1CE4E5B9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94D049BB133111EBULL;
  return hash ^ (hash >> 31);
}

std::string control_line(std::string_view request_id, std::string_view request) {
  std::string line = object_text([&](JsonObject& object) {
    object.text("type", "control_request");
    object.text("request_id", request_id);
    object.json("request", request);
  });
  return line + "\n";
}

enum class Answer : std::uint8_t { success, error };

// `content` is JSON: what the agent asked for, or the words why not.
std::string answer_line(std::string_view request_id, std::string_view content, Answer answer) {
  bool good = answer == Answer::success;
  std::string line = object_text([&](JsonObject& object) {
    object.text("type", "control_response");
    object.object("response", [&](JsonObject& inner) {
      inner.text("subtype", good ? "success" : "error");
      inner.text("request_id", request_id);
      inner.json(good ? "response" : "error", content);
    });
  });
  return line + "\n";
}

}  // namespace

std::string message_uuid(std::string_view launch_id, std::string_view command_id) {
  std::string seed = std::string(launch_id) + "/" + std::string(command_id);
  std::uint64_t high = mixed(seed, 1);
  std::uint64_t low = mixed(seed, 2);
  high = (high & 0xFFFFFFFFFFFF0FFFULL) | 0x4000;               // version 4
  low = (low & 0x3FFFFFFFFFFFFFFFULL) | 0x8000000000000000ULL;  // its variant
  std::string uuid;
  constexpr std::string_view kHex = "0123456789abcdef";
  for (int digit = 0; digit < 32; ++digit) {
    if (digit == 8 || digit == 12 || digit == 16 || digit == 20) uuid.push_back('-');
    std::uint64_t half = digit < 16 ? high : low;
    uuid.push_back(kHex[half >> (60 - 4 * (digit % 16)) & 0xF]);
  }
  return uuid;
}

std::string user_line(std::string_view text, std::string_view uuid, std::string_view priority) {
  std::string line = object_text([&](JsonObject& object) {
    object.text("type", "user");
    object.object("message", [&](JsonObject& message) {
      message.text("role", "user");
      message.text("content", text);
    });
    object.json("parent_tool_use_id", "null");
    object.text("session_id", "");
    object.text("uuid", uuid);
    object.text_unless_empty("priority", priority);
  });
  return line + "\n";
}

std::string interrupt_line(std::string_view request_id, bool cancel_queued) {
  return control_line(request_id,
                      cancel_queued ? R"({"subtype":"interrupt","cancel_queued":true})" : R"({"subtype":"interrupt"})");
}

std::string permission_mode_line(std::string_view request_id, std::string_view mode) {
  return control_line(request_id, R"({"subtype":"set_permission_mode","mode":")" + std::string(mode) + "\"}");
}

std::string allow_line(std::string_view request_id, std::string_view input, std::string_view rule_json) {
  std::string response = object_text([&](JsonObject& object) {
    object.text("behavior", "allow");
    object.json("updatedInput", input);
    // For this session only: the agent's own suggestion would write a file into the work tree.
    if (!rule_json.empty()) {
      object.member("updatedPermissions")
          .append(R"([{"type":"addRules","rules":[)")
          .append(rule_json)
          .append(R"(],"behavior":"allow","destination":"session"}])");
    }
  });
  return response_line(request_id, response);
}

std::string deny_line(std::string_view request_id, std::string_view message) {
  std::string response = object_text([&](JsonObject& object) {
    object.text("behavior", "deny");
    object.text("message", message);
  });
  return response_line(request_id, response);
}

std::string response_line(std::string_view request_id, std::string_view content) {
  return answer_line(request_id, content, Answer::success);
}

std::string error_response_line(std::string_view request_id, std::string_view error) {
  std::string words;
  append_json_string(words, error);
  return answer_line(request_id, words, Answer::error);
}

std::optional<std::string> permission_rule(std::string_view rule) {
  std::size_t open = rule.find('(');
  std::string_view tool = rule.substr(0, open);
  if (tool.empty() || tool.find_first_of(" \t\r\n),") != std::string_view::npos) return std::nullopt;
  bool has_content = open != std::string_view::npos;
  if (has_content && (!rule.ends_with(')') || rule.size() < open + 3)) return std::nullopt;
  return object_text([&](JsonObject& object) {
    object.text("toolName", tool);
    if (has_content) object.text("ruleContent", rule.substr(open + 1, rule.size() - open - 2));
  });
}

}  // namespace shepherd
