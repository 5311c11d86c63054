#include "runner/runner_api.h"

#include <utility>

#include "client/api_client.h"
#include "client/problem.h"
#include "json/scan.h"
#include "json/write.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

std::string task_target(std::string_view task, std::string_view rest) {
  return "/api/v1/tasks/" + percent_encoded(task) + std::string(rest);
}

std::int64_t whole(std::string_view object, std::string_view key) {
  return static_cast<std::int64_t>(count_value(find_member(object, key)).value_or(0));
}

std::string claim_body(const WorkRequest& request) {
  return object_text([&](JsonObject& object) {
    object.text("runner", request.runner);
    object.texts("agents", request.agents);
    if (!request.labels.empty()) object.texts("labels", request.labels);
    object.number("wait", request.wait_seconds);
    object.text_unless_empty("taskID", request.task);
  });
}

std::string presence_body(const RunnerCard& card, const std::vector<TaskClaim>& claims) {
  return object_text([&](JsonObject& object) {
    object.texts("agents", card.agents);
    if (!card.labels.empty()) object.texts("labels", card.labels);
    object.number("slots", card.slots);
    object.text_unless_empty("version", card.version);
    object.text_unless_empty("machine", card.machine);
    std::string& tasks = object.member("tasks");
    tasks += '[';
    for (const TaskClaim& claim : claims) {
      if (tasks.back() != '[') tasks += ',';
      write_object(tasks, [&](JsonObject& task) {
        task.text("taskID", claim.task);
        task.number("leaseEpoch", claim.epoch);
      });
    }
    tasks += ']';
  });
}

std::string runner_target(const std::string& runner) {
  return "/api/v1/runners/" + percent_encoded(runner);
}

}  // namespace

RunnerApi::RunnerApi(Locate locate, net::ClientTls tls) : locate_(std::move(locate)), tls_(std::move(tls)) {}

Result<RunnerApi::Link> RunnerApi::connect(bool open) {
  {
    MutexLock lock(mutex_);
    if (cancelled_) return fail(ErrorCode::unavailable, "cancelled", "the runner is ending");
    Link& known = open ? open_ : internal_;
    if (known.client) return known;
  }
  Result<Destination> found = locate_();
  if (!found) return fail(std::move(found.error()));
  Result<net::Url> url = net::parse_url(open ? found->public_url : found->internal_url);
  if (!url) return fail(std::move(url.error()));
  Link made{std::make_shared<net::HttpClient>(*std::move(url), tls_), found->token};
  MutexLock lock(mutex_);
  if (cancelled_) return fail(ErrorCode::unavailable, "cancelled", "the runner is ending");
  (open ? open_ : internal_) = made;
  return made;
}

Result<net::ClientResponse> RunnerApi::send(const Call& call) {
  Result<Link> link = connect(call.open);
  if (!link) return fail(std::move(link.error()));
  net::HeaderList headers{{"Accept", "application/json"}};
  if (!link->token.empty()) headers.emplace_back("Authorization", "Bearer " + link->token);
  if (!call.body.empty()) headers.emplace_back("Content-Type", "application/json");
  if (call.lease != 0) headers.emplace_back("Shepherd-Lease", std::to_string(call.lease));
  Result<net::ClientResponse> response =
      link->client->request(call.method, call.target, headers, call.body, call.timeout);
  if (!response) {
    MutexLock lock(mutex_);
    Link& known = call.open ? open_ : internal_;
    if (known.client == link->client) known = {};
    return fail(with_connection_advice(std::move(response.error())));
  }
  if (response->status >= 400) return fail(read_problem(response->status, response->body));
  return response;
}

void RunnerApi::cancel() {
  MutexLock lock(mutex_);
  cancelled_ = true;
  for (const Link& link : {internal_, open_}) {
    if (link.client) link.client->cancel();
  }
  internal_ = open_ = {};  // a cancelled client stays cancelled
}

void RunnerApi::resume() {
  MutexLock lock(mutex_);
  cancelled_ = false;
}

Result<std::optional<TaskClaim>> RunnerApi::claim(const WorkRequest& request) {
  Result<net::ClientResponse> answer = send({"POST", "/api/v1/claims", claim_body(request)});
  if (!answer) return fail(std::move(answer.error()));
  if (answer->status == 204) return std::nullopt;
  TaskClaim claim{string_value(find_member(answer->body, "taskID")).value_or(""), whole(answer->body, "leaseEpoch"),
                  whole(answer->body, "leaseSeconds")};
  if (claim.task.empty() || claim.seconds <= 0) {
    return fail(ErrorCode::internal, "bad_response", "the server's answer is not a claim");
  }
  return claim;
}

Result<Presence> RunnerApi::present(const RunnerCard& card, const std::vector<TaskClaim>& claims,
                                    std::chrono::milliseconds timeout) {
  Result<net::ClientResponse> answer = send(
      {.method = "PUT", .target = runner_target(card.runner), .body = presence_body(card, claims), .timeout = timeout});
  if (!answer) return fail(std::move(answer.error()));
  Presence presence{whole(answer->body, "presentSeconds"), whole(answer->body, "leaseSeconds"), {}};
  auto lost = array_elements(find_member(answer->body, "lost"));
  if (presence.present_seconds <= 0 || presence.lease_seconds <= 0 || !lost) {
    return fail(ErrorCode::internal, "bad_response", "the server's answer says nothing about this runner");
  }
  for (std::string_view task : *lost) presence.lost.push_back(string_value(task).value_or(""));
  return presence;
}

Result<void> RunnerApi::leave(const std::string& runner, std::chrono::milliseconds timeout) {
  Result<net::ClientResponse> answer =
      send({.method = "DELETE", .target = runner_target(runner), .body = "", .timeout = timeout});
  if (!answer) return fail(std::move(answer.error()));
  return {};
}

Result<TaskOrder> RunnerApi::order(std::string_view task) {
  Result<net::ClientResponse> answer = send({"GET", task_target(task, "/data"), ""});
  if (!answer) return fail(std::move(answer.error()));
  return decode_task_order(answer->body);
}

Result<std::string> RunnerApi::token(const TaskClaim& claim) {
  Result<net::ClientResponse> answer =
      send({.method = "GET", .target = task_target(claim.task, "/token"), .body = "", .lease = claim.epoch});
  if (!answer) return fail(std::move(answer.error()));
  return string_value(find_member(answer->body, "token")).value_or("");
}

Result<void> RunnerApi::end_unstarted(const TaskClaim& claim, State state, std::string_view message) {
  std::string body = object_text([&](JsonObject& event) {
    event.text("type", "status");
    event.text("summary", std::string(name(state)) + ": the task could not be started");
    write_object(event.member("data"), [&](JsonObject& data) {
      data.text("state", name(state));
      data.text("message", message);
    });
  });
  Result<net::ClientResponse> answer = send(
      {.method = "POST", .target = task_target(claim.task, "/events"), .body = std::move(body), .lease = claim.epoch});
  if (!answer) return fail(std::move(answer.error()));
  return {};
}

Result<void> RunnerApi::command(std::string_view task, std::string_view command_json) {
  Result<net::ClientResponse> answer = send({"POST", task_target(task, "/commands"), std::string(command_json), true});
  if (!answer) return fail(std::move(answer.error()));
  return {};
}

}  // namespace shepherd
