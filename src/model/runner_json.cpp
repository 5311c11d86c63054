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

void read_about(JsonRequest& request, RunnerAbout& about) {
  read_agents(request, about.agents);
  read_labels(request, about.labels);
  request.whole("slots", about.slots);
  for (auto [member, text] : {std::pair{"version", &about.version}, std::pair{"machine", &about.machine}}) {
    request.text(member, *text);
    if (text->size() > kMaxRunnerIdBytes) {
      request.refuse(member, "at most " + std::to_string(kMaxRunnerIdBytes) + " bytes");
    }
  }
}

void write_about(JsonObject& object, const RunnerAbout& about) {
  object.texts("agents", about.agents);
  object.texts("labels", about.labels);
  object.number("slots", about.slots);
  object.text_unless_empty("version", about.version);
  object.text_unless_empty("machine", about.machine);
}

void read_tasks(JsonRequest& request, std::vector<RunnerReport::Task>& tasks) {
  auto given = request.member("tasks");
  if (!given) return;
  simdjson::dom::array array;
  if (given->get(array) != simdjson::SUCCESS || array.size() > kMaxReportedTasks) {
    return request.refuse("tasks", "an array of at most " + std::to_string(kMaxReportedTasks) + " leases");
  }
  for (simdjson::dom::element element : array) {
    std::string_view id;
    std::uint64_t epoch = 0;
    if (element["taskID"].get(id) != simdjson::SUCCESS || element["leaseEpoch"].get(epoch) != simdjson::SUCCESS) {
      return request.refuse("tasks", R"(leases such as {"taskID":"t","leaseEpoch":1})");
    }
    tasks.push_back({std::string(id), epoch});
  }
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

Result<RunnerReport> decode_runner_report(std::string_view json) {
  JsonParser parser(json.size());
  auto object = request_object(parser, json);
  if (!object) return fail(object.error());
  std::optional<Error> error;
  JsonRequest request(*object, "", error);
  RunnerReport report;
  read_about(request, report.about);
  read_tasks(request, report.tasks);
  if (error) return fail(*error);
  return report;
}

std::string encode_runner_about(const RunnerAbout& about) {
  return object_text([&](JsonObject& object) { write_about(object, about); });
}

std::string encode_runner(const std::string& id, const RunnerAbout& about, const std::vector<std::string>& tasks) {
  return object_text([&](JsonObject& object) {
    object.text("id", id);
    write_about(object, about);
    object.texts("tasks", tasks);
  });
}

Result<RunnerAbout> decode_runner_about(std::string_view json) {
  auto report = decode_runner_report(json);
  if (!report) return fail(report.error());
  return std::move(report->about);
}

std::string encode_report_answer(std::int64_t present_seconds, std::int64_t lease_seconds,
                                 const std::vector<std::string>& lost) {
  return object_text([&](JsonObject& object) {
    object.number("presentSeconds", present_seconds);
    object.number("leaseSeconds", lease_seconds);
    object.texts("lost", lost);
  });
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
