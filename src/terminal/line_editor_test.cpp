#include "terminal/line_editor.h"

#include <gtest/gtest.h>

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "terminal/input_history.h"
#include "terminal/limits.h"

namespace shepherd {
namespace {

using Rows = std::vector<std::string>;

struct Typing {
  explicit Typing(std::vector<std::string> lines = {}) : history(std::move(lines)) {}
  Typing& press(std::string_view bytes) {
    for (const Key& key : reader.read(bytes)) editor.press(key);
    return *this;
  }
  std::vector<std::string> history;
  LineEditor editor{history};
  KeyReader reader;
};

TEST(KeyReader, SequencesInPieces) {
  KeyReader reader;
  EXPECT_TRUE(reader.read("\x1b").empty());
  EXPECT_TRUE(reader.waits());
  EXPECT_TRUE(reader.read("[1;").empty());
  EXPECT_EQ(reader.read("5C"), (std::vector<Key>{{TypedKey::word_right}}));
  EXPECT_TRUE(reader.read("\xc3").empty());
  EXPECT_EQ(reader.read("\xa9"), (std::vector<Key>{{TypedKey::text, "é"}}));
  EXPECT_TRUE(reader.read("\x1b").empty());
  EXPECT_EQ(reader.flush(), (std::vector<Key>{{TypedKey::escape}}));
  EXPECT_EQ(reader.read("\x1b[99;99X\x1b\r"), (std::vector<Key>{{TypedKey::other}, {TypedKey::newline}}));
}

TEST(KeyReader, PastedText) {
  KeyReader reader;
  EXPECT_TRUE(reader.read("\x1b[200~one\r\ntw").empty());
  EXPECT_FALSE(reader.waits());
  EXPECT_EQ(reader.read("o\t\x1b[31mred\x03\x1b[201~x"),
            (std::vector<Key>{{TypedKey::text, "one\ntwo\tred", true}, {TypedKey::text, "x"}}));
}

TEST(LineEditor, Moves) {
  Typing typing;
  typing.press("one two three\x1b[1;5D\x17zwei ");
  EXPECT_EQ(typing.editor.text(), "one zwei three");
  typing.press("\x01\x0b").press("e\xcc\x81x\x1b[D\x7f");
  EXPECT_EQ(typing.editor.text(), "x");
  typing.press("\x05yz\x1b[D\x1b[3~\x15");
  EXPECT_EQ(typing.editor.text(), "");
}

TEST(LineEditor, SeveralLinesAndHistory) {
  Typing typing({"first", "second\nlines"});
  typing.press("new\x1b[A");
  EXPECT_EQ(typing.editor.text(), "second\nlines");
  typing.press("\x1b[A\x1b[A");  // to its first line, then to the line before
  EXPECT_EQ(typing.editor.text(), "first");
  typing.press("\x1b[A\x1b[B\x1b[B\x1b[B");
  EXPECT_EQ(typing.editor.text(), "new");
  typing.press("\nx");
  EXPECT_EQ(typing.editor.take(), "new\nx");
  EXPECT_TRUE(typing.editor.empty());
}

TEST(LineEditor, Search) {
  Typing typing({"make test", "git log", "make lint"});
  typing.press("draft\x12make");
  EXPECT_EQ(typing.editor.text(), "make lint");
  typing.press("\x12");
  EXPECT_EQ(typing.editor.text(), "make test");
  EXPECT_EQ(typing.editor.view("> ", 40, 5).rows, Rows{"search \"make\": make test"});
  typing.press("\x03");
  EXPECT_EQ(typing.editor.text(), "draft");
}

TEST(LineEditor, View) {
  Typing typing;
  typing.press("abcdefghijklmno\nxy");
  EditorView view = typing.editor.view("> ", 12, 9);
  EXPECT_EQ(view.rows, (Rows{"> abcdefghi", "  jklmno", "  xy"}));
  EXPECT_EQ(view.cursor_row, 2U);
  EXPECT_EQ(view.cursor_column, 4U);
  view = typing.editor.view("> ", 12, 1);
  EXPECT_EQ(view.rows, Rows{"  xy"});
  EXPECT_EQ(view.cursor_row, 0U);
}

TEST(LineEditor, Bounds) {
  Typing typing;
  typing.editor.press({TypedKey::text, std::string(kMaxTypedBytes, 'a'), true});
  typing.press("b");
  EXPECT_EQ(typing.editor.text().size(), kMaxTypedBytes);
}

TEST(InputHistory, IsKeptAndPrivate) {
  std::filesystem::path directory = std::filesystem::temp_directory_path() / ("history-" + std::to_string(getpid()));
  std::string file = directory / "deep" / "lines";
  InputHistory(file).add("one\n\"two\"");
  InputHistory again(file);
  again.add("three");
  again.add("three");
  again.add(std::string(kMaxHistoryEntryBytes + 1, 'x'));
  EXPECT_EQ(InputHistory(file).lines(), (Rows{"one\n\"two\"", "three"}));
  EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600));
  std::ofstream(file, std::ios::app) << "not json\n\"\\u001b[2Jx\"\n";
  EXPECT_EQ(InputHistory(file).lines().back(), "x");
  for (std::size_t i = 0; i < 2 * kMaxHistoryEntries; ++i) again.add(std::to_string(i));
  InputHistory bounded(file);
  EXPECT_EQ(bounded.lines().size(), kMaxHistoryEntries);
  EXPECT_EQ(bounded.lines().back(), std::to_string(2 * kMaxHistoryEntries - 1));
  std::filesystem::remove_all(directory);
}

}  // namespace
}  // namespace shepherd
