#include "shepherd/agent/task.h"

#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

namespace shepherd::agent {
namespace {

using google::protobuf::Value;

// An absent member and null leave the text empty.
bool read_text(const google::protobuf::Struct& object, const char* name, std::string& text, std::string& problem) {
  auto member = object.fields().find(name);
  if (member == object.fields().end() || member->second.kind_case() == Value::kNullValue) return true;
  if (member->second.kind_case() != Value::kStringValue) {
    problem = std::string("task_json: \"") + name + "\" must be a string";
    return false;
  }
  text = member->second.string_value();
  return true;
}

}  // namespace

std::optional<Task> parse_task(std::string_view json, std::string& problem) {
  google::protobuf::Struct object;
  auto parsed = google::protobuf::util::JsonStringToMessage({json.data(), json.size()}, &object);
  if (!parsed.ok()) {
    problem = "task_json is not a JSON object: " + std::string(parsed.message());
    return {};
  }
  Task task;
  task.json = json;
  if (!read_text(object, "id", task.id, problem) || !read_text(object, "goal", task.goal, problem)) return {};
  auto context = object.fields().find("context");
  if (context != object.fields().end() && context->second.kind_case() != Value::kNullValue) {
    (void)google::protobuf::util::MessageToJsonString(context->second, &task.context);
  }
  return task;
}

}  // namespace shepherd::agent
