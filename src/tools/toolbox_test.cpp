#include "tools/toolbox.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "json/read.h"
#include "tools/tools_for_test.h"

namespace shepherd {
namespace {

std::vector<std::string> names_of(const Toolbox& box) {
  std::vector<std::string> names;
  for (const Tool& tool : box.tools()) names.push_back(tool.definition.name);
  return names;
}

TEST(BuiltInTools, AreTheConfiguredOnes) {
  ToolWorld world;
  world.search = [](std::string_view, std::size_t) { return std::vector<FoundMessage>(); };
  ASSERT_TRUE(world.open());
  EXPECT_EQ(names_of(*world.tools), world.settings.names);
  world.settings.names = {"fetch_url", "read_file"};
  ASSERT_TRUE(world.open());
  EXPECT_EQ(names_of(*world.tools), (std::vector<std::string>{"read_file", "fetch_url"}));
  world.settings.names = {};
  ASSERT_TRUE(world.open());
  EXPECT_TRUE(world.tools->tools().empty());
  world.settings = {};
  ASSERT_TRUE(world.open());
  EXPECT_EQ(names_of(*world.tools), (std::vector<std::string>{"fetch_url", "search_sessions"})) << "there is no root";
  world.search = {};
  ASSERT_TRUE(world.open());
  EXPECT_EQ(names_of(*world.tools), std::vector<std::string>{"fetch_url"}) << "there is no index";
  world.settings.names = {"read_files"};
  auto opened = world.open();
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().reason, "bad_config");
  EXPECT_NE(opened.error().message.find("read_file,"), std::string::npos) << opened.error().message;
}

TEST(BuiltInTools, ThatChangeOrTellSomethingAsk) {
  ToolWorld world;
  world.search = [](std::string_view, std::size_t) { return std::vector<FoundMessage>(); };
  ASSERT_TRUE(world.open());
  std::vector<std::string> asking;
  std::size_t bytes = 0;
  for (const Tool& tool : world.tools->tools()) {
    if (tool.asks) asking.push_back(tool.definition.name);
    EXPECT_EQ(tool.source, "built-in");
    JsonParser parser(tool.definition.parameters.size());
    auto schema = parser.parse(tool.definition.parameters);
    ASSERT_TRUE(schema && schema->is_object()) << tool.definition.parameters;
    std::size_t size =
        tool.definition.name.size() + tool.definition.description.size() + tool.definition.parameters.size();
    EXPECT_LT(size, 450U) << tool.definition.name << ": every request to a model has it";
    bytes += size;
  }
  EXPECT_EQ(asking, (std::vector<std::string>{"write_file", "edit_file", "run_command", "fetch_url"}));
  EXPECT_LT(bytes, 2'000U);
}

TEST(BuiltInTools, CancelledBeforeTheirAnswerSayNothing) {
  ToolWorld world;
  world.write("a.txt", "x");
  ASSERT_TRUE(world.open());
  int answers = 0;
  for (const char* name : {"read_file", "no_such_tool", "run_command"}) {
    auto run = world.tools->start({"s", "c", name, R"({"path":"a.txt","command":"true"})"},
                                  [&](ToolOutcome) { ++answers; }, {});
    run.reset();
  }
  world.tools.reset();  // waits for the command
  world.loop.turn(std::chrono::steady_clock::now());
  EXPECT_EQ(answers, 0);
}

TEST(BuiltInTools, MayBeDestroyedByTheirAnswer) {
  ToolWorld world;
  world.write("a.txt", "x");
  ASSERT_TRUE(world.open());
  for (const char* name : {"read_file", "no_such_tool", "run_command"}) {
    std::unique_ptr<ToolRun> run;
    bool answered = false;
    run = world.tools->start({"s", "c", name, R"({"path":"a.txt","command":"true"})"},
                             [&](ToolOutcome) {
                               run.reset();
                               answered = true;
                             },
                             {});
    EXPECT_TRUE(world.turn_until([&] { return answered; })) << name;
  }
}

TEST(SearchSessions, ShowsWhatItFinds) {
  ToolWorld world;
  std::string asked;
  std::size_t limit = 0;
  world.search = [&](std::string_view query, std::size_t most) -> Result<std::vector<FoundMessage>> {
    asked = query;
    limit = most;
    if (query == "broken") return fail(ErrorCode::unavailable, "x", "the index is locked");
    if (query == "nothing") return std::vector<FoundMessage>();
    return std::vector<FoundMessage>{{"other", 1'700'000'000'000, "user", "the\nwalrus"},
                                     {"session-1", 1'700'000'000'000, "tool", "x"}};
  };
  ToolOutcome found = world.call("search_sessions", R"({"query":"walrus","limit":3})");
  EXPECT_TRUE(found.success);
  EXPECT_EQ(found.content,
            "2023-11-14T22:13:20.000Z session other, user: the walrus\n2023-11-14T22:13:20.000Z session session-1 "
            "(this one), tool: x\n");
  EXPECT_EQ(found.summary, "Found 2 messages");
  EXPECT_EQ(asked, "walrus");
  EXPECT_EQ(limit, 3U);
  EXPECT_EQ(world.call("search_sessions", R"({"query":"nothing"})").content, "[No message has these words.]");
  EXPECT_EQ(world.call("search_sessions", R"({"query":"broken"})").content, "Error: the index is locked");
  EXPECT_FALSE(world.call("search_sessions", R"({"query":""})").success);
  EXPECT_FALSE(world.call("search_sessions", R"({"query":"x","limit":51})").success);
  EXPECT_FALSE(world.call("search_sessions", R"({"query":")" + std::string(2'000, 'x') + "\"}").success);
}

// Two tools of its own, one of which answers at once.
class SmallBox final : public Toolbox {
 public:
  explicit SmallBox(std::string name, std::string other) : name_(std::move(name)), other_(std::move(other)) {}
  std::vector<Tool> tools() const override {
    Tool one, two;
    one.definition.name = name_;
    one.source = name_;
    two.definition.name = other_;
    two.source = name_;
    return {one, two};
  }
  void on_change(std::function<void()> changed) override { changed_ = std::move(changed); }
  std::unique_ptr<ToolRun> start(ToolInvocation use, std::move_only_function<void(ToolOutcome)> done,
                                 std::function<void(std::string_view)>) override {
    ToolOutcome outcome;
    outcome.content = name_ + " runs " + use.name;
    done(std::move(outcome));
    return nullptr;
  }
  std::string describe(std::string_view name, std::string_view) const override {
    return name_ + " on " + std::string(name);
  }
  std::string rule_of(std::string_view name, std::string_view) const override {
    return name_ + "(" + std::string(name) + ")";
  }
  void change() { changed_(); }

 private:
  std::string name_, other_;
  std::function<void()> changed_;
};

TEST(JoinedToolbox, HasTheToolsOfAllAndTheEarlierOneWins) {
  std::vector<std::unique_ptr<Toolbox>> boxes;
  auto first = std::make_unique<SmallBox>("a", "both");
  auto second = std::make_unique<SmallBox>("b", "both");
  SmallBox* changing = second.get();
  boxes.push_back(std::move(first));
  boxes.push_back(std::move(second));
  auto joined = join_toolboxes(std::move(boxes));
  EXPECT_EQ(names_of(*joined), (std::vector<std::string>{"a", "both", "b"}));
  std::string answer;
  auto take = [&](ToolOutcome outcome) { answer = outcome.content; };
  joined->start({"", "", "both", "{}"}, take, {});
  EXPECT_EQ(answer, "a runs both");
  joined->start({"", "", "b", "{}"}, take, {});
  EXPECT_EQ(answer, "b runs b");
  joined->start({"", "", "unknown", "{}"}, take, {});
  EXPECT_EQ(answer, "a runs unknown");
  EXPECT_EQ(joined->describe("b", ""), "b on b");
  EXPECT_EQ(joined->rule_of("both", ""), "a(both)");
  int changes = 0;
  joined->on_change([&] { ++changes; });
  changing->change();
  EXPECT_EQ(changes, 1);
}

}  // namespace
}  // namespace shepherd
