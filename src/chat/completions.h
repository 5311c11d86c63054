// Stateless calls of every configured model, for clients that own their conversations (/v1/chat/completions).
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "base/result.h"
#include "chat/completion.h"
#include "chat/completion_run.h"
#include "chat/session_log.h"

namespace shepherd {

// All of these outlive the Completions.
struct CompletionsParts {
  LogParts log;
  Random& random;
  std::vector<Model*> models;  // every configured one, by name
  std::vector<Model*> listed;  // those of chat sessions
  Model& chat;                 // the first of them that works
  Toolbox* tools = nullptr;
  std::function<ModelPrice(const std::string& backend)> price;
};

// A model as clients choose it. `NAME+tools` is NAME with the server's own tools.
// Threads: value.
struct CompletionModel {
  std::string id;
  ModelFacts facts;
};

// Every configured model has its configured name as id. The list of chat sessions, which falls back from one backend to
// the next, has the names that its backends use; models() shows the current one, as /session does.
// Threads: strand (the loop), unless a function says otherwise.
class Completions {
 public:
  Completions(CompletionsParts parts, const ChatConfig& config);
  ~Completions();
  Completions(const Completions&) = delete;
  Completions& operator=(const Completions&) = delete;

  // Ends the tasks that a killed server left open. Threads: caller; before any client may call.
  Result<void> start();
  // Ends all calls. Threads: any, but not the loop.
  void stop();

  std::vector<CompletionModel> models() const;
  // Under any id that begin() takes.
  Result<CompletionModel> model(std::string_view id) const;
  std::int64_t created_ms() const { return created_ms_; }  // wall
  std::string new_id();                                    // Threads: any

  // The observer is kept until the end. It may be called before begin() returns.
  void begin(CompletionRequest request, std::shared_ptr<CompletionObserver> observer);
  void cancel(const std::string& id);

 private:
  struct Chosen {
    Model* model = nullptr;
    bool tools = false;
  };
  struct Running {
    std::shared_ptr<CompletionObserver> observer;
    std::unique_ptr<CompletionRun> run;
    std::size_t bytes = 0;  // of its request
  };
  void remove(const std::string& id, Result<CompletionEnd>* end);

  bool has_tools() const;
  Model* named(std::string_view id) const;
  Result<Chosen> choose(std::string_view id) const;

  CompletionsParts parts_;
  const ChatConfig config_;
  const std::int64_t created_ms_;
  std::unordered_map<std::string, Running> running_;
  std::size_t held_bytes_ = 0;  // of the requests in running_
  bool stopped_ = false;
};

}  // namespace shepherd
