// An encoder for consumers inside the server that only want to know whose events came: of every event its task's id.
// Threads: any (stateless).
#pragma once

#include <string_view>
#include <vector>

#include "hub/frame_encoder.h"

namespace shepherd {

const FrameEncoder& task_names_encoder();

// The tasks named in frames of that encoder, once for neighbours of one task. They point into the frames.
std::vector<std::string_view> task_names(std::string_view frames);

}  // namespace shepherd
