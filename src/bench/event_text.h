// The events of the load: valid Shepherd events of equal length, with room for a marker in their summary. A few dozen
// texts alternate, so that a store that compresses gains no more than with real agents' events.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/marker.h"

namespace shepherd::bench {

class EventTexts {
 public:
  static constexpr std::size_t kDefaultBytes = 600;
  static constexpr std::size_t kSmallestBytes = 300;

  explicit EventTexts(std::size_t bytes = kDefaultBytes);

  std::size_t bytes() const { return texts_.front().size(); }
  // Appends one event with this marker.
  void append(std::string& out, const Marker& marker) const;

 private:
  std::vector<std::string> texts_;
  std::size_t marker_at_ = 0;  // equal in all of them
};

}  // namespace shepherd::bench
