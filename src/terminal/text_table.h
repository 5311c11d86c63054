// Rows of text in aligned columns, for people. Only the last column may be cut to fit the terminal.
// Threads: caller.
#pragma once

#include <string>
#include <vector>

#include "terminal/output.h"

namespace shepherd {

class TextTable {
 public:
  struct Cell {
    std::string text;  // already escaped, without colour
    Color color = Color::plain;
  };
  struct Column {
    std::string title;
    bool right = false;  // for numbers
  };

  explicit TextTable(std::vector<Column> columns) : columns_(std::move(columns)) {}
  void add(std::vector<Cell> row) { rows_.push_back(std::move(row)); }
  bool empty() const { return rows_.empty(); }
  void print(Output& out) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<Cell>> rows_;
};

}  // namespace shepherd
