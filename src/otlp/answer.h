// What an OTLP request is answered with, in the encoding of the request.
// Threads: value.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "base/error.h"
#include "otlp/request.h"

namespace shepherd {

// What was not taken, and why; 0 rejected and no text: all was taken.
struct OtlpPartial {
  std::uint64_t rejected = 0;
  std::string why;
};

std::string_view otlp_media_type(OtlpEncoding encoding);
std::string encode_otlp_answer(OtlpSignal signal, OtlpEncoding encoding, const OtlpPartial& partial);
// google.rpc.Status, which OTLP has for errors.
std::string encode_otlp_error(OtlpEncoding encoding, const Error& error);

}  // namespace shepherd
