// An encoder for readers inside the server that only need the task ids of new events.
// Threads: any (stateless).
#pragma once

#include <string_view>
#include <vector>

#include "hub/frame_encoder.h"

namespace shepherd {

const FrameEncoder& task_names_encoder();

// The task ids in frames of that encoder. Adjacent events of one task yield one id. The views point into the frames.
std::vector<std::string_view> task_names(std::string_view frames);

}  // namespace shepherd
