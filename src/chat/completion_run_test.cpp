#include "chat/completion_run.h"

#include <gtest/gtest.h>

#include "chat/completion_fixture.h"

namespace shepherd {
namespace {

class CompletionRunTest : public testing::Test {
 protected:
  void begin(CompletionRequest request, bool with_tools) {
    request.id = "call-1";
    CompletionParts parts{config_, clock_,
                          model_,  with_tools ? &tools_ : nullptr,
                          nullptr, [this](const std::string&) { return price_; }};
    run_ = std::make_unique<CompletionRun>(std::move(parts), std::move(request), seen_, nullptr,
                                           [this](Result<CompletionEnd> end) {
                                             seen_.on_end(std::move(end));
                                             run_.reset();
                                           });
    run_->begin();
  }
  static CompletionRequest asked(const std::string& words) {
    CompletionRequest request;
    ModelMessage message;
    message.content = words;
    request.request.messages.push_back(std::move(message));
    return request;
  }
  const ModelMessage& last_told() const { return model_.requests.back().messages.back(); }
  const CompletionEnd& end() const { return **seen_.end; }

  ChatConfig config_;
  ManualClock clock_;
  HeldModel model_{"local", "fake-1"};
  HeldTools tools_;
  ModelPrice price_;
  KeptCompletion seen_;
  std::unique_ptr<CompletionRun> run_;
};

TEST_F(CompletionRunTest, RelaysTextReasoningAndToolCallsToTheClient) {
  CompletionRequest request = asked("hello");
  request.request.tools.push_back({"mine", "", "{}"});
  request.request.tool_choice = R"("required")";
  begin(std::move(request), false);
  ASSERT_EQ(model_.requests.size(), 1u);
  EXPECT_EQ(model_.requests[0].tools.size(), 1u);
  EXPECT_EQ(model_.requests[0].tool_choice, R"("required")");
  model_.think("hm");
  model_.answer("Hi", {{"c1", "mine", "{}"}, {"c2", "unknown", "{}"}});
  ASSERT_TRUE(seen_.end && *seen_.end);
  EXPECT_EQ(seen_.text, "Hi");
  EXPECT_EQ(seen_.reasoning, "hm");
  EXPECT_EQ(end().text, "Hi");
  EXPECT_EQ(end().tool_calls.size(), 2u) << "a relay judges no names";
  EXPECT_EQ(end().finish, Finish::tool_calls);
  EXPECT_EQ(model_.open, 0);
}

TEST_F(CompletionRunTest, RunsTheServersToolsUntilTheModelAnswers) {
  tools_.offer("read_file", false);
  price_ = {1.0, 10.0, std::nullopt, std::nullopt, "2026-11-01"};
  begin(asked("read it"), true);
  ASSERT_EQ(model_.requests[0].tools.size(), 1u);
  model_.answer("Let me look.", {{"c1", "read_file", R"({"path":"a"})"}});
  ASSERT_EQ(tools_.uses.size(), 1u);
  EXPECT_EQ(tools_.uses[0].name, "read_file");
  EXPECT_EQ(tools_.uses[0].session, "call-1");
  EXPECT_EQ(seen_.tools, std::vector<std::string>{"read_file"});
  EXPECT_FALSE(seen_.end);
  tools_.returns("the content");
  ASSERT_EQ(model_.requests.size(), 2u);
  EXPECT_EQ(last_told().role, Role::tool);
  EXPECT_EQ(last_told().content, "the content");
  EXPECT_EQ(last_told().tool_call_id, "c1");
  model_.answer("It says so.");
  ASSERT_TRUE(seen_.end && *seen_.end);
  EXPECT_EQ(end().text, "It says so.") << "the final text alone";
  EXPECT_EQ(seen_.text, "Let me look.\n\nIt says so.") << "what was said, as it was said";
  EXPECT_TRUE(end().tool_calls.empty());
  EXPECT_EQ(end().usage.input, 20);
  EXPECT_EQ(end().usage.output, 4);
  ASSERT_TRUE(end().cost);
  EXPECT_DOUBLE_EQ(*end().cost, (20 * 1.0 + 4 * 10.0) / 1e6);
  EXPECT_EQ(tools_.open, 0);
}

TEST_F(CompletionRunTest, IsUnpricedIfOneCallIs) {
  begin(asked("hello"), false);
  model_.answer("Hi");
  ASSERT_TRUE(seen_.end && *seen_.end);
  EXPECT_FALSE(end().cost);
}

TEST_F(CompletionRunTest, RunsNothingThatNeedsApproval) {
  tools_.offer("run_command", true);
  tools_.offer("write_file", true);
  config_.allow = {"run_command(git)"};
  begin(asked("go"), true);
  ASSERT_EQ(model_.requests[0].tools.size(), 1u) << "write_file is not offered";
  model_.answer("", {{"c1", "run_command", R"({"command":"rm -r ."})"}, {"c2", "write_file", "{}"}});
  EXPECT_TRUE(tools_.uses.empty());
  ASSERT_EQ(model_.requests.size(), 2u);
  const auto& told = model_.requests[1].messages;
  EXPECT_TRUE(told[told.size() - 2].failed);
  EXPECT_NE(told[told.size() - 2].content.find("run_command(other)"), std::string::npos);
  EXPECT_NE(told.back().content.find("no tool"), std::string::npos);
  model_.answer("", {{"c3", "run_command", R"({"command":"git log"})"}});
  ASSERT_EQ(tools_.uses.size(), 1u);
  tools_.returns("failed", false);
  EXPECT_TRUE(last_told().failed);
}

TEST_F(CompletionRunTest, AClientsToolsWinAndAreItsOwnToRun) {
  tools_.offer("search", false);
  CompletionRequest request = asked("find");
  request.request.tools.push_back({"search", "of the client", "{}"});
  begin(std::move(request), true);
  ASSERT_EQ(model_.requests[0].tools.size(), 2u);
  EXPECT_EQ(model_.requests[0].tools[0].description, "of the client");
  EXPECT_EQ(model_.requests[0].tools[1].name, "server_search");
  model_.answer("", {{"c1", "server_search", "{}"}});
  ASSERT_EQ(tools_.uses.size(), 1u);
  EXPECT_EQ(tools_.uses[0].name, "search") << "the toolbox knows it by its own name";
  tools_.returns("found");
  model_.answer("", {{"c2", "server_search", "{}"}, {"c3", "search", "{}"}});
  ASSERT_TRUE(seen_.end && *seen_.end);
  EXPECT_EQ(tools_.uses.size(), 1u);
  EXPECT_EQ(end().tool_calls, (std::vector<ToolRequest>{{"c3", "search", "{}"}}));
}

TEST_F(CompletionRunTest, AForcedChoiceHoldsForTheFirstCallAlone) {
  tools_.offer("read_file", false);
  CompletionRequest request = asked("x");
  request.request.tool_choice = R"("required")";
  begin(std::move(request), true);
  model_.answer("", {{"c1", "read_file", "{}"}});
  tools_.returns("y");
  EXPECT_EQ(model_.requests[1].tool_choice, "");
}

TEST_F(CompletionRunTest, ACallThatWasCutOffDoesNotRun) {
  tools_.offer("read_file", false);
  begin(asked("x"), true);
  model_.answer("", {{"c1", "read_file", "{}"}}, Finish::length);
  EXPECT_TRUE(tools_.uses.empty());
  EXPECT_NE(last_told().content.find("cut off"), std::string::npos);
}

TEST_F(CompletionRunTest, EndsAfterTooManySteps) {
  tools_.offer("read_file", false);
  config_.max_turn_steps = 3;
  begin(asked("x"), true);
  for (int step = 0; step < 3; ++step) {
    model_.answer("", {{"c", "read_file", "{}"}});
    tools_.returns("y");
  }
  ASSERT_TRUE(seen_.end && !*seen_.end);
  EXPECT_EQ(seen_.end->error().reason, "too_many_steps");
  EXPECT_EQ(model_.requests.size(), 3u);
}

TEST_F(CompletionRunTest, DestroyingItEndsTheModelsCallAndTheTool) {
  tools_.offer("read_file", false);
  begin(asked("x"), true);
  EXPECT_EQ(model_.open, 1);
  run_.reset();
  EXPECT_EQ(model_.open, 0);
  begin(asked("x"), true);
  model_.answer("", {{"c1", "read_file", "{}"}});
  EXPECT_EQ(tools_.open, 1);
  run_.reset();
  EXPECT_EQ(tools_.open, 0);
  EXPECT_FALSE(seen_.end);
}

TEST_F(CompletionRunTest, PassesOnTheModelsError) {
  begin(asked("x"), false);
  model_.say("half");
  model_.fails({ErrorCode::unavailable, "model_broke_off", "the stream ended", {}});
  ASSERT_TRUE(seen_.end && !*seen_.end);
  EXPECT_EQ(seen_.end->error().reason, "model_broke_off");
}

}  // namespace
}  // namespace shepherd
