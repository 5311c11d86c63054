#include "cli/live_printer.h"

#include <fmt/format.h>

#include <boost/json.hpp>
#include <ctime>

#include "terminal/span_text.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

namespace json = boost::json;

std::string local_time(std::int64_t wall_ms) {
  std::time_t seconds = wall_ms / 1'000;
  std::tm parts{};
  localtime_r(&seconds, &parts);
  return fmt::format("{:02}:{:02}:{:02}", parts.tm_hour, parts.tm_min, parts.tm_sec);
}

}  // namespace

bool LivePrinter::on_event(std::string_view task, std::uint64_t, std::string_view event) {
  if (options_.json) {
    context_.out.json_line(event);
  } else {
    EventLine line = event_line(event);
    if (!line.passing) events_.print(task, event, line, when(task, line));
  }
  if (live_) context_.out.flush();
  return !context_.out.closed();
}

void LivePrinter::on_gap(std::string_view, std::uint64_t from, std::uint64_t to) {
  // Over all tasks the range is in opaque cursors, so only the loss itself can be reported.
  std::string range = to == 0 ? std::string("older events") : fmt::format("events {} to {}", from, to);
  remark(range + " are past retention and gone", Color::yellow);
}

void LivePrinter::on_state(const LiveChange& change) {
  live_ = change.state == LiveState::live;
  context_.out.flush();
  if (change.state == LiveState::disconnected) {
    remark(fmt::format("connection lost ({}); trying again …", change.why), Color::yellow);
  } else if (change.state == LiveState::connected && change.down_ms > 0) {
    remark(fmt::format("connected again after {}; nothing is missed", elapsed_text(change.down_ms)), Color::green);
  } else if (change.state == LiveState::live && !said_live_) {
    said_live_ = true;
    if (context_.out.is_terminal())
      remark("live; waiting for new events (Ctrl-C stops watching, the task goes on)", Color::dim);
  }
}

void LivePrinter::on_complete(std::string_view task, std::string_view data) {
  boost::system::error_code error;
  json::value value = json::parse(data, error);
  const json::object* end = error ? nullptr : value.if_object();
  auto text = [&](std::string_view name) {
    const json::value* member = end == nullptr ? nullptr : end->if_contains(name);
    return member != nullptr && member->is_string() ? std::string(member->get_string()) : std::string();
  };
  status_ = text("status");
  context_.out.flush();
  std::string line = options_.one_task ? status_ : fmt::format("{} {}", task, status_);
  if (std::string why = text("error"); !why.empty()) line += ": " + why;
  if (const json::value* cost = end == nullptr ? nullptr : end->if_contains("costUSD");
      cost != nullptr && cost->is_number()) {
    double usd = cost->to_number<double>(error);
    if (usd > 0) line += fmt::format(", ${:.2f}", usd);
  }
  if (std::string pr = text("prURL"); !pr.empty()) line += ", " + pr;
  remark(line, completed() ? Color::green : Color::red);
  if (options_.one_task && !options_.json && !options_.brief) events_.print_last_answer();
  context_.out.flush();
}

std::string LivePrinter::when(std::string_view task, const EventLine& line) {
  if (!options_.one_task) {
    return fmt::format("{}  {}", local_time(line.timestamp_ms), terminal_text(task, Lines::join));
  }
  if (started_ms_ == 0 || line.timestamp_ms < started_ms_) started_ms_ = line.timestamp_ms;
  return fmt::format("{:>8}", "+" + elapsed_text(line.timestamp_ms - started_ms_));
}

void LivePrinter::remark(std::string_view text, Color color) {
  context_.err.line(context_.err.paint(color, fmt::format("-- {}", terminal_text(text, Lines::join))));
  context_.err.flush();
}

}  // namespace shepherd
