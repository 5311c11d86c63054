// Feeds any bytes, cut anywhere, to the reader of HTTP responses. It must not crash, must keep every bound, and must
// read the same response from the same bytes regardless of the cuts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "net/limits.h"
#include "net/response_reader.h"

namespace {

using namespace shepherd;
using namespace shepherd::net;

// The head, the body, and how the response ended. Refusals are compared without their words: which of two faults is
// found first may depend on the cuts.
std::string read(std::string_view bytes, const std::vector<std::uint8_t>& cuts, ResponseReader::Request request) {
  ResponseReader reader(request);
  std::string seen, body;
  for (std::size_t turn = 0; !bytes.empty(); ++turn) {
    std::size_t size = cuts.empty() ? bytes.size() : 1 + cuts[turn % cuts.size()];
    std::string piece(bytes.substr(0, size));
    bytes.remove_prefix(piece.size());
    std::string_view input = piece;
    for (bool more = true; more;) {
      switch (reader.read(input)) {
        case ResponseReader::Event::need_more:
          SHEPHERD_ASSERT(input.empty(), "what is not needed belongs to the next response");
          more = false;
          break;
        case ResponseReader::Event::head:
          SHEPHERD_ASSERT(seen.empty(), "a response has one head");
          SHEPHERD_ASSERT(reader.head().headers.size() <= kMaxHeaders, "the number of headers is bounded");
          seen = std::to_string(reader.head().status) + '\n';
          for (const auto& [name, value] : reader.head().headers) seen += name + ':' + value + '\n';
          break;
        case ResponseReader::Event::body:
          SHEPHERD_ASSERT(!reader.piece().empty(), "a piece has bytes");
          body += reader.piece();
          break;
        case ResponseReader::Event::end:
          return seen + body + (reader.keep_alive() ? "\nkept" : "\nclosed");
        case ResponseReader::Event::refused:
          SHEPHERD_ASSERT(!reader.refusal().empty(), "a refusal has a reason");
          return seen + body + "\nrefused";
      }
    }
  }
  bool ended = reader.read_end() == ResponseReader::Event::end;
  return seen + body + (ended ? "\nended" : "\ncut off");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first bytes choose the cuts and what was asked.
  std::size_t cut_count = std::min<std::size_t>(data[0] % 8, size - 1);
  auto request = static_cast<ResponseReader::Request>(data[0] >> 6U);
  std::vector<std::uint8_t> cuts(data + 1, data + 1 + cut_count);
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1 + cut_count, size - 1 - cut_count);
  SHEPHERD_ASSERT(read(bytes, cuts, request) == read(bytes, {}, request),
                  "a response does not depend on how its bytes were cut");
  return 0;
}
