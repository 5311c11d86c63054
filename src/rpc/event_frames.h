// AgentEvent messages as bytes, framed so that one run of bytes holds many: kind, length, message. Every event becomes
// protobuf once, for all watchers.
// Threads: any (stateless).
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "hub/frame_encoder.h"

namespace shepherd {

enum class FrameKind : std::uint8_t { event, gap, caught_up, position, complete };

struct Frame {
  FrameKind kind = FrameKind::event;
  std::size_t begin = 0, end = 0;  // of the message in the bytes it was found in
};

const FrameEncoder& rpc_task_frames();  // numbers are sequences
const FrameEncoder& rpc_all_frames();   // numbers are positions, which travel as `cursor`

// The frame that starts at `offset`; nullopt at the end.
std::optional<Frame> frame_at(std::string_view bytes, std::size_t offset);

}  // namespace shepherd
