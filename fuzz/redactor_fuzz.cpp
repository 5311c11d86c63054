// Redacts any text. Redacting twice equals redacting once, the quick check never misses what redaction would change,
// also in the text's JSON spelling, and no result contains an exact secret.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>

#include "base/assert.h"
#include "driver/line_splitter.h"
#include "given.h"
#include "json/write.h"
#include "redact/redact.h"

namespace {

using namespace shepherd;

constexpr std::string_view kSecret = "exact\"secret/1";

const Redactor& redactor() {
  static const Redactor kRedactor = [] {
    RedactOptions options;
    options.patterns = {"acme[0-9]+"};
    options.secrets = {std::string(kSecret)};
    return Redactor::create(options).value();
  }();
  return kRedactor;
}

void check(std::string_view before, const std::string& after, const std::string& again) {
  if (after != again) {
    std::fprintf(stderr, "text:  %.*s\nonce:  %s\ntwice: %s\n", static_cast<int>(before.size()), before.data(),
                 after.c_str(), again.c_str());
  }
  SHEPHERD_ASSERT(after == again, "redacting redacted text changes nothing");
  SHEPHERD_ASSERT(after.find(kSecret) == std::string::npos, "an exact secret is never shown");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // Redaction works on decoded text, which is UTF-8.
  std::string store;
  std::string text = unbroken(std::string(readable_text({reinterpret_cast<const char*>(data), size}, store)));
  std::string once = redactor().redact(text);
  check(text, once, redactor().redact(once));
  if (once != text) {
    SHEPHERD_ASSERT(redactor().may_match(text), "the quick look sees it in the text");
    std::string json;
    append_json_string(json, text);
    SHEPHERD_ASSERT(redactor().may_match(json), "and in its JSON spelling");
  }
  // Uses the first line as a member's name.
  std::size_t end = text.find('\n');
  if (end == std::string::npos) return 0;
  std::string key = text.substr(0, end), value = text.substr(end + 1);
  std::string member = redactor().redact_member(key, value);
  check(value, member, redactor().redact_member(key, member));
  return 0;
}
