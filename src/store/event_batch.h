// A batch: consecutive events of one task from one commit. Stores write batches, the hub shares them and feeds read
// them.
// Immutable once shared.
// Threads: value.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "model/event_type.h"

namespace shepherd {

struct EventBatch {
  std::string task;
  std::uint64_t first = 0;          // sequence of the first event; the others follow without holes
  std::uint64_t position = 0;       // global position of the first event; the others follow without holes
  std::int64_t received_ms = 0;     // of the newest event
  std::string bytes;                // finished event JSONs, back to back
  std::vector<std::uint32_t> ends;  // end of each event in bytes
  std::vector<EventType> types;
  bool by_server = false;  // written by the server, not by a producer (FoldEvent)
  std::string complete;    // data of task_complete if the task is terminal after this batch, otherwise empty

  std::size_t size() const { return ends.size(); }
  std::uint64_t last() const { return first + ends.size() - 1; }
  std::uint64_t last_position() const { return position + ends.size() - 1; }
  std::string_view event(std::size_t i) const {
    std::uint32_t begin = i == 0 ? 0 : ends[i - 1];
    return std::string_view(bytes).substr(begin, ends[i] - begin);
  }
};

using BatchPtr = std::shared_ptr<const EventBatch>;

}  // namespace shepherd
