#include "output_batch.h"

#include <algorithm>

#include "utf8.h"

namespace shepherd::agent {

void OutputBatch::add(std::string_view text, bool is_reasoning, Time now) {
  if (text.empty()) return;
  if (text_.empty()) since_ = now;
  is_reasoning_ = is_reasoning;
  text_ += text;
}

std::optional<OutputBatch::Chunk> OutputBatch::take() {
  if (text_.empty()) return {};
  std::size_t bytes = whole_characters(text_, kMaxChunkBytes);
  Chunk chunk{.content = valid_utf8(std::string_view(text_).substr(0, bytes)), .is_reasoning = is_reasoning_};
  text_.erase(0, bytes);
  return chunk;
}

}  // namespace shepherd::agent
