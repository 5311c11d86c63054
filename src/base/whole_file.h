// Reads and replaces small files as a whole: a reader sees the old content or the new content, never a mix.
// Threads: value.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

// nullopt when the file does not exist; too_large above `most` bytes.
Result<std::optional<std::string>> read_whole_file(const std::string& path, std::size_t most);

// The first line of a file that holds one value; empty when the file does not exist.
Result<std::string> read_first_line(const std::string& path);

// Replaces the file, or creates it with `mode`. An existing file keeps its mode. A symbolic link stays a link; the file
// it points to is replaced.
Result<void> replace_file(const std::string& path, std::string_view bytes, mode_t mode);

}  // namespace shepherd
