// A chat session's events as lines for a person: prompts, the answer as it arrives, tool calls folded to a line each.
// Threads: caller.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "terminal/markdown_text.h"
#include "terminal/styled_line.h"

namespace shepherd {

// A call of a tool, which a person can look at in full.
struct ShownToolCall {
  std::string id, name, parameters, result, error;
  bool success = true;
};

class ChatTranscript {
 public:
  // What the event adds. Events that only change a state add nothing.
  std::vector<StyledLine> event(std::string_view type, std::string_view data);
  // The conversation so far, as /session lists it: the newest `most` messages.
  std::vector<StyledLine> history(std::string_view session_json, std::size_t most);
  // What the answer would add if it ended now.
  std::vector<StyledLine> unfinished() const;

  // Live text may be missing: the next whole message is shown again.
  void miss() { missed_ = true; }
  // The tool that runs, with its parameters; empty if none does.
  const std::string& running() const { return running_; }

  // A call by its number, which its line shows; 0: the newest. nullptr if there is none.
  const ShownToolCall* tool_call(std::size_t number) const;
  static std::vector<StyledLine> whole_tool_call(const ShownToolCall& call);

 private:
  void message(std::string_view data, std::vector<StyledLine>& out, bool live);
  void answer(std::string_view piece, bool code, std::vector<StyledLine>& out);
  void reasoning(std::string_view piece, std::vector<StyledLine>& out);
  void end_answer(std::vector<StyledLine>& out);
  void add_tool_call(std::string_view id, std::string_view name, std::string_view parameters);
  void tool_result(std::string_view data, std::vector<StyledLine>& out);
  StyledLine tool_line(std::size_t index) const;
  ShownToolCall* find(std::string_view id);

  MarkdownText answer_;
  std::string thought_;  // reasoning without its line end
  bool said_ = false;    // since the last whole message
  bool in_code_ = false, line_open_ = false;
  bool missed_ = false;
  std::string running_;
  std::vector<ShownToolCall> calls_;  // the newest kChatToolCalls
  std::size_t dropped_calls_ = 0;
};

// "read_file(path: notes.txt)": values are cut.
std::string tool_call_text(std::string_view name, std::string_view parameters);

}  // namespace shepherd
