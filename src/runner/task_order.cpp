#include "runner/task_order.h"

#include <optional>

#include "json/read.h"

namespace shepherd {
namespace {

namespace dom = simdjson::dom;

std::string text(const dom::object& object, std::string_view key) {
  std::string_view value;
  return object[key].get(value) == simdjson::SUCCESS ? std::string(value) : std::string();
}

std::vector<std::string> texts(const dom::object& object, std::string_view key) {
  std::vector<std::string> out;
  dom::array array;
  if (object[key].get(array) != simdjson::SUCCESS) return out;
  for (dom::element each : array) {
    std::string_view value;
    if (each.get(value) == simdjson::SUCCESS) out.emplace_back(value);
  }
  return out;
}

template <class Number>
Number number(const dom::object& object, std::string_view key) {
  Number value{};
  return object[key].get(value) == simdjson::SUCCESS ? value : Number{};
}

}  // namespace

Result<TaskOrder> decode_task_order(std::string_view json) {
  JsonParser parser(json.size());
  auto root = parser.parse(json);
  if (!root) return fail(std::move(root.error()));
  TaskOrder order;
  dom::object object;
  if (root->get(object) == simdjson::SUCCESS) order.task = text(object, "id");
  if (order.task.empty()) return fail(ErrorCode::internal, "bad_response", "the server's answer is not a task's data");
  order.agent = text(object, "agent");
  order.command = texts(object, "command");
  order.description = text(object, "description");
  order.context = text(object, "context");
  order.source_url = text(object, "sourceURL");
  order.model = text(object, "model");
  order.mode = agent_mode(text(object, "mode")).value_or(AgentMode::interactive);
  order.max_turns = number<std::int64_t>(object, "maxTurns");
  order.budget_usd = number<double>(object, "budget");
  order.timeout_seconds = number<std::int64_t>(object, "timeout");
  order.allowed_tools = texts(object, "allowedTools");
  order.resume_session = text(object, "resumeSession");
  if (dom::element servers; object["mcpServers"].get(servers) == simdjson::SUCCESS && !servers.is_null()) {
    order.mcp_servers_json = simdjson::minify(servers);
  }
  if (dom::object repo; object["repo"].get(repo) == simdjson::SUCCESS) {
    order.repo_url = text(repo, "url");
    order.repo_ref = text(repo, "ref");
  }
  return order;
}

}  // namespace shepherd
