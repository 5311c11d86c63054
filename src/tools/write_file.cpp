#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "tools/file_tools.h"
#include "tools/limits.h"
#include "tools/shown_text.h"

namespace shepherd {
namespace {

constexpr std::string_view kWriteProperties =
    R"({"path":{"type":"string","description":"Relative path"},"content":{"type":"string"}})";
constexpr std::string_view kEditProperties =
    R"({"path":{"type":"string","description":"Relative path"},)"
    R"("old_text":{"type":"string","description":"Exact text, which occurs once"},)"
    R"("new_text":{"type":"string"},)"
    R"("all":{"type":"boolean","description":"Replace every occurrence"}})";

struct TextEdit {
  std::string path, old_text, new_text;
  bool all = false;
};

Result<std::string> whole_text(const FileRoot& root, const std::string& path) {
  auto file = root.read(path);
  if (!file) return fail(file.error());
  std::string text;
  std::string buffer(kFileReadBytes, '\0');
  for (;;) {
    ssize_t got = ::read(file->get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(ErrorCode::unavailable, "file_failed", fmt::format("\"{}\": {}.", path, std::strerror(errno)));
    }
    if (got == 0) return text;
    text.append(buffer, 0, static_cast<std::size_t>(got));
    if (text.size() > kMaxEditedBytes) {
      return fail(ErrorCode::too_large, "file_too_large",
                  fmt::format("\"{}\" has more than {} bytes, which is too much to edit.", path, kMaxEditedBytes));
    }
  }
}

std::size_t count_of(std::string_view text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, at + part.size())) ++count;
  return count;
}

std::string replaced(std::string_view text, std::string_view part, std::string_view with) {
  std::string out;
  std::size_t from = 0;
  for (std::size_t at = text.find(part); at != std::string_view::npos; at = text.find(part, from)) {
    out.append(text.substr(from, at - from)).append(with);
    from = at + part.size();
  }
  return out.append(text.substr(from));
}

ToolOutcome edit_text(const FileRoot& root, const TextEdit& edit) {
  auto text = whole_text(root, edit.path);
  if (!text) return failed_outcome(text.error().message);
  std::size_t count = count_of(*text, edit.old_text);
  if (count == 0) {
    return failed_outcome(fmt::format(
        "\"{}\" does not have old_text. Read the file, and copy the text with its blanks exactly.", edit.path));
  }
  if (count > 1 && !edit.all) {
    return failed_outcome(fmt::format(
        "\"{}\" has old_text {} times. Add text around it until it occurs once, or set \"all\".", edit.path, count));
  }
  std::size_t grown = text->size() + count * edit.new_text.size();
  if (grown > 2 * kMaxEditedBytes) return failed_outcome("the file would become too large.");
  auto written = root.write(edit.path, replaced(*text, edit.old_text, edit.new_text));
  if (!written) return failed_outcome(written.error().message);
  std::string what = fmt::format("Replaced {} {} in {}", count, count == 1 ? "text" : "texts", edit.path);
  return good_outcome(what + ".", what);
}

class WriteFile final : public BuiltInTool {
 public:
  explicit WriteFile(FileToolParts parts) : parts_(std::move(parts)) {}

  const Tool& tool() const override { return tool_; }
  std::string describe(const Arguments& arguments) const override {
    return fmt::format("Writes {} ({} bytes)", shown_line(arguments.shown("path"), kMaxDescribedCharacters),
                       arguments.shown("content").size());
  }
  std::unique_ptr<ToolRun> start(const ToolInvocation& /*use*/, const Arguments& arguments,
                                 ToolAnswer answer) override {
    auto path = arguments.text("path");
    if (!path) return answer_later(parts_.loop, failed_outcome(path.error().message), std::move(answer));
    auto content = arguments.content("content");
    if (!content) return answer_later(parts_.loop, failed_outcome(content.error().message), std::move(answer));
    auto work = [root = parts_.root, path = *std::move(path), content = *std::move(content)] {
      auto created = root->write(path, content);
      if (!created) return failed_outcome(created.error().message);
      std::string what = fmt::format("{} {} ({} bytes)", *created ? "Created" : "Replaced", path, content.size());
      return good_outcome(what + ".", what);
    };
    return run_beside(parts_.loop, parts_.blocking, std::move(work), std::move(answer));
  }

 private:
  FileToolParts parts_;
  const Tool tool_ =
      built_in_tool("write_file", "Creates or replaces a text file.", kWriteProperties, R"(["path","content"])", true);
};

class EditFile final : public BuiltInTool {
 public:
  explicit EditFile(FileToolParts parts) : parts_(std::move(parts)) {}

  const Tool& tool() const override { return tool_; }
  std::string describe(const Arguments& arguments) const override {
    return "Edits " + shown_line(arguments.shown("path"), kMaxDescribedCharacters);
  }
  std::unique_ptr<ToolRun> start(const ToolInvocation& /*use*/, const Arguments& arguments,
                                 ToolAnswer answer) override {
    auto path = arguments.text("path");
    if (!path) return answer_later(parts_.loop, failed_outcome(path.error().message), std::move(answer));
    auto from = arguments.text("old_text");
    if (!from) return answer_later(parts_.loop, failed_outcome(from.error().message), std::move(answer));
    auto to = arguments.content("new_text");
    if (!to) return answer_later(parts_.loop, failed_outcome(to.error().message), std::move(answer));
    auto all = arguments.flag_or("all", false);
    if (!all) return answer_later(parts_.loop, failed_outcome(all.error().message), std::move(answer));
    TextEdit edit{*std::move(path), *std::move(from), *std::move(to), *all};
    return run_beside(
        parts_.loop, parts_.blocking, [root = parts_.root, edit = std::move(edit)] { return edit_text(*root, edit); },
        std::move(answer));
  }

 private:
  FileToolParts parts_;
  const Tool tool_ = built_in_tool("edit_file", "Replaces exact text in a file.", kEditProperties,
                                   R"(["path","old_text","new_text"])", true);
};

}  // namespace

std::unique_ptr<BuiltInTool> make_write_file(FileToolParts parts) {
  return std::make_unique<WriteFile>(std::move(parts));
}

std::unique_ptr<BuiltInTool> make_edit_file(FileToolParts parts) {
  return std::make_unique<EditFile>(std::move(parts));
}

}  // namespace shepherd
