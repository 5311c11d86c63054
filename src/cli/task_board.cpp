#include "cli/task_board.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>
#include <utility>

#include "cli/cost_text.h"
#include "cli/limits.h"
#include "driver/limits.h"
#include "json/scan.h"
#include "terminal/span_text.h"
#include "terminal/terminal_text.h"
#include "terminal/text_columns.h"
#include "terminal/text_table.h"

namespace shepherd {
namespace {

namespace json = boost::json;

Color color_of(State state) {
  switch (state) {
    case State::completed:
      return Color::green;
    case State::failed:
    case State::timed_out:
      return Color::red;
    case State::waiting_for_input:
    case State::interrupted:
    case State::paused:
    case State::cancelled:
      return Color::yellow;
    case State::queued:
    case State::starting:
      return Color::dim;
    case State::running:
      return Color::blue;
  }
  return Color::plain;
}

std::string elapsed(const BoardRow& row, std::int64_t now_ms) {
  if (row.started_ms == 0) return "";
  return elapsed_text((row.ended_ms > 0 ? row.ended_ms : now_ms) - row.started_ms);
}

std::string cost(const BoardRow& row) {
  return cost_text(row.cost_usd, row.unpriced);
}

}  // namespace

std::string board_line(const BoardRow& row, std::int64_t now_ms, std::size_t name_width, std::size_t columns) {
  std::string line = fmt::format("{:<{}}  {:<17}  {:>8}  {:>8}  {}", row.name, name_width, name(row.state),
                                 elapsed(row, now_ms), cost(row), row.activity);
  return cut_to_columns(line, columns);
}

TaskBoard::TaskBoard(Context& context, Form form, const Clock& clock, const std::vector<std::string>& names)
    : context_(context), form_(form), clock_(clock) {
  for (const std::string& name : names) {
    rows_.emplace_back().name = terminal_text(name, Lines::join);
  }
}

void TaskBoard::started(std::size_t index, const std::string& task) {
  MutexLock lock(mutex_);
  BoardRow& row = rows_[index];
  row.task = task;
  row.state = State::starting;
  row.started_ms = clock_.steady_ms();
  changes_.push_back(row);
}

void TaskBoard::event(std::size_t index, const DriverEvent& event) {
  bool telling = event.type == EventType::tool_call || event.type == EventType::thinking ||
                 event.type == EventType::output || event.type == EventType::status;
  if (!telling && event.type != EventType::usage) return;
  std::string_view data = find_member(event.json, "data");
  MutexLock lock(mutex_);
  BoardRow& row = rows_[index];
  if (is_terminal(row.state)) return;
  if (event.type == EventType::usage) {
    std::optional<double> cost = number_value(find_member(data, "costUSD"));
    row.cost_usd = cost.value_or(row.cost_usd);
    bool unpriced = find_member(data, "unpriced") == "true";
    if (cost || unpriced) row.unpriced = unpriced;
    return;
  }
  std::string summary = string_value(find_member(event.json, "summary")).value_or("");
  bool intent = event.type == EventType::tool_call || event.type == EventType::status;
  if (!summary.empty()) row.activity = intent ? exact_text(summary, Lines::join) : terminal_text(summary, Lines::join);
  State before = row.state;
  if (event.type == EventType::status) {
    std::optional<State> state = state_named(string_value(find_member(data, "state")).value_or(""));
    if (state && !is_terminal(*state)) row.state = *state;
  } else if (row.state == State::starting) {
    row.state = State::running;
  }
  if (row.state != before) changes_.push_back(row);
}

void TaskBoard::ended(std::size_t index, State state, const std::string& message, std::optional<double> cost_usd) {
  MutexLock lock(mutex_);
  BoardRow& row = rows_[index];
  row.state = state;
  row.activity = terminal_text(message, Lines::join);
  row.ended_ms = clock_.steady_ms();
  if (row.started_ms == 0) row.started_ms = row.ended_ms;
  if (cost_usd) row.cost_usd = *cost_usd;
  changes_.push_back(row);
}

std::vector<BoardRow> TaskBoard::rows() const {
  MutexLock lock(mutex_);
  return rows_;
}

void TaskBoard::say(const BoardRow& row) {
  std::int64_t now_ms = clock_.steady_ms();
  if (form_ == Form::json) {
    json::object object{{"name", row.name},
                        {"taskID", row.task},
                        {"state", name(row.state)},
                        {"message", row.activity},
                        {"costUSD", row.cost_usd}};
    if (row.unpriced) object["unpriced"] = true;
    if (row.started_ms > 0) object["elapsedMS"] = (row.ended_ms > 0 ? row.ended_ms : now_ms) - row.started_ms;
    context_.out.line(json::serialize(object));
  } else {
    context_.out.line(fmt::format("{}  {}  {}{}", row.name, name(row.state), row.task,
                                  row.activity.empty() ? "" : ": " + cut_to(row.activity, kTextSummaryCharacters)));
  }
}

void TaskBoard::draw() {
  std::vector<BoardRow> rows, changes;
  {
    MutexLock lock(mutex_);
    rows = rows_;
    changes = std::exchange(changes_, {});
  }
  if (form_ == Form::silent) return;
  if (form_ != Form::live) {
    for (const BoardRow& row : changes) say(row);
    return context_.out.flush();
  }
  std::size_t width = 0;
  for (const BoardRow& row : rows) width = std::max(width, character_count(row.name));
  std::int64_t now_ms = clock_.steady_ms();
  // Starts at the beginning of the line, because the terminal echoes typed characters, including Ctrl-C.
  std::string text = drawn_ > 0 ? fmt::format("\r\x1b[{}A", drawn_) : "";
  for (const BoardRow& row : rows) {
    std::string line = board_line(row, now_ms, width, context_.out.columns() - 1);
    text += "\x1b[K" + context_.out.paint(color_of(row.state), line) + "\n";
  }
  context_.out.line(text + "\x1b[J\x1b[A");  // line() ends the last line; clears everything below the board
  context_.out.flush();
  drawn_ = rows.size();
}

void TaskBoard::note(std::string_view text) {
  if (form_ == Form::silent) return;
  if (form_ != Form::live) {
    context_.err.line(text);
    return context_.err.flush();
  }
  // Replaces the board, which is drawn again below the text.
  context_.out.line(drawn_ > 0 ? fmt::format("\r\x1b[{}A\x1b[J{}", drawn_, text) : std::string(text));
  drawn_ = 0;
  draw();
}

void TaskBoard::finish() {
  draw();
  if (form_ == Form::silent || form_ == Form::json) return;
  std::int64_t now_ms = clock_.steady_ms();
  std::vector<BoardRow> rows = this->rows();
  std::size_t names = 0, others = 0;
  for (const BoardRow& row : rows) {
    names = std::max(names, character_count(row.name));
    others = std::max(others, row.task.size());
  }
  others += kBoardFixedColumns;
  // A narrow terminal has no room for the results. The lines above this table have them.
  std::size_t columns = context_.out.columns();
  bool narrow = columns < names + others + kBoardResultColumns;
  if (narrow) names = columns > others + kBoardNameColumns ? columns - others : kBoardNameColumns;
  std::vector<TextTable::Column> titles{{"NAME"}, {"STATE"}, {"TIME", true}, {"COST", true}, {"TASK"}};
  if (!narrow) titles.push_back({"RESULT"});
  TextTable table(std::move(titles));
  for (const BoardRow& row : rows) {
    std::vector<TextTable::Cell> cells{{cut_to(row.name, names)},
                                       {std::string(name(row.state)), color_of(row.state)},
                                       {elapsed(row, now_ms)},
                                       {cost(row)},
                                       {row.task}};
    if (!narrow) cells.push_back({row.activity});
    table.add(std::move(cells));
  }
  context_.out.line("");
  table.print(context_.out);
}

}  // namespace shepherd
