// The routes for runners: presence, claims, a task's data and token. Blocking calls on the internal port.
//
// Errors are the server's, with its own code as reason (lease_lost, token_taken, …); unavailable/unreachable if it is
// down.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "client/limits.h"
#include "client/live_client.h"
#include "model/task.h"
#include "net/client.h"
#include "runner/task_order.h"

namespace shepherd {

struct WorkRequest {
  std::string runner;               // our id
  std::vector<std::string> agents;  // the agents we can run
  std::map<std::string, std::string> labels;
  std::int64_t wait_seconds = 0;
  std::string task;  // only this one; empty for any
};

struct TaskClaim {
  std::string task;
  std::int64_t epoch = 0;
  std::int64_t seconds = 0;  // after this long without a message from us, the server gives the task up
};

// How a runner presents itself.
struct RunnerCard {
  std::string runner;                         // our id
  std::vector<std::string> agents;            // the agents it claims tasks for
  std::map<std::string, std::string> labels;  // of its claims
  std::size_t slots = 0;                      // tasks at once
  std::string version, machine;
};

struct Presence {
  std::int64_t present_seconds = 0;  // after this long without a message from us, the server takes us for gone
  std::int64_t lease_seconds = 0;    // the same for a task of ours
  std::vector<std::string> lost;     // tasks of the request that are no longer ours
};

// Threads: caller; cancel() from any.
class RunnerApi {
 public:
  // Looks the server up again after a call that did not reach it.
  explicit RunnerApi(Locate locate, net::ClientTls tls = {});

  Result<std::optional<TaskClaim>> claim(const WorkRequest& request);  // nullopt if there is no work
  // Says that this runner is there, and renews these claims.
  Result<Presence> present(const RunnerCard& card, const std::vector<TaskClaim>& claims,
                           std::chrono::milliseconds timeout);
  // Says that it leaves. Its claims keep their time.
  Result<void> leave(const std::string& runner, std::chrono::milliseconds timeout);
  Result<TaskOrder> order(std::string_view task);
  // Returns the repository token, which the holder of the claim gets once.
  Result<std::string> token(const TaskClaim& claim);
  // Ends a claimed task that was never begun, unless another runner has it by now.
  Result<void> end_unstarted(const TaskClaim& claim, State state, std::string_view message);
  // On the public port: sends an operator's command to a task.
  Result<void> command(std::string_view task, std::string_view command_json);
  // Makes active and later calls fail soon: unavailable/cancelled.
  void cancel() EXCLUDES(mutex_);
  // Allows calls again after cancel().
  void resume() EXCLUDES(mutex_);

 private:
  struct Call {
    std::string_view method;
    std::string target;
    std::string body;
    bool open = false;       // the public port
    std::int64_t lease = 0;  // sent under this lease; 0 for none
    std::chrono::milliseconds timeout = kClientTimeout;
  };
  struct Link {
    std::shared_ptr<net::HttpClient> client;
    std::string token;
  };
  Result<net::ClientResponse> send(const Call& call) EXCLUDES(mutex_);
  Result<Link> connect(bool open) EXCLUDES(mutex_);

  const Locate locate_;
  const net::ClientTls tls_;
  Mutex mutex_;
  Link internal_ GUARDED_BY(mutex_), open_ GUARDED_BY(mutex_);
  bool cancelled_ GUARDED_BY(mutex_) = false;
};

}  // namespace shepherd
