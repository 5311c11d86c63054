#include "driver/registry/recording_player.h"

#include <utility>

#include "base/assert.h"
#include "driver/acp/replay.h"
#include "driver/registry/agent_form.h"
#include "driver/registry/known_agent.h"
#include "driver/registry/limits.h"
#include "driver/registry/registry.h"

namespace shepherd {
namespace {

std::string all_names() {
  std::string names;
  auto add = [&](std::string_view name) { names.append(names.empty() ? "" : ", ").append(name); };
  for (std::string_view driver : driver_names()) add(driver);
  for (const KnownAgent& agent : known_agents()) {
    if (make_driver(agent.name) == nullptr) add(agent.name);
  }
  return names;
}

}  // namespace

Result<RecordingPlayer> RecordingPlayer::open(std::string_view agent, Launch launch) {
  std::vector<std::string_view> drivers = drivers_for(agent);
  if (drivers.empty()) {
    return fail(ErrorCode::invalid_argument, "unknown_agent",
                "no agent is called \"" + std::string(agent) + "\"; there are: " + all_names());
  }
  return RecordingPlayer(std::move(drivers), std::move(launch));
}

Result<void> RecordingPlayer::line(std::string_view text, std::int64_t now_ms, Actions& out) {
  std::optional<RecordedLine> recorded = recorded_line(text);
  if (recorded && !std::exchange(recorded_, true)) began_ms_ = now_ms;
  RecordedLine plain{RecordedLine::Side::agent, 0, std::string(recorded ? "" : text)};
  Held held{recorded ? *std::move(recorded) : std::move(plain), now_ms};
  if (recorded_) held.now_ms = began_ms_ + held.line.at_ms;
  if (started_) {
    play(held, out);
    return {};
  }
  held_.push_back(std::move(held));
  const RecordedLine& newest = held_.back().line;
  bool full = held_.size() == kMaxLinesBeforeStart;
  if (replay_ == nullptr) {
    auto driver = driver_of_record(drivers_, newest.text);
    if (!driver && !full) return {};
    choose(driver.value_or(drivers_.front()));
  }
  if (recorded_ && !replay_->prepare(newest, launch_) && !full) return {};
  return start(out);
}

Result<Verdict> RecordingPlayer::finish(std::int64_t now_ms, Actions& out) {
  if (replay_ == nullptr) choose(drivers_.front());
  if (!started_) {
    if (auto begun = start(out); !begun) return fail(begun.error());
  }
  return driver_->finish({}, recorded_ ? last_ms_ : now_ms, out);
}

void RecordingPlayer::choose(std::string_view name) {
  driver_ = make_driver(name);
  SHEPHERD_ASSERT(driver_ != nullptr, "each name of a driver has one");
  bool acp = name == "acp";
  if (acp) launch_.options.clear();  // they are for the agent's other form
  replay_ = acp ? std::make_unique<AcpReplay>(*driver_) : std::make_unique<Replay>(*driver_);
}

Result<void> RecordingPlayer::start(Actions& out) {
  auto planned = driver_->launch(launch_);
  if (!planned) return fail(planned.error());
  started_ = true;
  replay_->wrote(planned->input);
  for (const Held& held : std::exchange(held_, {})) play(held, out);
  return {};
}

void RecordingPlayer::play(const Held& held, Actions& out) {
  last_ms_ = held.now_ms;
  if (held.line.side == RecordedLine::Side::agent) replay_->from_agent(held.line.text, held.now_ms, out);
  if (held.line.side == RecordedLine::Side::client) replay_->to_agent(held.line.text, held.now_ms, out);
}

}  // namespace shepherd
