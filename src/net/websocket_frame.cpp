#include "net/websocket_frame.h"

#include <algorithm>
#include <array>
#include <utility>

#include "net/text.h"

namespace shepherd::net {

// Not in the unnamed namespace, because FrameReader::Impl, which has linkage, holds one.
struct FrameHeader {
  std::uint64_t left = 0;  // payload bytes that have not arrived
  std::array<char, 4> mask{};
  std::uint8_t mask_at = 0;
  Opcode opcode = Opcode::continuation;
  bool final = false;
};

namespace {

constexpr std::size_t kMaxControlBytes = 125;
constexpr std::size_t kMaxFrameHeaderBytes = 14;  // two bytes, a long length, a mask

constexpr std::uint16_t kProtocolError = 1002;
constexpr std::uint16_t kUnacceptable = 1003;
constexpr std::uint16_t kBadPayload = 1007;
constexpr std::uint16_t kTooBig = 1009;

bool is_control(Opcode opcode) {
  return (static_cast<unsigned>(opcode) & 8) != 0;
}

// The codes that a peer may send in a close frame: the RFC's and IANA's codes, and the private ranges.
bool is_close_code(unsigned code) {
  if (code >= 3000 && code <= 4999) return true;
  return code >= 1000 && code <= 1014 && code != 1004 && code != 1005 && code != 1006;
}

unsigned read_u16(std::string_view bytes) {
  return static_cast<unsigned>(static_cast<unsigned char>(bytes[0])) << 8 | static_cast<unsigned char>(bytes[1]);
}

std::uint16_t check_close(std::string_view payload) {
  if (payload.empty()) return 0;
  if (payload.size() == 1 || !is_close_code(read_u16(payload))) return kProtocolError;
  return is_utf8(payload.substr(2)) ? 0 : kBadPayload;
}

// Returns the size of a header that starts with these two bytes.
std::size_t header_bytes(std::string_view start) {
  unsigned length = static_cast<unsigned char>(start[1]) & 0x7f;
  bool masked = (static_cast<unsigned char>(start[1]) & 0x80) != 0;
  return 2 + (length == 126 ? 2 : length == 127 ? 8 : 0) + (masked ? 4 : 0);
}

// Checks the first two bytes before the rest has arrived.
std::uint16_t check_start(std::string_view start, FrameSender sender) {
  auto first = static_cast<unsigned char>(start[0]);
  auto second = static_cast<unsigned char>(start[1]);
  unsigned opcode = first & 0x0f;
  bool masked = (second & 0x80) != 0;
  if ((first & 0x70) != 0 || masked != (sender == FrameSender::client)) return kProtocolError;
  if (opcode > 10 || (opcode > 2 && opcode < 8)) return kProtocolError;
  if (opcode >= 8 && ((first & 0x80) == 0 || (second & 0x7f) > kMaxControlBytes)) return kProtocolError;
  return opcode == static_cast<unsigned>(Opcode::binary) ? kUnacceptable : 0;
}

std::uint16_t parse_header(std::string_view bytes, FrameHeader& header) {
  header.opcode = static_cast<Opcode>(bytes[0] & 0x0f);
  header.final = (bytes[0] & 0x80) != 0;
  std::uint64_t length = static_cast<unsigned char>(bytes[1]) & 0x7f;
  std::size_t at = 2;
  if (length >= 126) {
    std::size_t width = length == 126 ? 2 : 8;
    std::uint64_t least = length == 126 ? 126 : 65'536;
    length = 0;
    for (; at < 2 + width; ++at) length = length << 8 | static_cast<unsigned char>(bytes[at]);
    // Only the shortest form is valid, and the top bit is always zero.
    if (length < least || (length >> 63) != 0) return kProtocolError;
  }
  header.mask = {};
  if (bytes.size() > at) std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(at), 4, header.mask.begin());
  header.mask_at = 0;
  header.left = length;
  return 0;
}

void append_unmasked(std::string& out, std::string_view bytes, FrameHeader& header) {
  std::size_t start = out.size();
  out.append(bytes);
  if (header.mask == std::array<char, 4>{}) return;
  for (std::size_t i = start; i < out.size(); ++i) {
    out[i] = static_cast<char>(out[i] ^ header.mask[header.mask_at]);
    header.mask_at = (header.mask_at + 1) & 3;
  }
}

}  // namespace

void append_frame_header(std::string& out, Opcode opcode, std::size_t payload_bytes) {
  out.push_back(static_cast<char>(0x80 | static_cast<unsigned>(opcode)));
  int width = 0;
  if (payload_bytes < 126) {
    out.push_back(static_cast<char>(payload_bytes));
  } else if (payload_bytes < 65'536) {
    out.push_back(126);
    width = 2;
  } else {
    out.push_back(127);
    width = 8;
  }
  for (int i = width - 1; i >= 0; --i) out.push_back(static_cast<char>(payload_bytes >> (8 * i) & 0xff));
}

void append_frame(std::string& out, Opcode opcode, std::string_view payload) {
  append_frame_header(out, opcode, payload.size());
  out.append(payload);
}

void append_masked_frame(std::string& out, Opcode opcode, std::string_view payload, std::uint32_t mask) {
  std::size_t start = out.size();
  append_frame_header(out, opcode, payload.size());
  out[start + 1] = static_cast<char>(static_cast<unsigned char>(out[start + 1]) | 0x80U);
  FrameHeader masking;
  for (char& byte : masking.mask) {
    byte = static_cast<char>(mask & 0xffU);
    mask >>= 8U;
  }
  out.append(masking.mask.data(), masking.mask.size());
  append_unmasked(out, payload, masking);  // masking twice gives the text again
}

void append_close_frame(std::string& out, std::uint16_t code, std::string_view reason) {
  constexpr std::size_t kMaxReasonBytes = kMaxControlBytes - 2;
  if (reason.size() > kMaxReasonBytes) {
    std::size_t end = kMaxReasonBytes;
    while (end > 0 && (static_cast<unsigned char>(reason[end]) & 0xc0) == 0x80) --end;  // not inside a character
    reason = reason.substr(0, end);
  }
  append_frame_header(out, Opcode::close, reason.size() + 2);
  out.push_back(static_cast<char>(code >> 8));
  out.push_back(static_cast<char>(code & 0xff));
  out.append(reason);
}

// The state between two whole messages. On the stack during a feed, on the heap only between feeds.
struct FrameReader::Impl {
  using OnMessage = std::function<void(const Message&)>;

  std::string start;  // an incomplete header
  bool in_frame = false;
  FrameHeader frame;
  std::string control;  // payload of a control frame, which may come between the fragments of a message
  bool in_message = false;
  std::string message;
  bool closed = false;

  bool idle() const { return start.empty() && !in_frame && !in_message; }

  std::uint16_t take_header(std::string_view& bytes, std::size_t max_message_bytes, FrameSender sender) {
    auto fill = [&](std::size_t size) {
      std::size_t take = std::min(size - std::min(size, start.size()), bytes.size());
      start.append(bytes.substr(0, take));
      bytes.remove_prefix(take);
      return start.size() >= size;
    };
    if (!fill(2)) return 0;
    if (auto violation = check_start(start, sender); violation != 0) return violation;
    if (!fill(header_bytes(start))) return 0;
    if (auto violation = parse_header(start, frame); violation != 0) return violation;
    start.clear();
    in_frame = true;
    if (is_control(frame.opcode)) return 0;
    if ((frame.opcode == Opcode::continuation) != in_message) return kProtocolError;
    in_message = true;
    return frame.left > max_message_bytes - std::min(max_message_bytes, message.size()) ? kTooBig : 0;
  }

  std::uint16_t end_frame(const OnMessage& on_message) {
    in_frame = false;
    if (is_control(frame.opcode)) {
      std::string payload = std::exchange(control, {});
      if (frame.opcode == Opcode::close) {
        if (auto violation = check_close(payload); violation != 0) return violation;
        closed = true;
      }
      on_message({frame.opcode, payload});
      return 0;
    }
    if (!frame.final) return 0;
    in_message = false;
    std::string text = std::exchange(message, {});
    if (!is_utf8(text)) return kBadPayload;
    on_message({Opcode::text, text});
    return 0;
  }

  std::uint16_t feed(std::string_view bytes, std::size_t max_message_bytes, const OnMessage& on_message,
                     FrameSender sender) {
    while (!bytes.empty() && !closed) {
      if (!in_frame) {
        if (auto violation = take_header(bytes, max_message_bytes, sender); violation != 0) return violation;
        if (!in_frame) return 0;
      }
      auto take = std::min<std::uint64_t>(frame.left, bytes.size());
      append_unmasked(is_control(frame.opcode) ? control : message, bytes.substr(0, take), frame);
      bytes.remove_prefix(take);
      frame.left -= take;
      if (frame.left > 0) return 0;
      if (auto violation = end_frame(on_message); violation != 0) return violation;
    }
    return 0;
  }
};

FrameReader::FrameReader() = default;
FrameReader::~FrameReader() = default;

std::uint16_t FrameReader::feed(std::string_view bytes, std::size_t max_message_bytes,
                                const std::function<void(const Message&)>& on_message, FrameSender sender) {
  static_assert(kMaxFrameHeaderBytes < 16, "an incomplete header needs no allocation of its own");
  if (impl_) {
    std::uint16_t violation = impl_->feed(bytes, max_message_bytes, on_message, sender);
    if (violation != 0 || impl_->closed || impl_->idle()) impl_.reset();
    return violation;
  }
  Impl partial;
  std::uint16_t violation = partial.feed(bytes, max_message_bytes, on_message, sender);
  if (violation == 0 && !partial.closed && !partial.idle()) impl_ = std::make_unique<Impl>(std::move(partial));
  return violation;
}

}  // namespace shepherd::net
