#include "api/page_files.h"

#include <algorithm>
#include <cstddef>

#include "api/accept_encoding.h"

// One block of bytes, with a table of its files below. web/scripts/embed.mjs writes both.
// NOLINTNEXTLINE(hicpp-no-assembler)
asm(".pushsection .rodata\n.global shepherd_page_bytes\nshepherd_page_bytes:\n.incbin \"" SHEPHERD_PAGE_BYTES
    "\"\n.popsection");
// NOLINTNEXTLINE(modernize-avoid-c-arrays,readability-identifier-naming): a name for the assembler
extern "C" const char shepherd_page_bytes[];

namespace shepherd {
namespace {

std::string_view bytes_at(std::size_t offset, std::size_t size) {
  return {shepherd_page_bytes + offset, size};
}

}  // namespace

std::span<const PageFile> page_files() {
  static const PageFile files[] = {
#include "page_files.inc"
  };
  return files;
}

const PageFile* page_file(std::string_view name) {
  auto files = page_files();
  auto found = std::ranges::find(files, name, &PageFile::name);
  return found == files.end() ? nullptr : &*found;
}

EncodedFile encoded_for(const PageFile& file, std::string_view accept_encoding) {
  if (!file.brotli.empty() && takes_coding(accept_encoding, "br")) return {file.brotli, "br"};
  if (!file.gzip.empty() && takes_coding(accept_encoding, "gzip")) return {file.gzip, "gzip"};
  return {file.plain, {}};
}

}  // namespace shepherd
