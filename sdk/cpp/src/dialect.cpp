#include "dialect.h"

#include <grpcpp/support/slice.h>

#include <vector>

#include "typed_messages.h"

namespace shepherd::agent {
namespace pb = gibson::agent;
namespace typed = gibson::typed_agent;
namespace {

std::optional<std::string> content_of(const grpc::ByteBuffer& bytes) {
  std::vector<grpc::Slice> slices;
  if (!bytes.Dump(&slices).ok()) return {};
  std::string content;
  for (const grpc::Slice& slice : slices) {
    content.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  }
  return content;
}

grpc::ByteBuffer buffer_of(const std::string& content) {
  grpc::Slice slice(content);
  return {&slice, 1};
}

}  // namespace

// A task in JSON begins with "{", and no serialized message does.
std::optional<Dialect> read_first(const grpc::ByteBuffer& bytes, pb::ClientMessage& message) {
  std::optional<std::string> content = content_of(bytes);
  if (!content) return {};
  bool read = message.ParseFromString(*content);
  if (read && (!message.has_start() || message.start().task_json().starts_with('{'))) return Dialect::json;
  typed::ClientMessage other;
  bool is_typed = other.ParseFromString(*content) && other.start().has_task() &&
                  !(other.start().task().id().empty() && other.start().task().goal().empty());
  if (is_typed) {
    message.Clear();
    message.mutable_start()->set_task_json(task_json_of(other.start().task()));
    message.mutable_start()->set_initial_mode(static_cast<pb::AgentMode>(other.start().initial_mode()));
    return Dialect::typed;
  }
  return read ? std::optional(Dialect::json) : std::nullopt;
}

bool read_later(const grpc::ByteBuffer& bytes, pb::ClientMessage& message) {
  std::optional<std::string> content = content_of(bytes);
  if (!content) return false;
  if (message.ParseFromString(*content)) return true;
  typed::ClientMessage other;
  if (!other.ParseFromString(*content) || !other.has_start()) return false;
  message.Clear();
  message.mutable_start();
  return true;
}

grpc::ByteBuffer written(const pb::AgentMessage& message, Dialect dialect) {
  return buffer_of(dialect == Dialect::typed ? typed_message(message).SerializeAsString()
                                             : message.SerializeAsString());
}

}  // namespace shepherd::agent
