// Texts embedded in the binary (CMakeLists.txt turns them into string literals). page_files.h has the page.
// Threads: value (constant).
#pragma once

#include <string_view>

namespace shepherd::assets {

std::string_view openapi();

}  // namespace shepherd::assets
