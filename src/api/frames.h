// Encodes stream messages for each transport: WebSocket or event stream, for one task's log or for all logs.
//
//   WebSocket     {"type":"task_event","taskID":"t","data":{…}}                  all logs: "cursor" before "data"
//   event stream  event: task_event / data: {…} / id: 7                          all logs: "taskID" first in data
// Threads: any (stateless).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "hub/frame_encoder.h"

namespace shepherd {

const FrameEncoder& websocket_task_frames();
const FrameEncoder& websocket_all_frames();
const FrameEncoder& sse_task_frames();
const FrameEncoder& sse_all_frames();

// A WebSocket text frame around {"type":type,"taskID":task,"data":data}, without taskID if task is empty.
void append_websocket_message(std::string& out, std::string_view type, std::string_view task, std::string_view data);

// The first frame of an event stream: only its id, so that a client has its cursor before any event.
std::string sse_start(std::string_view id);
inline constexpr std::string_view kSseKeepAlive = "event: keepalive\ndata: {}\n\n";

}  // namespace shepherd
