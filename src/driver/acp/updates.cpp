#include <algorithm>
#include <utility>

#include "driver/acp/acp_agent.h"
#include "driver/limits.h"
#include "driver/plan_data.h"
#include "json/write.h"
#include "model/limits.h"

namespace shepherd {
namespace {

// A piece of what is said: text, or what stands for something else.
std::string piece_text(const JsonSlices& record, const JsonNode& content) {
  std::string_view type = record.string(content, "type");
  if (type == "text") return std::string(record.string(content, "text"));
  const JsonNode& resource = record.find(content, "resource");
  std::string_view where = record.string(type == "resource" ? resource : content, "uri");
  std::string_view media = record.string(content, "mimeType");
  std::string_view shown = !where.empty() ? where : !media.empty() ? media : type;
  return shown.empty() ? std::string() : "[" + std::string(shown) + "]";
}

constexpr std::string_view kModeMark = "[MODE_UPDATE] ";  // Gemini says so in words of the agent

}  // namespace

void AcpAgent::update(Actions& out) {
  const JsonNode& update = record_.find(record_.find("params"), "update");
  std::string_view kind = record_.string(update, "sessionUpdate");
  bool words = kind.ends_with("_chunk");
  bool call = kind == "tool_call" || kind == "tool_call_update";
  if (replaying_ && (words || call || kind == "plan")) return;
  if (words || call) taken_up(out);
  if (kind == "agent_message_chunk") return chunk(Block::Kind::message, update, out);
  if (kind == "agent_thought_chunk") return chunk(Block::Kind::thought, update, out);
  if (kind == "user_message_chunk") return chunk(Block::Kind::user, update, out);
  if (call) return tool_call(update, kind == "tool_call", out);
  if (kind == "plan") return plan(update, out);
  if (kind == "available_commands_update") return commands_update(update, out);
  if (kind == "current_mode_update") return mode_update(record_.string(update, "currentModeId"), out);
  if (kind == "config_option_update") return option_update(update, out);
  if (kind == "session_info_update") return session_info(update, out);
  if (kind == "usage_update") return usage_update(update, out);
  if (kind == "notice") return notice(update, out);
  if (kind == "compaction_update") return compaction(update, out);
  if (kind == "compaction_summary_chunk") return;
  unknown("session/update " + std::string(kind), out);
}

void AcpAgent::usage_update(const JsonNode& update, Actions& out) {
  bool knew = usage_.cost_usd().has_value();
  usage_.update(record_, update);
  if (knew || !usage_.cost_usd()) return;
  status(out, "The agent says what it costs", "", "\"capabilities\":" + encode_capabilities(capabilities()));
}

void AcpAgent::chunk(Block::Kind kind, const JsonNode& update, Actions& out) {
  std::string text = piece_text(record_, record_.find(update, "content"));
  if (kind == Block::Kind::message && text.starts_with(kModeMark) && text.find('\n') == std::string::npos) {
    return mode_update(std::string_view(text).substr(kModeMark.size()), out);
  }
  std::string_view id = record_.string(update, "messageId").substr(0, kMaxAgentIdBytes);
  bool same = block_ && block_->kind == kind && block_->id == id && block_->text.size() + text.size() <= kMaxWholeBytes;
  if (!same) {
    close_block(out);
    ++blocks_;
    block_ = Block{kind, std::string(id), "", now_ms_, now_ms_};
  }
  block_->text += text;
  block_->changed_ms = now_ms_;
  bool live = launched_.deltas && kind != Block::Kind::user && !text.empty();
  if (live && text.size() <= kMaxDeltaBytes / 8) out.delta({"block-" + std::to_string(blocks_), std::move(text)});
}

// The words are whole.
void AcpAgent::close_block(Actions& out) {
  if (!block_) return;
  Block block = *std::exchange(block_, std::nullopt);
  if (block.text.find_first_not_of(" \t\r\n") == std::string::npos) return;
  bool user = block.kind == Block::Kind::user;
  std::string_view kept = event_text(block.text);
  std::string data = object_text([&](JsonObject& object) {
    object.text(user ? "role" : "kind", user ? "user" : block.kind == Block::Kind::thought ? "reasoning" : "text");
    object.text(user ? "content" : "text", kept);
  });
  if (block.kind == Block::Kind::message) last_text_ = kept;
  EventParts parts = step(user ? EventType::message : EventType::thinking);
  parts.timestamp_ms = block.changed_ms;
  std::string summary = one_line(kept, kTextSummaryCharacters);
  if (summary.empty()) summary = "(words without letters)";
  parts.summary = summary;
  parts.data = data;
  if (block.kind == Block::Kind::thought)
    parts.duration_ms = std::max<std::int64_t>(0, block.changed_ms - block.since_ms);
  Detail detail;
  mark_cut(parts, detail, kept, block.text);
  add_event(out, parts, detail.take());
}

void AcpAgent::plan(const JsonNode& update, Actions& out) {
  close_block(out);
  const JsonNode& entries = record_.find(update, "entries");
  std::vector<PlanStep> steps;
  for (const JsonNode* each = record_.first(entries); each != nullptr; each = record_.after(*each)) {
    steps.push_back({std::string(record_.string(*each, "content")), plan_status(record_.string(*each, "status"))});
  }
  status(out, plan_summary(steps), "", plan_members(steps));
}

// Agents say it again whenever it may have changed; people are told once.
void AcpAgent::commands_update(const JsonNode& update, Actions& out) {
  const JsonNode& commands = record_.find(update, "availableCommands");
  std::string list;
  std::size_t count = 0;
  for (const JsonNode* each = record_.first(commands); each != nullptr; each = record_.after(*each)) {
    ++count;
    if (list.size() > kMaxEventTextBytes) continue;
    list.push_back(list.empty() ? '[' : ',');
    append_json_string(list, record_.string(*each, "name").substr(0, kMaxAgentIdBytes));
  }
  if (count == 0 || std::exchange(commands_told_, true)) return;
  status(out, "The agent knows " + std::to_string(count) + (count == 1 ? " command" : " commands"), "",
         "\"details\":{\"commands\":" + (list.empty() ? "[" : list) + "]}");
}

void AcpAgent::mode_update(std::string_view mode, Actions& out) {
  if (mode.empty() || mode == agent_mode_) return;
  agent_mode_ = mode.substr(0, kMaxAgentIdBytes);
  std::string shown = agent_mode_;
  for (const Choice& each : modes_) {
    if (each.id == agent_mode_ && !each.name.empty()) shown = each.name;
  }
  std::string details = object_text([&](JsonObject& object) { object.text("mode", agent_mode_); });
  status(out, "The agent's mode is now: " + shown, "", "\"details\":" + details);
}

void AcpAgent::option_update(const JsonNode& update, Actions& out) {
  std::vector<Option> before = options_;
  take_settings(update);
  for (const Option& option : options_) {
    auto old = std::ranges::find(before, option.id, &Option::id);
    if (old != before.end() && old->current == option.current) continue;
    std::string details = object_text([&](JsonObject& object) {
      object.text("option", option.id);
      object.text("value", option.current);
    });
    status(out,
           "The agent's option \"" + (option.name.empty() ? option.id : option.name) + "\" is now: " + option.current,
           "", "\"details\":" + details);
  }
}

void AcpAgent::session_info(const JsonNode& update, Actions& out) {
  std::string title = one_line(record_.string(update, "title"), kTextSummaryCharacters);
  if (title.empty() || title == title_) return;
  title_ = title;
  std::string details = object_text([&](JsonObject& object) { object.text("title", title); });
  status(out, "Session: " + title, "", "\"details\":" + details);
}

void AcpAgent::notice(const JsonNode& update, Actions& out) {
  std::string severity(record_.string(update, "severity").substr(0, kMaxAgentIdBytes));
  std::string words(record_.string(update, "title"));
  if (auto more = record_.string(update, "description"); !more.empty()) words.append(": ").append(more);
  if (words.empty()) words = "A notice without words";
  bool bad = severity == "error";
  std::string data = object_text([&](JsonObject& object) {
    if (bad) {
      object.text("code", "agent_notice");
      object.flag("fatal", false);
      object.flag("recoverable", true);
    } else {
      object.text_unless_empty("severity", severity);
    }
    object.text("message", event_text(words));
  });
  EventParts parts = step(bad ? EventType::error : EventType::log);
  std::string line = one_line(words, kTextSummaryCharacters);
  parts.summary = line;
  parts.data = data;
  emit(out, parts);
}

void AcpAgent::compaction(const JsonNode& update, Actions& out) {
  std::string_view state = record_.string(update, "status");
  std::string words = "Making the conversation shorter";
  if (state == "completed") words = "Made the conversation shorter";
  if (state == "cancelled") words = "The conversation was not made shorter";
  if (state == "failed") words = "The conversation could not be made shorter";
  if (auto error = record_.string(update, "error"); !error.empty()) words.append(": ").append(error);
  status(out, words, "");
}

}  // namespace shepherd
