// Feeds any bytes, cut anywhere, to the WebSocket frame reader. It must not crash, must keep its bound, must return
// only valid UTF-8, and must read the same messages from the same bytes regardless of the cuts.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "net/text.h"
#include "net/websocket_frame.h"

namespace {

using namespace shepherd;
using namespace shepherd::net;

constexpr std::size_t kMaxMessage = 1'000;

std::string read(std::string_view bytes, const std::vector<std::uint8_t>& cuts, FrameSender sender) {
  FrameReader reader;
  std::string seen;
  bool closed = false;
  for (std::size_t turn = 0; !bytes.empty() && !closed; ++turn) {
    std::size_t size = cuts.empty() ? bytes.size() : 1 + cuts[turn % cuts.size()];
    std::string piece(bytes.substr(0, size));
    bytes.remove_prefix(piece.size());
    auto take = [&](const FrameReader::Message& message) {
      SHEPHERD_ASSERT(!closed, "nothing comes after a close");
      SHEPHERD_ASSERT(message.payload.size() <= kMaxMessage, "a message is bounded");
      SHEPHERD_ASSERT(message.opcode != Opcode::text || is_utf8(message.payload), "text is UTF-8");
      closed = message.opcode == Opcode::close;
      seen += std::to_string(static_cast<int>(message.opcode)) + ' ';
      seen += message.payload;
      seen += '\n';
    };
    std::uint16_t violation = reader.feed(piece, kMaxMessage, take, sender);
    if (violation != 0) return seen + "violation " + std::to_string(violation);
  }
  return seen;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first bytes choose the cuts and the side that sends.
  std::size_t cut_count = std::min<std::size_t>(data[0] % 8, size - 1);
  std::vector<std::uint8_t> cuts(data + 1, data + 1 + cut_count);
  std::string_view bytes(reinterpret_cast<const char*>(data) + 1 + cut_count, size - 1 - cut_count);
  FrameSender sender = data[0] < 0x80 ? FrameSender::client : FrameSender::server;
  SHEPHERD_ASSERT(read(bytes, cuts, sender) == read(bytes, {}, sender),
                  "messages do not depend on how their bytes were cut");
  return 0;
}
