// Markdown as it arrives in pieces, as lines for a terminal: headings, lists, quotes, code, tables, emphasis, links.
//
// A line is finished when its line break has come, a table when its last row has; until then unfinished() shows them.
// The looks are approximate where Markdown is ambiguous, but no text is lost except the marks themselves, and the
// address of a link is always shown. All text passes terminal_text.
// Threads: caller.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "terminal/styled_line.h"

namespace shepherd {

class MarkdownText {
 public:
  // The lines that are finished now.
  std::vector<StyledLine> add(std::string_view piece);
  // The rest, as if a line break came; afterwards it is as new.
  std::vector<StyledLine> finish();
  // What would come if the text ended here.
  std::vector<StyledLine> unfinished() const;
  bool empty() const { return held_.empty() && table_.empty(); }

 private:
  void take_line(std::string_view source, std::vector<StyledLine>& out);
  void end_table(std::vector<StyledLine>& out);

  std::string held_;                // a line without its end
  std::vector<std::string> table_;  // rows so far
  std::string fence_;               // what opened the code block; empty outside of one
  bool blank_ = true;               // the newest finished line was blank, or there was none
};

// One line's emphasis, code and links.
StyledLine inline_markdown(std::string_view text, TextLook look = {});

}  // namespace shepherd
