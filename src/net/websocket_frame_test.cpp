#include "net/websocket_frame.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "base/random.h"

namespace shepherd::net {
namespace {

constexpr std::size_t kMax = 100'000;

std::string client_frame(unsigned first_byte, std::string_view payload, std::string_view mask = "\x12\x34\x56\x78") {
  std::string frame;
  append_frame_header(frame, Opcode::text, payload.size());
  frame[0] = static_cast<char>(first_byte);
  frame[1] = static_cast<char>(frame[1] | 0x80);
  frame += mask;
  for (std::size_t i = 0; i < payload.size(); ++i) frame += static_cast<char>(payload[i] ^ mask[i % 4]);
  return frame;
}

using Messages = std::vector<std::pair<Opcode, std::string>>;

struct Reading {
  Messages messages;
  std::uint16_t violation = 0;
  bool operator==(const Reading&) const = default;
};

template <class PieceSize>
Reading read_in_pieces(std::string_view bytes, PieceSize piece_size, std::size_t max = kMax) {
  FrameReader reader;
  Reading reading;
  bool closed = false;
  while (!bytes.empty() && reading.violation == 0 && !closed) {
    std::string piece(bytes.substr(0, piece_size()));
    bytes.remove_prefix(piece.size());
    reading.violation = reader.feed(piece, max, [&](const FrameReader::Message& message) {
      reading.messages.emplace_back(message.opcode, message.payload);
      closed |= message.opcode == Opcode::close;
    });
  }
  return reading;
}

Reading read_all(std::string_view bytes, std::size_t max = kMax) {
  return read_in_pieces(bytes, [] { return std::string_view::npos; }, max);
}

TEST(FrameReader, ReadsMessagesOfEveryLengthForm) {
  for (std::size_t size : {0, 1, 125, 126, 127, 65'535, 65'536, 100'000}) {
    std::string text(size, 'x');
    Reading reading = read_all(client_frame(0x81, text));
    ASSERT_EQ(reading.violation, 0) << size;
    EXPECT_EQ(reading.messages, (Messages{{Opcode::text, text}})) << size;
  }
}

TEST(FrameReader, JoinsFragmentsAroundControlFrames) {
  std::string bytes = client_frame(0x01, "Gr\xc3") + client_frame(0x89, "are you there") + client_frame(0x00, "\xbc") +
                      client_frame(0x80, "n") + client_frame(0x8a, "");
  EXPECT_EQ(read_all(bytes).messages,
            (Messages{{Opcode::ping, "are you there"}, {Opcode::text, "Gr\xc3\xbcn"}, {Opcode::pong, ""}}));
}

TEST(FrameReader, NothingCountsAfterAClose) {
  std::string bytes = client_frame(0x88, "\x03\xe8reason") + client_frame(0x81, "late");
  EXPECT_EQ(read_all(bytes).messages, (Messages{{Opcode::close, "\x03\xe8reason"}}));
}

TEST(FrameReader, FindsEveryViolation) {
  auto violation = [](const std::string& bytes) { return read_all(bytes).violation; };
  std::string unmasked;
  append_frame(unmasked, Opcode::text, "hello");
  EXPECT_EQ(violation(unmasked), 1002);
  EXPECT_EQ(violation(client_frame(0xc1, "x")), 1002);  // a reserved bit
  EXPECT_EQ(violation(client_frame(0x83, "x")), 1002);  // opcodes that do not exist
  EXPECT_EQ(violation(client_frame(0x8b, "x")), 1002);
  EXPECT_EQ(violation(client_frame(0x80, "x")), 1002);  // continues nothing
  EXPECT_EQ(violation(client_frame(0x01, "x") + client_frame(0x81, "y")), 1002);
  EXPECT_EQ(violation(client_frame(0x09, "x")), 1002);  // a fragmented ping
  EXPECT_EQ(violation(client_frame(0x89, std::string(126, 'x'))), 1002);
  EXPECT_EQ(violation(client_frame(0x82, "x")), 1003);
  EXPECT_EQ(violation(client_frame(0x81, "\xff")), 1007);
  EXPECT_EQ(violation(client_frame(0x81, "\xc3")), 1007);              // ends inside a character
  EXPECT_EQ(violation(client_frame(0x81, "\xed\xa0\x80")), 1007);      // a surrogate
  EXPECT_EQ(violation(client_frame(0x81, "\xc0\x80")), 1007);          // an overlong form
  EXPECT_EQ(violation(client_frame(0x81, "\xf4\x90\x80\x80")), 1007);  // beyond Unicode
  EXPECT_EQ(violation(client_frame(0x88, "x")), 1002);
  EXPECT_EQ(violation(client_frame(0x88, "\x03\xed")), 1002);  // 1005 is never sent
  EXPECT_EQ(violation(client_frame(0x88, std::string("\x00\x01", 2))), 1002);
  EXPECT_EQ(violation(client_frame(0x88, "\x03\xe8\xff")), 1007);
  EXPECT_EQ(violation(client_frame(0x88, "")), 0);
  EXPECT_EQ(violation(client_frame(0x88, "\x0f\xa0")), 0);  // 4000
}

TEST(FrameReader, RefusesLengthsThatAreNotTheShortest) {
  EXPECT_EQ(read_all(std::string("\x81\xfe\x00\x7d", 4) + "mask").violation, 1002);
  EXPECT_EQ(read_all(std::string("\x81\xff\x00\x00\x00\x00\x00\x00\xff\xff", 10) + "mask").violation, 1002);
  EXPECT_EQ(read_all(std::string("\x81\xff\x80\x00\x00\x00\x00\x01\x00\x00", 10) + "mask").violation, 1002);
}

TEST(FrameReader, BoundsMessagesBeforeTheyArrive) {
  EXPECT_EQ(read_all(client_frame(0x81, std::string(11, 'x')).substr(0, 6), 10).violation, 1009);
  EXPECT_EQ(read_all(client_frame(0x01, "123456") + client_frame(0x80, "78901"), 10).violation, 1009);
  EXPECT_EQ(read_all(client_frame(0x01, "12345") + client_frame(0x80, "67890"), 10).violation, 0);
}

TEST(FrameReader, AnySplitGivesTheSameMessages) {
  std::uint64_t seed = SystemRandom().next();
  SCOPED_TRACE("seed " + std::to_string(seed));
  SeededRandom random(seed);
  for (int round = 0; round < 300; ++round) {
    std::string bytes;
    bool fragmented = false;
    for (std::uint64_t i = 0; i < 12; ++i) {
      std::string payload(random.below(random.below(4) == 0 ? 70'000 : 130), static_cast<char>('a' + random.below(26)));
      std::string mask = std::to_string(1'000 + random.below(9'000));
      if (random.below(4) == 0) {
        bytes += client_frame(random.below(2) == 0 ? 0x89 : 0x8a, payload.substr(0, 125), mask);
        continue;
      }
      bool final = random.below(2) == 0;
      bytes += client_frame((final ? 0x80 : 0) | (fragmented ? 0 : 1), payload, mask);
      fragmented = !final;
    }
    // Sometimes breaks a byte: the violation must be the same, too.
    if (random.below(3) == 0) bytes[random.below(bytes.size())] = static_cast<char>(random.below(256));
    Reading whole = read_all(bytes);
    ASSERT_EQ(read_in_pieces(bytes, [&] { return 1 + random.below(random.below(2) == 0 ? 8 : 40'000); }), whole);
  }
}

TEST(FrameWriting, MaskedFramesAreReadAsAClientsAndPlainOnesAsAServers) {
  auto read = [](const std::string& frame, FrameSender sender) {
    FrameReader reader;
    std::string text;
    auto violation =
        reader.feed(frame, kMax, [&](const FrameReader::Message& message) { text = message.payload; }, sender);
    return violation == 0 ? text : std::to_string(violation);
  };
  for (std::size_t size : {0, 5, 125, 126, 65'536}) {
    std::string text(size, 'x');
    std::string masked, plain;
    append_masked_frame(masked, Opcode::text, text, 0x12345678);
    append_frame(plain, Opcode::text, text);
    EXPECT_EQ(masked, client_frame(0x81, text, "\x78\x56\x34\x12"));
    EXPECT_EQ(read(masked, FrameSender::client), text);
    EXPECT_EQ(read(plain, FrameSender::server), text);
    EXPECT_EQ(read(masked, FrameSender::server), "1002");
    EXPECT_EQ(read(plain, FrameSender::client), "1002");
  }
}

TEST(FrameWriting, CutsACloseReasonAtACharacter) {
  std::string frame;
  append_close_frame(frame, 1001, std::string(122, 'x') + "\xc3\xbc");
  EXPECT_EQ(frame.size(), 2u + 2 + 122);
  EXPECT_EQ(static_cast<unsigned char>(frame[1]), 124u);
}

TEST(FrameWriting, UsesTheShortestLength) {
  for (auto [size, header] :
       std::vector<std::pair<std::size_t, std::size_t>>{{0, 2}, {125, 2}, {126, 4}, {65'535, 4}, {65'536, 10}}) {
    std::string frame;
    append_frame_header(frame, Opcode::text, size);
    EXPECT_EQ(frame.size(), header) << size;
  }
}

}  // namespace
}  // namespace shepherd::net
