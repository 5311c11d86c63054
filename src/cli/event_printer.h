// Prints events for a reader at a terminal or a file: one line each; below it the agent's text or output, wrapped to
// the terminal (unwrapped in a file), and for an approval its full input.
//
// If an event has only the beginning of a text, the rest is read from the server. If that fails, a line says so.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/event_line.h"
#include "client/api_client.h"

namespace shepherd {

// Connects to the server that has the details. Called each time, because a restarted server may have another address.
using Connect = std::function<Result<ApiClient>()>;

// Threads: caller.
class EventPrinter {
 public:
  // `brief` shows an agent's text as one line. An approval is still shown in full, because a person decides based on
  // it.
  EventPrinter(Output& out, Connect connect, bool brief) : out_(out), connect_(std::move(connect)), brief_(brief) {}

  void print(std::string_view task, std::string_view event_json, const EventLine& line, std::string_view when);
  // Prints the agent's own last answer again, without number and time; nothing if there is none.
  void print_last_answer();

  // The lines with an approval's input, as print() shows them.
  std::vector<std::string> asked(std::string_view task, std::string_view event_json);
  void print_below(const std::vector<std::string>& lines);

 private:
  std::string whole_text(std::string_view task, const EventLine& line);
  std::size_t room() const;  // columns for lines below the first; 0: any

  Output& out_;
  Connect connect_;
  const bool brief_;
  std::string answer_;
};

}  // namespace shepherd
