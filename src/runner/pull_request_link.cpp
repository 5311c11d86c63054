#include "runner/pull_request_link.h"

#include <array>
#include <cctype>

namespace shepherd {
namespace {

bool in_path(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.' || c == '/' || c == ':';
}

// "owner/name" of https://host/owner/name.git or git@host:owner/name; empty for other forms.
std::string_view path_of(std::string_view repository) {
  if (repository.ends_with(".git")) repository.remove_suffix(4);
  while (repository.ends_with('/')) repository.remove_suffix(1);
  std::size_t last = repository.rfind('/');
  if (last == std::string_view::npos || last == 0) return {};
  std::size_t before = repository.find_last_of("/:", last - 1);
  return before == std::string_view::npos ? std::string_view{} : repository.substr(before + 1);
}

}  // namespace

std::string pull_request_link(std::string_view text, std::string_view repository) {
  constexpr std::array<std::string_view, 2> kMarks{"/pull/", "/merge_requests/"};
  std::string_view path = path_of(repository);
  std::string found;
  std::size_t found_at = 0;
  for (std::string_view mark : kMarks) {
    for (std::size_t at = text.find(mark); at != std::string_view::npos; at = text.find(mark, at + 1)) {
      std::size_t end = at + mark.size();
      while (end < text.size() && std::isdigit(static_cast<unsigned char>(text[end])) != 0) ++end;
      if (end == at + mark.size()) continue;
      std::size_t begin = at;
      while (begin > 0 && in_path(text[begin - 1])) --begin;
      std::string_view link = text.substr(begin, end - begin);
      std::size_t scheme = link.find("https://");
      if (scheme == std::string_view::npos) continue;
      link.remove_prefix(scheme);
      if (!path.empty() && link.find(path) == std::string_view::npos) continue;
      if (!found.empty() && begin < found_at) continue;
      found = link;
      found_at = begin;
    }
  }
  return found;
}

}  // namespace shepherd
