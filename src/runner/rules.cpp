#include "runner/rules.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <vector>

#include "base/limits.h"
#include "runner/limits.h"

namespace shepherd {
namespace {

namespace files = std::filesystem;

std::vector<files::path> rule_files(const files::path& path) {
  std::error_code error;
  if (!files::is_directory(path, error)) return {path};
  std::vector<files::path> found;
  for (const auto& entry : files::directory_iterator(path, error)) {
    if (entry.path().extension() == ".md" && entry.is_regular_file(error)) found.push_back(entry.path());
  }
  std::ranges::sort(found);
  return found;
}

}  // namespace

Result<std::string> read_rules(const std::string& path) {
  std::string rules;
  if (path.empty()) return rules;
  std::vector<files::path> found = rule_files(path);
  for (const files::path& each : found) {
    std::ifstream file(each, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), {});
    if (!file) return fail(ErrorCode::not_found, "no_rules", "cannot read the rules in " + each.string());
    if (text.find('\0') != std::string::npos) {
      return fail(ErrorCode::invalid_argument, "bad_rules", "the rules in " + each.string() + " are not text");
    }
    if (!rules.empty()) rules.append(rules.ends_with('\n') ? "\n" : "\n\n");
    rules += text;
    if (rules.size() > kMaxRulesBytes) {
      return fail(ErrorCode::too_large, "rules_too_large",
                  "the rules in " + path + " are larger than " + std::to_string(kMaxRulesBytes / kKiB) + " KiB");
    }
  }
  if (found.empty()) return fail(ErrorCode::not_found, "no_rules", "there are no *.md files in " + path);
  return rules;
}

}  // namespace shepherd
