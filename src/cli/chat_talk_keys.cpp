#include "cli/chat_talk.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <csignal>
#include <utility>

#include "cli/approval_view.h"
#include "cli/limits.h"
#include "client/api_client.h"
#include "json/scan.h"
#include "json/write.h"
#include "terminal/terminal_text.h"

namespace shepherd {

void ChatTalk::take_approval(const ChatFrame& frame) {
  std::string id = text_member(frame.data, "approvalID");
  if (text_member(frame.data, "state") != "pending") {
    std::erase_if(asked_, [&](const AskedCall& call) { return call.id == id; });
    if (!asked_.empty()) asked_.front().shown_ms = clock_.steady_ms();
    return;
  }
  AskedCall call{id, text_member(frame.data, "tool"), "", clock_.steady_ms()};
  auto rules = array_elements(find_member(frame.data, "remember"));
  if (rules && !rules->empty()) call.rule = string_value(rules->front()).value_or("");
  print_asked(frame, call);
  asked_.push_back(std::move(call));
}

void ChatTalk::print_asked(const ChatFrame& frame, const AskedCall& call) {
  AskedInput input{std::string(find_member(frame.data, "input")), true};
  if (input.json.empty()) input.json = "{}";
  std::uint64_t number = 0;
  bool numbered = std::from_chars(frame.id.data(), frame.id.data() + frame.id.size(), number).ec == std::errc();
  if (find_member(input.json, "cut") == "true" && numbered) {
    input.whole = false;
    if (Result<Destination> found = options_.locate(); found) {
      Result<ApiClient> client = ApiClient::create(*std::move(found), options_.server.tls());
      Result<AskedInput> whole = client ? asked_input(*client, task_, number) : fail(client.error());
      if (whole) input = *std::move(whole);
    }
  }
  std::vector<StyledLine> lines;
  lines.push_back(
      styled(fmt::format("? {} asks for your approval", terminal_text(call.tool, Lines::join)), kChatAskLook));
  for (const std::string& line : asked_lines(input, 0)) lines.push_back(styled("  " + line, {}, 4));
  print(std::move(lines));
}

bool ChatTalk::answer_approval(const Key& key) {
  if (asked_.empty() || !editor_.empty() || key.kind != TypedKey::text || key.pasted) return false;
  AskedCall& call = asked_.front();
  bool yes = key.text == "y" || key.text == "a";
  if (!yes && key.text != "n") return false;
  if (call.decided) return true;
  if (clock_.steady_ms() - call.shown_ms < kChatReadingTime.count()) {
    notice_ = "the question has just come: read it and answer again";
    return true;
  }
  if (key.text == "a" && call.rule.empty()) {
    notice_ = "this cannot be remembered; y allows it once";
    return true;
  }
  call.decided = true;
  std::string body = object_text([&](JsonObject& object) {
    object.text("kind", yes ? "approve" : "deny");
    object.text("approvalID", call.id);
    if (key.text == "a") object.text("remember", call.rule);
  });
  link_.call_server("POST", fmt::format("/api/v1/tasks/{}/commands", percent_encoded(task_)), body,
                    [this, id = call.id](const Result<std::string>& answer) {
                      if (answer) return;
                      for (AskedCall& each : asked_) each.decided = each.decided && each.id != id;
                      complain(answer.error().message);
                    });
  return true;
}

void ChatTalk::on_events(std::uint32_t) {
  char bytes[4096];
  ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
  if (got <= 0) {
    end_ = ExitCode::ok;  // the terminal was closed
    return;
  }
  take_keys(keys_.read({bytes, static_cast<std::size_t>(got)}));
  if (keys_.waits()) escape_.arm(std::chrono::steady_clock::now() + kChatEscapeWait);
}

void ChatTalk::take_keys(const std::vector<Key>& keys) {
  for (const Key& key : keys) {
    if (end_) return;
    notice_.clear();
    press(key);
  }
  mark();
}

void ChatTalk::press(const Key& key) {
  if (editor_.searching()) {
    editor_.press(key);
    return;
  }
  if (answer_approval(key)) return;
  switch (key.kind) {
    case TypedKey::interrupt:
      return interrupt();
    case TypedKey::suspend:
      return suspend();
    case TypedKey::redraw:
      return screen_.clear_screen();
    case TypedKey::open:
      return show_tool_call(0);
    case TypedKey::finish:
      if (editor_.empty()) {
        leave();
      } else {
        editor_.press({TypedKey::erase});
      }
      return;
    case TypedKey::tab:
      return complete();
    case TypedKey::enter:
      return once() ? void() : enter();
    default:
      if (!once()) editor_.press(key);
  }
}

void ChatTalk::enter() {
  // A backslash at the end of a line goes on with the next one, as in a shell.
  if (editor_.text().ends_with('\\')) {
    editor_.press({TypedKey::backspace});
    editor_.press({TypedKey::newline});
    return;
  }
  std::string text = editor_.text();
  if (text.find_first_not_of(" \n\t") == std::string::npos) return void(editor_.take());
  if (opening_) return void(notice_ = "the session is being opened");
  history_.add(editor_.take());
  editor_.take();  // behind the line that was just added
  if (std::optional<ChatCommand> command = read_chat_command(text)) return obey(*command);
  if (text.starts_with("//")) text.erase(0, 1);
  send(std::move(text));
}

void ChatTalk::send(std::string text) {
  std::uint64_t number = ++numbers_;
  sent_.push_back({number, text});
  asked_ms_ = clock_.steady_ms();
  link_.call(
      "POST", "/request", chat_request_body(text, options_.max_tokens, false),
      [this, number](const Result<std::string>& answer) { take_answer(number, answer); }, true);
  tick();
}

void ChatTalk::take_answer(std::uint64_t number, const Result<std::string>& answer) {
  auto found = std::ranges::find(sent_, number, &SentPrompt::number);
  if (found == sent_.end()) return;  // its turn has ended, or another session was opened
  // The connection broke after its turn had begun: the events say how it ends.
  if (!answer && answer.error().code == ErrorCode::unavailable && found->begun) return;
  if (answer && !found->begun && lost_.empty()) {
    found->answer = text_member(*answer, "response");
    found->answered_ms = clock_.steady_ms();
    return;
  }
  SentPrompt sent = std::move(*found);
  sent_.erase(found);
  if (!answer) {
    if (answer.error().message != error_) complain(answer.error().message);
    if (!sent.begun && editor_.empty() && answer.error().reason != "cancelled") editor_.set(sent.text);
  }
  mark();
}

// Answers whose events do not come: the server does not send them to us.
void ChatTalk::show_answers() {
  auto message = [&](std::string_view role, std::string_view content) {
    print(transcript_.event("message_added", object_text([&](JsonObject& object) {
                              object.text("role", role);
                              object.text("content", content);
                            })));
  };
  std::erase_if(sent_, [&](const SentPrompt& sent) {
    if (!sent.answer || clock_.steady_ms() - sent.answered_ms < kChatEventWait.count()) return false;
    if (!sent.begun) {
      message("user", sent.text);
      message("assistant", *sent.answer);
    }
    return true;
  });
}

void ChatTalk::interrupt() {
  if (busy()) return cancel();
  if (!editor_.empty()) {
    editor_.take();
  } else if (once()) {
    end_ = ExitCode::task_cancelled;
  } else {
    notice_ = "Ctrl-D or /quit leaves";
  }
}

void ChatTalk::cancel() {
  if (once() && std::exchange(cancelling_, true)) {
    end_ = ExitCode::task_cancelled;
    return;
  }
  notice_ = "cancelling";
  link_.call("POST", "/cancel", "{}", [this](const Result<std::string>& answer) {
    if (answer) return;
    complain(answer.error().code == ErrorCode::not_found ? "this server cannot cancel a turn" : answer.error().message);
  });
}

void ChatTalk::suspend() {
  screen_.clear();
  raw_.leave();
  std::raise(SIGSTOP);
  raw_.enter();
  mark();
}

void ChatTalk::take_signal(int signal) {
  if (signal == SIGINT) {
    interrupt();
  } else if (signal == SIGTERM || signal == SIGHUP) {
    end_ = ExitCode::ok;
  } else if (signal == SIGCONT) {
    raw_.enter();
  }
  mark();
}

void ChatTalk::complete() {
  std::vector<std::string> names = chat_commands_with(editor_.text());
  if (names.size() == 1) {
    editor_.set(names.front() + " ");
  } else if (!names.empty()) {
    notice_ = fmt::format("{}", fmt::join(names, "  "));
  }
}

}  // namespace shepherd
