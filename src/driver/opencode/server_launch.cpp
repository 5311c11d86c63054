#include "driver/opencode/opencode_server.h"
#include "driver/opencode/settings.h"

namespace shepherd {

std::vector<std::string> OpenCodeServer::version_command(const std::string& program) const {
  return opencode_version_command(program);
}

std::vector<std::string> OpenCodeServer::state_paths(const Variable& variable) const {
  return opencode_state_paths(variable);
}

Result<LaunchPlan> OpenCodeServer::launch(const Launch& launch) {
  if (auto ok = check_opencode_launch(launch); !ok) return fail(ok.error());
  std::size_t slash = launch.model.find('/');
  if (!launch.model.empty() && slash == std::string::npos) {
    return fail(ErrorCode::invalid_argument, "bad_launch", "this agent's models are named PROVIDER/MODEL");
  }
  Result<std::string> configuration = opencode_configuration(launch);
  if (!configuration) return fail(configuration.error());
  launched_ = launch;
  prompt_ = opencode_prompt(launch);
  mode_ = launch.mode;
  LaunchPlan plan;
  HttpLaunch service;
  auto& argv = service.program.argv;
  argv = launch.words("opencode");
  argv.insert(argv.end(), {"serve", "--hostname", "127.0.0.1", "--port", "0"});
  service.program.environment = opencode_environment(*configuration);
  service.ready = "opencode server listening on ";
  service.user = "opencode";
  service.password_variable = "OPENCODE_SERVER_PASSWORD";
  service.events = "/event";
  service.heartbeat = "\"server.heartbeat\"";
  plan.way = std::move(service);
  plan.keep_input_open = true;
  Actions first;
  if (launch.resume_session.empty()) {
    send({Asked::session, "", false}, "POST", "/session", "{}", first);
  } else {
    send({Asked::session, "", false}, "GET", "/session/" + launch.resume_session, "", first);
  }
  plan.input = first.take_written();
  hints_.turn = Hints::Turn::running;
  return plan;
}

Capabilities OpenCodeServer::capabilities() const {
  Capabilities can;
  can.commands = (1U << kCommandKinds) - 1;
  can.acknowledges = can.commands;
  can.approvals = true;
  can.deltas = launched_.deltas;
  can.cost = true;
  can.resumes_sessions = true;
  return can;
}

AgentTraits OpenCodeServer::traits() const {
  AgentTraits traits;
  traits.model = Means::own;
  traits.modes = Means::own;
  traits.allowed_tools = Means::own;
  traits.mcp_servers = Means::own;
  traits.budget = Means::runner;
  traits.use = ToldUse::money;
  traits.questions = true;
  traits.sub_agents = true;
  return traits;
}

}  // namespace shepherd
