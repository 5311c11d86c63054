// What an operator adds to the built-in shapes: own expressions and exact secret values, by RE2.
// Threads: value after construction (const methods from any thread).
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace re2 {
class RE2;
}

namespace shepherd {

class OwnPatterns {
 public:
  static Result<OwnPatterns> create(const std::vector<std::string>& patterns, const std::vector<std::string>& secrets);
  OwnPatterns(OwnPatterns&&) noexcept;
  OwnPatterns& operator=(OwnPatterns&&) noexcept;
  ~OwnPatterns();

  // Never false where replace() would change the text, or a string inside it when it is JSON source.
  bool may_match(std::string_view text) const;
  std::size_t size() const { return rules_.size(); }
  // Appends `text` with the matches of one rule replaced; true when there was one.
  bool replace(std::size_t rule, std::string_view text, std::string& out) const;

 private:
  OwnPatterns();
  struct Rule {
    std::unique_ptr<re2::RE2> expression;
    std::string_view kind;
  };
  std::vector<Rule> rules_;
  std::unique_ptr<re2::RE2> literals_;  // some literal is in every text that a rule matches; null: nothing to look for
  bool always_ = false;                 // some rule has no such literal
};

}  // namespace shepherd
