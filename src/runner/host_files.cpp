#include "runner/host_files.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "json/text.h"
#include "runner/limits.h"
#include "tools/shown_text.h"

namespace shepherd {
namespace {

std::string shown_path(std::string_view path) {
  return "\"" + shown_line(path, kMaxShownPathCharacters) + "\"";
}

// The rest of `path` after `directory`; nullopt if it is not below.
std::optional<std::string> below(std::string_view path, std::string_view directory) {
  while (directory.ends_with('/')) directory.remove_suffix(1);
  if (!path.starts_with(directory)) return std::nullopt;
  path.remove_prefix(directory.size());
  if (!path.empty() && !path.starts_with('/')) return std::nullopt;
  path.remove_prefix(std::min(path.find_first_not_of('/'), path.size()));
  return path.empty() ? "." : std::string(path);
}

// Lines of a file, as its bytes are read.
class LineRange {
 public:
  explicit LineRange(const ReadFile& request)
      : skip_(request.line.value_or(1) <= 1 ? 0 : *request.line - 1),
        left_(request.limit.value_or(std::numeric_limits<std::size_t>::max())) {}

  // False once it needs no more bytes.
  bool add(std::string_view bytes) {
    while (!bytes.empty() && left_ > 0) {
      std::size_t newline = bytes.find('\n');
      bool whole = newline != std::string_view::npos;
      std::string_view line = bytes.substr(0, whole ? newline + 1 : bytes.size());
      bytes.remove_prefix(line.size());
      if (skip_ > 0) {
        skipped_ += line.size();
        skip_ -= whole ? 1 : 0;
        if (skipped_ > kMaxHostSkippedBytes) return false;
      } else {
        text_ += line;
        left_ -= whole ? 1 : 0;
        if (text_.size() > kMaxHostFileBytes) return false;
      }
    }
    return left_ > 0;
  }

  Result<std::string> text(const std::string& path) && {
    if (skipped_ > kMaxHostSkippedBytes) {
      return fail(ErrorCode::too_large, "file_too_large",
                  fmt::format("{}: the line is more than {} bytes inside the file. Use a program to read it.",
                              shown_path(path), kMaxHostSkippedBytes));
    }
    if (text_.size() > kMaxHostFileBytes) {
      return fail(ErrorCode::too_large, "file_too_large",
                  fmt::format("{} has more than {} bytes. Read it in parts, with a line and a limit.", shown_path(path),
                              kMaxHostFileBytes));
    }
    if (!is_utf8(text_) || text_.find('\0') != std::string::npos) {
      return fail(ErrorCode::unsupported_media_type, "not_text",
                  fmt::format("{} is not UTF-8 text. Use a program to read it.", shown_path(path)));
    }
    return std::move(text_);
  }

 private:
  std::size_t skip_, left_;
  std::size_t skipped_ = 0;
  std::string text_;
};

}  // namespace

Result<HostFiles> HostFiles::open(const std::string& directory, std::vector<std::string> hidden) {
  FileRoot::Options options;
  options.directory = directory;
  options.hidden = std::move(hidden);
  options.pinned = true;
  options.called = "the task's directory";
  Result<FileRoot> root = FileRoot::open(std::move(options));
  if (!root) {
    return fail(ErrorCode::unavailable, "no_directory",
                fmt::format("{} is not a directory that the runner can read, or it is hidden from agents.",
                            shown_path(directory)));
  }
  return HostFiles(directory, *std::move(root));
}

Result<std::string> HostFiles::relative(const std::string& path) const {
  if (!path.starts_with('/')) return path;
  for (const std::string& directory : {given_, root_.directory()}) {
    if (std::optional<std::string> rest = below(path, directory)) return *std::move(rest);
  }
  return fail(ErrorCode::permission_denied, "outside_root",
              fmt::format("{} is not below the task's directory {}, which is all that can be asked for.",
                          shown_path(path), shown_path(given_)));
}

Result<std::string> HostFiles::read(const ReadFile& request) const {
  Result<std::string> path = relative(request.path);
  if (!path) return path;
  Result<Descriptor> file = root_.read(*path);
  if (!file) return fail(std::move(file.error()));
  LineRange lines(request);
  std::string buffer(kHostReadBytes, '\0');
  for (;;) {
    ssize_t got = ::read(file->get(), buffer.data(), buffer.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      return fail(ErrorCode::unavailable, "file_failed",
                  fmt::format("{}: {}.", shown_path(request.path), std::strerror(errno)));
    }
    if (got == 0 || !lines.add({buffer.data(), static_cast<std::size_t>(got)})) break;
  }
  return std::move(lines).text(request.path);
}

Result<void> HostFiles::write(const WriteFile& request) const {
  Result<std::string> path = relative(request.path);
  if (!path) return fail(std::move(path.error()));
  Result<bool> created = root_.write(*path, request.content);
  if (!created) return fail(std::move(created.error()));
  return {};
}

Result<std::string> HostFiles::directory(const std::string& path) const {
  Result<std::string> inside = relative(path);
  if (!inside) return inside;
  return root_.real_directory(*inside);
}

}  // namespace shepherd
