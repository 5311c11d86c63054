#include "redact/redact.h"

#include <gtest/gtest.h>

#include <chrono>
#include <ctime>

#include "base/random.h"
#include "json/write.h"
#include "redact/personal_data.h"
#include "redact/test_corpus.h"

namespace shepherd {
namespace {

std::string as_json(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

Redactor standard() {
  return Redactor::create({}).value();
}

TEST(Redact, TakesEverySecretOfTheCorpusAndNothingElse) {
  Redactor redactor = standard();
  for (const auto& row : golden("secrets.json")) {
    std::string text = joined(row.at("text"));
    EXPECT_EQ(redactor.redact(text), joined(row.at("expect"))) << text;
    EXPECT_TRUE(redactor.may_match(text)) << text;
    EXPECT_TRUE(redactor.may_match(as_json(text))) << text;
  }
}

TEST(Redact, LeavesLookAlikesAlone) {
  Redactor redactor = standard();
  for (const auto& row : golden("lookalikes.json")) {
    std::string text = joined(row);
    EXPECT_EQ(redactor.redact(text), text);
  }
}

TEST(Redact, IsIdempotentOnTheCorpus) {
  Redactor redactor = standard();
  for (const auto& row : golden("secrets.json")) {
    std::string once = redactor.redact(joined(row.at("text")));
    EXPECT_EQ(redactor.redact(once), once);
  }
}

TEST(Redact, SwitchesAreObeyed) {
  RedactOptions options;
  options.emails = false;
  options.cards = false;
  Redactor redactor = Redactor::create(options).value();
  std::string text = "jane@example.org paid with 4111111111111111";
  EXPECT_EQ(redactor.redact(text), text);
  EXPECT_FALSE(redactor.may_match(text));
  options.enabled = false;
  redactor = Redactor::create(options).value();
  EXPECT_EQ(redactor.redact("password=hunter2hunter2"), "password=hunter2hunter2");
  EXPECT_FALSE(redactor.may_match("password=hunter2hunter2"));
}

TEST(Redact, ATellingMemberNameMakesItsValueASecret) {
  Redactor redactor = standard();
  EXPECT_EQ(redactor.redact_member("dbPassword", "hunter2hunter2"), "[redacted:password:14]");
  EXPECT_EQ(redactor.redact_member("apiKey", "7c9e6679f3b14c0e"), "[redacted:api_key:16]");
  EXPECT_EQ(redactor.redact_member("password", "must have 12 characters"), "must have 12 characters");
  EXPECT_EQ(redactor.redact_member("summary", "7c9e6679f3b14c0e"), "7c9e6679f3b14c0e");
  EXPECT_EQ(redactor.redact_member("token", "[redacted:token:9]"), "[redacted:token:9]");
}

TEST(Redact, OwnPatterns) {
  RedactOptions options;
  options.patterns = {"ACME-[0-9]{4}", "^top secret", "red"};
  Redactor redactor = Redactor::create(options).value();
  EXPECT_EQ(redactor.redact("see ACME-1234"), "see [redacted:pattern:9]");
  EXPECT_EQ(redactor.redact("top secret plan"), "[redacted:pattern:10] plan");
  EXPECT_EQ(redactor.redact("a red card"), "a [redacted:pattern:3] card");
  EXPECT_TRUE(redactor.may_match("{\"summary\":\"see acme-1234\"}"));
  std::string once = redactor.redact("red ACME-1234 red");
  EXPECT_EQ(redactor.redact(once), once) << "a pattern that matches inside a marker must not loop";
}

TEST(Redact, RefusesBadPatternsByName) {
  RedactOptions options;
  options.patterns = {"ok", "(unclosed"};
  auto redactor = Redactor::create(options);
  ASSERT_FALSE(redactor.has_value());
  EXPECT_EQ(redactor.error().reason, "bad_pattern");
  EXPECT_NE(redactor.error().message.find("(unclosed"), std::string::npos);
  options.patterns = {"x*"};
  EXPECT_FALSE(Redactor::create(options).has_value()) << "would match between all characters";
}

TEST(Redact, ExactSecretsInTheFormsTheyTravelIn) {
  RedactOptions options;
  options.secrets = {"p/w\"with +signs", "abc"};
  Redactor redactor = Redactor::create(options).value();
  EXPECT_EQ(redactor.redact("is p/w\"with +signs ok"), "is [redacted:secret:15] ok");
  EXPECT_EQ(redactor.redact("is p/w\\\"with +signs ok"), "is [redacted:secret:16] ok");
  EXPECT_EQ(redactor.redact("?q=p%2Fw%22with%20%2Bsigns&x"), "?q=[redacted:secret:23]&x");
  EXPECT_EQ(redactor.redact("abc"), "abc") << "too short to be told from ordinary text";
  // base64("user:" + secret), as in an Authorization header: the value starts in the middle of a group.
  std::string basic = "dXNlcjpwL3ci<d2l0aCArc2lnbnM=";
  basic.erase(basic.find('<'), 1);
  EXPECT_NE(redactor.redact(basic).find("[redacted:secret:"), std::string::npos);
  EXPECT_TRUE(redactor.may_match(as_json("is p/w\"with +signs ok")));
}

// --- the promise of the prefilter ---

class Mixture {
 public:
  explicit Mixture(std::uint64_t seed) : random_(seed) {
    for (const auto& row : golden("secrets.json")) pieces_.push_back(joined(row.at("text")));
    for (const auto& row : golden("lookalikes.json")) pieces_.push_back(joined(row));
    for (const char* glue :
         {"",  " ", "\n",  "\t",       "\"",           "\\",           "/",       ":",   "=",       "@",    "-",
          "_", "a", "7",   "\xC3\xA9", "\xE1\x84\x91", "\xE2\x82\xAC", "\x1b[1m", "\\n", "\\u00e9", "\\\"", "'",
          "[", "]", "://", "password", "token=",       "sk-"}) {
      pieces_.emplace_back(glue);
    }
  }

  std::string next() {
    std::string text;
    for (std::uint64_t i = 1 + random_.below(6); i > 0; --i) {
      std::string piece = pieces_[random_.below(pieces_.size())];
      if (!piece.empty() && random_.below(3) == 0) piece = piece.substr(random_.below(piece.size()));
      if (!piece.empty() && random_.below(3) == 0) piece.resize(1 + random_.below(piece.size()));
      text += piece;
    }
    return text;
  }

  // One of the many spellings of a text as a JSON string: slashes and characters beyond ASCII escaped or not.
  std::string spelled(std::string_view text) {
    std::string plain = as_json(text);
    std::string out;
    for (std::size_t i = 0; i < plain.size(); ++i) {
      auto byte = static_cast<unsigned char>(plain[i]);
      if (plain[i] == '\\') {
        out.push_back(plain[i]);
        out.push_back(plain[++i]);
      } else if (plain[i] == '/' && random_.below(2) == 0) {
        out.append("\\/");
      } else if ((byte & 0xF0) == 0xE0 && random_.below(2) == 0) {
        append_escape(out, (byte & 15U) << 12 | (plain[i + 1] & 63U) << 6 | (plain[i + 2] & 63U));
        i += 2;
      } else if ((byte & 0xE0) == 0xC0 && random_.below(2) == 0) {
        append_escape(out, (byte & 31U) << 6 | (plain[i + 1] & 63U));
        i += 1;
      } else {
        out.push_back(plain[i]);
      }
    }
    return out;
  }

 private:
  static void append_escape(std::string& out, unsigned code_unit) {
    constexpr std::string_view kHex = "0123456789abcdef";
    out.append("\\u");
    for (int shift = 12; shift >= 0; shift -= 4) out.push_back(kHex[code_unit >> shift & 15]);
  }

  SeededRandom random_;
  std::vector<std::string> pieces_;
};

TEST(RedactPrefilter, NeverMissesWhatRedactionWouldChange) {
  constexpr std::uint64_t kSeed = 20260218;
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  RedactOptions options;
  options.patterns = {"acme[0-9]+", "internal/[a-z]+"};
  options.secrets = {"very\"private\\value"};
  Redactor standard_rules = standard();
  Redactor own_rules = Redactor::create(options).value();
  Mixture mixture(kSeed);
  int changed = 0;
  for (int i = 0; i < 60'000; ++i) {
    std::string text = mixture.next();
    const Redactor& redactor = i % 4 == 0 ? own_rules : standard_rules;
    // append_json_string repairs what was cut inside a character; the repaired text is what a server would see.
    std::string source = mixture.spelled(text);
    text = std::string(boost::json::parse(source).as_string());
    std::string redacted = redactor.redact(text);
    EXPECT_EQ(redactor.redact(redacted), redacted) << text;
    if (redacted == text) continue;
    ++changed;
    ASSERT_TRUE(redactor.may_match(text)) << text;
    ASSERT_TRUE(redactor.may_match(source)) << source;
  }
  EXPECT_GT(changed, 10'000) << "the mixtures must exercise the rules";
}

TEST(RedactPrefilter, SeesThroughUnicodeEscapes) {
  Redactor redactor = standard();
  EXPECT_TRUE(redactor.may_match("\"p\\u0061ssword=hunter2\""));
  EXPECT_TRUE(redactor.may_match("\"jane\\u0040example.org\""));
  EXPECT_FALSE(redactor.may_match("\"caf\\u00e9 \\u001b[1m\"")) << "accents and colours are everyday text";
}

// Printable ones and white space can spell a secret; other characters are in none.
TEST(RedactPrefilter, LooksAtEscapesThatCanSpellASecret) {
  Redactor redactor = standard();
  for (const char* escape : {"\\u0020", "\\u0041", "\\u007e", "\\u0009", "\\u000a", "\\u000D", "\\u0039"}) {
    EXPECT_TRUE(redactor.may_match("\"" + std::string(escape) + "\"")) << escape;
  }
  for (const char* escape :
       {"\\u0000", "\\u0001", "\\u0008", "\\u0019", "\\u001b", "\\u001a", "\\u0080", "\\u0089", "\\u00e9", "\\u004"}) {
    EXPECT_FALSE(redactor.may_match("\"" + std::string(escape))) << escape;
  }
}

TEST(RedactPrefilter, SeesThroughJsonInsideJson) {
  constexpr int kDeepest = 4;  // some of the corpus are JSON in JSON already
  Redactor redactor = standard();
  for (const auto& row : golden("secrets.json")) {
    std::string text = joined(row.at("text"));
    for (int depth = 0; depth < kDeepest; ++depth) {
      std::string source = as_json(text);
      EXPECT_LE(redactor.redact(text) != text, redactor.may_match(source)) << depth << " deep: " << source;
      text = source;
    }
  }
}

// --- cost ---

double cpu_seconds(const Redactor& redactor, const std::string& text, int times) {
  double best = 1e9;
  for (int i = 0; i < times; ++i) {
    std::clock_t begin = std::clock();
    static_cast<void>(redactor.may_match(text));
    static_cast<void>(redactor.redact(text));
    best = std::min(best, static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC);
  }
  return best;
}

std::string repeated(std::string_view piece, std::size_t bytes) {
  std::string text;
  while (text.size() < bytes) text.append(piece);
  return text;
}

TEST(RedactCost, AdversarialTextCostsNoMoreThanALargeFactor) {
  constexpr std::size_t kBytes = 1 << 20;
  Redactor redactor = standard();
  double benign =
      cpu_seconds(redactor, repeated("The quick brown fox reads src/auth.go and runs the tests.\n", kBytes), 5);
  benign = std::max(benign, 0.001);
  std::vector<std::string> pieces{"sk-",
                                  "sk-ant-",
                                  "eyJ",
                                  "eyJaaaaaaaaaa.",
                                  "-----BEGIN PRIVATE KEY-----\"",
                                  "://a:",
                                  "-----END PRIVATE KEY-----",
                                  "password=",
                                  "password=a1",
                                  "a@",
                                  "a@a.",
                                  "4111 ",
                                  "4111-",
                                  "1",
                                  "4",
                                  "bearer ",
                                  "basic aaaa",
                                  "\\",
                                  "\\\\",
                                  "[redacted:",
                                  "\x1b[",
                                  "://",
                                  "@",
                                  "AKIA",
                                  "xoxb-",
                                  "token\\\\\\\\\"",
                                  "a",
                                  "glpat-a",
                                  "-eyJ",
                                  "eyJ-",
                                  "shp_aaaaaaaaaaaaaaaaa-",
                                  "basic a/",
                                  " -u a:",
                                  " -ucurl",
                                  "curl -u1a:",
                                  "SG.aaaaaaaaaaaaaaaaaaaa.",
                                  "whsec_aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                                  "x-",
                                  "--token ",
                                  "password ",
                                  "login a password ",
                                  "c2stYW50L",
                                  "cGFzc3dvcmQ9",
                                  "LS0tLS1CRUdJTi",
                                  "czovL",
                                  "MTk4NjIy",
                                  "1234567890:AA",
                                  "pat",
                                  "%41",
                                  "%41 ",
                                  "a%",
                                  "\\\n",
                                  "\\\\\\n",
                                  "# \\\n",
                                  "\\\\\\n\n",
                                  "-----BEGIN PRIVATE KEY-----\n",
                                  "-----BEGIN PRIVATE KEY-----\nA: b\n",
                                  "aB3dE5fG7hJ9kL1m\n-----END PRIVATE KEY-----\n",
                                  "[redacted:token:4"};
  for (const auto& piece : pieces) {
    double adversarial = cpu_seconds(redactor, repeated(piece, kBytes), 1);
    EXPECT_LT(adversarial, 100 * benign) << "repeated " << piece << " against " << benign << " s";
  }
}

TEST(Luhn, CheckDigit) {
  EXPECT_TRUE(is_luhn_valid("4111111111111111"));
  EXPECT_FALSE(is_luhn_valid("4111111111111112"));
  EXPECT_FALSE(is_luhn_valid(""));
}

}  // namespace
}  // namespace shepherd
