// Encodes details for disk with zstd and a built-in dictionary, because agents' records repeat the same words.
//
// A frame names its dictionary, so new dictionaries can be added; existing ones are never changed or removed.
// detail_dictionary_1.zdict was trained with `zstd --train --maxdict=65536 --dictID=1` on about 2,300 single records of
// agents' output streams, with ids, times and paths replaced.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

// A 16-byte name of the content: a truncated SHA-256, because content comes from outside and equal names share bytes.
std::string content_hash(std::string_view content);

// Threads: compress() from one thread at a time; decompress() from any.
class DetailCodec {
 public:
  DetailCodec();
  ~DetailCodec();
  std::string compress(std::string_view detail);
  // internal/corrupt if the bytes are not one of our frames or decompress to more than kMaxDetailBytes.
  Result<std::string> decompress(std::string_view bytes) const;

 private:
  struct Impl;  // zstd objects
  std::unique_ptr<Impl> impl_;
};

}  // namespace shepherd
