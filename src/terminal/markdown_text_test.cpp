#include "terminal/markdown_text.h"

#include <gtest/gtest.h>

#include "terminal/limits.h"

namespace shepherd {
namespace {

std::vector<std::string> texts(const std::vector<StyledLine>& lines) {
  std::vector<std::string> out;
  for (const StyledLine& line : lines) out.push_back(plain_text(line));
  return out;
}

std::vector<std::string> rendered(std::string_view markdown, std::size_t step = std::string::npos) {
  MarkdownText text;
  std::vector<StyledLine> lines;
  for (std::size_t at = 0; at < markdown.size(); at += std::min(step, markdown.size() - at)) {
    for (StyledLine& line : text.add(markdown.substr(at, step))) lines.push_back(std::move(line));
  }
  for (StyledLine& line : text.finish()) lines.push_back(std::move(line));
  return texts(lines);
}

using Lines = std::vector<std::string>;

TEST(MarkdownText, Blocks) {
  EXPECT_EQ(
      rendered("# Title #\n\n\ntext\n- one\n  * two\n3. three\n> said\n- [x] done\n---\n"),
      (Lines{"Title", "", "text", "• one", "  • two", "3. three", "│ said", "• ☑ done", "────────────────────────"}));
  EXPECT_EQ(rendered("#no heading\n-no item\n1.5 is a number"), (Lines{"#no heading", "-no item", "1.5 is a number"}));
}

TEST(MarkdownText, CodeKeepsItsText) {
  std::string code = "```c\n  # no *heading*\n\n- x\n````\nafter `a*b*c`";
  EXPECT_EQ(rendered(code), (Lines{"```c", "  # no *heading*", "", "- x", "````", "after a*b*c"}));
  EXPECT_EQ(rendered("~~~\n```\n~~~\n**b**"), (Lines{"~~~", "```", "~~~", "b"}));
}

TEST(MarkdownText, Tables) {
  EXPECT_EQ(rendered("| a | b |\n|---|:-:|\n| long cell | *x* |\n| `y` |\nend"),
            (Lines{"a         │ b", "──────────┼──", "long cell │ x", "y", "end"}));
  EXPECT_EQ(rendered("| no | table |\ntext"), (Lines{"| no | table |", "text"}));
}

// However the text is cut, the lines are the same.
TEST(MarkdownText, Pieces) {
  std::string text = "# T\n**bold** _it_ [l](http://x)\n\n| a | b |\n|-|-|\n| é | 2 |\n```\ncode\n```\n- end";
  for (std::size_t step = 1; step < 9; ++step) EXPECT_EQ(rendered(text, step), rendered(text)) << step;
}

TEST(MarkdownText, Unfinished) {
  MarkdownText text;
  EXPECT_TRUE(text.add("some **bo").empty());
  EXPECT_EQ(texts(text.unfinished()), (Lines{"some **bo"}));
  text.add("ld**");
  EXPECT_EQ(texts(text.unfinished()), (Lines{"some bold"}));
  EXPECT_EQ(texts(text.add("\n")), (Lines{"some bold"}));
  EXPECT_TRUE(text.unfinished().empty());
}

TEST(MarkdownText, Looks) {
  StyledLine line = inline_markdown("a **b *c*** `d` ~~e~~ [f](g) snake_case_name 2 * 3 * 4 \\*h\\*");
  EXPECT_EQ(plain_text(line), "a b c d e f (g) snake_case_name 2 * 3 * 4 *h*");
  auto look_of = [&](std::string_view text) {
    for (const StyledPart& part : line.parts) {
      if (part.text == text) return part.look;
    }
    ADD_FAILURE() << text;
    return TextLook();
  };
  EXPECT_TRUE(look_of("b ").bold);
  EXPECT_TRUE(look_of("c").bold && look_of("c").italic);
  EXPECT_EQ(look_of("d").color, Color::cyan);
  EXPECT_TRUE(look_of("e").struck);
  EXPECT_TRUE(look_of("f").underlined);
}

TEST(MarkdownText, NothingHarmfulIsLeft) {
  EXPECT_EQ(rendered("a\x1b[2Jb\x1b]0;t\x07 **\x1b[31mc** `\xe2\x80\xae d`\n```\n\x1b[H\n```"),
            (Lines{"ab c  d", "```", "", "```"}));
}

TEST(MarkdownText, ALongLineIsShownAsItIs) {
  std::string text(kMaxInlineMarkdown + 1, '*');
  text.front() = 'x';
  EXPECT_EQ(rendered(text), Lines{text});
}

TEST(StyledLine, WrapsBetweenWords) {
  StyledLine line{{{"• ", {}}, {"one two", {.bold = true}}, {" three four"}}, 2};
  EXPECT_EQ(texts(wrapped(line, 10)), (Lines{"• one two", "  three", "  four"}));
  EXPECT_EQ(texts(wrapped(styled("abcdefghij"), 4)), (Lines{"abcd", "efgh", "ij"}));
  EXPECT_EQ(painted(wrapped(line, 10)[0], true), "• \x1b[1mone two\x1b[0m");
  EXPECT_EQ(painted(line, false), "• one two three four");
}

}  // namespace
}  // namespace shepherd
