// An encoder for consumers inside the server that only want to know whose events came: of every event its task's id.
// Threads: any (stateless).
#pragma once

#include <algorithm>
#include <string_view>

#include "hub/frame_encoder.h"

namespace shepherd {

const FrameEncoder& task_names_encoder();

// Calls `use` with each task named in frames of that encoder, once for neighbours of one task.
template <class Use>
void each_task_name(std::string_view frames, Use&& use) {
  std::string_view previous;
  while (!frames.empty()) {
    std::string_view task = frames.substr(0, frames.find('\n'));
    frames.remove_prefix(std::min(task.size() + 1, frames.size()));
    if (task == previous) continue;
    use(task);
    previous = task;
  }
}

}  // namespace shepherd
