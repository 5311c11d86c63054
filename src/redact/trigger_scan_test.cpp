#include "redact/trigger_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "base/base64.h"
#include "base/random.h"
#include "redact/text_class.h"

namespace shepherd {
namespace {

// What the scan promises, by the plain way: every trigger is asked at every byte.
class EveryTrigger {
 public:
  EveryTrigger() {
    for (const Trigger& trigger : triggers()) by_first_[first(trigger.literal[0])].push_back(&trigger);
  }

  bool may_match(std::string_view text) const {
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const Trigger* trigger : by_first_[first(text[at])]) {
        if (starts_with_trigger(*trigger, text, at) && may_be_secret(*trigger, text, at)) return true;
      }
    }
    return false;
  }

  std::vector<SecretSpan> secret_at(std::string_view text, std::size_t at) const {
    for (const Trigger* trigger : by_first_[first(text[at])]) {
      if (!starts_with_trigger(*trigger, text, at)) continue;
      std::vector<SecretSpan> pieces = shepherd::secret_at(*trigger, text, at, 0);
      if (!pieces.empty()) return pieces;
    }
    return {};
  }

 private:
  static std::size_t first(char c) { return static_cast<unsigned char>(folded(c)); }
  std::array<std::vector<const Trigger*>, 256> by_first_;  // in the order of the table
};

// Texts with a secret behind one trigger, or nearly: at any distance from the beginning, some of them spoilt.
class Around {
 public:
  explicit Around(std::uint64_t seed) : random_(seed) {}

  std::string next(const Trigger& trigger) {
    constexpr auto kBefore = std::to_array<std::string_view>({"", " ", "\"", "\\n", "--", "curl", "x"});
    std::string text(random_.below(40), ' ');
    text += kBefore[random_.below(kBefore.size())];
    text += secret(trigger);
    switch (random_.below(4)) {
      case 0:
        text[random_.below(text.size())] ^= ' ';
        break;
      case 1:
        text.insert(random_.below(text.size()), 1, static_cast<char>(random_.below(256)));
        break;
      case 2:
        text.resize(text.size() - random_.below(std::min<std::size_t>(text.size(), 20)));
        break;
      default:
        break;
    }
    return text;
  }

 private:
  std::string run(std::uint8_t charset, std::size_t size) {
    std::string out;
    while (out.size() < size) {
      char c = static_cast<char>(random_.below(128));
      if (is_in(c, charset)) out.push_back(c);
    }
    return out;
  }

  // Half of the names and schemes in capitals.
  std::string literal(const Trigger& trigger) {
    std::string out(trigger.literal);
    bool capitals = is_in_any_case(trigger) && random_.below(2) == 0;
    for (char& c : out) c = capitals && is_in(c, kLower) ? static_cast<char>(c ^ 0x20) : c;
    return out;
  }

  static constexpr auto kSeparators = std::to_array<std::string_view>(
      {"=", ":", " = ", "\t= ", "\r\n: ", "\": \"", "' => '", "`:`", "]=", "\\\":\\\""});

  std::string secret(const Trigger& trigger) {
    switch (trigger.shape) {
      case Shape::token:
      case Shape::after:
        return literal(trigger) + run(trigger.charset, trigger.least + random_.below(3));
      case Shape::dotted:
        return literal(trigger) + run(trigger.charset, trigger.least) + "." +
               run(trigger.charset, std::max(trigger.least, trigger.second));
      case Shape::infix:
        return run(trigger.charset_before, trigger.second) + literal(trigger) + run(trigger.charset, trigger.least);
      case Shape::jwt:
        return "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxIn0." + run(kAlnum, 20);
      case Shape::bearer:
        return literal(trigger) + " " + run(kAlnum, 20);
      case Shape::basic:
        return literal(trigger) + " " + encode_base64("joe:hunter2");
      case Shape::pem_begin:
        return literal(trigger) + " PRIVATE KEY-----\n" + run(kAlnum, 64) + "\n-----END PRIVATE KEY-----";
      case Shape::pem_end:
        return run(kAlnum, 64) + "\n" + literal(trigger) + " PRIVATE KEY-----";
      case Shape::url_password:
        return literal(trigger) + std::string(trigger.literal == "://" ? "" : "//") + "joe:hunter2@example.org";
      case Shape::curl_user:
        return "curl " + literal(trigger) + " joe:hunter2hunter2 ";
      case Shape::assignment:
        return literal(trigger) + std::string(kSeparators[random_.below(kSeparators.size())]) + "hunter2hunter2";
      case Shape::discord:
        return encode_base64(*decode_base64(trigger.literal) + run(kDigit, 15)) + "." + run(kAlnum, 6) + "." +
               run(kAlnum, 27);
      case Shape::encoded:
        return encode_base64(run(kLower, trigger.before % 3) + secret(*trigger.inner));
      case Shape::escape:
        return literal(trigger) + "41";
    }
    return {};
  }

  SeededRandom random_;
};

TEST(TriggerScan, FindsWhatAskingEveryTriggerEverywhereFinds) {
  constexpr std::uint64_t kSeed = 20260218;
  constexpr int kTextsPerTrigger = 12;
  constexpr int kTextsPerShortTrigger = 200;  // what follows it counts
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  EveryTrigger every;
  Around around(kSeed);
  int found = 0, nothing = 0;
  for (const Trigger& trigger : triggers()) {
    for (int i = trigger.literal.size() == 3 ? kTextsPerShortTrigger : kTextsPerTrigger; i > 0; --i) {
      std::string text = around.next(trigger);
      bool expected = every.may_match(text);
      (expected ? found : nothing) += 1;
      ASSERT_EQ(TriggerScan::all().may_match(text), expected) << trigger.literal << " in " << text;
    }
  }
  EXPECT_GT(found, 5'000);
  EXPECT_GT(nothing, 5'000);
}

TEST(TriggerScan, TakesTheSecretOfTheFirstTriggerThatHasOne) {
  constexpr std::uint64_t kSeed = 20260219;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  EveryTrigger every;
  Around around(kSeed);
  int found = 0;
  for (const Trigger& trigger : triggers()) {
    std::string text = around.next(trigger);
    for (std::size_t at = 0; at < text.size(); ++at) {
      std::vector<SecretSpan> expected = every.secret_at(text, at);
      std::vector<SecretSpan> pieces = TriggerScan::all().secret_at(text, at, 0);
      ASSERT_EQ(pieces.size(), expected.size()) << trigger.literal << " in " << text << " at " << at;
      for (std::size_t i = 0; i < pieces.size(); ++i) {
        EXPECT_EQ(pieces[i].begin, expected[i].begin) << text;
        EXPECT_EQ(pieces[i].end, expected[i].end) << text;
        EXPECT_EQ(pieces[i].kind, expected[i].kind) << text;
      }
      found += pieces.empty() ? 0 : 1;
    }
  }
  EXPECT_GT(found, 200);
}

}  // namespace
}  // namespace shepherd
