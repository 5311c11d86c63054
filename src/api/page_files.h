// The files of the page as the build left them in the binary: hashed names, compressed beforehand.
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
  std::string_view gzip;    // empty: only plain
  std::string_view brotli;  // empty: only plain
};

std::span<const PageFile> page_files();
// nullptr: there is no such file.
const PageFile* page_file(std::string_view name);

// The smallest form of a file that a request's Accept-Encoding takes.
struct EncodedFile {
  std::string_view bytes;
  std::string_view encoding;  // empty: as it is
};
EncodedFile encoded_for(const PageFile& file, std::string_view accept_encoding);

}  // namespace shepherd
