// Encodes AgentEvent messages as bytes. A frame is kind, length and message, so one span of bytes holds many. Every
// event is encoded as protobuf once for all watchers.
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
  std::size_t begin = 0, end = 0;  // of the message within the searched bytes
};

const FrameEncoder& rpc_task_frames();  // numbers are sequences
const FrameEncoder& rpc_all_frames();   // numbers are positions, sent as `cursor`

// Returns the frame that starts at `offset`, or nullopt at the end.
std::optional<Frame> frame_at(std::string_view bytes, std::size_t offset);

}  // namespace shepherd
