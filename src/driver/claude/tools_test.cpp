#include "driver/claude/tools.h"

#include <gtest/gtest.h>

namespace shepherd {
namespace {

TEST(ClaudeTools, SummariesSayWhatIsDone) {
  auto summary = [](std::string_view tool, std::string_view input) {
    return claude_call_summary(tool, input, "/workspace");
  };
  EXPECT_EQ(summary("Read", R"({"file_path":"/workspace/src/auth.go"})"), "Reading src/auth.go");
  EXPECT_EQ(summary("Read", R"({"file_path":"/workspaces/x"})"), "Reading /workspaces/x");
  EXPECT_EQ(summary("Bash", R"({"description":"Test","command":"go test\n ./..."})"), "Running go test ./...");
  EXPECT_EQ(summary("Bash", "{}"), "Using Bash");
  EXPECT_EQ(summary("mcp__demo__greet", R"({"name":"Ada"})"), "Calling greet of demo");
  EXPECT_EQ(summary("AskUserQuestion", R"({"questions":[{"question":"Which colour?"}]})"), "Asking: Which colour?");
  EXPECT_EQ(summary("Brand New", "{}"), "Using Brand New");
}

// An agent asked for these, and bash ran all of each.
TEST(CallSummary, ShowsTheWholeCommandWhateverItHides) {
  EXPECT_EQ(claude_call_summary("Bash", R"({"command":"echo hi\u009d; touch PWN \u009c"})", ""),
            "Running echo hi\\u009d; touch PWN \\u009c");
  EXPECT_EQ(claude_call_summary("Bash", R"({"command":"echo hi \u001b[; touch\u001b[<PWN #"})", ""),
            "Running echo hi \\x1b[; touch\\x1b[<PWN #");
  EXPECT_EQ(claude_call_summary("Bash", R"({"command":"rm x\u202e\u200d"})", ""), "Running rm x\\u202e\\u200d");
}

}  // namespace
}  // namespace shepherd
