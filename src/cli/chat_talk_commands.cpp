#include "cli/chat_talk.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <utility>

#include "cli/limits.h"
#include "json/scan.h"
#include "json/write.h"
#include "terminal/terminal_text.h"

namespace shepherd {

void ChatTalk::obey(const ChatCommand& command) {
  const std::string& word = command.name;
  if (word == "help") return print(chat_help());
  if (word == "quit") return leave();
  if (word == "clear") return simple("/clear");
  if (word == "cancel") return busy() ? cancel() : void(notice_ = "no turn is running");
  if (word == "session") return command.rest.empty() ? show_session() : open(command.rest);
  if (word == "sessions") return show_sessions();
  if (word == "history") return show_history();
  if (word == "fork") return fork(command.rest);
  if (word == "tool") {
    std::size_t number = 0;
    std::from_chars(command.rest.data(), command.rest.data() + command.rest.size(), number);
    return show_tool_call(number);
  }
  complain(fmt::format("there is no command /{}; /help lists them, and // sends a text that begins with /", word));
}

void ChatTalk::simple(const std::string& path) {
  link_.call("POST", path, "{}", [this, path](const Result<std::string>& answer) {
    if (!answer) return complain(answer.error().message);
    // Other servers say nothing about it in their events.
    if (path == "/clear" && newest_.empty()) print(transcript_.event("cleared", "{}"));
    mark();
  });
}

void ChatTalk::show_session() {
  link_.call("GET", "/session", "", [this](const Result<std::string>& answer) {
    if (!answer) return complain(answer.error().message);
    take_numbers(*answer);
    auto listed = [&](std::string_view name) {
      return array_elements(find_member(*answer, name)).value_or(std::vector<std::string_view>());
    };
    std::vector<std::string_view> messages = listed("messages");
    std::erase_if(messages, [](std::string_view each) { return text_member(each, "role") == "system"; });
    say(fmt::format("session {} · model {} · {} messages · {} of {} tokens · {} tools",
                    task_.empty() ? "default" : task_, model_, messages.size(), total_tokens_, context_size_,
                    listed("tools").size()));
  });
}

void ChatTalk::show_sessions() {
  link_.call_server("GET", "/sessions", "", [this](const Result<std::string>& answer) {
    if (!answer) {
      return complain(answer.error().code == ErrorCode::not_found ? "this server has no list of sessions"
                                                                  : answer.error().message);
    }
    auto sessions = array_elements(find_member(*answer, "sessions")).value_or(std::vector<std::string_view>());
    std::size_t most = std::min(sessions.size(), kChatShownMessages);
    for (std::size_t i = 0; i < most; ++i) {
      std::string id = text_member(sessions[i], "id");
      say(fmt::format("{} {}  {}", id == task_ ? "*" : " ", id, cut_to(text_member(sessions[i], "title"), 60)));
    }
    if (sessions.size() > most) say(fmt::format("… and {} more", sessions.size() - most));
  });
}

void ChatTalk::show_history() {
  link_.call("GET", "/session", "", [this](const Result<std::string>& answer) {
    if (!answer) return complain(answer.error().message);
    ChatTranscript all;
    print(all.history(*answer, std::string::npos));
    mark();
  });
}

void ChatTalk::fork(const std::string& name) {
  std::string body = object_text([&](JsonObject& object) { object.text_unless_empty("id", name); });
  link_.call("POST", "/fork", body, [this](const Result<std::string>& answer) {
    if (!answer) return complain(answer.error().message);
    open(text_member(*answer, "id"));
  });
}

void ChatTalk::show_tool_call(std::size_t number) {
  const ShownToolCall* call = transcript_.tool_call(number);
  if (call == nullptr) return void(notice_ = "no tool was called yet, or not with this number");
  print(ChatTranscript::whole_tool_call(*call));
}

}  // namespace shepherd
