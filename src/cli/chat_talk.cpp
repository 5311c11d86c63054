#include "cli/chat_talk.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <csignal>
#include <deque>
#include <optional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "cli/approval_view.h"
#include "cli/chat_commands.h"
#include "cli/chat_screen.h"
#include "cli/chat_transcript.h"
#include "cli/limits.h"
#include "cli/signal_watch.h"
#include "client/chat_link.h"
#include "json/scan.h"
#include "json/write.h"
#include "terminal/input_history.h"
#include "terminal/raw_mode.h"
#include "terminal/span_text.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

using std::chrono::steady_clock;

constexpr TextLook kStatusLook{.dim = true};
constexpr TextLook kAskLook{.color = Color::yellow};
constexpr TextLook kErrorLook{.color = Color::red};

// A call of a tool that a person decides about. Threads: value.
struct AskedCall {
  std::string id, tool, rule;
  std::int64_t shown_ms = 0;  // steady clock: when the question came to the screen
  bool decided = false;       // an answer is under way
};

// A prompt that was sent. Threads: value.
struct SentPrompt {
  std::uint64_t number = 0;
  std::string text;
  bool begun = false;  // its turn, as far as the events say
};

class ChatTalk final : private ChatLinkUser, private net::EventLoop::Watcher {
 public:
  ChatTalk(Context& context, const ChatOptions& options)
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
  ~ChatTalk() {
    if (keyboard_) loop_.unwatch(STDIN_FILENO);
  }

  Result<ExitCode> run() {
    open(session_);
    while (!end_) {
      steady_clock::time_point next = steady_clock::time_point::max();
      if (dirty_) next = drawn_ + kChatRedraw;
      if (dirty_ && steady_clock::now() >= next) {
        draw();
        continue;
      }
      loop_.turn(next);
    }
    if (dirty_) draw();
    screen_.clear();
    return *std::move(end_);
  }

 private:
  bool once() const { return !options_.prompt.empty(); }
  bool busy() const { return running_ || !sent_.empty(); }

  // --- the session ---

  void open(const std::string& session) {
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

  void begin(const std::string& session, const std::string& json) {
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

  void hello() {
    std::string name = task_.empty() ? "chat" : task_;
    std::string help = std::exchange(said_hello_, true) ? "" : "; /help lists the commands, Ctrl-D leaves";
    print({styled(terminal_text(fmt::format("-- {} · {}{}", name, model_, help), Lines::join), kStatusLook)});
  }

  void take_numbers(std::string_view json) {
    if (std::string model = text_member(json, "model"); !model.empty()) model_ = model;
    context_size_ = count_value(find_member(json, "context_size")).value_or(context_size_);
    total_tokens_ = count_value(find_member(json, "total_tokens")).value_or(total_tokens_);
  }

  // --- what happens in it ---

  void on_chat_open() override {
    if (!lost_.empty()) transcript_.miss();
    lost_.clear();
    mark();
  }

  void on_chat_lost(const std::string& why) override {
    lost_ = why;
    mark();
  }

  void on_chat_refused(Error error) override {
    if (once() || !said_hello_) {
      end_ = fail(std::move(error));
      return;
    }
    complain(error.message + "; /session opens another session");
    running_ = false;
    sent_.clear();
    lost_.clear();
  }

  void on_chat_done() override {
    if (once()) finish();
  }

  void on_chat_frame(const ChatFrame& frame) override {
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

  void begin_turn() {
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

  void end_turn() {
    running_ = false;
    asked_.clear();
    if (once()) return finish();
    // The answer of its request comes a moment later and has nothing new.
    auto begun = std::ranges::find_if(sent_, &SentPrompt::begun);
    if (begun != sent_.end()) sent_.erase(begun);
  }

  void finish() {
    if (end_) return;
    if (error_.empty()) {
      end_ = ExitCode::ok;
    } else if (code_ == "cancelled") {
      end_ = ExitCode::task_cancelled;
    } else {
      end_ = fail(ErrorCode::internal, code_, error_);
    }
  }

  // --- approvals ---

  void take_approval(const ChatFrame& frame) {
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

  // What a person must see before deciding: all of it.
  void print_asked(const ChatFrame& frame, const AskedCall& call) {
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
        styled(fmt::format("? {} asks for your approval", terminal_text(call.tool, Lines::join)), kAskLook));
    for (const std::string& line : asked_lines(input, 0)) lines.push_back(styled("  " + line, {}, 4));
    print(std::move(lines));
  }

  // True: the key was an answer.
  bool answer_approval(const Key& key) {
    if (asked_.empty() || !editor_.empty() || key.kind != KeyKind::text || key.pasted) return false;
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

  // --- the person ---

  void on_events(std::uint32_t) override {
    char bytes[4096];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);
    if (got <= 0) {
      end_ = ExitCode::ok;  // the terminal was closed
      return;
    }
    take_keys(keys_.read({bytes, static_cast<std::size_t>(got)}));
    if (keys_.waits()) escape_.arm(steady_clock::now() + kChatEscapeWait);
  }

  void take_keys(const std::vector<Key>& keys) {
    for (const Key& key : keys) {
      if (end_) return;
      notice_.clear();
      press(key);
    }
    mark();
  }

  void press(const Key& key) {
    if (editor_.searching()) {
      editor_.press(key);
      return;
    }
    if (answer_approval(key)) return;
    switch (key.kind) {
      case KeyKind::interrupt:
        return interrupt();
      case KeyKind::suspend:
        return suspend();
      case KeyKind::redraw:
        return screen_.clear_screen();
      case KeyKind::open:
        return show_tool_call(0);
      case KeyKind::finish:
        if (editor_.empty()) {
          leave();
        } else {
          editor_.press({KeyKind::erase});
        }
        return;
      case KeyKind::tab:
        return complete();
      case KeyKind::enter:
        return once() ? void() : enter();
      default:
        if (!once()) editor_.press(key);
    }
  }

  void enter() {
    // A backslash at the end of a line goes on with the next one, as in a shell.
    if (editor_.text().ends_with('\\')) {
      editor_.press({KeyKind::backspace});
      editor_.press({KeyKind::newline});
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

  void send(std::string text) {
    std::uint64_t number = ++numbers_;
    sent_.push_back({number, text});
    asked_ms_ = clock_.steady_ms();
    link_.call(
        "POST", "/request", chat_request_body(text, options_.max_tokens, false),
        [this, number](const Result<std::string>& answer) { take_answer(number, answer); }, true);
    tick();
  }

  // The answer of a prompt's request. What it says came as events before, unless something is wrong.
  void take_answer(std::uint64_t number, const Result<std::string>& answer) {
    auto found = std::ranges::find(sent_, number, &SentPrompt::number);
    if (found == sent_.end()) return;  // its turn has ended, or another session was opened
    SentPrompt sent = std::move(*found);
    if (!answer && answer.error().code == ErrorCode::unavailable && (sent.begun || answer.error().reason == "closed")) {
      // The connection broke, and its turn has begun: the events say how it ends.
      if (sent.begun) return;
    }
    sent_.erase(found);
    if (answer && sent.begun) return;
    if (!answer) {
      if (answer.error().message != error_) complain(answer.error().message);
      if (!sent.begun && editor_.empty() && answer.error().reason != "cancelled") editor_.set(sent.text);
    } else if (lost_.empty()) {
      // A server whose events do not have it.
      print(transcript_.event("message_added", object_text([&](JsonObject& object) {
                                object.text("role", "user");
                                object.text("content", sent.text);
                              })));
      print(transcript_.event("message_added", object_text([&](JsonObject& object) {
                                object.text("role", "assistant");
                                object.text("content", text_member(*answer, "response"));
                              })));
    }
    mark();
  }

  void interrupt() {
    if (busy()) return cancel();
    if (!editor_.empty()) {
      editor_.take();
    } else if (once()) {
      end_ = ExitCode::task_cancelled;
    } else {
      notice_ = "Ctrl-D or /quit leaves";
    }
  }

  void cancel() {
    if (once() && std::exchange(cancelling_, true)) {
      end_ = ExitCode::task_cancelled;
      return;
    }
    notice_ = "cancelling";
    link_.call("POST", "/cancel", "{}", [this](const Result<std::string>& answer) {
      if (answer) return;
      complain(answer.error().code == ErrorCode::not_found ? "this server cannot cancel a turn"
                                                           : answer.error().message);
    });
  }

  void leave() { end_ = ExitCode::ok; }

  void suspend() {
    screen_.clear();
    raw_.leave();
    std::raise(SIGSTOP);
    raw_.enter();
    mark();
  }

  void take_signal(int signal) {
    if (signal == SIGINT) {
      interrupt();
    } else if (signal == SIGTERM || signal == SIGHUP) {
      end_ = ExitCode::ok;
    } else if (signal == SIGCONT) {
      raw_.enter();
    }
    mark();
  }

  void complete() {
    std::vector<std::string> names = chat_commands_with(editor_.text());
    if (names.size() == 1) {
      editor_.set(names.front() + " ");
    } else if (!names.empty()) {
      notice_ = fmt::format("{}", fmt::join(names, "  "));
    }
  }

  // --- commands ---

  void obey(const ChatCommand& command) {
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

  void simple(const std::string& path) {
    link_.call("POST", path, "{}", [this, path](const Result<std::string>& answer) {
      if (!answer) return complain(answer.error().message);
      // Other servers say nothing about it in their events.
      if (path == "/clear" && newest_.empty()) print(transcript_.event("cleared", "{}"));
      mark();
    });
  }

  void show_session() {
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

  void show_sessions() {
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

  void show_history() {
    link_.call("GET", "/session", "", [this](const Result<std::string>& answer) {
      if (!answer) return complain(answer.error().message);
      ChatTranscript all;
      print(all.history(*answer, std::string::npos));
      mark();
    });
  }

  void fork(const std::string& name) {
    std::string body = object_text([&](JsonObject& object) { object.text_unless_empty("id", name); });
    link_.call("POST", "/fork", body, [this](const Result<std::string>& answer) {
      if (!answer) return complain(answer.error().message);
      open(text_member(*answer, "id"));
    });
  }

  void show_tool_call(std::size_t number) {
    const ShownToolCall* call = transcript_.tool_call(number);
    if (call == nullptr) return void(notice_ = "no tool was called yet, or not with this number");
    print(ChatTranscript::whole_tool_call(*call));
  }

  // --- the screen ---

  void print(std::vector<StyledLine> lines) {
    screen_.print(std::move(lines));
    mark();
  }
  void say(std::string_view text) { print({styled(terminal_text(text, Lines::join), kStatusLook)}); }
  void complain(std::string_view text) { print({styled("error: " + terminal_text(text, Lines::join), kErrorLook, 7)}); }
  void mark() { dirty_ = true; }

  // Elapsed times go on while something runs.
  void tick() { second_.arm(steady_clock::now() + std::chrono::seconds(1)); }
  void every_second() {
    mark();
    if (busy()) tick();
  }

  StyledLine status() const {
    if (!notice_.empty()) return styled(notice_, kAskLook);
    if (!lost_.empty())
      return styled(fmt::format("connection lost, trying again: {}", terminal_text(lost_, Lines::join)), kErrorLook);
    if (!asked_.empty() && asked_.front().decided) return styled("telling the server", kStatusLook);
    if (!asked_.empty()) {
      const AskedCall& call = asked_.front();
      std::string always =
          call.rule.empty() ? "" : fmt::format(" · a always: {}", terminal_text(call.rule, Lines::join));
      return styled(fmt::format("allow {}? y yes · n no{}", terminal_text(call.tool, Lines::join), always), kAskLook);
    }
    if (opening_) return styled("opening the session", kStatusLook);
    if (!busy()) return once() ? StyledLine() : styled(place(), kStatusLook);
    std::int64_t since = running_ ? turn_ms_ : asked_ms_;
    std::string what = !running_                        ? "waiting"
                       : !transcript_.running().empty() ? "running " + transcript_.running()
                                                        : "answering";
    std::size_t waiting = static_cast<std::size_t>(std::ranges::count(sent_, false, &SentPrompt::begun));
    std::string more = running_ && waiting > 0 ? fmt::format(" · {} waiting", waiting) : "";
    return styled(fmt::format("{} · {}{} · Ctrl-C cancels", what, age_text(clock_.steady_ms() - since), more),
                  kStatusLook);
  }

  std::string place() const {
    std::string name = task_.empty() ? "chat" : task_;
    std::string tokens = context_size_ > 0 ? fmt::format(" · {} of {} tokens", total_tokens_, context_size_) : "";
    return terminal_text(fmt::format("{} · {}{}", name, model_, tokens), Lines::join);
  }

  void draw() {
    dirty_ = false;
    drawn_ = steady_clock::now();
    bool types = !once() && !end_;
    if (!screen_.draw(end_ ? std::vector<StyledLine>() : transcript_.unfinished(), end_ ? StyledLine() : status(),
                      types ? &editor_ : nullptr) &&
        !end_) {
      end_ = ExitCode::ok;
    }
  }

  const ChatOptions& options_;
  const bool keyboard_ = RawMode::possible();
  SystemClock clock_;
  InputHistory history_;
  LineEditor editor_;
  KeyReader keys_;
  RawMode raw_;
  ChatScreen screen_;
  ChatTranscript transcript_;
  net::EventLoop loop_;
  net::Timers timers_;
  ChatLink link_;
  net::Timer escape_, second_;
  SignalWatch signals_;

  std::string session_, task_;  // as it was named; its task's id
  std::string newest_;          // id of the newest event
  std::string model_;
  std::uint64_t context_size_ = 0, total_tokens_ = 0;
  bool opening_ = false, said_hello_ = false, running_ = false, cancelling_ = false;
  std::string lost_, notice_, error_, code_;
  std::uint64_t numbers_ = 0;
  std::deque<SentPrompt> sent_;
  std::deque<AskedCall> asked_;
  std::int64_t turn_ms_ = 0, asked_ms_ = 0;
  bool dirty_ = true;
  steady_clock::time_point drawn_;
  std::optional<Result<ExitCode>> end_;
};

}  // namespace

Result<ExitCode> talk_chat(Context& context, const ChatOptions& options) {
  context.out.flush();
  return ChatTalk(context, options).run();
}

}  // namespace shepherd
