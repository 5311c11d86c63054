// Encodes stream messages as one transport's bytes. Encoders are stateless and live as long as the process. The hub
// keeps one set of framed bytes per (log, encoder), so every consumer of a transport gets the same bytes.
//
// A log is either one task's (numbers are sequences, `task` is its id) or all tasks' (numbers are positions).
// Threads: any (stateless).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "store/event_batch.h"

namespace shepherd {

class FrameEncoder {
 public:
  virtual ~FrameEncoder() = default;

  virtual void event(std::string& out, const EventBatch& batch, std::size_t i) const = 0;
  virtual void gap(std::string& out, std::string_view task, std::uint64_t from, std::uint64_t to) const = 0;
  virtual void caught_up(std::string& out, std::string_view task, std::uint64_t number) const = 0;
  virtual void position(std::string& out, std::string_view task, std::uint64_t number) const = 0;
  virtual void delta(std::string& out, std::string_view task, std::string_view data) const = 0;
  // The end of one task. `last` is the number that the consumer has reached.
  virtual void complete(std::string& out, std::string_view task, std::string_view data, std::uint64_t last) const = 0;
};

}  // namespace shepherd
