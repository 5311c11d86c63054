#include "cli/chat_ask.h"

#include <fmt/format.h>

#include <optional>
#include <string>
#include <utility>

#include "cli/signal_watch.h"
#include "client/chat_link.h"
#include "json/scan.h"
#include "json/write.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

// A model's text for a pipe or a file: without control sequences, but with its tabs.
std::string piped_text(std::string_view text) {
  std::string out;
  for (std::size_t at = 0; at <= text.size();) {
    std::size_t tab = std::min(text.find('\t', at), text.size());
    out += terminal_text(text.substr(at, tab - at), Lines::keep);
    if (tab < text.size()) out += '\t';
    at = tab + 1;
  }
  return out;
}

class ChatAsk final : private ChatLinkUser {
 public:
  ChatAsk(Context& context, const ChatOptions& options)
      : context_(context),
        options_(options),
        timers_(loop_, [] {}),
        link_(loop_, timers_, options.locate, options.server.tls(), *this),
        signals_(loop_, {SIGINT, SIGTERM, SIGHUP}, [this](int) { interrupted(); }) {
    link_.set_session(options.session);
  }

  Result<ExitCode> run() {
    link_.ask(chat_request_body(options_.prompt, options_.max_tokens, true));
    while (!end_) loop_.turn(std::chrono::steady_clock::time_point::max());
    return *std::move(end_);
  }

 private:
  void on_chat_open() override {}

  void on_chat_frame(const ChatFrame& frame) override {
    if (options_.json) {
      context_.out.json_line(frame.json);
      context_.out.flush();
    }
    if (frame.type == "error") {
      error_ = text_member(frame.data, "error");
      code_ = text_member(frame.data, "code");
    } else if (frame.type == "approval" && text_member(frame.data, "state") == "pending" && !options_.json) {
      remark(fmt::format("{} waits for approval: decide on the page, or see \"shepherd inbox\"",
                         text_member(frame.data, "tool")));
    } else if (frame.type == "response_complete") {
      if (error_.empty() && !options_.json) print(text_member(frame.data, "response"));
      finish();
    }
    if (context_.out.closed()) end_ = ExitCode::ok;
  }

  void on_chat_lost(const std::string& why) override { remark(fmt::format("connection lost ({}); trying again", why)); }
  void on_chat_refused(Error error) override {
    if (!end_) end_ = fail(std::move(error));
  }
  void on_chat_done() override {
    if (!end_) finish();
  }

  void print(const std::string& response) {
    std::string text = piped_text(response);
    while (text.ends_with('\n')) text.pop_back();
    context_.out.line(text);
  }

  void finish() {
    if (error_.empty()) {
      end_ = ExitCode::ok;
    } else {
      if (!options_.json) context_.complain(error_);
      end_ = code_ == "cancelled" ? ExitCode::task_cancelled : ExitCode::failed;
    }
  }

  void interrupted() {
    if (std::exchange(cancelling_, true)) {
      end_ = ExitCode::task_cancelled;
      return;
    }
    remark("cancelling; Ctrl-C again ends at once");
    link_.call("POST", "/cancel", "{}", [this](const Result<std::string>& answer) {
      if (!answer && !end_) end_ = ExitCode::task_cancelled;
    });
  }

  void remark(std::string_view text) {
    context_.err.line(context_.err.paint(Color::yellow, fmt::format("-- {}", terminal_text(text, Lines::join))));
    context_.err.flush();
  }

  Context& context_;
  const ChatOptions& options_;
  net::EventLoop loop_;
  net::Timers timers_;
  ChatLink link_;
  SignalWatch signals_;
  std::string error_, code_;
  bool cancelling_ = false;
  std::optional<Result<ExitCode>> end_;
};

}  // namespace

std::string chat_request_body(const std::string& prompt, std::int64_t max_tokens, bool stream) {
  return object_text([&](JsonObject& object) {
    object.text("prompt", prompt);
    if (max_tokens != 0) object.number("max_tokens", max_tokens);
    if (stream) object.flag("stream", true);
  });
}

Result<ExitCode> ask_chat(Context& context, const ChatOptions& options) {
  return ChatAsk(context, options).run();
}

}  // namespace shepherd
