#include "model/runner_json.h"

#include "base/ids.h"
#include "json/request.h"
#include "json/write.h"
#include "model/event_members.h"
#include "model/limits.h"
#include "model/wire_json.h"

namespace shepherd {
namespace {

void read_runner_id(JsonRequest& request, std::string& runner) {
  request.text("runner", runner);
  if (runner.empty() || runner.size() > kMaxRunnerIdBytes) {
    request.refuse("runner", "a name of 1 to " + std::to_string(kMaxRunnerIdBytes) + " bytes");
  }
}

void read_agents(JsonRequest& request, std::vector<std::string>& agents) {
  request.texts("agents", agents);
  if (agents.size() > kMaxClaimAgents) {
    request.refuse("agents", "an array of at most " + std::to_string(kMaxClaimAgents) + " names");
  }
}

void read_labels(JsonRequest& request, std::map<std::string, std::string>& labels) {
  auto given = request.object("labels");
  if (!given) return;
  for (auto [key, value] : given->raw()) {
    std::string_view text;
    if (value.get(text) != simdjson::SUCCESS) return given->refuse(key, "a string");
    labels.emplace(key, text);
  }
  if (labels.size() > kMaxLabels) request.refuse("labels", "at most " + std::to_string(kMaxLabels) + " labels");
}

}  // namespace

Result<ClaimRequest> decode_claim_request(std::string_view json) {
  JsonParser parser(json.size());
  auto object = request_object(parser, json);
  if (!object) return fail(object.error());
  std::optional<Error> error;
  JsonRequest request(*object, "", error);
  ClaimRequest claim;
  read_runner_id(request, claim.runner);
  read_agents(request, claim.agents);
  read_labels(request, claim.labels);
  request.text("taskID", claim.task);
  request.whole("wait", claim.wait_seconds);
  if (claim.wait_seconds > kMaxClaimWaitSeconds) {
    request.refuse("wait", "from 0 to " + std::to_string(kMaxClaimWaitSeconds) + " seconds");
  }
  if (claim.task.empty() && claim.agents.empty()) {
    request.refuse("agents", "there: the agents this runner can run, such as [\"claude\"]");
  }
  if (!claim.task.empty() && !is_task_id(claim.task)) request.refuse("taskID", "a task's id");
  if (error) return fail(*error);
  return claim;
}

Result<LeaseRequest> decode_lease_request(std::string_view json) {
  JsonParser parser(json.size());
  auto object = request_object(parser, json);
  if (!object) return fail(object.error());
  std::optional<Error> error;
  JsonRequest request(*object, "", error);
  LeaseRequest lease;
  read_runner_id(request, lease.runner);
  std::int64_t epoch = 0;
  request.whole("leaseEpoch", epoch);
  if (epoch == 0) request.refuse("leaseEpoch", "the number that the claim was answered with");
  if (error) return fail(*error);
  lease.epoch = static_cast<std::uint64_t>(epoch);
  return lease;
}

std::string encode_lease(std::string_view task, std::uint64_t epoch, std::int64_t lease_seconds) {
  std::string out = object_text([&](JsonObject& object) {
    object.text_unless_empty("taskID", task);
    object.number("leaseEpoch", epoch);
    object.number("leaseSeconds", lease_seconds);
  });
  return out;
}

std::string encode_task_data(const TaskSpec& spec, std::string_view resume_session) {
  std::string out = object_text([&](JsonObject& object) {
    object.text("id", spec.id);
    object.text("description", spec.description);
    object.text("context", spec.context);
    object.text_unless_empty("sourceURL", spec.source_url);
    object.text_unless_empty("sourceType", spec.source_type);
    object.text_unless_empty("sourceID", spec.source_id);
    append_repo(object.member("repo"), spec);
    object.text_unless_empty("agent", spec.agent);
    object.text_unless_empty("model", spec.model);
    object.text_unless_empty("mode", spec.mode);
    if (!spec.command.empty()) object.texts("command", spec.command);
    if (spec.max_turns > 0) object.number("maxTurns", spec.max_turns);
    if (!spec.allowed_tools.empty()) object.texts("allowedTools", spec.allowed_tools);
    if (!spec.mcp_servers_json.empty()) object.json("mcpServers", spec.mcp_servers_json);
    if (spec.budget_usd > 0) object.number("budget", spec.budget_usd);
    if (spec.timeout_seconds > 0) object.number("timeout", spec.timeout_seconds);
    object.text_unless_empty("resumeOf", spec.resume_of);
    object.text_unless_empty("resumeSession", resume_session);
    object.texts("labels", spec.labels);
  });
  return out;
}

}  // namespace shepherd
