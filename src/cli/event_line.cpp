#include "cli/event_line.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/json.hpp>

#include "driver/limits.h"
#include "json/scan.h"
#include "json/tree.h"
#include "model/wire_json.h"
#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

namespace json = boost::json;

constexpr std::size_t kMaxUtf8Bytes = 4;

json::object object_member(std::string_view event, std::string_view name) {
  boost::system::error_code error;
  json::value value = json::parse(find_member(event, name), error);
  return !error && value.is_object() ? std::move(value.get_object()) : json::object();
}

void describe_result(EventLine& line, std::string_view event) {
  json::object output = object_member(event, "output");
  const json::value* success = output.if_contains("success");
  bool failed = success != nullptr && success->is_bool() && !success->get_bool();
  const json::value* denied = output.if_contains("denied");
  bool refused = denied != nullptr && denied->is_bool() && denied->get_bool();
  line.word = refused ? "denied" : failed ? "failed" : "done";
  line.color = refused ? Color::yellow : failed ? Color::red : Color::green;
  std::string summary = text_member(output, "summary");
  if (line.text.empty()) line.text = summary;
}

void describe_usage(EventLine& line, std::string_view event) {
  json::object data = object_member(event, "data");
  const json::value* partial = data.if_contains("partial");
  line.passing = partial != nullptr && partial->is_bool() && partial->get_bool();
  const json::value* cost = data.if_contains("costUSD");
  boost::system::error_code error;
  double usd = cost != nullptr && cost->is_number() ? cost->to_number<double>(error) : 0;
  if (line.text.empty() && usd > 0) line.text = fmt::format("${:.4f} so far", usd);
}

// Whether the text already contains the state, as "waiting_for_input" or in words ("Waiting for input: shall I?").
bool says(std::string_view text, std::string_view state) {
  auto same = [](char a, char b) { return a == b || (a == ' ' && b == '_') || (a >= 'A' && a <= 'Z' && a + 32 == b); };
  return std::search(text.begin(), text.end(), state.begin(), state.end(), same) != text.end();
}

void describe_status(EventLine& line, std::string_view event) {
  std::string state = text_member(object_member(event, "data"), "state");
  if (!state.empty() && !says(line.text, state)) {
    line.text = line.text.empty() ? state : state + ": " + line.text;
  }
  line.color = state == "completed"                        ? Color::green
               : state == "failed" || state == "timed_out" ? Color::red
                                                           : Color::yellow;
}

std::string_view body_member(EventType type) {
  switch (type) {
    case EventType::thinking:
    case EventType::output:
      return "text";
    case EventType::message:
      return "content";
    case EventType::log:
      return "line";
    default:
      return {};
  }
}

void describe_text(EventLine& line, EventType type, std::string_view event) {
  std::string_view member = body_member(type);
  json::object data = member.empty() ? json::object() : object_member(event, "data");
  line.body = member.empty() ? std::string() : text_member(data, member);
  line.is_answer = type == EventType::thinking && text_member(data, "kind") == "text" &&
                   find_member(event, "parentCallID").empty() && !line.body.empty();
  std::string_view cut = find_member(event, "cut");
  // Servers that do not mark what they cut do it at this size.
  bool full = line.body.size() + kMaxUtf8Bytes > kMaxEventTextBytes;
  if (!line.body.empty()) {
    if (full || !find_member(cut, "text").empty()) line.cut = "text";
  } else if (!find_member(cut, "summary").empty()) {
    line.cut = "summary";
    line.body = line.text;
  }
}

// Event types that show what an agent wants to do or waits for. A person may decide based on them.
bool is_intent(EventType type) {
  return type == EventType::approval || type == EventType::tool_call || type == EventType::status ||
         type == EventType::command;
}

struct Look {
  std::string_view word;
  Color color;
};

Look look_of(EventType type) {
  switch (type) {
    case EventType::session_start:
      return {"session", Color::cyan};
    case EventType::thinking:
      return {"thinking", Color::dim};
    case EventType::output:
      return {"output", Color::plain};
    case EventType::tool_call:
      return {"call", Color::blue};
    case EventType::tool_result:
      return {"done", Color::green};
    case EventType::error:
      return {"error", Color::red};
    case EventType::finding:
      return {"finding", Color::magenta};
    case EventType::usage:
      return {"usage", Color::dim};
    case EventType::status:
      return {"status", Color::yellow};
    case EventType::approval:
      return {"approval", Color::yellow};
    case EventType::log:
      return {"log", Color::dim};
    case EventType::result:
      return {"result", Color::green};
    case EventType::command:
      return {"command", Color::magenta};
    case EventType::command_result:
      return {"answer", Color::magenta};
    case EventType::message:
      return {"message", Color::plain};
    case EventType::eviction:
      return {"eviction", Color::dim};
    case EventType::other:
      return {"", Color::plain};
  }
  return {"", Color::plain};
}

}  // namespace

EventLine event_line(std::string_view event) {
  EventLine line;
  Result<EventView> view = parse_event(event);
  EventType type = view ? view->type : EventType::other;
  if (!view) {
    line.text = event;
  } else {
    line.sequence = view->sequence;
    line.timestamp_ms = view->timestamp_ms;
    auto [word, color] = look_of(view->type);
    line.word = word.empty() ? view->type_name : std::string(word);
    line.color = color;
    line.text = view->summary;
    if (view->type == EventType::tool_result) describe_result(line, event);
    if (view->type == EventType::usage) describe_usage(line, event);
    if (view->type == EventType::status) describe_status(line, event);
    describe_text(line, view->type, event);
    if (line.is_answer) {
      line.word = "says";
      line.color = Color::cyan;
    }
    if (view->type == EventType::approval) {
      std::string state = text_member(object_member(event, "data"), "state");
      line.asks = state == "pending" || state == "open";
    }
    if (!view->tool.empty() && line.text.find(view->tool) == std::string::npos) {
      line.text = line.text.empty() ? view->tool : view->tool + ": " + line.text;
    }
    if (view->late) line.text += " (late)";
  }
  line.word = cut_to(terminal_text(line.word, Lines::join), 9);
  line.text = is_intent(type) ? exact_text(line.text, Lines::join) : terminal_text(line.text, Lines::join);
  line.body = terminal_text(line.body, Lines::keep);
  return line;
}

std::size_t head_columns(const EventLine& line, std::string_view when) {
  return character_count(fmt::format("{:>6}  {}  {:<9} ", line.sequence, when, line.word));
}

std::string painted_line(const Output& out, const EventLine& line, std::string_view when) {
  std::string head = out.paint(Color::dim, fmt::format("{:>6}  {}  ", line.sequence, when));
  bool dim = line.color == Color::dim && !line.is_answer && !line.text.empty();
  std::string body = dim ? out.paint(Color::dim, line.text) : line.text;
  std::string word = body.empty() ? line.word : fmt::format("{:<9} ", line.word);
  return head + out.paint(line.color, word) + body;
}

}  // namespace shepherd
