// Random hexadecimal digits for ids. Threads: any.
#pragma once

#include <cstddef>
#include <string>

namespace shepherd::agent {

std::string random_hex(std::size_t digits);  // not all zero

}  // namespace shepherd::agent
