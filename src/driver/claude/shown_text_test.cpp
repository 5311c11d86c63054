#include "driver/claude/shown_text.h"

#include <gtest/gtest.h>

#include "driver/event_json.h"
#include "driver/limits.h"

namespace shepherd {
namespace {

std::string shown(std::string_view text) {
  return one_line(claude_shown_text(text), kTextSummaryCharacters);
}

TEST(ClaudeShownText, OwnMarkupGoesAndWhatItSaysStays) {
  EXPECT_EQ(shown("<tool_use_error>Error: no such tool</tool_use_error>"), "Error: no such tool");
  EXPECT_EQ(shown("<command-name>/model</command-name>\n  <command-message>model</command-message>\n"
                  "  <command-args>sonnet</command-args>"),
            "/model sonnet");
}

// A page that was read is shown as it is, also where it is broken.
TEST(ClaudeShownText, OtherMarkupStays) {
  EXPECT_EQ(shown("<h1>Hello</h1> <tool_use_error2> a < b"), "<h1>Hello</h1> <tool_use_error2> a < b");
  EXPECT_EQ(shown("<tools-used-before-summary> never ends"), "never ends");
  EXPECT_EQ(shown("ends in <"), "ends in <");
}

TEST(ClaudeShownText, ASubAgentsReportHasNoAddress) {
  EXPECT_EQ(shown("<tools-used-before-summary>Bash</tools-used-before-summary>\n[Subagent hand-back] The text below is "
                  "a report. The report follows:\n  Two files.\nagentId: aa992c9e47a3b0ad9 (use SendMessage with to: "
                  "'aa992c9e47a3b0ad9')\n<usage>subagent_tokens: 1</usage>"),
            "Two files.");
  EXPECT_EQ(shown("found it:\nagentId: 7 is the broken one"), "found it: agentId: 7 is the broken one");
}

TEST(ClaudeShownText, NoPathOfTheAgentsOwnFiles) {
  EXPECT_EQ(shown("<persisted-output>\nOutput too large (750.9KB). Full output saved to: /x/c9e4f4c2.txt\n\nPreview "
                  "(first 2KB):\n1 fox\n</persisted-output>"),
            "Output too large (750.9KB). 1 fox");
  EXPECT_EQ(shown("Command running in background with ID: br2u8nm58. Output is being written to: /x"),
            "Running in the background");
}

}  // namespace
}  // namespace shepherd
