// Chat sessions in this server: opens the configured models and tools, and owns them and the sessions over them.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "base/clock.h"
#include "base/executor.h"
#include "base/random.h"
#include "base/result.h"
#include "base/thread_pool.h"
#include "chat/chats.h"
#include "chat/completions.h"
#include "config/config.h"
#include "journal/journal.h"
#include "mcp/mcp_toolbox.h"
#include "net/event_loop.h"
#include "steering/steering.h"
#include "store/search_index.h"
#include "tools/toolbox.h"

namespace shepherd {

// All of these outlive the ChatHost.
struct ChatHostParts {
  Journal& journal;
  Steering& steering;
  net::EventLoop& loop;  // where models and sessions live
  Executor& reads;
  const Clock& clock;
  Random& random;
  const Redactor* redactor = nullptr;
  const CondenseRules& condense;
  const SearchIndex* search = nullptr;  // nullptr: sessions cannot be searched
};

// open() fails on a configuration that cannot work; a model that does not answer is only logged. stop() before the
// servers drain, while journal, loop and lanes run. Threads: any; not on the loop.
class ChatHost {
 public:
  static Result<std::unique_ptr<ChatHost>> open(ChatHostParts parts, const Config& config);
  ~ChatHost();
  ChatHost(const ChatHost&) = delete;
  ChatHost& operator=(const ChatHost&) = delete;

  Chats& chats() { return *chats_; }
  Completions& completions() { return *completions_; }
  void tick();  // about every second
  void stop();

 private:
  explicit ChatHost(ChatHostParts parts) : parts_(parts) {}
  void probe();

  Result<std::unique_ptr<Toolbox>> open_tools(const Config& config);

  const ChatHostParts parts_;
  std::unique_ptr<ThreadPool> tool_threads_;
  std::vector<std::unique_ptr<Model>> models_;  // used on the loop alone, as what follows
  std::unique_ptr<Model> model_;
  std::unique_ptr<ModelCall> probing_;
  std::unique_ptr<Toolbox> tools_;
  McpToolbox* mcp_ = nullptr;  // among the tools; null: no MCP server is configured
  std::unique_ptr<Chats> chats_;
  std::unique_ptr<Completions> completions_;
  std::string told_;                // why the model does not answer, as the log says it; empty: it answers
  std::int64_t next_probe_ms_ = 0;  // owned by tick()
  bool stopped_ = false;
};

}  // namespace shepherd
