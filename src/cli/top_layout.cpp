#include "cli/top_layout.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/cost_text.h"
#include "terminal/span_text.h"
#include "terminal/text_columns.h"

namespace shepherd {
namespace {

constexpr std::size_t kFrameLines = 3;  // title bar, column names, footer

struct Column {
  std::string_view name;
  std::size_t column = 0, width = 0;
  bool right = false;
};

struct Columns {
  Column state, title, agent, time, tokens, cost, activity;
};

// Columns that do not fit are left out, the least important first.
Columns columns_for(std::size_t width) {
  Columns all;
  all.state = {"STATE", 0, 11, false};
  std::size_t at = 12;
  std::size_t rest = width > at ? width - at : 0;
  bool wide = width >= 100;
  bool middle = width >= 60;
  std::size_t numbers = middle ? 8 + 8 + 9 : 0;
  std::size_t agent = wide ? 17 : 0;
  std::size_t texts = rest > numbers + agent ? rest - numbers - agent : 0;
  std::size_t title = middle ? texts * 2 / 5 : texts;
  all.title = {"TASK", at, title > 0 ? title - 1 : 0, false};
  at += title;
  if (wide) all.agent = {"AGENT", at, agent - 1, false};
  at += agent;
  if (middle) {
    all.time = {"TIME", at, 7, true};
    all.tokens = {"TOKENS", at + 8, 7, true};
    all.cost = {"COST", at + 16, 8, true};
    at += numbers;
    all.activity = {"ACTIVITY", at, width > at ? width - at : 0, false};
  }
  return all;
}

void put(ScreenLine& line, const Column& column, std::string_view text, Color color = Color::plain) {
  if (column.width == 0 || text.empty()) return;
  std::string cut = cut_to_columns(text, column.width);
  std::size_t pad = column.right ? column.width - std::min(column.width, columns_of(cut)) : 0;
  line.spans.push_back({column.column + pad, std::move(cut), color});
}

std::string state_text(const TopRow& row) {
  if (row.waits()) return "needs you";
  if (row.need == "stalled") return "stalled";
  std::string text = row.state;
  std::ranges::replace(text, '_', ' ');
  return text;
}

Color state_color(const TopRow& row) {
  if (row.needs_you() && !row.ended()) return Color::magenta;
  if (row.state == "running" || row.state == "starting") return Color::cyan;
  if (row.state == "completed") return Color::green;
  if (row.state == "failed" || row.state == "timed_out") return Color::red;
  if (row.state == "paused" || row.state == "interrupted") return Color::yellow;
  return Color::dim;
}

ScreenLine row_line(const TopRow& row, const Columns& columns, std::int64_t now_ms) {
  ScreenLine line;
  Color text = row.ended() ? Color::dim : Color::plain;
  put(line, columns.state, state_text(row), state_color(row));
  put(line, columns.title, row.title.empty() ? row.id : row.title, text);
  std::string agent = row.agent + (row.agent.empty() || row.model.empty() ? "" : " ") + row.model;
  put(line, columns.agent, agent, Color::dim);
  put(line, columns.time, elapsed_text(row.elapsed_ms(now_ms)), text);
  if (row.tokens > 0) put(line, columns.tokens, count_text(row.tokens), text);
  put(line, columns.cost, cost_text(row.cost_usd, row.unpriced), text);
  put(line, columns.activity, row.activity, row.waits() ? Color::magenta : text);
  return line;
}

ScreenLine name_line(const Columns& columns) {
  ScreenLine line;
  for (const Column& column :
       {columns.state, columns.title, columns.agent, columns.time, columns.tokens, columns.cost, columns.activity}) {
    put(line, column, column.name, Color::bold);
  }
  return line;
}

ScreenLine bar(std::string_view text, std::size_t columns) {
  std::string cut = cut_to_columns(text, columns);
  cut.append(columns - std::min(columns, columns_of(cut)), ' ');
  ScreenLine line;
  line.spans.push_back({0, std::move(cut), Color::plain});
  line.reversed = true;
  return line;
}

std::string title_text(const TopModel& model, const TopFrame& frame) {
  TopTotals totals = model.totals();
  std::string text = fmt::format(" shepherd   {} need you   {} running   {} queued   {} ended   ${:.2f}{}   by {}",
                                 totals.needs_you, totals.running, totals.queued, totals.ended, totals.cost_usd,
                                 totals.unpriced ? "+" : "", model.sort_name());
  if (!model.shows_ended()) text += "   ended hidden";
  if (!model.filter().empty()) text += fmt::format("   filter: {}", model.filter());
  if (!frame.connection.empty()) text += "   " + frame.connection;
  return text;
}

ScreenLine footer(const TopFrame& frame, std::string_view keys) {
  ScreenLine line;
  std::size_t width = frame.size.columns;
  if (frame.typing) {
    line.spans.push_back({0, cut_to_columns("/" + frame.input + "_", width), Color::bold});
  } else if (!frame.notice.empty()) {
    line.spans.push_back({0, cut_to_columns(frame.notice, width), Color::yellow});
  } else {
    line.spans.push_back({0, cut_to_columns(keys, width), Color::dim});
  }
  return line;
}

// Pads the screen to the terminal's height; the footer comes last.
void fill_to(std::vector<ScreenLine>& screen, std::size_t lines) {
  while (screen.size() < lines) screen.emplace_back();
  screen.resize(lines);
}

}  // namespace

std::string count_text(std::uint64_t count) {
  if (count < 1'000) return std::to_string(count);
  if (count < 1'000'000) return fmt::format("{:.1f}k", static_cast<double>(count) / 1e3);
  return fmt::format("{:.1f}M", static_cast<double>(count) / 1e6);
}

std::vector<ScreenLine> list_screen(TopModel& model, const TopFrame& frame) {
  std::vector<ScreenLine> screen;
  std::size_t height = frame.size.lines > kFrameLines ? frame.size.lines - kFrameLines : 0;
  Columns columns = columns_for(frame.size.columns);
  screen.push_back(bar(title_text(model, frame), frame.size.columns));
  screen.push_back(name_line(columns));
  std::size_t first = model.scroll(height);
  const auto& rows = model.shown();
  for (std::size_t i = first; i < rows.size() && i < first + height; ++i) {
    ScreenLine line = row_line(*rows[i], columns, frame.now_ms);
    line.reversed = i == model.chosen_place();
    screen.push_back(std::move(line));
  }
  if (rows.empty()) {
    ScreenLine line;
    line.spans.push_back({2,
                          model.filter().empty() ? "No tasks yet. Start one: shepherd run \"fix the failing test\""
                                                 : "Nothing matches; Esc shows all",
                          Color::dim});
    screen.push_back(std::move(line));
  }
  fill_to(screen, frame.size.lines - std::min<std::size_t>(1, frame.size.lines));
  screen.push_back(
      footer(frame, "Enter log  a approve  d deny  i interrupt  x stop  / filter  s sort  t ended  ? help  q quit"));
  return screen;
}

std::vector<ScreenLine> log_screen(const TopLog& log, const TopRow* row, const TopFrame& frame) {
  std::vector<ScreenLine> screen;
  std::size_t height = frame.size.lines > 2 ? frame.size.lines - 2 : 0;
  std::string title = " " + log.title;
  if (row != nullptr) title += fmt::format("   {}   {}", state_text(*row), elapsed_text(row->elapsed_ms(frame.now_ms)));
  if (log.back > 0) title += fmt::format("   {} below", log.back);
  if (!frame.connection.empty()) title += "   " + frame.connection;
  screen.push_back(bar(title, frame.size.columns));
  std::size_t end = log.lines.size() - std::min(log.back, log.lines.size());
  std::size_t begin = end > height ? end - height : 0;
  for (std::size_t i = begin; i < end; ++i) {
    const EventLine& event = log.lines[i];
    ScreenLine line;
    std::string when =
        fmt::format("{:>6} {:>8}", event.sequence, "+" + elapsed_text(event.timestamp_ms - log.started_ms));
    line.spans.push_back({0, when, Color::dim});
    line.spans.push_back({16, event.word, event.color});
    std::size_t left = frame.size.columns > 26 ? frame.size.columns - 26 : 0;
    line.spans.push_back({26, cut_to_columns(event.text, left), event.color == Color::dim ? Color::dim : Color::plain});
    screen.push_back(std::move(line));
  }
  fill_to(screen, frame.size.lines - std::min<std::size_t>(1, frame.size.lines));
  screen.push_back(
      footer(frame, "Esc back  up/down scroll  G newest  a approve  d deny  i interrupt  x stop  ? help  q quit"));
  return screen;
}

std::vector<ScreenLine> asked_screen(std::string_view title, const AskedInput& input, std::size_t& first,
                                     const TopFrame& frame) {
  std::vector<ScreenLine> screen;
  std::size_t height = frame.size.lines > kFrameLines ? frame.size.lines - kFrameLines : 1;
  std::vector<std::string> lines = asked_lines(input, frame.size.columns);
  first = std::min(first, lines.size() > height ? lines.size() - height : 0);
  screen.push_back(bar(fmt::format(" {}", title), frame.size.columns));
  screen.emplace_back();
  for (std::size_t i = first; i < lines.size() && i < first + height; ++i) {
    ScreenLine line;
    line.spans.push_back({0, lines[i], Color::plain});
    screen.push_back(std::move(line));
  }
  fill_to(screen, frame.size.lines - std::min<std::size_t>(1, frame.size.lines));
  std::size_t below = lines.size() - std::min(lines.size(), first + height);
  TopFrame asking = frame;
  if (below > 0) asking.notice += fmt::format("   ({} more lines: down)", below);
  screen.push_back(footer(asking, ""));
  return screen;
}

std::vector<ScreenLine> help_screen(const TopFrame& frame) {
  constexpr std::string_view kLines[] = {
      "",
      "  up down j k    choose a task           Enter   its log",
      "  PgUp PgDn      a page                  Esc     back; clears the filter",
      "  g G Home End   first, last             /       filter: words of title, id, agent, state",
      "",
      "  a              approve what it asks    s       sort by: needs you, newest, cost, tokens, time, title",
      "  d              deny it                 t       show or hide ended tasks",
      "  i              interrupt its turn      q       quit",
      "  x F9           stop it for certain     ?       this",
      "",
      "  What is in the inbox (approvals, questions, waiting, stalled, failed) comes first.",
  };
  std::vector<ScreenLine> screen;
  screen.push_back(bar(" shepherd top: keys", frame.size.columns));
  for (std::string_view text : kLines) {
    ScreenLine line;
    line.spans.push_back({0, cut_to_columns(text, frame.size.columns), Color::plain});
    screen.push_back(std::move(line));
  }
  fill_to(screen, frame.size.lines - std::min<std::size_t>(1, frame.size.lines));
  screen.push_back(footer(frame, "any key goes back"));
  return screen;
}

}  // namespace shepherd
