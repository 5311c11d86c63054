#include "bench/stream_walk.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace shepherd::bench {
namespace {

std::string frame(char first, const std::string& payload) {
  std::string text{first};
  if (payload.size() < 126) {
    text += static_cast<char>(payload.size());
  } else {
    text += {static_cast<char>(126), static_cast<char>(payload.size() >> 8), static_cast<char>(payload.size())};
  }
  return text + payload;
}

// However the bytes are split, the messages are the same.
TEST(StreamWalk, WebSocketFramesInAnyPieces) {
  std::string stream = frame('\x81', "one") + frame('\x89', "ping") + frame('\x81', std::string(700, 'x'));
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    std::vector<std::string> messages;
    std::string carry;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      carry += stream.substr(at, piece);
      std::size_t used = walk_websocket(carry, [&](Opcode opcode, std::string_view payload) {
        messages.push_back((opcode == Opcode::text ? "text " : "other ") + std::string(payload));
      });
      ASSERT_NE(used, kBrokenStream);
      carry.erase(0, used);
    }
    EXPECT_EQ(messages, (std::vector<std::string>{"text one", "other ping", "text " + std::string(700, 'x')})) << piece;
  }
}

TEST(StreamWalk, AMaskedServerFrameIsBroken) {
  EXPECT_EQ(walk_websocket(std::string("\x81\x83xxxx", 6), [](Opcode, std::string_view) {}), kBrokenStream);
}

TEST(StreamWalk, ChunkedSseInAnyPieces) {
  std::string body = "id: 0\n\nid: 1\nevent: task_event\ndata: {\"a\":1}\n\n:keepalive\n\ndata: last\n\n";
  std::string stream;
  char size[16];
  for (std::size_t at = 0; at < body.size(); at += 13) {
    std::string chunk = body.substr(at, 13);
    std::snprintf(size, sizeof size, "%zX", chunk.size());
    stream += std::string(size) + "\r\n" + chunk + "\r\n";
  }
  stream += "0\r\n\r\n";
  for (std::size_t piece = 1; piece <= stream.size(); ++piece) {
    std::vector<std::string> blocks;
    std::string carry;
    ChunkDecoder chunks;
    for (std::size_t at = 0; at < stream.size(); at += piece) {
      std::string fresh = stream.substr(at, piece);
      std::size_t kept = chunks.decode(fresh.data(), fresh.size());
      ASSERT_NE(kept, kBrokenStream);
      carry.append(fresh, 0, kept);
      carry.erase(0, walk_sse(carry, [&](std::string_view block) { blocks.emplace_back(block); }));
    }
    EXPECT_TRUE(chunks.ended());
    EXPECT_EQ(blocks, (std::vector<std::string>{"id: 0", "id: 1\nevent: task_event\ndata: {\"a\":1}", ":keepalive",
                                                "data: last"}))
        << piece;
  }
}

TEST(StreamWalk, ChunksWithoutASizeAreBroken) {
  ChunkDecoder chunks;
  std::string text = "zz\r\n";
  EXPECT_EQ(chunks.decode(text.data(), text.size()), kBrokenStream);
}

}  // namespace
}  // namespace shepherd::bench
