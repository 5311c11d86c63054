// Images that tools have returned. They go to the model with their results while the conversation is in memory; no log
// has them. Only their number is in the event, so that a model is told later that they are not shown. Threads: value.
#pragma once

#include <vector>

#include "llm/model.h"

namespace shepherd {

void attach_images(ModelMessage& result, std::vector<ModelImage> images);

// Drops the images of the oldest of these messages, until those of the others have at most kMaxShownImageBytes.
void bound_images(const std::vector<ModelMessage*>& messages);

}  // namespace shepherd
