#include "driver/grpc/start_message.h"

#include "gibson/agent.pb.h"
#include "gibson/typed_agent.pb.h"
#include "json/write.h"

namespace shepherd {
namespace {

namespace typed = gibson::typed_agent;

const std::string& task_id(const Launch& launch) {
  return launch.task.empty() ? launch.id : launch.task;
}

std::string task_json(const Launch& launch) {
  std::string out = object_text([&](JsonObject& object) {
    object.text("id", task_id(launch));
    object.text("goal", launch.prompt);
    if (!launch.context.empty()) {
      write_object(object.member("context"), [&](JsonObject& context) { context.text("text", launch.context); });
    }
    object.text_unless_empty("model", launch.model);
    if (launch.max_turns > 0) object.number("maxTurns", launch.max_turns);
    if (launch.budget_usd > 0) object.number("budgetUSD", launch.budget_usd);
    if (!launch.repo_url.empty()) {
      write_object(object.member("repo"), [&](JsonObject& repo) {
        repo.text("url", launch.repo_url);
        repo.text_unless_empty("ref", launch.repo_ref);
      });
    }
  });
  // An agent of the typed dialect reads this text as a message, and a goal could be such that it succeeds: "{" begins a
  // group, and what is in it depends on the goal. With these blanks "{" is followed by a number of four bytes, and then
  // the "d" of "id" ends another group than the one that is open, which is an error for every reader.
  return "{\r  " + out.substr(1);
}

typed::StartExecutionRequest typed_start(const Launch& launch) {
  typed::StartExecutionRequest start;
  typed::Task& task = *start.mutable_task();
  task.set_id(task_id(launch));
  task.set_goal(launch.prompt);
  auto& context = *task.mutable_context();
  if (!launch.context.empty()) context["text"].set_string_value(launch.context);
  if (!launch.repo_url.empty()) {
    auto& repo = *context["repo"].mutable_map_value()->mutable_entries();
    repo["url"].set_string_value(launch.repo_url);
    if (!launch.repo_ref.empty()) repo["ref"].set_string_value(launch.repo_ref);
  }
  if (launch.max_turns > 0) task.mutable_constraints()->set_max_turns(static_cast<int>(launch.max_turns));
  for (const std::string& tool : launch.allowed_tools) task.mutable_constraints()->add_allowed_tools(tool);
  auto& metadata = *task.mutable_metadata();
  if (!launch.model.empty()) metadata["model"].set_string_value(launch.model);
  if (launch.budget_usd > 0) metadata["budgetUSD"].set_double_value(launch.budget_usd);
  return start;
}

}  // namespace

std::string start_message(const Launch& launch, GrpcDialect dialect) {
  bool interactive = launch.mode == AgentMode::interactive;
  if (dialect == GrpcDialect::typed) {
    typed::ClientMessage first;
    *first.mutable_start() = typed_start(launch);
    first.mutable_start()->set_initial_mode(interactive ? typed::AGENT_MODE_INTERACTIVE : typed::AGENT_MODE_AUTONOMOUS);
    return first.SerializeAsString();
  }
  gibson::agent::ClientMessage first;
  first.mutable_start()->set_task_json(task_json(launch));
  first.mutable_start()->set_initial_mode(interactive ? gibson::agent::AGENT_MODE_INTERACTIVE
                                                      : gibson::agent::AGENT_MODE_AUTONOMOUS);
  return first.SerializeAsString();
}

}  // namespace shepherd
