#include "client/task_view.h"

#include <boost/json.hpp>
#include <optional>

#include "model/task.h"

namespace shepherd {
namespace {

namespace json = boost::json;

const json::value* find(const json::object& object, std::initializer_list<std::string_view> path) {
  const json::object* here = &object;
  const json::value* value = nullptr;
  for (std::string_view step : path) {
    if (here == nullptr) return nullptr;
    value = here->if_contains(step);
    here = value == nullptr ? nullptr : value->if_object();
  }
  return value;
}

std::string text(const json::object& object, std::initializer_list<std::string_view> path) {
  const json::value* value = find(object, path);
  return value != nullptr && value->is_string() ? std::string(value->get_string()) : std::string();
}

double number(const json::object& object, std::initializer_list<std::string_view> path) {
  const json::value* value = find(object, path);
  if (value == nullptr || !value->is_number()) return 0;
  boost::system::error_code error;
  return value->to_number<double>(error);
}

}  // namespace

bool TaskView::ended() const {
  std::optional<State> known = state_named(state);
  return known && is_terminal(*known);
}

std::string_view TaskView::label() const {
  if (!title.empty()) return title;
  return std::string_view(description).substr(0, description.find('\n'));
}

Result<TaskView> read_task_view(std::string_view source) {
  boost::system::error_code error;
  json::value value = json::parse(source, error);
  const json::object* object = error ? nullptr : value.if_object();
  TaskView row;
  if (object != nullptr) row.id = text(*object, {"id"});
  if (row.id.empty()) return fail(ErrorCode::internal, "bad_response", "the server's answer is not a task");
  row.title = text(*object, {"title"});
  row.description = text(*object, {"task", "description"});
  row.agent = text(*object, {"agent"});
  row.model = text(*object, {"model"});
  row.state = text(*object, {"status", "state"});
  row.phase = text(*object, {"status", "phase"});
  row.message = text(*object, {"status", "message"});
  row.error = text(*object, {"status", "error"});
  row.pr_url = text(*object, {"status", "prURL"});
  row.created_at = text(*object, {"createdAt"});
  row.first_sequence = static_cast<std::uint64_t>(number(*object, {"firstSequence"}));
  row.last_sequence = static_cast<std::uint64_t>(number(*object, {"lastSequence"}));
  row.cost_usd = number(*object, {"usage", "costUSD"});
  const json::value* unpriced = find(*object, {"usage", "unpriced"});
  row.unpriced = unpriced != nullptr && *unpriced == true;
  row.json = source;
  return row;
}

}  // namespace shepherd
