// Files that are built into the binary (CMakeLists.txt turns them into string literals).
// Threads: value (constant).
#pragma once

#include <string_view>

namespace shepherd::assets {

std::string_view openapi();
std::string_view page_html();
std::string_view page_css();
std::string_view page_js();

}  // namespace shepherd::assets
