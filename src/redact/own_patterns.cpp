#include "redact/own_patterns.h"

#include <re2/filtered_re2.h>
#include <re2/re2.h>

#include <algorithm>

#include "base/assert.h"
#include "redact/exact_secrets.h"
#include "redact/redaction_mark.h"

namespace shepherd {
namespace {

constexpr int kLeastLiteral = 3;  // shorter ones are in every text

re2::RE2::Options quiet() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return options;
}

std::string alternation(const std::vector<std::string>& literals) {
  std::string expression;
  for (const auto& literal : literals) {
    if (!expression.empty()) expression.push_back('|');
    expression.append(re2::RE2::QuoteMeta(literal));
  }
  return expression;
}

Error bad_pattern(const std::string& pattern, const std::string& why) {
  return Error{ErrorCode::invalid_argument, "bad_pattern", "redaction pattern '" + pattern + "': " + why, {}};
}

}  // namespace

OwnPatterns::OwnPatterns() = default;
OwnPatterns::OwnPatterns(OwnPatterns&&) noexcept = default;
OwnPatterns& OwnPatterns::operator=(OwnPatterns&&) noexcept = default;
OwnPatterns::~OwnPatterns() = default;

Result<OwnPatterns> OwnPatterns::create(const std::vector<std::string>& patterns,
                                        const std::vector<std::string>& secrets) {
  OwnPatterns own;
  std::vector<std::string> literals;
  auto need = [&](std::string_view literal) {
    std::string_view part = unescaped_part(literal);
    if (part.size() < kLeastLiteral) own.always_ = true;
    literals.emplace_back(part);
  };

  std::vector<std::string> forms;
  for (const auto& secret : secrets) {
    for (auto& form : secret_forms(secret)) {
      need(form);
      forms.push_back(std::move(form));
    }
  }
  // Leftmost-first matching takes the first alternative that fits, so the longest goes first.
  std::sort(forms.begin(), forms.end(), [](const auto& a, const auto& b) { return a.size() > b.size(); });
  if (!forms.empty()) {
    auto expression = std::make_unique<re2::RE2>(alternation(forms), quiet());
    SHEPHERD_ASSERT(expression->ok(), "quoted literals are a valid expression");
    own.rules_.push_back({std::move(expression), "secret"});
  }

  re2::FilteredRE2 filter(kLeastLiteral);
  for (const auto& pattern : patterns) {
    auto expression = std::make_unique<re2::RE2>(pattern, quiet());
    if (!expression->ok()) return fail(bad_pattern(pattern, expression->error()));
    if (re2::RE2::FullMatch("", *expression)) return fail(bad_pattern(pattern, "it matches the empty text"));
    int id = 0;
    filter.Add(pattern, quiet(), &id);
    own.rules_.push_back({std::move(expression), "pattern"});
  }
  if (!patterns.empty()) {
    std::vector<std::string> atoms;
    filter.Compile(&atoms);
    std::vector<int> unfiltered;
    filter.AllPotentials({}, &unfiltered);
    if (!unfiltered.empty()) own.always_ = true;
    for (const auto& atom : atoms) need(atom);
  }
  if (!literals.empty()) {
    auto options = quiet();
    options.set_case_sensitive(false);
    own.literals_ = std::make_unique<re2::RE2>(alternation(literals), options);
    if (!own.literals_->ok()) own.always_ = true;
  }
  return own;
}

bool OwnPatterns::may_match(std::string_view text) const {
  if (always_) return true;
  return literals_ != nullptr && re2::RE2::PartialMatch(re2::StringPiece(text.data(), text.size()), *literals_);
}

bool OwnPatterns::replace(std::size_t rule, std::string_view text, std::string& out) const {
  const auto& [expression, kind] = rules_[rule];
  re2::StringPiece all(text.data(), text.size());
  re2::StringPiece match;
  std::size_t from = 0;
  bool changed = false;
  while (from < text.size() && expression->Match(all, from, text.size(), re2::RE2::UNANCHORED, &match, 1)) {
    auto begin = static_cast<std::size_t>(match.data() - text.data());
    if (match.empty()) {  // `\b` and the like: nothing to replace here
      out.append(text.substr(from, begin + 1 - from));
      from = begin + 1;
      continue;
    }
    out.append(text.substr(from, begin - from));
    append_mark(out, kind, text.substr(begin, match.size()));
    from = begin + match.size();
    changed = true;
  }
  if (from < text.size()) out.append(text.substr(from));
  return changed;
}

}  // namespace shepherd
