#include "driver/acp/calls.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "driver/acp/limits.h"
#include "driver/limits.h"
#include "json/scan.h"

namespace shepherd {
namespace {

void take_text(std::string& into, std::string_view said) {
  if (!said.empty()) into = said.substr(0, kMaxEventTextBytes);
}

// Text that is too large to keep stays in the agent's record alone.
void take_json(std::string& into, const JsonNode& node, JsonKind kind) {
  if (node.kind == kind && node.slice.size() <= kMaxWholeBytes) into = node.slice;
}

// The tool's name, where agents keep it in additions of their own: {"goose":{"toolCall":{"toolName":"shell"}}}.
std::string name_in_additions(std::string_view additions) {
  JsonMembers members(additions.empty() ? "{}" : additions);
  while (members.next()) {
    if (!members.value().starts_with('{')) continue;
    std::string name = text_member(members.value(), "toolName");
    if (name.empty()) name = text_member(find_member(members.value(), "toolCall"), "toolName");
    if (!name.empty()) return name;
  }
  return {};
}

}  // namespace

std::string AcpCall::tool() const {
  if (!name.empty()) return name.substr(0, kMaxAgentIdBytes);
  return kind.empty() ? "tool" : kind.substr(0, kMaxAgentIdBytes);
}

// Some agents number their calls anew with every turn.
std::string AcpCalls::unused(std::string_view agent_id) const {
  std::string id(agent_id);
  for (int number = 2; used_.contains(id); ++number) id = std::string(agent_id) + "/" + std::to_string(number);
  return id;
}

AcpCall* AcpCalls::merge(const JsonSlices& record, const JsonNode& node, bool first_word, std::int64_t now_ms) {
  std::string_view id = record.string(node, "toolCallId");
  if (id.empty() || id.size() > kMaxAgentIdBytes) return nullptr;
  AcpCall* call = find(id);
  if (call == nullptr) {
    if (!first_word && used_.contains(id)) return nullptr;
    AcpCall fresh;
    fresh.agent_id = id;
    fresh.id = unused(id);
    fresh.started_ms = now_ms;
    call = &open_.emplace_back(std::move(fresh));
  }
  call->changed_ms = now_ms;
  take_text(call->name, record.string(node, "name"));
  if (call->name.empty()) take_text(call->name, name_in_additions(record.find(node, "_meta").slice));
  if (auto kind = record.string(node, "kind"); kind != "other") take_text(call->kind, kind);
  take_text(call->title, record.string(node, "title"));
  take_text(call->status, record.string(node, "status"));
  take_json(call->content, record.find(node, "content"), JsonKind::array);
  take_json(call->locations, record.find(node, "locations"), JsonKind::array);
  const JsonNode& input = record.find(node, "rawInput");
  if (input.slice.size() > 2) take_json(call->input, input, JsonKind::object);
  const JsonNode& output = record.find(node, "rawOutput");
  if (output.kind != JsonKind::null) take_json(call->output, output, output.kind);
  return call;
}

AcpCall* AcpCalls::find(std::string_view agent_id) {
  auto found = std::ranges::find(open_, agent_id, &AcpCall::agent_id);
  return found == open_.end() ? nullptr : &*found;
}

AcpCall AcpCalls::take(std::string_view agent_id) {
  auto found = std::ranges::find(open_, agent_id, &AcpCall::agent_id);
  SHEPHERD_ASSERT(found != open_.end(), "a call ends once");
  AcpCall call = std::move(*found);
  open_.erase(found);
  if (used_.insert(call.id).second) order_.push_back(call.id);
  if (order_.size() > kMaxAcpCallIds) {
    used_.erase(order_.front());
    order_.pop_front();
  }
  return call;
}

bool AcpCalls::full() const {
  return open_.size() > kMaxAcpOpenCalls;
}

}  // namespace shepherd
