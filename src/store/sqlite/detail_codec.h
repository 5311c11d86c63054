// Details as bytes on disk: zstd with a shipped dictionary, because agents' records repeat the same words.
//
// A frame names the dictionary it was made with, so later dictionaries can be added beside the first; none is ever
// changed or removed. detail_dictionary_1.zdict was trained with `zstd --train --maxdict=65536 --dictID=1` on about
// 2,300 single records of agents' output streams, their ids, times and paths replaced by others.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"

namespace shepherd {

// 16 bytes that name the content: a truncated SHA-256, because content comes from outside and equal names share bytes.
std::string content_hash(std::string_view content);

// Threads: compress() from one at a time; decompress() from any.
class DetailCodec {
 public:
  DetailCodec();
  ~DetailCodec();
  std::string compress(std::string_view detail);
  // internal/corrupt when it is not a frame of ours or grows beyond kMaxDetailBytes.
  Result<std::string> decompress(std::string_view bytes) const;

 private:
  struct Impl;  // zstd objects
  std::unique_ptr<Impl> impl_;
};

}  // namespace shepherd
