#include "api/page_files.h"

#include <algorithm>
#include <cstddef>

// One block of bytes; the table below says what lies where. Both are written by web/scripts/embed.mjs.
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

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

// Whether a list such as "gzip, br;q=0.8" takes this coding; q=0 says that it does not.
bool takes(std::string_view list, std::string_view coding) {
  while (!list.empty()) {
    std::string_view item = list.substr(0, list.find(','));
    list.remove_prefix(std::min(item.size() + 1, list.size()));
    std::string_view name = trimmed(item.substr(0, item.find(';')));
    if (name != coding) continue;
    std::size_t weight = item.find("q=");
    return weight == std::string_view::npos || item.find_first_of("123456789", weight) != std::string_view::npos;
  }
  return false;
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
  if (!file.brotli.empty() && takes(accept_encoding, "br")) return {file.brotli, "br"};
  if (!file.gzip.empty() && takes(accept_encoding, "gzip")) return {file.gzip, "gzip"};
  return {file.plain, {}};
}

}  // namespace shepherd
