#include "driver/codex/talk.h"

#include <algorithm>

#include "json/write.h"

namespace shepherd {

CodexWord* CodexTalk::word(std::string_view id) {
  auto found = std::ranges::find(words, id, &CodexWord::id);
  return found == words.end() ? nullptr : &*found;
}

void CodexTalk::forget(std::string_view word_id) {
  std::erase_if(words, [&](const CodexWord& word) { return word.id == word_id; });
}

std::string request_line(std::uint64_t id, std::string_view method, std::string_view params) {
  std::string line = object_text([&](JsonObject& object) {
    object.number("id", id);
    object.text("method", method);
    object.json("params", params);
  });
  return line + "\n";
}

std::string notification_line(std::string_view method) {
  std::string line = object_text([&](JsonObject& object) { object.text("method", method); });
  return line + "\n";
}

std::string answer_line(std::string_view id, std::string_view result) {
  std::string line = object_text([&](JsonObject& object) {
    object.json("id", id);
    object.json("result", result);
  });
  return line + "\n";
}

std::string error_answer_line(std::string_view id, std::string_view message) {
  std::string line = object_text([&](JsonObject& object) {
    object.json("id", id);
    object.object("error", [&](JsonObject& error) {
      error.number("code", std::int64_t{-32601});  // JSON-RPC: method not found
      error.text("message", message);
    });
  });
  return line + "\n";
}

std::string text_input(std::string_view text) {
  std::string input = object_text([&](JsonObject& object) {
    object.text("type", "text");
    object.text("text", text);
    object.json("text_elements", "[]");
  });
  return "[" + input + "]";
}

}  // namespace shepherd
