// The server's HTTP interface as typed, blocking calls.
//
// An error answer becomes an Error with the server's own code as `reason`, its message, and its other members as
// fields. An unreachable server is unavailable/unreachable. Nothing is retried here, because only the caller can decide
// to wait.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "client/find_server.h"
#include "client/limits.h"
#include "client/task_view.h"
#include "net/client.h"

namespace shepherd {

// Query parameters in order; the client encodes their values.
using Parameters = std::vector<std::pair<std::string, std::string>>;
std::string query_text(const Parameters& query);     // "?a=1&b=2", or "" if empty
std::string percent_encoded(std::string_view text);  // for path segments and query values

// Adds advice to an error of the connection itself.
Error with_connection_advice(Error error);

struct TaskList {
  std::vector<TaskView> tasks;
  std::string next;  // target of the next page, from the Link header; empty on the last page
};

struct LogPage {
  std::vector<std::string> events;  // JSON of each, as the server sent it
};

struct Posted {
  std::uint64_t sequence = 0;           // the log's last number
  std::uint64_t producer_sequence = 0;  // the producer's highest number
};

struct CreatedTask {
  TaskView task;
  bool existed = false;
};

struct SearchHit {
  std::string task;
  std::uint64_t sequence = 0;
  std::string timestamp, type, summary;
  std::string snippet;  // the text around the match
};
struct SearchAnswer {
  std::vector<SearchHit> hits;  // newest first
  std::uint64_t indexed_through = 0;
  std::string json;  // the whole answer
};

struct AcceptedCommand {
  std::string id;
  std::uint64_t sequence = 0;  // of the `command` event; results come after it
};

struct TokenRequest {
  std::string name, scope, task;
  std::int64_t expires_seconds = 0;  // 0 means the server's default
};

// Threads: caller.
class ApiClient {
 public:
  static Result<ApiClient> create(Destination destination, net::ClientTls tls = {});

  // `body` is a creation request as in POST /api/v1/tasks.
  Result<CreatedTask> create_task(std::string_view body, const std::string& idempotency_key = "");
  Result<TaskList> tasks(const Parameters& filters);
  Result<TaskList> next_tasks(const std::string& target);  // TaskList::next
  Result<TaskView> task(std::string_view id);
  Result<TaskView> patch_task(std::string_view id, std::string_view body);
  Result<void> delete_task(std::string_view id);

  // One page of a log, ascending; parameters: after, before, tail, types, limit, detail.
  Result<LogPage> events(std::string_view task, const Parameters& query);
  // The JSON of one event or of its detail, which has the full content. not_found if there is none.
  Result<std::string> event(std::string_view task, std::uint64_t sequence);
  Result<std::string> detail(std::string_view task, std::uint64_t sequence);
  // Appends events (one JSON object per line). A producer id makes the numbering strict; empty means fire and forget.
  // `lease` is the epoch of their claim; 0 for none.
  Result<Posted> post_events(std::string_view task, std::string_view ndjson, const std::string& producer = "",
                             std::int64_t lease = 0);

  // `body` is a command as in model/command.h. Its acceptance into the log does not imply an effect.
  Result<AcceptedCommand> post_command(std::string_view task, std::string_view body);

  // Posts calls of an agent's hooks, as a JSON array.
  Result<void> post_hooks(std::string_view calls);

  Result<SearchAnswer> search(std::string_view query, const Parameters& more = {});

  // These return the server's JSON.
  Result<std::string> whoami();
  Result<std::string> tokens();
  Result<std::string> create_token(const TokenRequest& request);
  Result<void> revoke_token(std::string_view id);
  // A URL for a browser, valid once; with `whose`, for the token with that name or id (admins only).
  Result<std::string> login_link(std::string_view whose = "");

  const Destination& destination() const { return destination_; }

 private:
  enum class Port { open, internal };
  struct Call {
    std::string_view method = "GET";
    std::string target;
    std::string_view body = {};
    std::string_view content_type = {};
    net::HeaderList headers = {};
    Port port = Port::open;
    std::chrono::milliseconds timeout = kClientTimeout;
  };

  ApiClient(Destination destination, net::HttpClient open, net::HttpClient internal);
  Result<net::ClientResponse> send(Call call);
  Result<std::string> body_of_answer(Call call);
  Result<TaskList> task_list(std::string target);

  Destination destination_;
  net::HttpClient open_;
  net::HttpClient internal_;
};

}  // namespace shepherd
