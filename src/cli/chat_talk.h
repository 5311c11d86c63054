// A conversation at a terminal: a person types, the answer streams, tools ask.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/result.h"
#include "cli/chat_commands.h"
#include "cli/chat_options.h"
#include "cli/chat_screen.h"
#include "cli/chat_transcript.h"
#include "cli/context.h"
#include "cli/signal_watch.h"
#include "client/chat_link.h"
#include "terminal/input_history.h"
#include "terminal/line_editor.h"
#include "terminal/raw_mode.h"
#include "terminal/terminal_text.h"

namespace shepherd {

inline constexpr TextLook kChatStatusLook{.dim = true};
inline constexpr TextLook kChatAskLook{.color = Color::yellow};
inline constexpr TextLook kChatErrorLook{.color = Color::red};

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
  bool begun = false;                      // its turn, as far as the events say
  std::optional<std::string> answer = {};  // came before the turn's events, which have a connection of their own
  std::int64_t answered_ms = 0;            // steady clock
};

// Runs until the person leaves; with a prompt, until its answer is complete. Ctrl-C cancels the turn that runs, not the
// program. The connection is made again when it fails; nothing is missed on a server that numbers its events.
// Threads: caller.
class ChatTalk final : private ChatLinkUser, private net::EventLoop::Watcher {
 public:
  ChatTalk(Context& context, const ChatOptions& options);
  ~ChatTalk() override;
  // ok; with a prompt also task_cancelled or failed. Errors: the server cannot be reached or refuses at the start.
  Result<ExitCode> run();

 private:
  bool once() const { return !options_.prompt.empty(); }
  bool busy() const { return running_ || !sent_.empty(); }

  // --- the session ---
  void open(const std::string& session);
  void begin(const std::string& session, const std::string& json);
  void hello();
  void take_numbers(std::string_view json);

  // --- what happens in it ---
  void on_chat_open() override;
  void on_chat_lost(const std::string& why) override;
  void on_chat_refused(Error error) override;
  void on_chat_done() override;
  void on_chat_frame(const ChatFrame& frame) override;
  void begin_turn();
  void end_turn();
  void finish();

  // --- approvals ---
  void take_approval(const ChatFrame& frame);
  // What a person must see before deciding: all of it.
  void print_asked(const ChatFrame& frame, const AskedCall& call);
  // True: the key was an answer.
  bool answer_approval(const Key& key);

  // --- the person ---
  void on_events(std::uint32_t) override;
  void take_keys(const std::vector<Key>& keys);
  void press(const Key& key);
  void enter();
  void send(std::string text);
  // The answer of a prompt's request. What it says came as events before, unless something is wrong.
  void take_answer(std::uint64_t number, const Result<std::string>& answer);
  void show_answers();
  void interrupt();
  void cancel();
  void leave() { end_ = ExitCode::ok; }
  void suspend();
  void take_signal(int signal);
  void complete();

  // --- commands ---
  void obey(const ChatCommand& command);
  void simple(const std::string& path);
  void show_session();
  void show_sessions();
  void show_history();
  void fork(const std::string& name);
  void show_tool_call(std::size_t number);

  // --- the screen ---
  void print(std::vector<StyledLine> lines);
  void say(std::string_view text) { print({styled(terminal_text(text, Lines::join), kChatStatusLook)}); }
  void complain(std::string_view text) {
    print({styled("error: " + terminal_text(text, Lines::join), kChatErrorLook, 7)});
  }
  void mark() { dirty_ = true; }

  // Elapsed times go on while something runs.
  void tick() { second_.arm(std::chrono::steady_clock::now() + std::chrono::seconds(1)); }
  void every_second();
  StyledLine status() const;
  std::string place() const;
  void draw();

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
  std::chrono::steady_clock::time_point drawn_;
  std::optional<Result<ExitCode>> end_;
};

}  // namespace shepherd
