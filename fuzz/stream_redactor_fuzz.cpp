// Redacts live text in any pieces. It never shows text that redaction would hide in the whole, nor an exact secret.
// (Both give the same text for real secrets, see stream_redactor_test; for damaged ones a stream may hide more.)
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "base/assert.h"
#include "driver/line_splitter.h"
#include "given.h"
#include "model/condense.h"
#include "redact/limits.h"
#include "redact/redact.h"
#include "redact/redaction_mark.h"
#include "redact/stream_redactor.h"

namespace {

using namespace shepherd;

constexpr std::string_view kSecret = "exact secret/1 of two words";

const Redactor& redactor() {
  static const Redactor kRedactor = [] {
    RedactOptions options;
    options.secrets = {std::string(kSecret)};
    return Redactor::create(options).value();
  }();
  return kRedactor;
}

// Two known gaps of the stream, which this target does not check. It does not recognise the remaining lines of a key
// whose first line and headers were already shown, unless the key's end comes. And it may cut inside a secret in
// another script if the character that identifies it comes more than kDeltaTailBytes after its start.
constexpr std::string_view kKeyMark = "[redacted:private_key:";
bool is_ascii(std::string_view text) {
  return std::ranges::all_of(text, [](char c) { return static_cast<unsigned char>(c) < 0x80; });
}

// The parts of `text` that are missing in `redacted`. Each mark gives the number of characters it replaces.
std::vector<std::string> hidden_in(std::string_view text, std::string_view redacted) {
  std::vector<std::string> hidden;
  while (!redacted.empty()) {
    std::size_t mark = redacted.front() == '[' ? mark_at(redacted, 0) : 0;
    std::size_t skipped = 1;
    if (mark > 0) {
      std::string_view number = redacted.substr(0, mark - 1);
      number.remove_prefix(number.rfind(':') + 1);
      std::size_t characters = 0;
      std::from_chars(number.data(), number.data() + number.size(), characters);
      std::string_view stretch = first_characters(text, characters);
      if (!redacted.starts_with(kKeyMark) && is_ascii(stretch)) hidden.emplace_back(stretch);
      skipped = stretch.size();
    }
    redacted.remove_prefix(std::max<std::size_t>(mark, 1));
    text.remove_prefix(std::min(skipped, text.size()));
  }
  return hidden;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Given input = given(data, size);
  std::string store;
  std::string text = unbroken(std::string(readable_text(input.bytes, store)));
  StreamRedactor stream(redactor());
  std::string shown;
  std::string piece;  // whole characters, like an agent's pieces
  in_pieces(text, input.cuts, [&](std::string_view bytes) {
    piece += bytes;
    if (readable_text(piece, store) != piece) return;
    shown += stream.add(piece);
    piece.clear();
  });
  shown += stream.finish();
  SHEPHERD_ASSERT(shown.find(kSecret) == std::string::npos, "an exact secret is never shown");
  if (text.find("[redacted:") != std::string::npos) return 0;  // a mark in the input looks like a new one
  std::string whole = redactor().redact(text);
  for (const std::string& secret : hidden_in(text, whole)) {
    bool elsewhere = secret.size() < kMinSecretBytes || whole.find(secret) != std::string::npos;
    bool seen = !elsewhere && shown.find(secret) != std::string::npos;
    if (seen) std::fprintf(stderr, "text:  %s\nshown: %s\nwhole: %s\n", text.c_str(), shown.c_str(), whole.c_str());
    SHEPHERD_ASSERT(!seen, "a stream never shows what redaction hides in the whole");
  }
  return 0;
}
