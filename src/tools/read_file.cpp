#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "json/text.h"
#include "tools/file_tools.h"
#include "tools/limits.h"
#include "tools/shown_text.h"

namespace shepherd {
namespace {

constexpr std::string_view kReadProperties = R"({"path":{"type":"string","description":"Relative path"},)"
                                             R"("offset":{"type":"integer","description":"First line, from 1"},)"
                                             R"("limit":{"type":"integer","description":"Number of lines"}})";
constexpr std::size_t kNoteBytes = 512;  // left for the note at the end

struct LineRange {
  std::string path;
  std::uint64_t first = 1;
  std::uint64_t count = kMaxShownLines;
};

// Collects lines from the bytes of a file, as they are read.
class LineReader {
 public:
  explicit LineReader(const LineRange& range) : range_(range) {}

  // False once it needs no more bytes.
  bool add(std::string_view bytes) {
    while (!bytes.empty()) {
      if (line_ >= range_.first + range_.count) return stop(Stop::enough);
      std::size_t newline = bytes.find('\n');
      bool whole = newline != std::string_view::npos;
      std::size_t length = whole ? newline + 1 : bytes.size();
      if (line_ < range_.first) {
        skipped_ += length;
        if (skipped_ > kMaxSkippedBytes) return stop(Stop::too_far);
      } else {
        std::size_t room = kMaxToolResultBytes - kNoteBytes - text_.size();
        text_.append(first_bytes(bytes.substr(0, length), room));
        if (length > room) return stop(Stop::no_room);
      }
      open_line_ = !whole;
      line_ += whole ? 1 : 0;
      bytes.remove_prefix(length);
    }
    return true;
  }

  ToolOutcome outcome(std::uint64_t file_bytes) {
    if (text_.empty() && range_.first > 1) {
      return failed_outcome(stop_ == Stop::too_far
                                ? fmt::format("line {} is too far inside the file.", range_.first)
                                : fmt::format("the file has only {} lines.", line_ - 1 + (open_line_ ? 1 : 0)));
    }
    if (text_.find('\0') != std::string::npos) {
      return failed_outcome(
          fmt::format("\"{}\" is a binary file of {} bytes, which is not shown.", range_.path, file_bytes));
    }
    std::uint64_t lines = line_ - range_.first + (open_line_ && stop_ == Stop::none ? 1 : 0);
    std::string note;
    if (stop_ == Stop::no_room && lines == 0) {
      note = fmt::format("[The first {} bytes of line {} of a file of {} bytes.]", text_.size(), line_, file_bytes);
      lines = 1;
    } else if (stop_ != Stop::none) {
      text_.resize(text_.rfind('\n') + 1);
      note = fmt::format("[Lines {} to {} of a file of {} bytes. Continue with offset {}.]", range_.first, line_ - 1,
                         file_bytes, line_);
    }
    std::string shown = text_.empty() ? "[The file is empty.]" : valid_text(text_);
    if (!is_utf8(text_)) {
      shown.resize(first_bytes(shown, kMaxToolResultBytes - kNoteBytes).size());  // U+FFFD is longer than a byte
      note += "[The file is not UTF-8; \xEF\xBF\xBD stands for other bytes.]";
    }
    if (!note.empty()) shown.append(shown.ends_with('\n') ? "" : "\n").append(note);
    return good_outcome(std::move(shown),
                        fmt::format("Read {} {} of {}", lines, lines == 1 ? "line" : "lines", range_.path));
  }

 private:
  enum class Stop : std::uint8_t { none, enough, no_room, too_far };
  bool stop(Stop why) {
    stop_ = why;
    return false;
  }

  const LineRange& range_;
  std::string text_;
  std::uint64_t line_ = 1;  // the one that the next byte belongs to
  std::size_t skipped_ = 0;
  Stop stop_ = Stop::none;
  bool open_line_ = false;  // the last byte was not the end of its line
};

ToolOutcome read_lines(const FileRoot& root, const LineRange& range) {
  auto file = root.read(range.path);
  if (!file) {
    bool directory = file.error().message.ends_with(" is a directory.");
    return failed_outcome(file.error().message + (directory ? " Use list_files for it." : ""));
  }
  struct stat facts{};
  ::fstat(file->get(), &facts);
  LineReader lines(range);
  std::string buffer(kFileReadBytes, '\0');
  for (;;) {
    ssize_t got = ::read(file->get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed_outcome(fmt::format("\"{}\": {}.", range.path, std::strerror(errno)));
    if (got == 0) break;
    std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    if (!lines.add(bytes)) break;
  }
  return lines.outcome(static_cast<std::uint64_t>(facts.st_size));
}

class ReadFile final : public BuiltInTool {
 public:
  explicit ReadFile(FileToolParts parts) : parts_(std::move(parts)) {}

  const Tool& tool() const override { return tool_; }
  std::string describe(const Arguments& arguments) const override {
    return "Reads " + shown_line(arguments.shown("path"), kMaxDescribedCharacters);
  }
  std::unique_ptr<ToolRun> start(const ToolInvocation& /*use*/, const Arguments& arguments,
                                 ToolAnswer answer) override {
    auto path = arguments.text("path");
    auto first = arguments.number_or("offset", 1, 0, 1'000'000'000);
    auto count = arguments.number_or("limit", kMaxShownLines, 1, 1'000'000'000);
    for (const Error* error :
         {path ? nullptr : &path.error(), first ? nullptr : &first.error(), count ? nullptr : &count.error()}) {
      if (error != nullptr) return answer_later(parts_.loop, failed_outcome(error->message), std::move(answer));
    }
    LineRange range{*std::move(path), static_cast<std::uint64_t>(std::max<std::int64_t>(*first, 1)),
                    static_cast<std::uint64_t>(*count)};
    return run_beside(
        parts_.loop, parts_.blocking,
        [root = parts_.root, range = std::move(range)] { return read_lines(*root, range); }, std::move(answer));
  }

 private:
  FileToolParts parts_;
  const Tool tool_ = built_in_tool("read_file", "Reads a text file. Long files are cut; continue with offset.",
                                   kReadProperties, R"(["path"])", false);
};

}  // namespace

std::unique_ptr<BuiltInTool> make_read_file(FileToolParts parts) {
  return std::make_unique<ReadFile>(std::move(parts));
}

}  // namespace shepherd
