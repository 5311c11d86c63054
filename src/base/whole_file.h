// Small files read and replaced as a whole: a reader sees the old one or the new one, never half of it.
// Threads: value.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

// nullopt when there is no such file; too_large over `most` bytes.
Result<std::optional<std::string>> read_whole_file(const std::string& path, std::size_t most);

// Its first line, for files that hold one value; empty when there is no such file.
Result<std::string> read_first_line(const std::string& path);

// Replaces the file, or makes it with `mode`. An existing file keeps its mode; a symbolic link stays one, and the file
// it points to is replaced.
Result<void> replace_file(const std::string& path, std::string_view bytes, mode_t mode);

}  // namespace shepherd
