#include "cli/top_model.h"

#include <gtest/gtest.h>

#include "cli/limits.h"
#include "cli/top_layout.h"
#include "terminal/text_columns.h"

namespace shepherd {
namespace {

TopRow row(std::string id, std::string state, std::int64_t created_ms = 0) {
  TopRow made;
  made.id = std::move(id);
  made.title = "Task " + made.id;
  made.state = std::move(state);
  made.created_ms = created_ms;
  return made;
}

std::string ids(const TopModel& model) {
  std::string text;
  for (const TopRow* shown : model.shown()) text += (text.empty() ? "" : " ") + shown->id;
  return text;
}

// The screen as a terminal would show it.
std::string drawn(const std::vector<ScreenLine>& screen) {
  std::string text;
  for (const ScreenLine& line : screen) {
    std::string shown;
    for (const ScreenSpan& span : line.spans) {
      std::size_t columns = columns_of(shown);
      EXPECT_LE(columns, span.column) << "overlaps: " << shown << "|" << span.text;
      shown.append(span.column - std::min(columns, span.column), ' ').append(span.text);
    }
    text += shown + "\n";
  }
  return text;
}

constexpr std::string_view kTask =
    R"({"id":"t1","title":"Fix \u001b[31mlogin","agent":"claude","model":"opus","status":{"state":"waiting_for_input",)"
    R"("message":"asks"},"task":{"description":"Fix login"},"activity":"Reading a.cc","createdAt":"2026-02-18T14:00:00.000Z",)"
    R"("startedAt":"2026-02-18T14:00:10.000Z","completionTime":null,"lastEventAt":"2026-02-18T14:01:00.000Z","lastSequence":7,)"
    R"("usage":{"costUSD":0.25,"inputTokens":1000,"outputTokens":500,"cacheReadTokens":30000,"cacheWriteTokens":200},"approvals":[{"approvalID":"ap","summary":"Needs approval: rm","sequence":6}],)"
    R"("commands":[{"id":"c1","kind":"steer","state":"delivered"}]})";

TEST(TopRow, FromATasksJson) {
  TopRow read = read_top_row(kTask).value();
  EXPECT_EQ(read.title, "Fix login");  // no control characters
  EXPECT_EQ(read.tokens, 31'700u);     // sum of all classes
  EXPECT_EQ(read.activity, "Needs approval: rm");
  ASSERT_EQ(read.approvals.size(), 1U);
  EXPECT_EQ(read.approvals[0].id, "ap");
  ASSERT_EQ(read.commands.size(), 1u);
  EXPECT_EQ(read.commands[0].state, "delivered");
  EXPECT_EQ(read.elapsed_ms(read.started_ms + 5'000), 5'000);
  EXPECT_FALSE(read_top_row("{}"));
  EXPECT_TRUE(read_top_row(R"({"id":"old","capabilities":[]})"));
}

TEST(TopModel, WhoNeedsYouComesFirstAndWhatIsOverLast) {
  TopModel model;
  model.replace({row("done", "completed", 9), row("bad", "failed", 8), row("q", "queued", 7), row("run", "running", 1),
                 row("run2", "running", 2), row("ask", "waiting_for_input", 0), row("pause", "paused", 3)});
  model.set_needs({{"ask", "waiting"}, {"bad", "failed"}}, 2);
  EXPECT_EQ(ids(model), "ask bad pause run2 run q done");
  EXPECT_EQ(model.totals().needs_you, 2u);
  EXPECT_EQ(model.totals().ended, 2u);
  model.set_needs({{"ask", "waiting"}}, 1);
  EXPECT_EQ(ids(model), "ask pause run2 run q bad done");
  model.toggle_ended();
  EXPECT_EQ(ids(model), "ask pause run2 run q");
}

TEST(TopModel, SortsByWhatWasAskedFor) {
  TopModel model;
  TopRow a = row("a", "running", 1), b = row("b", "running", 2), c = row("c", "completed", 3);
  a.cost_usd = 1;
  b.tokens = 5;
  c.last_event_ms = 9;
  c.cost_usd = 2;
  model.replace({a, b, c});
  std::vector<std::string> expected{"b a c", "c b a", "c a b", "b c a", "a b c", "a b c"};
  for (const std::string& order : expected) {
    EXPECT_EQ(ids(model), order) << model.sort_name();
    model.next_sort();
  }
  EXPECT_EQ(model.sort_name(), "needs you");
}

TEST(TopModel, TheChosenTaskIsFollowed) {
  TopModel model;
  model.replace({row("a", "running", 3), row("b", "running", 2), row("c", "running", 1)});
  model.move(1);
  EXPECT_EQ(model.chosen()->id, "b");
  model.put(row("b", "waiting_for_input", 2));
  model.set_needs({{"b", "waiting"}}, 1);
  EXPECT_EQ(ids(model), "b a c");
  EXPECT_EQ(model.chosen()->id, "b");
  model.replace({row("a", "running", 3), row("c", "running", 1)});
  EXPECT_EQ(model.chosen()->id, "a");  // the row in its place
  model.move(100);
  EXPECT_EQ(model.chosen()->id, "c");
  model.move(-100);
  EXPECT_EQ(model.chosen()->id, "a");
  model.replace({});
  EXPECT_EQ(model.chosen(), nullptr);
  model.move(1);
}

TEST(TopModel, FiltersByWordsWithoutRegardToCase) {
  TopModel model;
  TopRow web = row("w", "running"), api = row("x", "failed");
  web.title = "Fix the Web page";
  api.agent = "claude";
  model.replace({web, api});
  model.set_filter("WEB fix");
  EXPECT_EQ(ids(model), "w");
  model.set_filter("claude failed");
  EXPECT_EQ(ids(model), "x");
  model.set_filter("claude  web");
  EXPECT_EQ(ids(model), "");
  model.set_filter("");
  EXPECT_EQ(model.shown().size(), 2u);
}

TEST(TopModel, TheWindowMovesAsLittleAsPossible) {
  TopModel model;
  std::vector<TopRow> rows;
  for (int i = 0; i < 10; ++i) rows.push_back(row(std::string(1, static_cast<char>('a' + i)), "running", 100 - i));
  model.replace(rows);
  EXPECT_EQ(model.scroll(4), 0u);
  model.move(5);
  EXPECT_EQ(model.scroll(4), 2u);
  model.move(-1);
  EXPECT_EQ(model.scroll(4), 2u);
  model.move(-4);
  EXPECT_EQ(model.scroll(4), 0u);
  model.move(9);
  EXPECT_EQ(model.scroll(20), 0u);
}

TEST(TopModel, IsBounded) {
  TopModel model;
  for (std::size_t i = 0; i < kTopTasks + 5; ++i) {
    TopRow ended = row("t" + std::to_string(i), i == 0 ? "running" : "completed");
    ended.completed_ms = static_cast<std::int64_t>(i);
    model.put(std::move(ended));
  }
  EXPECT_EQ(model.shown().size(), kTopTasks);
  EXPECT_NE(model.find("t0"), nullptr);  // still running
  EXPECT_EQ(model.find("t1"), nullptr);
}

TEST(TopLayout, RowsFitEveryWidth) {
  TopModel model;
  TopRow wide = read_top_row(kTask).value();
  wide.title = "長い題名がここにありますので切られるはずです, and more of it";
  wide.activity = std::string(300, 'x');
  model.replace({wide, row("b", "running")});
  model.set_needs({{"t1", "approval"}}, 1);
  for (std::size_t columns : {1u, 12u, 20u, 59u, 60u, 80u, 99u, 100u, 200u}) {
    for (std::size_t lines : {1u, 2u, 3u, 4u, 24u}) {
      TopFrame frame;
      frame.size = {columns, lines};
      frame.now_ms = wide.started_ms + 61'000;
      auto screen = list_screen(model, frame);
      EXPECT_EQ(screen.size(), lines);
      for (const ScreenLine& line : screen) {
        for (const ScreenSpan& span : line.spans) {
          EXPECT_LE(span.column + columns_of(span.text), std::max<std::size_t>(columns, 14)) << columns << span.text;
        }
      }
      if (columns == 100 && lines == 24) {
        std::string text = drawn(screen);
        EXPECT_NE(text.find("needs you"), std::string::npos) << text;
        EXPECT_NE(text.find("1:01"), std::string::npos) << text;
        EXPECT_NE(text.find("31.7k"), std::string::npos) << text;
        EXPECT_NE(text.find("$0.25"), std::string::npos) << text;
      }
    }
  }
}

TEST(TopLayout, TheLogFollowsItsEndUnlessScrolledBack) {
  TopLog log;
  log.title = "Fix login";
  for (std::uint64_t i = 1; i <= 50; ++i) {
    EventLine line;
    line.sequence = i;
    line.word = "log";
    line.text = "line " + std::to_string(i);
    log.lines.push_back(line);
  }
  TopFrame frame;
  frame.size = {80, 12};
  std::string text = drawn(log_screen(log, nullptr, frame));
  EXPECT_NE(text.find("line 50"), std::string::npos);
  EXPECT_NE(text.find("line 41"), std::string::npos);
  EXPECT_EQ(text.find("line 40"), std::string::npos);
  log.back = 10;
  text = drawn(log_screen(log, nullptr, frame));
  EXPECT_EQ(text.find("line 41"), std::string::npos);
  EXPECT_NE(text.find("line 40"), std::string::npos);
  EXPECT_NE(text.find("10 below"), std::string::npos);
}

TEST(TextColumns, CountsWhatATerminalShows) {
  EXPECT_EQ(columns_of("abc"), 3u);
  EXPECT_EQ(columns_of("日本"), 4u);
  EXPECT_EQ(columns_of("e\u0301"), 1u);
  EXPECT_EQ(cut_to_columns("abcdef", 4), "abc…");
  EXPECT_EQ(cut_to_columns("日本語", 4), "日…");
  EXPECT_EQ(cut_to_columns("日本語", 6), "日本語");
  EXPECT_EQ(cut_to_columns("abc", 0), "");
}

TEST(TextColumns, CountText) {
  EXPECT_EQ(count_text(950), "950");
  EXPECT_EQ(count_text(12'345), "12.3k");
  EXPECT_EQ(count_text(4'100'000), "4.1M");
}

}  // namespace
}  // namespace shepherd
