// The state of many running tasks and its display: redrawn lines on a terminal, one line per change elsewhere, a table
// at the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "cli/context.h"
#include "driver/driver.h"
#include "model/task.h"

namespace shepherd {

struct BoardRow {
  std::string name, task;
  State state = State::queued;
  std::string activity;                       // current activity or outcome; escaped
  std::int64_t started_ms = 0, ended_ms = 0;  // steady clock; 0: not yet
  double cost_usd = 0;
  bool unpriced = false;  // the cost of some of its use is not known
};

// One row as a line of at most `columns`, without colour: "docs   running  1:02  $0.12  Reading README.md".
std::string board_line(const BoardRow& row, std::int64_t now_ms, std::size_t name_width, std::size_t columns);

// Threads: any, but draw(), note() and finish() from one thread.
class TaskBoard {
 public:
  enum class Form { live, lines, json, silent };

  TaskBoard(Context& context, Form form, const Clock& clock, const std::vector<std::string>& names);

  void started(std::size_t index, const std::string& task) EXCLUDES(mutex_);
  void event(std::size_t index, const DriverEvent& event) EXCLUDES(mutex_);
  void ended(std::size_t index, State state, const std::string& message, std::optional<double> cost_usd)
      EXCLUDES(mutex_);

  void draw() EXCLUDES(mutex_);      // call about every kBoardTick
  void note(std::string_view text);  // prints a permanent line above the board
  void finish() EXCLUDES(mutex_);    // prints the table

  std::vector<BoardRow> rows() const EXCLUDES(mutex_);

 private:
  void say(const BoardRow& row);

  Context& context_;
  const Form form_;
  const Clock& clock_;
  mutable Mutex mutex_;
  std::vector<BoardRow> rows_ GUARDED_BY(mutex_);
  std::vector<BoardRow> changes_ GUARDED_BY(mutex_);  // not printed yet, in order
  std::size_t drawn_ = 0;                             // lines on the terminal that the next draw replaces
};

}  // namespace shepherd
