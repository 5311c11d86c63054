#include "terminal/output.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include "terminal/terminal_text.h"

namespace shepherd {
namespace {

constexpr std::size_t kPipeColumns = 1'000;

std::string_view code_of(Color color) {
  switch (color) {
    case Color::plain:
      return "";
    case Color::bold:
      return "\x1b[1m";
    case Color::dim:
      return "\x1b[2m";
    case Color::red:
      return "\x1b[31m";
    case Color::green:
      return "\x1b[32m";
    case Color::yellow:
      return "\x1b[33m";
    case Color::blue:
      return "\x1b[34m";
    case Color::magenta:
      return "\x1b[35m";
    case Color::cyan:
      return "\x1b[36m";
  }
  return "";
}

}  // namespace

Output::Output(std::FILE* file, const Environment& environment)
    : file_(file),
      is_terminal_(isatty(fileno(file)) == 1),
      colored_(is_terminal_ && environment("NO_COLOR").empty() && environment("TERM") != "dumb"),
      movable_(is_terminal_ && environment("TERM") != "dumb") {}

void Output::line(std::string_view text) {
  if (sink_ != nullptr) {
    sink_->append(text).push_back('\n');
    return;
  }
  if (closed_) return;
  status("");
  closed_ = std::fwrite(text.data(), 1, text.size(), file_) != text.size() || std::fputc('\n', file_) == EOF;
}

void Output::status(std::string_view text) {
  if (!movable_ || closed_ || (text.empty() && !has_status_)) return;
  has_status_ = !text.empty();
  std::string bytes("\r\x1b[2K");
  bytes.append(text);
  closed_ = std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size();
  if (has_status_) flush();
}

void Output::flush() {
  if (file_ != nullptr && !closed_ && std::fflush(file_) != 0) closed_ = true;
}

std::size_t Output::columns() const {
  winsize size{};
  if (is_terminal_ && ioctl(fileno(file_), TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return kPipeColumns;
}

std::string Output::paint(Color color, std::string_view text) const {
  std::string_view code = colored_ ? code_of(color) : std::string_view();
  if (code.empty()) return std::string(text);
  return std::string(code).append(text).append("\x1b[0m");
}

void Output::json_line(std::string_view json) {
  line(is_terminal_ ? terminal_json(json) : std::string(json));
}

}  // namespace shepherd
