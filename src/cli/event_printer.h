// Events for a reader at a terminal or a file: a line each; below it what the agent said or printed, wrapped to the
// terminal (in a file as it is), and of an approval all that it asks for.
//
// What an event has only the beginning of is asked for at the server. Where that cannot be had, a line says so.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/event_line.h"
#include "client/api_client.h"

namespace shepherd {

// Where details are; asked each time, because a restarted server may be somewhere else.
using Connect = std::function<Result<ApiClient>()>;

// Threads: caller.
class EventPrinter {
 public:
  // brief: an agent's text as one line. An approval is shown in full all the same: somebody decides by it.
  EventPrinter(Output& out, Connect connect, bool brief) : out_(out), connect_(std::move(connect)), brief_(brief) {}

  void print(std::string_view task, std::string_view event_json, const EventLine& line, std::string_view when);
  // What the agent itself said last, without number and time; nothing when it said nothing.
  void print_last_answer();

  // The lines of what an approval asks for, as print() shows them.
  std::vector<std::string> asked(std::string_view task, std::string_view event_json);
  void print_below(const std::vector<std::string>& lines);

 private:
  std::string whole_text(std::string_view task, const EventLine& line);
  std::size_t room() const;  // for lines below the first; 0: any

  Output& out_;
  Connect connect_;
  const bool brief_;
  std::string answer_;
};

}  // namespace shepherd
