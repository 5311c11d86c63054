// Encodes frames as short text lines, for the tests of tails and feeds.
// Threads: any (stateless).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "hub/frame_encoder.h"

namespace shepherd {

class TextFrames final : public FrameEncoder {
 public:
  explicit TextFrames(bool all = false) : all_(all) {}
  void event(std::string& out, const EventBatch& batch, std::size_t i) const override {
    out += "e" + std::to_string(all_ ? batch.position + i : batch.first + i) + " ";
  }
  void gap(std::string& out, std::string_view, std::uint64_t from, std::uint64_t to) const override {
    out += "gap" + std::to_string(from) + "-" + std::to_string(to) + " ";
  }
  void caught_up(std::string& out, std::string_view, std::uint64_t number) const override {
    out += "caught_up" + std::to_string(number) + " ";
  }
  void position(std::string& out, std::string_view, std::uint64_t number) const override {
    out += "position" + std::to_string(number) + " ";
  }
  void delta(std::string& out, std::string_view, std::string_view data) const override {
    out += "delta:" + std::string(data) + " ";
  }
  void complete(std::string& out, std::string_view task, std::string_view, std::uint64_t) const override {
    out += "complete:" + std::string(task) + " ";
  }

 private:
  bool all_;
};

inline std::string text_of(const std::vector<ByteSpan>& spans) {
  std::string text;
  for (const auto& span : spans) text += span.bytes;
  return text;
}

// A batch of `types.size()` events of `task` that begins at sequence `first` and global position `position`.
inline BatchPtr make_batch(const std::string& task, std::uint64_t first, std::uint64_t position,
                           const std::vector<EventType>& types, const std::string& padding = "") {
  auto batch = std::make_shared<EventBatch>();
  batch->task = task;
  batch->first = first;
  batch->position = position;
  batch->types = types;
  for (std::size_t i = 0; i < types.size(); ++i) {
    batch->bytes += R"({"sequence":)" + std::to_string(first + i) +
                    R"(,"receivedAt":"2026-01-01T00:00:00.000Z","type":")" + std::string(name(types[i])) +
                    R"(","summary":")" + padding + R"("})";
    batch->ends.push_back(static_cast<std::uint32_t>(batch->bytes.size()));
  }
  return batch;
}

}  // namespace shepherd
