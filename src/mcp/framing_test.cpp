// What comes from servers, piece by piece: lines, events, messages.
#include "mcp/framing.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "mcp/limits.h"
#include "mcp/message.h"

namespace shepherd {
namespace {

std::vector<std::string> lines_of(std::string_view bytes, std::size_t piece, std::size_t most = 1'000) {
  std::vector<std::string> lines;
  McpLines reader(most);
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    bool fits = reader.cut(bytes.substr(at, piece), [&](std::string_view line) {
      lines.emplace_back(line);
      return true;
    });
    if (!fits) lines.emplace_back("TOO LONG");
    if (!fits) break;
  }
  return lines;
}

TEST(McpLines, AreTheSameInAnyPieces) {
  std::vector<std::string> wanted{"{\"a\":1}", "", "second", "third"};
  for (std::size_t piece : {1, 2, 3, 7, 100})
    EXPECT_EQ(lines_of("{\"a\":1}\n\nsecond\r\nthird\nrest", piece), wanted) << piece;
}

TEST(McpLines, AreRefusedWhenTooLong) {
  EXPECT_EQ(lines_of("12345\n123456", 4, 5), (std::vector<std::string>{"12345", "TOO LONG"}));
  EXPECT_EQ(lines_of("123456\n", 100, 5), (std::vector<std::string>{"TOO LONG"}));
}

struct Seen {
  std::vector<std::string> events;
  std::string last_id;
  std::int64_t retry = -1;
};

Seen events_of(std::string_view bytes, std::size_t piece) {
  Seen seen;
  McpEvents reader;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    reader.cut(bytes.substr(at, piece), [&](const McpEvent& event) {
      seen.events.push_back(std::string(event.name) + "|" + std::string(event.data));
      return true;
    });
  }
  seen.last_id = reader.last_id();
  if (reader.retry()) seen.retry = reader.retry()->count();
  return seen;
}

TEST(McpEvents, AreReadAsTheStandardHasThem) {
  // The first event is what the TypeScript SDK sends to make a stream resumable.
  std::string stream =
      "\xEF\xBB\xBFid: 5a_1\nretry: 250\ndata: \n\n: comment\r\n\r\nevent: message\r\ndata: {\"a\":\r\ndata: 1}\r\nid: "
      "5a_2\r\n\r\n"
      "data:no blank\r\revent: endpoint\rdata: /here\r\rdata: never finished\n";
  for (std::size_t piece : {1, 2, 5, 1'000}) {
    Seen seen = events_of(stream, piece);
    EXPECT_EQ(seen.events, (std::vector<std::string>{"|", "message|{\"a\":\n1}", "|no blank", "endpoint|/here"}))
        << piece;
    EXPECT_EQ(seen.last_id, "5a_2");
    EXPECT_EQ(seen.retry, 250);
  }
}

TEST(McpEvents, KeepNoIdThatIsUnsafeInAHeader) {
  EXPECT_EQ(events_of("id: a\x01"
                      "b\ndata: x\n\n",
                      100)
                .last_id,
            "");
  EXPECT_EQ(events_of("id: good\ndata: x\n\nid: " + std::string(kMaxMcpEventIdBytes + 1, 'x') + "\ndata: y\n\n", 4096)
                .last_id,
            "good");
  EXPECT_EQ(events_of("retry: 99999999\n\n", 100).retry, kMostMcpRetryPause.count());
  EXPECT_EQ(events_of("retry: soon\n\n", 100).retry, -1);
}

TEST(McpEvents, AreRefusedWhenTooLong) {
  McpEvents reader;
  std::string piece(1 * kMiB, 'x');
  bool fits = reader.cut("data: ", [](const McpEvent&) { return true; });
  for (int i = 0; fits && i < 20; ++i) fits = reader.cut(piece, [](const McpEvent&) { return true; });
  EXPECT_FALSE(fits);
}

using Kind = McpMessage::Kind;

TEST(McpMessages, AreToldApart) {
  auto result = read_message(R"({"result":{"tools":[]},"jsonrpc":"2.0","id":5})");
  ASSERT_TRUE(result);
  EXPECT_EQ(result->kind, Kind::result);
  EXPECT_EQ(result->answers(), 5);
  EXPECT_EQ(result->body, R"({"tools":[]})");
  auto error =
      read_message(R"({"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found","data":{"a":1}}})");
  ASSERT_TRUE(error);
  EXPECT_EQ(error->kind, Kind::error);
  EXPECT_EQ(error->code, -32601);
  EXPECT_EQ(error->error_message, "Method not found");
  EXPECT_EQ(error->body, R"({"a":1})");
  auto request = read_message(R"({"method":"ping","jsonrpc":"2.0","id":"abc"})");
  ASSERT_TRUE(request);
  EXPECT_EQ(request->kind, Kind::request);
  EXPECT_EQ(request->id, "\"abc\"");
  EXPECT_FALSE(request->answers());
  auto news = read_message(R"({"method":"notifications/tools/list_changed","jsonrpc":"2.0"})");
  ASSERT_TRUE(news);
  EXPECT_EQ(news->kind, Kind::notification);
}

TEST(McpMessages, MayNameOurNumberAsAString) {
  EXPECT_EQ(read_message(R"({"jsonrpc":"2.0","id":"17","result":{}})")->answers(), 17);
  EXPECT_FALSE(read_message(R"({"jsonrpc":"2.0","id":"x","result":{}})")->answers());
  EXPECT_FALSE(
      read_message(R"({"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}})")->answers());
}

TEST(McpMessages, AreMendedWhereAProgramHasCutACharacter) {
  auto message = read_message("{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"text\":\"half \\ud83d\"}}");
  ASSERT_TRUE(message);
  EXPECT_EQ(message->body, "{\"text\":\"half \\ufffd\"}");
}

TEST(McpMessages, AreRefusedIfTheyAreNone) {
  for (std::string_view text : {"", "hello", "[]", "1", "{}", "{\"id\":1}", "{\"id\":1,\"result\":3}",
                                "{\"result\":{}}", "{\"id\":{},\"method\":\"ping\"}", "{\"method\":\"\"}",
                                "{\"method\":7}", "{\"id\":1,\"result\":{}", "{\"id\":1.5,\"result\":{}}", "\xFF{}"}) {
    auto message = read_message(text);
    ASSERT_FALSE(message) << text;
    EXPECT_EQ(message.error().reason, "bad_message") << text;
  }
}

TEST(McpMessages, AreWrittenInOneLine) {
  EXPECT_EQ(request_text(3, "tools/list", "{}"), R"({"jsonrpc":"2.0","id":3,"method":"tools/list","params":{}})");
  EXPECT_EQ(notification_text("notifications/initialized", ""),
            R"({"jsonrpc":"2.0","method":"notifications/initialized"})");
  EXPECT_EQ(result_text("\"a\"", "{}"), R"({"jsonrpc":"2.0","id":"a","result":{}})");
  EXPECT_EQ(error_text("7", -32601, "no"), R"({"jsonrpc":"2.0","id":7,"error":{"code":-32601,"message":"no"}})");
}

}  // namespace
}  // namespace shepherd
