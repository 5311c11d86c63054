// Texts that are built into the binary (CMakeLists.txt turns them into string literals). The page: page_files.h.
// Threads: value (constant).
#pragma once

#include <string_view>

namespace shepherd::assets {

std::string_view openapi();

}  // namespace shepherd::assets
