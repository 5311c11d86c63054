#include "cli/event_printer.h"

#include "cli/approval_view.h"
#include "cli/limits.h"
#include "json/scan.h"
#include "terminal/terminal_text.h"
#include "terminal/text_columns.h"

namespace shepherd {
namespace {

constexpr std::string_view kBelow = "    ";

// The text without surrounding blank lines.
std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.remove_suffix(1);
  while (text.starts_with('\n')) text.remove_prefix(1);
  return text;
}

}  // namespace

std::size_t EventPrinter::room() const {
  if (!out_.is_terminal()) return 0;
  std::size_t columns = out_.columns();
  return columns > kBelow.size() + kLeastWrapColumns ? columns - kBelow.size() : 0;
}

std::string EventPrinter::whole_text(std::string_view task, const EventLine& line) {
  if (line.cut.empty()) return line.body;
  Result<ApiClient> client = connect_();
  Result<std::string> detail = client ? client->detail(task, line.sequence) : fail(client.error());
  std::optional<std::string> whole = detail ? string_value(find_member(*detail, line.cut)) : std::nullopt;
  if (whole) return terminal_text(*whole, Lines::keep);
  // There is no more text: the server keeps no details, or the text ended exactly there.
  return detail || detail.error().code == ErrorCode::not_found ? line.body
                                                               : line.body + "\n(the rest cannot be read now)";
}

std::vector<std::string> EventPrinter::asked(std::string_view task, std::string_view event) {
  Result<ApiClient> client = connect_();
  if (!client) return {"(cannot be read now: " + terminal_text(client.error().message, Lines::join) + ")"};
  return asked_lines(asked_input(*client, task, event), room());
}

void EventPrinter::print_below(const std::vector<std::string>& lines) {
  for (const std::string& line : lines) out_.line(line.empty() ? line : std::string(kBelow) + line);
}

void EventPrinter::print(std::string_view task, std::string_view event, const EventLine& line, std::string_view when) {
  std::string body = brief_ ? std::string() : whole_text(task, line);
  if (line.is_answer && !brief_) answer_ = body;
  std::string_view text = trimmed(body);
  EventLine head = line;
  if (!text.empty()) head.text = text;
  std::string first = painted_line(out_, head, when);
  bool fits = !out_.is_terminal() || head_columns(head, when) + columns_of(head.text) <= out_.columns();
  if (text.empty() || (fits && text.find('\n') == std::string_view::npos)) {
    out_.line(first);
  } else {
    head.text.clear();
    out_.line(painted_line(out_, head, when));
    for (const std::string& each : wrapped_lines(text, room())) {
      std::string painted = line.color == Color::dim && !line.is_answer ? out_.paint(Color::dim, each) : each;
      out_.line(each.empty() ? each : std::string(kBelow) + painted);
    }
  }
  if (line.asks) print_below(asked(task, event));
}

void EventPrinter::print_last_answer() {
  std::string_view text = trimmed(answer_);
  if (text.empty()) return;
  out_.line("");
  for (const std::string& each : wrapped_lines(text, out_.is_terminal() ? out_.columns() : 0)) out_.line(each);
}

}  // namespace shepherd
