#include "cli/chat_talk.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <utility>

#include "cli/limits.h"
#include "json/scan.h"
#include "terminal/span_text.h"
#include "terminal/terminal_text.h"

namespace shepherd {

ChatTalk::ChatTalk(Context& context, const ChatOptions& options)
    : options_(options),
      history_(options.history ? history_file(context.environment, "chat-history") : std::string()),
      editor_(history_.lines()),
      screen_(STDOUT_FILENO, context.out.colored()),
      timers_(loop_, [] {}),
      link_(loop_, timers_, options.locate, options.server.tls(), *this),
      escape_(timers_, [this] { take_keys(keys_.flush()); }),
      second_(timers_, [this] { every_second(); }),
      signals_(loop_, {SIGINT, SIGTERM, SIGHUP, SIGWINCH, SIGCONT}, [this](int signal) { take_signal(signal); }),
      session_(options.session) {
  if (keyboard_) loop_.watch(STDIN_FILENO, *this, net::EventLoop::Trigger::level);
}

ChatTalk::~ChatTalk() {
  if (keyboard_) loop_.unwatch(STDIN_FILENO);
}

Result<ExitCode> ChatTalk::run() {
  open(session_);
  while (!end_) {
    std::chrono::steady_clock::time_point next = std::chrono::steady_clock::time_point::max();
    if (dirty_) next = drawn_ + kChatRedraw;
    if (dirty_ && std::chrono::steady_clock::now() >= next) {
      draw();
      continue;
    }
    loop_.turn(next);
  }
  if (dirty_) draw();
  screen_.clear();
  return *std::move(end_);
}

void ChatTalk::open(const std::string& session) {
  link_.close();
  link_.set_session(session);
  opening_ = true;
  link_.call("GET", "/session", "", [this, session](Result<std::string> answer) {
    opening_ = false;
    if (!answer && !said_hello_) {
      end_ = fail(answer.error());
      return;
    }
    if (!answer) {
      // Another session was asked for and cannot be had: the old one goes on.
      complain(answer.error().message);
      link_.set_session(session_);
      return link_.follow(newest_);
    }
    begin(session, *answer);
  });
}

void ChatTalk::begin(const std::string& session, const std::string& json) {
  session_ = session;
  task_ = text_member(json, "session_id");
  if (task_.empty()) task_ = session;
  transcript_ = ChatTranscript();
  running_ = false;
  sent_.clear();
  asked_.clear();
  take_numbers(json);
  newest_.clear();
  auto messages = array_elements(find_member(json, "messages")).value_or(std::vector<std::string_view>());
  std::uint64_t newest = 0;
  for (std::string_view message : messages) {
    newest = std::max(newest, count_value(find_member(message, "sequence")).value_or(0));
  }
  if (newest > 0) newest_ = std::to_string(newest);
  if (once()) {
    said_hello_ = true;
    link_.ask(chat_request_body(options_.prompt, options_.max_tokens, true));
    sent_.push_back({++numbers_, options_.prompt});
    asked_ms_ = clock_.steady_ms();
    tick();
    return mark();
  }
  hello();
  print(transcript_.history(json, kChatShownMessages));
  // Joined in the middle of an answer, its beginning is missing until the whole message comes.
  transcript_.miss();
  link_.follow(newest_);
  mark();
}

void ChatTalk::hello() {
  std::string name = task_.empty() ? "chat" : task_;
  std::string help = std::exchange(said_hello_, true) ? "" : "; /help lists the commands, Ctrl-D leaves";
  print({styled(terminal_text(fmt::format("-- {} · {}{}", name, model_, help), Lines::join), kChatStatusLook)});
}

void ChatTalk::take_numbers(std::string_view json) {
  if (std::string model = text_member(json, "model"); !model.empty()) model_ = model;
  context_size_ = count_value(find_member(json, "context_size")).value_or(context_size_);
  total_tokens_ = count_value(find_member(json, "total_tokens")).value_or(total_tokens_);
}

void ChatTalk::on_chat_open() {
  if (!lost_.empty()) transcript_.miss();
  if (!lost_.empty() && newest_.empty() && busy()) {
    // This server numbers nothing, so the end of the turn may have come while there was no connection.
    running_ = false;
    sent_.clear();
    say("the connection was lost, and something may be missing; /history shows all of it");
  }
  lost_.clear();
  mark();
}

void ChatTalk::on_chat_lost(const std::string& why) {
  lost_ = why;
  mark();
}

void ChatTalk::on_chat_refused(Error error) {
  if (once() || !said_hello_) {
    end_ = fail(std::move(error));
    return;
  }
  complain(error.message + "; /session opens another session");
  running_ = false;
  sent_.clear();
  lost_.clear();
}

void ChatTalk::on_chat_done() {
  if (once()) finish();
}

void ChatTalk::on_chat_frame(const ChatFrame& frame) {
  if (!frame.id.empty()) newest_ = frame.id;
  if (frame.type == "connected") {
    if (std::string task = text_member(frame.data, "session_id"); !task.empty()) task_ = task;
    return;
  }
  bool user = frame.type == "message_added" && text_member(frame.data, "role") == "user";
  if (user) begin_turn();
  if (frame.type == "error") {
    error_ = text_member(frame.data, "error");
    code_ = text_member(frame.data, "code");
    if (once() && code_ != "cancelled") return;  // the program's own message says it
  }
  print(transcript_.event(frame.type, frame.data));
  if (frame.type == "approval") take_approval(frame);
  if (frame.type == "response_complete" || frame.type == "eviction") take_numbers(frame.data);
  if (frame.type == "cleared") total_tokens_ = 0;
  if (frame.type == "response_complete") end_turn();
  mark();
}

void ChatTalk::begin_turn() {
  running_ = true;
  error_.clear();
  code_.clear();
  turn_ms_ = clock_.steady_ms();
  for (SentPrompt& sent : sent_) {
    if (sent.begun) continue;
    sent.begun = true;
    break;
  }
  tick();
}

void ChatTalk::end_turn() {
  running_ = false;
  asked_.clear();
  if (once()) return finish();
  // The answer of its request comes a moment later and has nothing new.
  auto begun = std::ranges::find_if(sent_, &SentPrompt::begun);
  if (begun != sent_.end()) sent_.erase(begun);
}

void ChatTalk::finish() {
  if (end_) return;
  if (error_.empty()) {
    end_ = ExitCode::ok;
  } else if (code_ == "cancelled") {
    end_ = ExitCode::task_cancelled;
  } else {
    Error failed;  // as the server named it
    failed.reason = code_;
    failed.message = error_;
    end_ = fail(std::move(failed));
  }
}

void ChatTalk::print(std::vector<StyledLine> lines) {
  screen_.print(std::move(lines));
  mark();
}

void ChatTalk::every_second() {
  mark();
  show_answers();
  if (busy()) tick();
}

StyledLine ChatTalk::status() const {
  if (!notice_.empty()) return styled(notice_, kChatAskLook);
  if (!lost_.empty())
    return styled(fmt::format("connection lost, trying again: {}", terminal_text(lost_, Lines::join)), kChatErrorLook);
  if (!asked_.empty() && asked_.front().decided) return styled("telling the server", kChatStatusLook);
  if (!asked_.empty()) {
    const AskedCall& call = asked_.front();
    std::string always = call.rule.empty() ? "" : fmt::format(" · a always: {}", terminal_text(call.rule, Lines::join));
    return styled(fmt::format("allow {}? y yes · n no{}", terminal_text(call.tool, Lines::join), always), kChatAskLook);
  }
  if (opening_) return styled("opening the session", kChatStatusLook);
  if (!busy()) return once() ? StyledLine() : styled(place(), kChatStatusLook);
  std::int64_t since = running_ ? turn_ms_ : asked_ms_;
  std::string what = !running_                        ? "waiting"
                     : !transcript_.running().empty() ? "running " + transcript_.running()
                                                      : "answering";
  std::size_t waiting = static_cast<std::size_t>(std::ranges::count(sent_, false, &SentPrompt::begun));
  std::string more = running_ && waiting > 0 ? fmt::format(" · {} waiting", waiting) : "";
  return styled(fmt::format("{} · {}{} · Ctrl-C cancels", what, age_text(clock_.steady_ms() - since), more),
                kChatStatusLook);
}

std::string ChatTalk::place() const {
  std::string name = task_.empty() ? "chat" : task_;
  std::string tokens = context_size_ > 0 ? fmt::format(" · {} of {} tokens", total_tokens_, context_size_) : "";
  return terminal_text(fmt::format("{} · {}{}", name, model_, tokens), Lines::join);
}

void ChatTalk::draw() {
  dirty_ = false;
  drawn_ = std::chrono::steady_clock::now();
  bool types = !once() && !end_;
  if (!screen_.draw(end_ ? std::vector<StyledLine>() : transcript_.unfinished(), end_ ? StyledLine() : status(),
                    types ? &editor_ : nullptr) &&
      !end_) {
    end_ = ExitCode::ok;
  }
}

}  // namespace shepherd
