// The page's files in the binary, with hashed names and precompressed.
// Threads: value (constant).
#pragma once

#include <span>
#include <string_view>

namespace shepherd {

struct PageFile {
  std::string_view name;  // "index.html", "index-4fca81.js"
  std::string_view content_type;
  std::string_view etag;  // quoted
  std::string_view plain;
  std::string_view gzip;    // empty if there is only the plain form
  std::string_view brotli;  // empty if there is only the plain form
};

std::span<const PageFile> page_files();
// Returns nullptr if there is no such file.
const PageFile* page_file(std::string_view name);

// The smallest form of a file that a request's Accept-Encoding accepts.
struct EncodedFile {
  std::string_view bytes;
  std::string_view encoding;  // empty for the plain form
};
EncodedFile encoded_for(const PageFile& file, std::string_view accept_encoding);

}  // namespace shepherd
