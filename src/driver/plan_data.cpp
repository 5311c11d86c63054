#include "driver/plan_data.h"

#include <algorithm>

#include "driver/event_json.h"
#include "driver/limits.h"
#include "json/write.h"

namespace shepherd {
namespace {

constexpr std::string_view kDoing = "in_progress", kDone = "completed";

std::string_view word_of(std::string_view status) {
  return status == kDoing ? "doing" : status == kDone ? "done" : "to do";
}

}  // namespace

std::string plan_status(std::string_view word) {
  if (word == "inProgress") return std::string(kDoing);
  return std::string(word.substr(0, kMaxAgentIdBytes));
}

std::string plan_summary(const std::vector<PlanStep>& steps) {
  auto done = std::ranges::count(steps, kDone, &PlanStep::status);
  std::string summary = "Plan: " + std::to_string(done) + " of " + std::to_string(steps.size()) + " done";
  auto now = std::ranges::find(steps, kDoing, &PlanStep::status);
  if (now != steps.end() && !now->content.empty()) summary.append("; now: ").append(now->content);
  return summary;
}

std::string plan_members(const std::vector<PlanStep>& steps) {
  std::string list = "[";
  for (const PlanStep& step : steps) {
    if (list.size() > kMaxEventTextBytes) break;
    if (list.size() > 1) list.push_back(',');
    write_object(list, [&](JsonObject& object) {
      object.text("content", one_line(step.content, kMaxAgentIdBytes));
      object.text("status", step.status);
      object.text("state", word_of(step.status));
    });
  }
  return R"("event":"progress","details":{"plan":)" + list + "]}";
}

}  // namespace shepherd
