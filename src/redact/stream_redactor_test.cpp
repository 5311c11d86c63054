#include "redact/stream_redactor.h"

#include <gtest/gtest.h>

#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/random.h"
#include "redact/limits.h"
#include "redact/test_corpus.h"

namespace shepherd {
namespace {

const std::string kBefore = "I looked at the configuration of the service, which says a lot about how it is started. ";
const std::string kAfter = " and that is all there was to see in it, so I went on with the next file and its tests.";

std::string streamed(const Redactor& redactor, std::span<const std::string> pieces) {
  StreamRedactor stream(redactor);
  std::string shown;
  for (const std::string& piece : pieces) shown += stream.add(piece);
  return shown + stream.finish();
}

std::vector<std::string> in_pieces_of(std::string_view text, std::size_t bytes) {
  std::vector<std::string> pieces;
  for (; !text.empty(); text.remove_prefix(std::min(bytes, text.size()))) pieces.emplace_back(text.substr(0, bytes));
  return pieces;
}

class StreamRedactorTest : public ::testing::Test {
 protected:
  Redactor redactor_ = *Redactor::create({});
};

TEST_F(StreamRedactorTest, ASecretSplitAnywhereIsReplacedAsAWhole) {
  for (const auto& row : golden("secrets.json")) {
    std::string text = kBefore + joined(row.at("text")) + kAfter;
    std::string expected = redactor_.redact(text);
    for (std::size_t at = 1; at < text.size(); ++at) {
      std::vector<std::string> pieces{text.substr(0, at), text.substr(at)};
      ASSERT_EQ(streamed(redactor_, pieces), expected) << "split at " << at << " of: " << text;
    }
  }
}

TEST_F(StreamRedactorTest, SoIsOneThatComesInSmallPieces) {
  for (const auto& row : golden("secrets.json")) {
    std::string text = kBefore + joined(row.at("text")) + kAfter;
    for (std::size_t bytes : {1, 2, 3, 5, 7, 16}) {
      ASSERT_EQ(streamed(redactor_, in_pieces_of(text, bytes)), redactor_.redact(text)) << bytes << " bytes: " << text;
    }
  }
}

TEST_F(StreamRedactorTest, LookAlikesPassUnchanged) {
  for (const auto& row : golden("lookalikes.json")) {
    std::string text = kBefore + joined(row) + kAfter;
    for (std::size_t bytes : {1, 4, 9}) ASSERT_EQ(streamed(redactor_, in_pieces_of(text, bytes)), text);
  }
}

// All of the corpus in one text, in pieces of any size: also what one secret's end makes of the next one's beginning.
TEST_F(StreamRedactorTest, AnyMixtureInAnyPieces) {
  constexpr std::uint64_t kSeed = 20261116;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  SeededRandom random(kSeed);
  std::vector<std::string> texts;
  for (const auto& row : golden("secrets.json")) texts.push_back(joined(row.at("text")));
  for (const auto& row : golden("lookalikes.json")) texts.push_back(joined(row));
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (int i = 0; i < 12; ++i) text += texts[random.below(texts.size())] + (random.below(2) == 0 ? "\n" : kAfter);
    std::vector<std::string> pieces;
    for (std::string_view rest = text; !rest.empty();) {
      std::size_t bytes = std::min<std::size_t>(1 + random.below(40), rest.size());
      pieces.emplace_back(rest.substr(0, bytes));
      rest.remove_prefix(bytes);
    }
    ASSERT_EQ(streamed(redactor_, pieces), redactor_.redact(text)) << text;
  }
}

TEST_F(StreamRedactorTest, ExactValuesWaitFromTheirFirstCharacter) {
  std::string value = "correct horse battery staple, and then some more words than the tail alone would ever hold back";
  ASSERT_GT(value.size(), kDeltaTailBytes);
  RedactOptions options;
  options.secrets = {value};
  Redactor redactor = *Redactor::create(options);
  std::string text = kBefore + value + kAfter;
  for (std::size_t at = 1; at < text.size(); ++at) {
    StreamRedactor stream(redactor);
    std::string first = stream.add(text.substr(0, at));
    ASSERT_EQ(first.find("correct"), std::string::npos) << at;
    std::string second = stream.add(text.substr(at));
    ASSERT_EQ(first + second + stream.finish(),
              kBefore + "[redacted:secret:" + std::to_string(value.size()) + "]" + kAfter);
  }
}

TEST_F(StreamRedactorTest, OrdinaryTextIsHardlyDelayed) {
  std::string line = "The quick brown fox reads src/auth.go and runs the tests of 14 packages.\n";
  StreamRedactor stream(redactor_);
  std::size_t given = 0, shown = 0;
  for (int i = 0; i < 200; ++i) {
    for (const std::string& piece : in_pieces_of(line, 4)) {
      given += piece.size();
      shown += stream.add(piece).size();
      ASSERT_LE(given - shown, kDeltaTailBytes + 16);
    }
  }
}

TEST_F(StreamRedactorTest, ScriptsWithoutSpacesFlowToo) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "\xE6\xBC\xA2\xE5\xAD\x97";
  StreamRedactor stream(redactor_);
  std::string shown;
  for (const std::string& piece : in_pieces_of(text, 6)) shown += stream.add(piece);
  EXPECT_GE(shown.size() + kDeltaTailBytes + 6, text.size());
  EXPECT_EQ(shown + stream.finish(), text);
  // What is too long to be judged as the value of a name does not wait for its end.
  text = "password: " + text;
  shown.clear();
  for (const std::string& piece : in_pieces_of(text, 6)) shown += stream.add(piece);
  EXPECT_GE(shown.size() + 4 * kDeltaTailBytes, text.size());
  EXPECT_EQ(shown + stream.finish(), text);
}

// Its letter and digit come so late that the characters before them could have been shown.
TEST_F(StreamRedactorTest, AValueWaitsForTheCharactersThatTellIt) {
  std::string letters;
  for (int i = 0; i < 45; ++i) letters += "\u00e9";
  for (const std::string& text :
       {"accesskey = " + letters + "a1b2c3d4", "--token " + letters + "a1b2c3d4",
        "api_key: " + std::string(90, '-') + "a1b2c3d4", "api_key: x" + std::string(126, '-') + "1",
        "api_key: 1" + std::string(126, '-') + "x", "postgres://app:" + letters + letters + "@db.internal/app"}) {
    std::string all = kBefore + text + kAfter;
    std::string expected = redactor_.redact(all);
    ASSERT_NE(expected, all);
    for (std::size_t bytes : {1, 2, 7, 64, 100}) {
      EXPECT_EQ(streamed(redactor_, in_pieces_of(all, bytes)), expected) << bytes << " bytes: " << all;
    }
  }
}

// Only its last line tells what it is: by then its first lines would long have been shown.
TEST_F(StreamRedactorTest, AKeyWithoutABeginningWaitsForItsEnd) {
  std::string key;
  for (int i = 0; i < 12; ++i) key += "MIIEowIBAAKCAQEAx7Q9mB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzAaBbCcDdEeFf\n";
  std::string text = kBefore + "\n" + key + "-----END RSA PRIVATE KEY-----\n" + kAfter;
  for (std::size_t bytes : {1, 10, 100}) {
    std::string shown = streamed(redactor_, in_pieces_of(text, bytes));
    EXPECT_EQ(shown, kBefore + "\n[redacted:private_key:" + std::to_string(key.size() + 29) + "]\n" + kAfter);
  }
  // The same with the numbers that a tool puts before the lines.
  text = kBefore + "\n";
  for (int i = 12; i < 24; ++i) text += std::to_string(i) + "\u2192" + key.substr(0, key.find('\n') + 1);
  text += "24\u2192-----END RSA PRIVATE KEY-----\n" + kAfter;
  for (std::size_t bytes : {1, 10, 100}) {
    std::string shown = streamed(redactor_, in_pieces_of(text, bytes));
    EXPECT_EQ(shown, redactor_.redact(text));
    EXPECT_EQ(shown.find("MIIE"), std::string::npos) << shown;
  }
}

// What tools put before the lines, and a sign inside a line, which quoting may have put there.
TEST_F(StreamRedactorTest, AKeyWithoutABeginningWaitsForItsEndAlsoWhenQuoted) {
  const std::string line = "MIIEowIBAAKCAQEAx7Q9mB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzAaBbCcDdEeFf";
  using Before = std::function<std::string(int)>;
  const std::vector<std::pair<std::string, Before>> befores = {
      {"arrow", [](int i) { return std::to_string(i) + "\u2192"; }},
      {"arrow and spaces", [](int i) { return "    " + std::to_string(i) + "\u2192"; }},
      {"tab", [](int i) { return "    " + std::to_string(i) + "\t"; }},
      {"colon", [](int i) { return std::to_string(i) + ": "; }},
      {"quoted", [](int) { return std::string("> "); }},
      {"commented", [](int) { return std::string("# "); }},
      {"tab and quoted", [](int i) { return std::to_string(i) + "\t> "; }},
  };
  for (const auto& [what, before] : befores) {
    for (std::string sign : {"", "#", "|", ">", "*", "-", "# "}) {
      std::string cut = line.substr(0, 40) + sign + line.substr(40);
      std::string text = kBefore + "\n";
      for (int i = 8; i < 14; ++i) text += before(i) + (i == 10 ? cut : line) + "\n";
      text += before(14) + "-----END RSA PRIVATE KEY-----\n" + kAfter;
      ASSERT_EQ(redactor_.redact(text).find("MIIE"), std::string::npos) << what << " " << sign;
      for (std::size_t bytes : {1, 10, 100}) {
        std::string shown = streamed(redactor_, in_pieces_of(text, bytes));
        EXPECT_EQ(shown.find("MIIE"), std::string::npos) << what << ", " << sign << ", " << bytes << ": " << shown;
      }
    }
  }
}

TEST_F(StreamRedactorTest, WhatNeverEndsIsNotShownAndNotKept) {
  std::string key = "-----BEGIN RSA PRIVATE KEY-----\n";
  StreamRedactor stream(redactor_);
  std::string shown = stream.add("look: " + key);
  for (std::size_t bytes = 0; bytes < 2 * kMaxHeldDeltaBytes; bytes += 65) {
    shown += stream.add("MIIEowIBAAKCAQEAx7Q9mB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzAaBbCcDdEeFf\n");
  }
  shown += stream.add("done " + kAfter);
  EXPECT_EQ(shown.find("MII"), std::string::npos) << shown;
  EXPECT_EQ(stream.finish(), "") << "the block is over for live watchers";
  EXPECT_EQ(stream.add(kBefore + kAfter).substr(0, 8), kBefore.substr(0, 8)) << "the next one is shown again";
}

// What `head -6 key.pem` prints: the stream ends before the key does.
TEST(StreamRedactor, ShowsNothingOfAnEncryptedKeyThatDoesNotEnd) {
  auto redactor = Redactor::create({});
  ASSERT_TRUE(redactor);
  std::string text =
      "The key in the old backup is this one, as it was in the file:\n"
      "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n"
      "DEK-Info: AES-256-CBC,2B0F7C6E5D4A39212B0F7C6E5D4A3921\n\n"
      "MIIEowIBAAKCAQEAx7Q9mB3dE5fG7hJ9kL1mN2pQ4rS6tU8vW0xYzAaBbCcDdEe\n"
      "q2w3e4r5t6y7u8i9o0p1a2s3d4f5g6h7j8k9l0z1x2c3v4b5n6m7q8w9e0r1t2y3\n";
  for (std::size_t size : {1U, 8U, 40U, 200U}) {
    StreamRedactor stream(*redactor);
    std::string shown;
    for (std::size_t at = 0; at < text.size(); at += size) shown += stream.add(text.substr(at, size));
    shown += stream.finish();
    EXPECT_EQ(shown, redactor->redact(text)) << size;
    EXPECT_EQ(shown.find("MIIEowIBAAKC"), std::string::npos) << shown;
  }
}

TEST(StreamRedactor, AMentionOfAKeyHoldsNothingUp) {
  auto redactor = Redactor::create({});
  ASSERT_TRUE(redactor);
  StreamRedactor stream(*redactor);
  std::string shown = stream.add(
      "A file that begins with -----BEGIN RSA "
      "PRIVATE KEY----- is a key.\n");
  for (int i = 0; i < 20; ++i) shown += stream.add("Nobody should print one, and this text is prose that goes on. ");
  EXPECT_GT(shown.size(), 900U);
}

// Every character of a line counts: one that no key has ends the waiting.
TEST(StreamRedactor, ALineThatIsNoKeyEndsAMentionOfOne) {
  auto redactor = Redactor::create({});
  ASSERT_TRUE(redactor);
  for (const char* line : {"(bcdefghijklmnop\n", "abcdefghijklmno(\n", "abcdefgh(jklmnop\n", "x y: abcdefghijk\n",
                           "abcdefgh_jklmnop\n", "abcdefgh@jklmnop\n", "abcdefgh~jklmnop\n"}) {
    StreamRedactor stream(*redactor);
    std::string shown = stream.add(std::string("-----BEGIN RSA ") + "PRIVATE KEY-----\n");
    for (int i = 0; i < 40; ++i) shown += stream.add(line);
    EXPECT_GT(shown.size(), 500U) << line;
  }
  for (const char* line : {"abcdefghijklmnop\n", "AZ09+/=\\-\n", "Proc-Type: 4,ENC\n", " \t\n"}) {
    StreamRedactor stream(*redactor);
    std::string shown = stream.add(std::string("-----BEGIN RSA ") + "PRIVATE KEY-----\n");
    for (int i = 0; i < 20; ++i) shown += stream.add(line);
    EXPECT_EQ(shown, "") << line;
  }
}

TEST(StreamRedactor, TextIsCutBetweenCharactersOnly) {
  auto redactor = Redactor::create({});
  ASSERT_TRUE(redactor);
  StreamRedactor stream(*redactor);
  std::string text(kDeltaTailBytes, 'x');
  EXPECT_EQ(stream.add("a " + text), "a ");
  EXPECT_EQ(stream.add("y"), "") << "no boundary in what is held";
  EXPECT_EQ(stream.finish(), text + "y");
  EXPECT_EQ(stream.add("\xC3\xA9\xC3\xA9" + text), "\xC3\xA9\xC3\xA9");
  stream.finish();
  EXPECT_EQ(stream.add("a\xC3\xA9" + text.substr(1)), "") << "that would be inside a character";
}

// A long word of base64 may be a line of a key whose end is still to come; any other word is not.
TEST(StreamRedactor, LongWordsOfBase64Wait) {
  auto redactor = Redactor::create({});
  ASSERT_TRUE(redactor);
  auto flows = [&](const std::string& word) {
    StreamRedactor stream(*redactor);
    std::string shown;
    for (int i = 0; i < 10; ++i) shown += stream.add(word + " ");
    return !shown.empty();
  };
  for (char c : std::string("_:.,(!~@[]{-*<^`"))
    EXPECT_TRUE(flows(std::string(20, 'a') + c + std::string(20, 'a'))) << c;
  for (char c : std::string("09azAZ+/=")) EXPECT_FALSE(flows(std::string(20, 'a') + c + std::string(20, 'a'))) << c;
  EXPECT_TRUE(flows("a-word-of-many-parts-as-in-the-name-of-a-branch-or-a-test"));
  EXPECT_TRUE(flows("A-Word-Of-Many-Parts-With-Capitals-Also-A-Rather-Long-One"));
  EXPECT_TRUE(flows("StreamRedactorTest #17"));
  EXPECT_TRUE(flows("- StreamRedactorTest\n- EagerRedactorTest\n"));
  EXPECT_TRUE(flows(std::string(31, 'a')));
  EXPECT_FALSE(flows(std::string(32, 'a')));
}

}  // namespace
}  // namespace shepherd
