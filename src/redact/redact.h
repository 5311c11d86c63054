// Redaction: one pure function that replaces secrets in text by `[redacted:<kind>:<characters>]`.
//
// Kinds: api_key, token, secret, password, private_key, email, card, pattern (the operator's own).
// Linear time: a literal prefilter decides whether anything can match; only then does the text get a closer look, by
// the built-in shapes (secret_shapes.h) and by RE2 for own patterns and exact values. Idempotent: redacting redacted
// text changes nothing. Threads: value after construction (const methods from any thread).
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace shepherd {

struct RedactOptions {
  bool enabled = true;
  bool emails = true;
  bool cards = true;                  // Luhn-checked payment card numbers
  std::vector<std::string> patterns;  // the operator's own RE2 expressions
  std::vector<std::string> secrets;   // exact values, e.g. a task's own token; ones under kMinSecretBytes are ignored
};

class Redactor {
 public:
  // Fails on a pattern that is not a valid RE2 expression or that matches the empty text, naming it.
  static Result<Redactor> create(const RedactOptions& options);
  Redactor(Redactor&&) noexcept;
  Redactor& operator=(Redactor&&) noexcept;
  ~Redactor();

  // True when text may contain something to redact. Never false for text that redact() would change. JSON text may be
  // passed as it is: escapes that could hide a secret (\u00XX) also answer true.
  bool may_match(std::string_view text) const;

  // The text with secrets replaced. Works on decoded text, not on JSON source.
  std::string redact(std::string_view text) const;

  // redact() for the text value of a JSON member: a telling name ("password") makes the value a secret by itself.
  std::string redact_member(std::string_view key, std::string_view value) const;

  // How many bytes at the end of the text are the beginning of one of the exact secrets; 0: none.
  std::size_t beginning_of_secret(std::string_view text) const;

 private:
  struct Rules;
  explicit Redactor(std::unique_ptr<Rules> rules);
  std::unique_ptr<Rules> rules_;
};

}  // namespace shepherd
