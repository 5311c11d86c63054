#include <algorithm>
#include <array>
#include <utility>

#include "driver/acp/acp_agent.h"
#include "driver/acp/limits.h"
#include "driver/limits.h"
#include "json/write.h"

namespace shepherd {
namespace {

// Modes that ask before they change anything, by the ids of known agents; the first that is offered is taken.
constexpr std::array<std::string_view, 4> kAskingModes{"default", "approve", "ask", "manual"};
// Modes that do not ask.
constexpr std::array<std::string_view, 10> kSilentModes{
    "auto",      "yolo",        "bypassPermissions", "acceptEdits",  "autoEdit",
    "auto-edit", "full-access", "agent-full-access", "auto_approve", "dontAsk"};

bool among(const auto& list, std::string_view id) {
  return std::ranges::find(list, id) != list.end();
}

}  // namespace

// What an answer or an update says of the session's settings.
void AcpAgent::take_settings(const JsonNode& result) {
  auto choices = [&](const JsonNode& list, std::string_view key, std::vector<Choice>& into) {
    if (list.kind != JsonKind::array) return;
    into.clear();
    auto add = [&](const JsonNode& each) {
      if (into.size() < kMaxAcpChoices) {
        into.push_back({std::string(record_.string(each, key).substr(0, kMaxAgentIdBytes)),
                        std::string(record_.string(each, "name").substr(0, kMaxAgentIdBytes))});
      }
    };
    for (const JsonNode* each = record_.first(list); each != nullptr; each = record_.after(*each)) {
      const JsonNode& group = record_.find(*each, "options");
      if (group.kind != JsonKind::array) add(*each);
      for (const JsonNode* one = record_.first(group); one != nullptr; one = record_.after(*one)) add(*one);
    }
  };
  const JsonNode& modes = record_.find(result, "modes");
  choices(record_.find(modes, "availableModes"), "id", modes_);
  if (auto id = record_.string(modes, "currentModeId"); !id.empty()) agent_mode_ = id.substr(0, kMaxAgentIdBytes);
  const JsonNode& models = record_.find(result, "models");
  choices(record_.find(models, "availableModels"), "modelId", models_);
  if (auto id = record_.string(models, "currentModelId"); !id.empty()) agent_model_ = id.substr(0, kMaxAgentIdBytes);
  const JsonNode& options = record_.find(result, "configOptions");
  if (options.kind != JsonKind::array) return;
  options_.clear();
  for (const JsonNode* each = record_.first(options); each != nullptr; each = record_.after(*each)) {
    if (options_.size() == 100) break;
    Option option;
    option.id = record_.string(*each, "id").substr(0, kMaxAgentIdBytes);
    option.name = one_line(record_.string(*each, "name"), kMaxAgentIdBytes);
    option.category = record_.string(*each, "category").substr(0, kMaxAgentIdBytes);
    option.flag = record_.string(*each, "type") == "boolean";
    const JsonNode& current = record_.find(*each, "currentValue");
    option.current = (current.kind == JsonKind::string ? current.text : current.slice).substr(0, kMaxAgentIdBytes);
    choices(record_.find(*each, "options"), "value", option.choices);
    if (option.category == "model") agent_model_ = option.current;
    if (option.category == "mode") agent_mode_ = option.current;
    options_.push_back(std::move(option));
  }
}

// What the launch wants otherwise than the session is.
void AcpAgent::plan_settings(Actions& out) {
  if (!launched_.model.empty() && launched_.model != agent_model_) plan_model(out);
  for (const auto& [id, value] : launched_.options) {
    if (id == "mode") {
      plan_mode(value);
    } else if (!plan_option(id, value)) {
      note(out, "The agent has no option \"" + id + "\"; it was not set");
    }
  }
  if (launched_.options.contains("mode") || mode_ != AgentMode::interactive) return;
  if (std::string mode = asking_mode(); !mode.empty()) plan_mode(mode);
}

// The agent judges whether it knows the model: its list may be shorter than what it takes.
void AcpAgent::plan_model(Actions& out) {
  auto best = [&](const std::vector<Choice>& choices) {
    for (const Choice& each : choices) {
      if (each.id == launched_.model || each.name == launched_.model) return each.id;
    }
    for (const Choice& each : choices) {
      if (each.id.ends_with("/" + launched_.model)) return each.id;
    }
    return launched_.model;
  };
  for (const Option& option : options_) {
    if (option.category != "model" && option.id != "model") continue;
    std::string value = best(option.choices);
    if (value != option.current) plan_option(option.id, value);
    return;
  }
  if (models_.empty()) {
    return note(out, "The agent does not let its model be chosen; it was started without \"" + launched_.model + "\"");
  }
  std::string params = object_text([&](JsonObject& object) {
    object.text("sessionId", hints_.session_id);
    object.text("modelId", best(models_));
  });
  asked_model_ = {"the model to " + launched_.model, best(models_)};
  settings_.push_back({"session/set_model", std::move(params), asked_model_.about, ""});
}

bool AcpAgent::plan_option(std::string_view id, std::string_view value) {
  auto option = std::ranges::find(options_, id, &Option::id);
  if (option == options_.end()) return false;
  std::string params = object_text([&](JsonObject& object) {
    object.text("sessionId", hints_.session_id);
    object.text("configId", id);
    if (option->flag) {
      object.text("type", "boolean");
      object.flag("value", value == "true" || value == "on");
    } else {
      object.text("value", value);
    }
  });
  settings_.push_back(
      {"session/set_config_option", std::move(params), std::string(id) + " to " + std::string(value), ""});
  return true;
}

void AcpAgent::plan_mode(std::string_view mode) {
  if (mode == agent_mode_) return;
  auto option = std::ranges::find(options_, "mode", &Option::category);
  if (modes_.empty() && option != options_.end()) {
    plan_option(option->id, mode);
    return;
  }
  std::string params = object_text([&](JsonObject& object) {
    object.text("sessionId", hints_.session_id);
    object.text("modeId", mode);
  });
  settings_.push_back({"session/set_mode", std::move(params), "the mode to " + std::string(mode), ""});
}

std::string AcpAgent::asking_mode() const {
  if (!among(kSilentModes, agent_mode_)) return {};
  auto option = std::ranges::find(options_, "mode", &Option::category);
  const auto& offered = !modes_.empty() || option == options_.end() ? modes_ : option->choices;
  for (std::string_view mode : kAskingModes) {
    if (std::ranges::find(offered, mode, &Choice::id) != offered.end()) return std::string(mode);
  }
  return {};
}

}  // namespace shepherd
