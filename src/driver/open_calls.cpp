#include "driver/open_calls.h"

#include <utility>

#include "driver/limits.h"

namespace shepherd {

void OpenCalls::open(std::string_view id, OpenCall call) {
  if (id.empty() || id.size() > kMaxAgentIdBytes) return;
  auto [place, added] = calls_.try_emplace(std::string(id), std::move(call));
  if (!added) return;
  order_.push_back(place->first);
  // Closed calls leave their ids here until they come to the front.
  while (calls_.size() > kMaxOpenCalls || order_.size() > 2 * kMaxOpenCalls) {
    calls_.erase(order_.front());
    order_.pop_front();
  }
}

const OpenCall* OpenCalls::find(std::string_view id) const {
  auto found = calls_.find(std::string(id));
  return found == calls_.end() ? nullptr : &found->second;
}

void OpenCalls::decided(std::string_view id, Decision decision, std::int64_t now_ms) {
  auto found = calls_.find(std::string(id));
  if (found == calls_.end()) return;
  OpenCall& call = found->second;
  call.started_ms += now_ms - call.seen_ms;
  call.seen_ms = now_ms;
  call.denied = decision == Decision::denied;
}

std::optional<OpenCall> OpenCalls::close(std::string_view id) {
  auto found = calls_.find(std::string(id));
  if (found == calls_.end()) return std::nullopt;
  OpenCall call = std::move(found->second);
  calls_.erase(found);
  while (!order_.empty() && !calls_.contains(order_.front())) order_.pop_front();
  return call;
}

std::vector<std::string> OpenCalls::ids() const {
  std::vector<std::string> ids;
  ids.reserve(calls_.size());
  for (const std::string& id : order_) {
    if (calls_.contains(id)) ids.push_back(id);
  }
  return ids;
}

}  // namespace shepherd
