#include "store/detail_codec.h"

#include <openssl/evp.h>
#include <zstd.h>

#include "base/assert.h"
#include "model/limits.h"

asm(".section .rodata\n"
    ".global shepherd_detail_dictionary_1\n"
    ".global shepherd_detail_dictionary_1_end\n"
    ".balign 16\n"
    "shepherd_detail_dictionary_1:\n"
    ".incbin \"" SHEPHERD_DETAIL_DICTIONARY_1
    "\"\n"
    "shepherd_detail_dictionary_1_end:\n"
    ".byte 0\n"
    ".text\n");
// NOLINTBEGIN(readability-identifier-naming): symbols of the assembler above
extern "C" const char shepherd_detail_dictionary_1[];
extern "C" const char shepherd_detail_dictionary_1_end[];
// NOLINTEND(readability-identifier-naming)

namespace shepherd {

namespace {

constexpr int kLevel = 3;
constexpr std::size_t kHashBytes = 16;

std::string_view dictionary_1() {
  return {shepherd_detail_dictionary_1,
          static_cast<std::size_t>(shepherd_detail_dictionary_1_end - shepherd_detail_dictionary_1)};
}

template <auto Free>
struct Deleter {
  void operator()(auto* part) const { Free(part); }
};

std::unexpected<Error> damaged() {
  return fail(ErrorCode::internal, "corrupt", "A stored detail is damaged. Run `shepherd doctor`.");
}

}  // namespace

struct DetailCodec::Impl {
  std::unique_ptr<ZSTD_CCtx, Deleter<ZSTD_freeCCtx>> compressor{ZSTD_createCCtx()};
  std::unique_ptr<ZSTD_CDict, Deleter<ZSTD_freeCDict>> compress_1{
      ZSTD_createCDict(dictionary_1().data(), dictionary_1().size(), kLevel)};
  std::unique_ptr<ZSTD_DDict, Deleter<ZSTD_freeDDict>> decompress_1{
      ZSTD_createDDict(dictionary_1().data(), dictionary_1().size())};
};

DetailCodec::DetailCodec() : impl_(std::make_unique<Impl>()) {
  SHEPHERD_ASSERT(impl_->compress_1 && impl_->decompress_1, "the embedded dictionary is one");
}
DetailCodec::~DetailCodec() = default;

std::string DetailCodec::compress(std::string_view detail) {
  std::string bytes(ZSTD_compressBound(detail.size()), '\0');
  std::size_t size = ZSTD_compress_usingCDict(impl_->compressor.get(), bytes.data(), bytes.size(), detail.data(),
                                              detail.size(), impl_->compress_1.get());
  SHEPHERD_ASSERT(!ZSTD_isError(size), "compressing into a buffer of the bound's size works");
  bytes.resize(size);
  return bytes;
}

Result<std::string> DetailCodec::decompress(std::string_view bytes) const {
  unsigned long long size = ZSTD_getFrameContentSize(bytes.data(), bytes.size());
  if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > kMaxDetailBytes) return damaged();
  const ZSTD_DDict* dictionary = impl_->decompress_1.get();
  if (ZSTD_getDictID_fromFrame(bytes.data(), bytes.size()) != ZSTD_getDictID_fromDDict(dictionary)) return damaged();
  std::unique_ptr<ZSTD_DCtx, Deleter<ZSTD_freeDCtx>> context(ZSTD_createDCtx());
  std::string detail(size, '\0');
  std::size_t got =
      ZSTD_decompress_usingDDict(context.get(), detail.data(), detail.size(), bytes.data(), bytes.size(), dictionary);
  if (ZSTD_isError(got) || got != size) return damaged();
  return detail;
}

std::string content_hash(std::string_view content) {
  unsigned char digest[EVP_MAX_MD_SIZE];
  unsigned int size = 0;
  int ok = EVP_Digest(content.data(), content.size(), digest, &size, EVP_sha256(), nullptr);
  SHEPHERD_ASSERT(ok == 1 && size >= kHashBytes, "SHA-256 is always there");
  return std::string(reinterpret_cast<const char*>(digest), kHashBytes);
}

}  // namespace shepherd
