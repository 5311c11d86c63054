#include <zlib.h>

#include <algorithm>
#include <string>

#include "otlp/decode.h"
#include "otlp/limits.h"

namespace shepherd {
namespace {

// Owns zlib's state.
class Inflater {
 public:
  Inflater() {
    constexpr int kGzipOnly = 16 + MAX_WBITS;
    ready_ = inflateInit2(&stream_, kGzipOnly) == Z_OK;
  }
  ~Inflater() {
    if (ready_) inflateEnd(&stream_);
  }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;
  z_stream& stream() { return stream_; }
  bool ready() const { return ready_; }

 private:
  z_stream stream_{};
  bool ready_ = false;
};

Error bad_gzip() {
  return {ErrorCode::invalid_argument,
          "bad_gzip",
          "The body is not gzip, or it is cut off. Send it again, or without Content-Encoding.",
          {}};
}

}  // namespace

Result<std::string> inflate_gzip(std::string_view body) {
  Inflater inflater;
  if (!inflater.ready()) return fail(ErrorCode::unavailable, "no_memory", "There is no memory to inflate the body.");
  std::size_t most = std::min(kMaxOtlpBytes, std::max(kOtlpRatioFreeBytes, body.size() * kMaxOtlpRatio));
  z_stream& stream = inflater.stream();
  // zlib does not write to its input; its interface lacks the const.
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(body.data()));
  stream.avail_in = static_cast<uInt>(body.size());
  std::string out;
  for (int code = Z_OK; code != Z_STREAM_END;) {
    std::size_t known = out.size();
    out.resize(known + kInflateStepBytes);
    stream.next_out = reinterpret_cast<Bytef*>(out.data() + known);
    stream.avail_out = static_cast<uInt>(kInflateStepBytes);
    code = inflate(&stream, Z_NO_FLUSH);
    out.resize(known + kInflateStepBytes - stream.avail_out);
    if (out.size() > most) {
      return fail(ErrorCode::too_large, "inflates_too_much",
                  "The body inflates to more than " + std::to_string(most) + " bytes. Export smaller batches.");
    }
    // Without progress the input has ended before the data has.
    if (code != Z_STREAM_END && (code != Z_OK || out.size() == known)) return fail(bad_gzip());
  }
  if (stream.avail_in != 0) return fail(bad_gzip());
  return out;
}

}  // namespace shepherd
