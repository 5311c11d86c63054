#include "chat/tool_images.h"

#include <memory>
#include <utility>

#include "chat/limits.h"

namespace shepherd {

void attach_images(ModelMessage& result, std::vector<ModelImage> images) {
  if (images.empty()) return;
  result.image_count = images.size();
  result.images = std::make_shared<const std::vector<ModelImage>>(std::move(images));
}

void bound_images(const std::vector<ModelMessage*>& messages) {
  std::size_t bytes = 0;
  bool full = false;
  for (auto each = messages.rbegin(); each != messages.rend(); ++each) {
    ModelMessage& message = **each;
    if (message.images == nullptr) continue;
    for (const ModelImage& image : *message.images) bytes += image.base64.size();
    full = full || bytes > kMaxShownImageBytes;
    if (full) message.images = nullptr;
  }
}

}  // namespace shepherd
