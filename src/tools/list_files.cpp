#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <climits>
#include <memory>
#include <utility>
#include <vector>

#include "tools/file_tools.h"
#include "tools/limits.h"
#include "tools/shown_text.h"

namespace shepherd {
namespace {

constexpr std::string_view kListProperties =
    R"({"path":{"type":"string","description":"Relative path, default ."},)"
    R"("depth":{"type":"integer","description":"Levels of directories, default 1"}})";

struct DirectoryEnd {
  void operator()(DIR* directory) const { ::closedir(directory); }
};

// Writes a tree of files, one path a line. Links are named and not followed.
class Listing {
 public:
  explicit Listing(std::int64_t depth) : depth_(depth) {}

  void walk(int fd, const std::string& prefix, std::int64_t level) {
    for (const std::string& name : names_in(fd)) {
      bool full = listed_ >= kMaxListedFiles || text_.size() + PATH_MAX > kMaxToolResultBytes;
      if (full) {
        ++left_out_;
      } else {
        add(fd, prefix, name, level);
      }
    }
  }

  ToolOutcome outcome(const std::string& path) {
    std::string summary = fmt::format("Listed {} {} of {}", listed_, listed_ == 1 ? "entry" : "entries", path);
    if (left_out_ > 0) text_ += fmt::format("[{} more entries are not shown. List a smaller directory.]\n", left_out_);
    if (walked_ > kMaxWalkedFiles) text_ += "[There are more files than can be listed.]\n";
    if (text_.empty()) text_ = "[The directory is empty.]";
    return good_outcome(std::move(text_), std::move(summary));
  }

 private:
  // Sorted, so that two lists of the same directory are equal.
  std::vector<std::string> names_in(int fd) {
    std::vector<std::string> names;
    std::unique_ptr<DIR, DirectoryEnd> directory(::fdopendir(::fcntl(fd, F_DUPFD_CLOEXEC, 0)));
    if (directory == nullptr) return names;
    while (const dirent* entry = ::readdir(directory.get())) {
      std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++walked_ > kMaxWalkedFiles) break;
      names.emplace_back(name);
    }
    std::sort(names.begin(), names.end());
    return names;
  }

  void add(int fd, const std::string& prefix, const std::string& name, std::int64_t level) {
    struct stat facts{};
    if (::fstatat(fd, name.c_str(), &facts, AT_SYMLINK_NOFOLLOW) != 0) return;  // deleted meanwhile
    ++listed_;
    std::string shown = shown_line(prefix + name, PATH_MAX / 2);
    if (S_ISREG(facts.st_mode)) {
      text_ += fmt::format("{} ({} bytes)\n", shown, facts.st_size);
    } else if (S_ISLNK(facts.st_mode)) {
      text_ += shown + " (a symbolic link)\n";
    } else if (!S_ISDIR(facts.st_mode)) {
      text_ += shown + " (a special file)\n";
    } else {
      text_ += shown + "/\n";
      if (level >= depth_) return;
      Descriptor below(::openat(fd, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (below) walk(below.get(), prefix + name + "/", level + 1);
    }
  }

  const std::int64_t depth_;
  std::string text_;
  std::size_t listed_ = 0, walked_ = 0, left_out_ = 0;
};

class ListFiles final : public BuiltInTool {
 public:
  explicit ListFiles(FileToolParts parts) : parts_(std::move(parts)) {}

  const Tool& tool() const override { return tool_; }
  std::string describe(const Arguments& arguments) const override {
    std::string path = shown_line(arguments.shown("path"), kMaxDescribedCharacters);
    return "Lists " + (path.empty() ? "." : path);
  }
  std::unique_ptr<ToolRun> start(const ToolInvocation& /*use*/, const Arguments& arguments,
                                 ToolAnswer answer) override {
    auto path = arguments.text_or("path", ".");
    if (!path) return answer_later(parts_.loop, failed_outcome(path.error().message), std::move(answer));
    auto depth = arguments.number_or("depth", 1, 1, kMaxListDepth);
    if (!depth) return answer_later(parts_.loop, failed_outcome(depth.error().message), std::move(answer));
    auto work = [root = parts_.root, path = *std::move(path), depth = *depth] {
      auto directory = root->list(path);
      if (!directory) return failed_outcome(directory.error().message);
      Listing listing(depth);
      listing.walk(directory->get(), "", 1);
      return listing.outcome(path);
    };
    return run_beside(parts_.loop, parts_.blocking, std::move(work), std::move(answer));
  }

 private:
  FileToolParts parts_;
  const Tool tool_ = built_in_tool("list_files", "Lists a directory.", kListProperties, "[]", false);
};

}  // namespace

std::unique_ptr<BuiltInTool> make_list_files(FileToolParts parts) {
  return std::make_unique<ListFiles>(std::move(parts));
}

}  // namespace shepherd
