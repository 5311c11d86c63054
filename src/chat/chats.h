// All chat sessions of this server. A session is a task with the agent "chat"; it is in memory while it is used, and
// its log has everything else. Sessions are created by their first use.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/random.h"
#include "base/result.h"
#include "chat/session.h"
#include "journal/journal.h"

namespace shepherd {

inline constexpr std::string_view kChatAgent = "chat";

// All of these outlive the Chats.
struct ChatParts {
  LogParts log;
  Executor& reads;  // for blocking reads of the store
  Random& random;
  Model& model;
  Toolbox* tools = nullptr;
  std::function<ModelPrice(const std::string& backend)> price;
};

// A session as /session and /status show it.
struct SessionView {
  std::string task;
  ModelFacts model;
  std::string system;
  std::vector<ChatMessage> messages;
  std::vector<Tool> tools;
  std::int64_t total_tokens = 0;
  bool exact = false;
  bool processing = false;
  std::size_t queued = 0;
  std::string current_request;
  // What the model has said in its current call, for a consumer that comes late or has lost live text.
  struct Answer {
    std::uint64_t after = 0;  // the log's newest number
    std::string block;
    std::uint64_t pieces = 0;  // of the block's live text that `text` and `reasoning` contain
    std::string text, reasoning;
    bool cut = false;  // only the beginning
  };
  std::optional<Answer> answer;
};

// Callbacks come on the loop. Threads: any, unless a function says otherwise.
class Chats {
 public:
  Chats(ChatParts parts, ChatConfig config);
  ~Chats();
  Chats(const Chats&) = delete;
  Chats& operator=(const Chats&) = delete;

  // Follows commands and deletions, and closes the turns that a killed server left open. Call it before any client may
  // post.
  Result<void> start();
  // Ends all turns; no callback comes afterwards. Journal, loop and lanes must still run.
  void stop();
  void tick();  // about every second

  // `session` is a task id, or empty for the default session.
  using Found = std::function<void(Result<std::string> task)>;
  // `accepted` gets the number of prompts that wait, this one included, once it is in the queue.
  void request(std::string session, ChatRequest request, std::function<void(Result<std::size_t>)> accepted);
  void view(std::string session, std::function<void(Result<SessionView>)> done);
  // The same, for a client that reads the session to show it.
  void read(std::string session, std::function<void(Result<SessionView>)> done);
  struct Place {
    std::string task;
    std::uint64_t after = 0;
    DeltaPlace deltas;
    // Of a turn that has just begun, for an observer that connects a little late:
    std::vector<SessionLog::Recent> missed;
    std::string said;                           // by the model, not in a message yet
    std::optional<SessionView::Answer> answer;  // the same with its place, for one that comes back in a turn
  };
  void observe(std::string session, std::function<void(Result<Place>)> done);
  // A command of this session that is in the log; `done` gets the number of prompts that wait, a running one included.
  // The follower brings it as well, but later than prompts that are sent when its sender has the answer.
  void command(std::string task, Command command, std::function<void(Result<std::size_t>)> done);
  // Whether a model answered when it was asked last.
  void health(std::function<void(bool)> done);
  // A request that was refused before it was a turn, for observers, who see nothing else of it.
  void refused(std::string session, const Error& error);
  void clear(std::string session, std::function<void(Result<void>)> done);
  void cancel(std::string session, std::function<void(Result<bool>)> done);
  // A new session with the messages through event `through` (0: all). `id` may be empty.
  void fork(std::string session, std::uint64_t through, std::string id, Found done);

  const ChatConfig& config() const { return config_; }
  Model& model() { return parts_.model; }
  std::int64_t uptime_seconds() const { return (parts_.log.clock.steady_ms() - began_ms_) / 1'000; }
  std::uint64_t requests() const { return requests_.load(std::memory_order_relaxed); }

 private:
  using WithSession = std::move_only_function<void(Result<std::shared_ptr<ChatSession>>)>;
  struct Loading {
    std::vector<WithSession> waiting;
  };
  struct Loaded {
    TaskRow row;
    Conversation conversation;
    SessionBasis kept;  // by its record
    std::vector<std::string> allowed_tools;
    std::string prompt;                           // of a task that was created to be answered and has no event yet
    std::optional<Result<Conversation>> resumed;  // of the session that such a task goes on with
  };

  // A task and its first events.
  struct FirstWrite {
    TaskSpec spec;
    AppendRequest events;
    std::optional<SessionBasis> basis;
  };

  Result<FirstWrite> first_write(const std::string& task) const;
  static Result<std::string> write_first(WriteTxn& txn, const FirstWrite& first);
  void with(std::string session, WithSession use);
  void with_task(const std::string& task, WithSession use);
  void resolve_default(WithSession use);
  void load(const std::string& task);
  Result<Loaded> read(const std::string& id) const;
  Result<bool> read_log(const std::string& id, Loaded& loaded) const;
  void take_open_command(const std::string& task, const TaskCommand& command);
  void forget(const std::vector<std::string>& tasks);
  void loaded(const std::string& task, Result<Loaded> found);
  void create(const std::string& task, std::function<void(Result<void>)> done);
  void opened(const std::shared_ptr<ChatSession>& session, const TaskRow& row, const std::string& prompt,
              const std::function<void(Result<std::shared_ptr<ChatSession>>)>& answer);
  void begin_resumed(const std::shared_ptr<ChatSession>& session, const std::string& from,
                     const Result<Conversation>& resumed, std::function<void(Result<void>)> done);
  std::shared_ptr<ChatSession> make_session(const std::string& task, Loaded loaded);
  void ready(ChatSession& session);
  void start_turns();
  void tell_no_turn();
  void take(const News& news);
  void unload_idle();
  SessionView view_of(const ChatSession& shown);
  SessionFacts facts_of(const std::string& session, const std::vector<Tool>& tools) const;

  ChatParts parts_;
  const ChatConfig config_;
  const std::int64_t began_ms_;
  std::atomic<std::uint64_t> requests_{0};
  std::unique_ptr<Follower> follower_;
  // Owned by the loop.
  std::unordered_map<std::string, std::shared_ptr<ChatSession>> sessions_;
  std::vector<std::shared_ptr<ChatSession>> leaving_;  // deleted, until their turns have ended
  std::unordered_map<std::string, Loading> loading_;
  std::deque<std::weak_ptr<ChatSession>> turns_;  // sessions that wait for room
  std::int64_t running_ = 0;                      // turns, without those that wait for a person
  std::string default_task_;
  bool stopped_ = false;
  std::shared_ptr<std::promise<void>> no_turn_;  // stop() waits for it
};

}  // namespace shepherd
