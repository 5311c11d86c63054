#include "cli/replay_pace.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace shepherd {
namespace {

constexpr std::array<int, 8> kSpeeds{1, 2, 4, 8, 16, 32, 64, 0};  // 0: no pauses

std::string name_of(int speed) {
  return speed == 0 ? "max" : std::to_string(speed);
}

}  // namespace

std::vector<std::string> ReplayPace::speeds() {
  std::vector<std::string> names;
  names.reserve(kSpeeds.size());
  for (int speed : kSpeeds) names.push_back(name_of(speed));
  return names;
}

ReplayPace::ReplayPace(std::string_view speed, std::chrono::milliseconds idle) : idle_ms_(idle.count()) {
  for (std::size_t i = 0; i < kSpeeds.size(); ++i) {
    if (name_of(kSpeeds[i]) == speed) speed_ = i;
  }
}

void ReplayPace::faster() {
  speed_ = std::min(speed_ + 1, kSpeeds.size() - 1);
}

void ReplayPace::slower() {
  speed_ -= speed_ > 0 ? 1 : 0;
}

std::string ReplayPace::text() const {
  return kSpeeds[speed_] == 0 ? "max" : name_of(kSpeeds[speed_]) + "x";
}

void ReplayPace::next_event(std::int64_t happened_ms) {
  std::int64_t pause_ms = last_ms_ ? happened_ms - *last_ms_ : 0;
  left_ms_ = static_cast<double>(std::clamp<std::int64_t>(pause_ms, 0, idle_ms_));
  last_ms_ = std::max(happened_ms, last_ms_.value_or(happened_ms));
}

std::chrono::milliseconds ReplayPace::left() const {
  if (kSpeeds[speed_] == 0) return std::chrono::milliseconds(0);
  return std::chrono::milliseconds(std::llround(left_ms_ / kSpeeds[speed_]));
}

void ReplayPace::passed(std::chrono::milliseconds real) {
  left_ms_ = std::max(0.0, left_ms_ - static_cast<double>(real.count()) * kSpeeds[speed_]);
}

}  // namespace shepherd
