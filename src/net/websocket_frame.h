// WebSocket frames (RFC 6455), for both sides: a client's are masked, a server's are not. No I/O.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

namespace shepherd::net {

enum class Opcode : std::uint8_t { continuation = 0, text = 1, binary = 2, close = 8, ping = 9, pong = 10 };

// Appends the header of an unmasked final frame; the caller appends `payload_bytes` bytes after it.
void append_frame_header(std::string& out, Opcode opcode, std::size_t payload_bytes);
void append_frame(std::string& out, Opcode opcode, std::string_view payload);
void append_close_frame(std::string& out, std::uint16_t code, std::string_view reason);  // reason is cut to 123 bytes
// Appends a client's frame. The mask is random, and another one for each frame.
void append_masked_frame(std::string& out, Opcode opcode, std::string_view payload, std::uint32_t mask);

enum class FrameSender : std::uint8_t { client, server };

// Reads the peer's frames from a byte stream: unmasks, joins fragments, checks every rule of the RFC (masking, reserved
// bits, opcodes, control frames unfragmented and at most 125 bytes, UTF-8 of text, close codes) and bounds a message.
// Keeps bytes only while a frame or message is incomplete, so an idle reader owns no heap memory.
// Threads: caller.
class FrameReader {
 public:
  struct Message {
    Opcode opcode;  // text, close, ping, pong; binary is a violation (1003)
    std::string_view payload;
  };
  FrameReader();
  ~FrameReader();
  FrameReader(const FrameReader&) = delete;
  FrameReader& operator=(const FrameReader&) = delete;

  // Feeds bytes; calls on_message for each whole message, in order. Stops at the first violation and returns a close
  // code (1002, 1003, 1007, 1009), otherwise 0. It must not be fed again after a violation or a close message.
  std::uint16_t feed(std::string_view bytes, std::size_t max_message_bytes,
                     const std::function<void(const Message&)>& on_message, FrameSender sender = FrameSender::client);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;  // null between two whole messages
};

}  // namespace shepherd::net
