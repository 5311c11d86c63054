#include "redact/eager_redactor.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "redact/limits.h"
#include "redact/test_corpus.h"

namespace shepherd {
namespace {

const std::string kLead = "I looked at the settings of the service, and this is what they say. ";
const std::string kTrail = " and that is all there was to see in it, so I went on with the next file and its tests.";

std::string shown_in_pieces(const Redactor& redactor, std::string_view text, std::size_t bytes) {
  EagerRedactor eager(redactor);
  std::string shown;
  for (; !text.empty(); text.remove_prefix(std::min(bytes, text.size()))) shown += eager.add(text.substr(0, bytes));
  return shown + eager.finish();
}

// What was shown, without the first letters of secrets, which may stand before their marks.
std::string without_first_letters(std::string_view shown, std::string_view expected) {
  constexpr std::string_view kMark = "[redacted:";
  std::string out;
  while (!shown.empty()) {
    bool marked = expected.starts_with(kMark) && !shown.starts_with(kMark);
    std::size_t mark = marked ? shown.find(kMark) : 0;
    if (marked && mark != std::string_view::npos && mark <= kPlainWordBytes) shown.remove_prefix(mark);
    out.push_back(shown.front());
    shown.remove_prefix(1);
    if (!expected.empty()) expected.remove_prefix(1);
  }
  return out;
}

class EagerRedactorTest : public ::testing::Test {
 protected:
  Redactor redactor_ = *Redactor::create({});
};

TEST_F(EagerRedactorTest, OfASecretOnlyItsFirstLettersMayHaveLeft) {
  for (const auto& row : golden("secrets.json")) {
    std::string text = kLead + joined(row.at("text")) + kTrail;
    std::string expected = redactor_.redact(text);
    for (std::size_t bytes : {1, 2, 3, 5, 7, 16, 64}) {
      std::string shown = shown_in_pieces(redactor_, text, bytes);
      EXPECT_EQ(without_first_letters(shown, expected), expected) << bytes << " bytes: " << text;
    }
  }
}

TEST_F(EagerRedactorTest, LookAlikesPassUnchanged) {
  for (const auto& row : golden("lookalikes.json")) {
    std::string text = kLead + joined(row) + kTrail;
    for (std::size_t bytes : {1, 4, 9}) EXPECT_EQ(shown_in_pieces(redactor_, text, bytes), text);
  }
}

TEST_F(EagerRedactorTest, PlainWordsLeaveAtOnce) {
  EagerRedactor eager(redactor_);
  for (std::string_view piece :
       {"The", " capital", " of", " France", " is", " **Paris**", ".\n\n", "1. ", "Do", " it"}) {
    EXPECT_EQ(eager.add(piece), piece);
  }
}

TEST_F(EagerRedactorTest, WordsLeaveAtOnceAgainAfterASecret) {
  EagerRedactor eager(redactor_);
  std::string shown = eager.add("password=hunter2hunter2") + eager.add(" ");
  for (int i = 0; i < 40; ++i) shown += eager.add("plain words ");
  EXPECT_EQ(shown.find("hunter2"), std::string::npos);
  EXPECT_EQ(eager.add("now"), "now");
}

TEST_F(EagerRedactorTest, NothingOfAnExactValueLeaves) {
  RedactOptions options;
  options.secrets = {"correcthorse"};
  Redactor redactor = *Redactor::create(options);
  for (std::size_t bytes : {1, 2, 5}) {
    std::string shown = shown_in_pieces(redactor, "The word is correcthorse today.", bytes);
    EXPECT_EQ(shown, redactor.redact("The word is correcthorse today."));
  }
}

TEST_F(EagerRedactorTest, AStreamThatIsHeldTooLongShowsNothingMore) {
  EagerRedactor eager(redactor_);
  std::string shown = eager.add("-----BEGIN RSA PRIVATE KEY-----\n");
  for (int i = 0; i < 200; ++i) {
    shown += eager.add("MIIEpAIBAAKCAQEAxq2m8vVn1kN0p9sYtQzR3uWbC4dEfGhJkLmNoPqRsTuVwXyZ\n");
  }
  EXPECT_EQ(shown.find("MIIEpAIB"), std::string::npos);
  EXPECT_EQ((shown + eager.add("more words")).find("more"), std::string::npos);
}

}  // namespace
}  // namespace shepherd
